"""Makes a small quantised vision transformer from a fixed seed: two convolutions, then one encoder layer."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.end_to_end.qdq_encoders import Encoder, save_vision

#: 8x8 tokens of 128 values, two heads of 64.
NETWORK = Encoder(rows=64, width=128, heads=2, inner=256, seed=3)

if __name__ == "__main__":
    save_vision(NETWORK, Path(sys.argv[1]))
