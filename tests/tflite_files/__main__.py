"""Writes the small quantised network: ``python -m tests.tflite_files FILE``."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.tflite_files.builder import quantised_network, saved

if __name__ == "__main__":
    saved(Path(sys.argv[1]), quantised_network())
