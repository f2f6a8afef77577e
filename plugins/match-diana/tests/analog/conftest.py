from __future__ import annotations

import sys
from pathlib import Path

import pytest
from match_core.plugin.facade import Plugins

_HERE = Path(__file__).parent
# Tests are imported by path; those of the digital array have the way from a graph to a run on the twin.
sys.path[:0] = [str(_HERE), str(_HERE.parent / "models"), str(_HERE.parent / "digital")]


@pytest.fixture(scope="session")
def plugins() -> Plugins:
    return Plugins.load()
