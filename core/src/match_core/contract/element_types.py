"""Element types of tensors in C."""

from __future__ import annotations

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
    "bfloat16": "uint16_t",  # the codes of the small types, see match_small.h
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


def c_type(dtype: object) -> str:
    """The C type of a tensor's elements. KeyError for a type without one."""
    import numpy as np

    return _C_TYPES[np.dtype(dtype).name]  # type: ignore[call-overload]  # numpy takes any object
