"""Element types of tensors in C, and constant arrays as C text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
    return _C_TYPES[np.dtype(dtype).name]  # type: ignore[call-overload]


def _literals(values: NDArray[np.generic]) -> list[str]:
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "b":
        return ["1" if value else "0" for value in values.tolist()]
    if kind == "f":
        suffix = "f" if size == 4 else ""
        return [_float_literal(value, suffix) for value in values.tolist()]
    if kind == "u":
        suffix = {1: "", 2: "", 4: "u", 8: "ull"}[size]
        return [f"{value}{suffix}" for value in values.tolist()]
    if size == 8:
        return ["INT64_MIN" if value == -(2**63) else f"{value}ll" for value in values.tolist()]
    if size == 4:
        return ["INT32_MIN" if value == -(2**31) else str(value) for value in values.tolist()]
    return [str(value) for value in values.tolist()]


def _float_literal(value: float, suffix: str) -> str:
    if value != value:
        return "NAN"
    if value in (float("inf"), float("-inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"{value.hex()}{suffix}"


def _carried(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """Values of types that C does not have as those of the integer type that carries them."""
    name = values.dtype.name
    if values.dtype == np.float16 or (values.dtype.kind not in "biuf" and "float" in name):
        return values.view(np.dtype(f"uint{8 * values.dtype.itemsize}"))
    if values.dtype.kind in "biuf":
        return values
    return values.astype(np.uint8 if name.startswith("u") else np.int8)


def array_definition(name: str, values: NDArray[np.generic], attributes: str = "") -> str:
    """``const T name[n] = {...};`` with the values in row-major order."""
    flat = np.ascontiguousarray(values).reshape(-1)
    flat = _carried(flat)
    literals = _literals(flat) or ["0"]
    step = _PER_LINE[flat.dtype.itemsize]
    lines = ["    " + ", ".join(literals[i : i + step]) + "," for i in range(0, len(literals), step)]
    prefix = f"{attributes} " if attributes else ""
    return f"{prefix}const {c_type(flat.dtype)} {name}[{len(literals)}] = {{\n" + "\n".join(lines) + "\n};\n"
