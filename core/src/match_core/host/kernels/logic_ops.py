"""Comparisons, truth values, selection, conversion, copying."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from match_core.host.kernels.code import literal
from match_core.host.kernels.scalar import ALL_TYPES, FLOATS, NUMBERS, ScalarOp, Site, scalar_type, simple
from match_core.host.kernels.work import Work


def _infix(symbol: str) -> Callable[[Site], str]:
    def render(site: Site) -> str:
        a, b = site.texts()
        return f"{a} {symbol} {b}"

    return render


def _not(site: Site) -> str:
    return f"!{site.texts()[0]}"


def _where(site: Site) -> str:
    condition, a, b = site.texts()
    return f"{condition} ? {a} : {b}"


def _copy(site: Site) -> str:
    return site.texts()[0]


def _is_nan(site: Site) -> str:
    site.uses.include("math.h")
    return f"isnan({site.texts()[0]}) != 0"


def cast(text: str, source: np.dtype[np.generic], target: np.dtype[np.generic]) -> str:
    """The conversion of ONNX Cast: integers keep their low bits, floating point truncates towards zero."""
    if source == target:
        return text
    if target.kind == "b":
        return f"{text} != {literal(0, source)}"
    if source.kind == "f" and target.kind in "iu" and target.itemsize < 4:
        return f"({scalar_type(target)})(int32_t){text}"
    return f"({scalar_type(target)}){text}"


def _cast(site: Site) -> str:
    (value,) = site.values
    return cast(value.text, value.dtype, site.result)


def _truth(dtype: np.dtype[np.generic]) -> Work:
    return Work(integer=1)


LOGIC_OPS = (
    ScalarOp("Less", NUMBERS, _infix("<"), simple),
    ScalarOp("LessOrEqual", NUMBERS, _infix("<="), simple),
    ScalarOp("Greater", NUMBERS, _infix(">"), simple),
    ScalarOp("GreaterOrEqual", NUMBERS, _infix(">="), simple),
    ScalarOp("Equal", ALL_TYPES, _infix("=="), simple),
    ScalarOp("And", ("bool",), _infix("&&"), _truth),
    ScalarOp("Or", ("bool",), _infix("||"), _truth),
    ScalarOp("Xor", ("bool",), _infix("!="), _truth),
    ScalarOp("Not", ("bool",), _not, _truth),
    ScalarOp("IsNaN", FLOATS, _is_nan, _truth),
    ScalarOp("Where", ALL_TYPES, _where, simple, data=1),
    ScalarOp("Cast", ALL_TYPES, _cast, simple),
    ScalarOp("CastLike", ALL_TYPES, _cast, simple, settings=(1,)),
    ScalarOp("Expand", ALL_TYPES, _copy, simple, settings=(1,)),
)
