"""One library of kernels for all tests."""

from __future__ import annotations

import ctypes

import pytest

from .products_library import SANITISERS, compile_library


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compile_library(tmp_path_factory.mktemp("products"), *SANITISERS, "-O1")
