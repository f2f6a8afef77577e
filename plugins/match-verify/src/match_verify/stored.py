"""Comparing a program's outputs with stored outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from match_core.contract.quantisation import Quantisation
from match_core.io.arrays import TensorSpec, as_samples
from match_report.npz import read_arrays
from numpy.typing import NDArray

from match_verify.finite import distances, largest

Arrays = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class StoredCheck:
    """One output against its stored values: how many of all values differ, and the largest difference. ``ok``: no value
    differs, or floats differ within the bound only."""

    name: str
    values: int
    different: int
    max_abs: float
    ok: bool

    def as_json(self) -> dict[str, object]:
        """The entry of ``match verify --json``."""
        return {"values": self.values, "different": self.different, "max_abs": self.max_abs, "ok": self.ok}


def check_stored(
    path: Path,
    outputs: Arrays,
    float_bounds: Mapping[str, float],
    quantised: Mapping[str, Quantisation] | None = None,
    note: Callable[[str], object] = str,
) -> tuple[StoredCheck, ...]:
    """Compare ``outputs`` (leading sample axis) with the arrays in the file, value by value. ``float_bounds``, by
    name, are relative to the largest stored value; ``quantised``: outputs whose values may be stored as floats.

    Errors: UsageError MATCH-U040 to U044, as for inputs.
    """
    specs = [
        TensorSpec(name, array.shape[1:], array.dtype.name, (quantised or {}).get(name))
        for name, array in outputs.items()
    ]
    stored = as_samples(read_arrays(path, specs), specs, str(path), kind="output", note=note).arrays
    return tuple(_check(name, array, stored[name], float_bounds.get(name, 0.0)) for name, array in outputs.items())


def _check(name: str, got: NDArray[np.generic], stored: NDArray[np.generic], float_bound: float) -> StoredCheck:
    if got.shape != stored.shape:
        return StoredCheck(name, stored.size, stored.size, float("inf"), False)
    distance = distances(got, stored)
    different = (got != stored) & ((got == got) | (stored == stored))  # NaN equals NaN
    worst = float(distance.max()) if distance.size else 0.0
    close = got.dtype.kind == "f" and worst <= float_bound * largest(stored)
    return StoredCheck(name, stored.size, int(np.count_nonzero(different)), worst, close or not different.any())
