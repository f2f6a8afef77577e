"""Integer functions of single values: GELU, hardswish, rounded quotients, like the bodies of their local functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.node_rule import NodeRule

from match_host.graph import constant_at
from match_host.kernels.scalar import SIGNED, ScalarOp, Site, always
from match_host.kernels.work import Work
from match_host.rules import constants

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_GELU = """/* x * floor((one + erf) / 2), erf = sign(x) * (one - (min(|x|, -b) + b)^2). */
static inline int64_t host_integer_gelu(int64_t x, int64_t b, int64_t one)
{
    const int64_t size = x < 0 ? -x : x;
    const int64_t distance = (size < -b ? size : -b) + b;
    const int64_t inner = one - distance * distance;
    const int64_t sum = x > 0 ? one + inner : x < 0 ? one - inner : one;
    return x * (sum / 2 - (sum % 2 < 0 ? 1 : 0));
}
"""
_HARDSWISH = """static inline int64_t host_integer_hardswish(int64_t x, int64_t sixth, int64_t three, int64_t six)
{
    const int64_t gate = x + three;
    return x * (gate < 0 ? 0 : gate > six ? six : gate) * sixth;
}
"""
_QUOTIENT = """/* floor(x / divisor + 1 / 2). */
static inline int64_t host_rounded_quotient(int64_t x, int64_t divisor)
{
    const int64_t moved = x + divisor / 2;
    return moved / divisor - (moved % divisor < 0 ? 1 : 0);
}
"""


def _gelu(site: Site) -> str:
    return f"{site.uses.helper('host_integer_gelu', _GELU)}({', '.join(site.texts())})"


def _hardswish(site: Site) -> str:
    return f"{site.uses.helper('host_integer_hardswish', _HARDSWISH)}({', '.join(site.texts())})"


def _quotient(site: Site) -> str:
    return f"{site.uses.helper('host_rounded_quotient', _QUOTIENT)}({', '.join(site.texts())})"


def _positive(node: gs.Node) -> str | None:
    values = constant_at(node, 1)
    least = int(values.min()) if values is not None and values.size else 0
    return None if least > 0 else f"the divisor is {least}"


_gelu_work = always(Work(wide=8, wide_multiply=2))
_hardswish_work = always(Work(wide=4, wide_multiply=2))
_quotient_work = always(Work(wide=2, wide_divide=1))

INTEGER_OPS = (
    ScalarOp("match.arith::IntegerGelu", SIGNED, _gelu, _gelu_work, rules=(constants(1, 2),)),
    ScalarOp("match.arith::IntegerHardswish", SIGNED, _hardswish, _hardswish_work, rules=(constants(1, 2, 3),)),
    ScalarOp(
        "match.arith::RoundedQuotient",
        SIGNED,
        _quotient,
        _quotient_work,
        rules=(constants(1), NodeRule("divisor", "the divisor is positive", _positive)),
    ),
)
