"""Builds the runtime and the twin with a small script interpreter (driver.c)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
# Tests are imported by path; this makes the harness modules beside them importable.
sys.path.insert(0, str(HERE))

from ita_twin_harness import SANITIZE, Driver, compile_driver  # noqa: E402

ROOT = next(p for p in HERE.parents if (p / "core").is_dir() and (p / "plugins").is_dir())
VECTORS = ROOT.parent / "shared/data/ita"


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Driver]:
    """``build(preset, flags, main)``: compiles once per session and combination."""
    built: dict[tuple[str, tuple[str, ...], str], Driver] = {}

    def get(preset: str = "rtl", flags: tuple[str, ...] = SANITIZE, main: str = "driver.c") -> Driver:
        key = (preset, flags, main)
        if key not in built:
            built[key] = compile_driver(tmp_path_factory.mktemp("ita"), preset, flags, main)
        return built[key]

    return get


@pytest.fixture(scope="session")
def driver(build: Callable[..., Driver]) -> Driver:
    """The twin of the preset ``rtl``, under address and undefined-behaviour sanitizers."""
    return build()


@pytest.fixture(scope="session")
def vectors() -> Callable[[str], dict[str, NDArray[np.generic]]]:
    """``vectors(name)``: arrays of one file of golden data; skips where the shared data are absent."""

    def read(name: str) -> dict[str, NDArray[np.generic]]:
        path = VECTORS / f"{name}.npz"
        if not path.is_file():
            pytest.skip(f"golden data {path} are absent")
        with np.load(path) as data:
            return {key: data[key] for key in data.files}

    return read


def vector_names(prefix: str) -> list[str]:
    """Names of the golden data that begin with ``prefix``; one that skips where there are none."""
    return sorted(path.stem for path in VECTORS.glob(f"{prefix}*.npz")) or [f"{prefix}absent"]
