"""Comparisons, truth values, selection, conversion, copying."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from match_host.graph import dtype_of, integer
from match_host.graph import text as attribute_text
from match_host.headers.small import SCALE_FLOAT, SMALL_FLOATS
from match_host.kernels.code import literal
from match_host.kernels.scalar import ALL_TYPES, FLOATS, NUMBERS, STORED_TYPES, ScalarOp, Site, scalar_type, simple
from match_host.kernels.work import Work


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


def _is_infinite(site: Site) -> str:
    site.uses.include("math.h")
    (x,), zero = site.values, literal(0, site.values[0].dtype)
    signs = []
    if not integer(site.node, "detect_negative", 1):
        signs.append(f" && {x.text} > {zero}")
    if not integer(site.node, "detect_positive", 1):
        signs.append(f" && {x.text} < {zero}")
    return f"isinf({x.text}) != 0{''.join(signs)}"


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
    target = dtype_of(site.node.outputs[0])
    text = cast(value.text, value.dtype, site.result)
    if target.name == SCALE_FLOAT:
        return f"match_{SCALE_FLOAT}_{_ROUND_MODES[attribute_text(site.node, 'round_mode', 'up')]}({text})"
    return saturated(site, text, target)


#: Names of the conversions to the powers of two of E8M0.
_ROUND_MODES = {"up": "up", "down": "down", "nearest": "nearest"}


def saturated(site: Site, text: str, target: np.dtype[np.generic]) -> str:
    """The value, clipped to the finite numbers of a narrow type if the node requires it."""
    small = SMALL_FLOATS.get(target.name)
    if small is None or small.bits > 8 or not (small.nan < 0 or integer(site.node, "saturate", 1)):
        return text
    name = "host_saturate"
    site.uses.helper(
        name,
        "/* What is no number stays so. */\n"
        f"static inline float {name}(float value, float most)\n{{\n"
        "    return value > most ? most : value < -most ? -most : value;\n}\n",
    )
    return f"{name}({text}, {site.number(small.largest_value)})"


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
    ScalarOp("IsInf", FLOATS, _is_infinite, _truth),
    ScalarOp("Where", STORED_TYPES, _where, simple, data=1),
    ScalarOp("Cast", STORED_TYPES, _cast, simple),
    ScalarOp("Expand", STORED_TYPES, _copy, simple, settings=(1,)),
)
