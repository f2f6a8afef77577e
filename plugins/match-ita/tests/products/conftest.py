"""One library of kernels for all tests."""

from __future__ import annotations

import ctypes

import pytest

from ..kernel_library import SANITISERS
from .products_library import LIBRARY


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return LIBRARY.compile(tmp_path_factory.mktemp("products"), *SANITISERS, "-O1")
