"""Reductions, extremes with their indices, and running sums."""

from __future__ import annotations

from match_host.kernels.movement.computed import build_running
from match_host.kernels.movement.indexed import INDEX_TYPES
from match_host.kernels.movement.select import build_arg_extreme
from match_host.kernels.reduction.accumulate import BOOLEAN_REDUCTIONS, INTEGER_REDUCTIONS, REDUCTIONS
from match_host.kernels.reduction.lines import build_top_k
from match_host.kernels.reduction.reduce import build_reduce
from match_host.kernels.scalar import ANY_FLOATS, INTEGERS
from match_host.operator import Operator
from match_host.rules import STATIC, types

_NUMBERS = (*INTEGERS, *ANY_FLOATS)


def _reduced(name: str) -> tuple[str, ...]:
    """Element types of a reduction's input."""
    integers = INTEGERS if name in INTEGER_REDUCTIONS else ()
    return (*integers, *ANY_FLOATS, *(("bool",) if name in BOOLEAN_REDUCTIONS else ()))


REDUCTION: tuple[Operator, ...] = (
    *(
        Operator(
            name,
            "reduction",
            (STATIC, types(_reduced(name), 0), types(INDEX_TYPES, 1)),
            build_reduce,
        )
        for name in REDUCTIONS
    ),
    *(Operator(name, "reduction", (STATIC, types(_NUMBERS, 0)), build_arg_extreme) for name in ("ArgMax", "ArgMin")),
    Operator("TopK", "reduction", (STATIC, types(_NUMBERS, 0)), build_top_k),
    *(
        Operator(name, "reduction", (STATIC, types(_NUMBERS, 0), types(INDEX_TYPES, 1)), build_running)
        for name in ("CumSum", "CumProd")
    ),
)
