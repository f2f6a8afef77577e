"""Requantisation with two roundings: ``clip(round(round((x + B) * M / 2^31) / D) + zero, low, high)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.element_types import c_type
from match_core.contract.node_rule import NodeRule

from match_host.graph import constant_at
from match_host.kernels.scalar import ScalarOp, Site, always, suffix
from match_host.kernels.work import Work
from match_host.rules import constants

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Positions of the constants, and the least and the largest value of each.
_NUMBERS = {
    1: ("multiplier", 0, (1 << 31) - 1),
    2: ("addend", -(1 << 31), (1 << 31) - 1),
    3: ("divisor", 1, 1 << 31),
    4: ("zero point", -(1 << 15), 1 << 15),
}


def _render(site: Site) -> str:
    ctype, name = c_type(site.result), f"host_two_roundings_{suffix(site.result)}"
    site.uses.helper(
        name,
        "/* The first rounding takes halves up, the second away from zero. Shifts of negative values are arithmetic\n"
        " * (gcc, clang). */\n"
        f"static inline {ctype} {name}(int64_t sum, int64_t multiplier, int64_t divisor, int64_t zero, int64_t low,\n"
        "    int64_t high)\n{\n"
        "    const int64_t first = (sum * multiplier + (INT64_C(1) << 30)) >> 31, half = divisor >> 1;\n"
        "    const int64_t moved = first + half - (((first < 0) && (half > 0)) ? 1 : 0);\n"
        "    const int64_t value = moved / divisor - ((moved % divisor < 0) ? 1 : 0) + zero;\n"
        f"    return ({ctype})(value < low ? low : value > high ? high : value);\n}}\n",
    )
    x, multiplier, addend, divisor, zero, low, high = site.texts()
    return f"{name}((int64_t){x} + {addend}, {multiplier}, {divisor}, {zero}, {low}, {high})"


def _numbers(node: gs.Node) -> str | None:
    for position, (name, least, most) in _NUMBERS.items():
        values = constant_at(node, position)
        if values is not None and values.size and not least <= int(values.min()) <= int(values.max()) <= most:
            return f"the {name} is {int(values.min())} to {int(values.max())}"
    divisor = constant_at(node, 3)
    odd = [] if divisor is None else [value for value in divisor.reshape(-1).tolist() if value & (value - 1)]
    return f"the divisor is {odd[0]}" if odd else None


_RULES = (
    constants(*_NUMBERS),
    NodeRule("numbers", "multipliers fit 31 bits, addends 32, and divisors are powers of two up to 2^31", _numbers),
)
_WORK = always(Work(wide_multiply=1, wide=8, integer=4))

DOUBLE_OPS = tuple(
    ScalarOp(f"match.arith::RequantDouble{kind}", ("int8", "uint8", "int32"), _render, _WORK, rules=_RULES)
    for kind in ("U8", "I8")
)
