from __future__ import annotations

import sys
from pathlib import Path

import pytest
from match_core.plugin.facade import Plugins

sys.path.insert(0, str(Path(__file__).parent))  # tests are imported by path


@pytest.fixture(scope="session")
def plugins() -> Plugins:
    return Plugins.load()
