"""Element types of tensors in C, and constant arrays as C text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from match_core.emit.literals import initialiser

_C_TYPES = {
    "bool": "uint8_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "int16": "int16_t",
    "uint16": "uint16_t",
    "int32": "int32_t",
    "uint32": "uint32_t",
    "int64": "int64_t",
    "uint64": "uint64_t",
    "float16": "uint16_t",  # the bits, see match_half.h
    "float32": "float",
    "float64": "double",
    "bfloat16": "uint16_t",  # the codes of these kinds, see match_small.h
    "float8_e4m3fn": "uint8_t",
    "float8_e4m3fnuz": "uint8_t",
    "float8_e5m2": "uint8_t",
    "float8_e5m2fnuz": "uint8_t",
    "float8_e8m0fnu": "uint8_t",
    "float6_e2m3fn": "uint8_t",
    "float6_e3m2fn": "uint8_t",
    "float4_e2m1fn": "uint8_t",
    "int4": "int8_t",  # one byte per element
    "uint4": "uint8_t",
    "int2": "int8_t",
    "uint2": "uint8_t",
}
#: Literals per line by size of an element in bytes, so that the longest ones fit.
_PER_LINE = {1: 16, 2: 12, 4: 6, 8: 4}


def c_type(dtype: object) -> str:
    """The C type that carries a tensor's elements. KeyError for a type that C cannot carry."""
    return _C_TYPES[np.dtype(dtype).name]  # type: ignore[call-overload]  # numpy takes any object


def _carried(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """Values of types that C does not have as those of the integer type that carries them."""
    name = values.dtype.name
    if name not in ("float32", "float64") and "float" in name:  # numpy takes some of ml_dtypes for floats of its own
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
