"""Constant arrays as C text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from match_core.contract.element_types import c_type
from match_core.lower.literals import initialiser

#: Literals per line by size of an element in bytes, so that the longest ones fit.
_PER_LINE = {1: 16, 2: 12, 4: 6, 8: 4}


def _carried(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """Values of types that C does not have, as the integer type of their bits."""
    name = values.dtype.name
    if name not in ("float32", "float64") and "float" in name:  # numpy treats some types of ml_dtypes as its own
        return values.view(np.dtype(f"uint{8 * values.dtype.itemsize}"))
    if values.dtype.kind in "biuf":
        return values
    return values.astype(np.uint8 if name.startswith("u") else np.int8)


def array_definition(name: str, values: NDArray[np.generic], attributes: str = "") -> str:
    """``const T name[n] = {...};`` with the values in row-major order."""
    flat = np.ascontiguousarray(values).reshape(-1)
    flat = _carried(flat)
    if flat.size == 0:  # C has no empty arrays
        flat = np.zeros(1, flat.dtype)
    lines = initialiser(flat, _PER_LINE[flat.dtype.itemsize])
    prefix = f"{attributes} " if attributes else ""
    return f"{prefix}const {c_type(flat.dtype)} {name}[{flat.size}] = {{\n{lines}}};\n"
