"""One library of kernels for all tests, and the graphs of ITA's tests."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import pytest
from match_core.plugin.facade import Plugins

from ..kernel_library import SANITISERS
from .rows_library import LIBRARY

sys.path.insert(0, str(Path(__file__).parents[1] / "ita"))  # tests are imported by path


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return LIBRARY.compile(tmp_path_factory.mktemp("rows"), *SANITISERS, "-O1")


@pytest.fixture(scope="session")
def plugins() -> Plugins:
    return Plugins.load()
