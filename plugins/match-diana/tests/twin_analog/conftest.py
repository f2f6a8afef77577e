"""Builds the twin with a small script interpreter (diana_analog_driver.c)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

# Tests are imported by path; this makes the modules beside them importable.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from diana_analog_harness import Driver, compile_driver


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Driver:
    """Compiled once per session."""
    return compile_driver(tmp_path_factory.mktemp("diana_analog"))
