"""Reductions, extremes with their places, and running sums."""

from __future__ import annotations

from match_core.host.kernels.computed import build_running
from match_core.host.kernels.indexed import INDEX_TYPES
from match_core.host.kernels.lines import build_top_k
from match_core.host.kernels.reduce import INTEGER_REDUCTIONS, REDUCTIONS, build_reduce
from match_core.host.kernels.scalar import FLOATS, NUMBERS, SMALL
from match_core.host.kernels.select import build_arg_extreme
from match_core.host.operator import Operator
from match_core.host.rules import STATIC, types

REDUCTION: tuple[Operator, ...] = (
    *(
        Operator(
            name,
            "reduction",
            (STATIC, types(NUMBERS if name in INTEGER_REDUCTIONS else FLOATS, 0), types(INDEX_TYPES, 1)),
            build_reduce,
        )
        for name in REDUCTIONS
    ),
    *(Operator(name, "reduction", (STATIC, types(NUMBERS, 0)), build_arg_extreme) for name in ("ArgMax", "ArgMin")),
    Operator("TopK", "reduction", (STATIC, types((*NUMBERS, *SMALL), 0)), build_top_k),
    *(
        Operator(name, "reduction", (STATIC, types(NUMBERS, 0), types(INDEX_TYPES, 1)), build_running)
        for name in ("CumSum", "CumProd")
    ),
)
