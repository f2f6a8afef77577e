"""Builds the twin with a small script interpreter (driver.c)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

# Tests are imported by path; this makes the harness modules beside them importable.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from diana_twin_harness import Driver, compile_driver


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Driver:
    """The twin under address and undefined-behaviour sanitizers."""
    return compile_driver(tmp_path_factory.mktemp("diana"))
