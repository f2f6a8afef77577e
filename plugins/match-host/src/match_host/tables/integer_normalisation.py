"""Integer softmax and normalisations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.node_rule import NodeRule

from match_host.graph import constant_at
from match_host.kernels.reduction.integer_lines import (
    GROUPS,
    LEVELS,
    NORM_PARAMETERS,
    build_integer_norm,
    build_shift_softmax,
    build_softmax_floor,
)
from match_host.kernels.reduction.layer_norm_requant import REQUANT_NUMBERS, build_layer_norm_requant
from match_host.kernels.reduction.softmax import build_integer_softmax
from match_host.operator import BYTES, Operator
from match_host.rules import STATIC, constants, types

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _scalars(node: gs.Node) -> str | None:
    for index in range(2, 6):
        values = constant_at(node, index)
        if values is None or values.size != 1:
            return f"input {index} is not one value"
    table = constant_at(node, 1)
    if table is None or table.size != 256 or int(table.min()) < 0:
        return "the table has negative entries or not 256 entries"
    if int(table.reshape(-1)[0]) <= 0:
        return "the first entry is not positive"
    return None


INTEGER_SOFTMAX = NodeRule("table", "table of 256 entries, the first positive; N, zero, lo, hi single values", _scalars)
#: Input types of integer operators along the last axis: results of requantisation, or sums of them.
_LINES = (types((*BYTES, "int32"), 0),)

INTEGER_NORMALISATION: tuple[Operator, ...] = (
    *(
        Operator(
            f"match.arith::Softmax{suffix}",
            "normalisation",
            (STATIC, types((source,), 0), constants(1, 2, 3, 4, 5), INTEGER_SOFTMAX),
            build_integer_softmax,
        )
        for suffix, source in (("U8", "uint8"), ("I8", "int8"))
    ),
    Operator("match.arith::SoftmaxFloorU8", "normalisation", (STATIC, *_LINES, LEVELS), build_softmax_floor),
    Operator("match.arith::ShiftSoftmaxU8", "normalisation", (STATIC, *_LINES, GROUPS), build_shift_softmax),
    *(
        Operator(f"match.arith::{name}", "normalisation", (STATIC, *_LINES, NORM_PARAMETERS), build_integer_norm)
        for name in ("LayerNormI8", "RmsNormI8")
    ),
    *(
        Operator(
            f"match.arith::LayerNormRequant{suffix}",
            "normalisation",
            (STATIC, types(BYTES, 0), constants(1, 2, 3, 4, 5, 6), REQUANT_NUMBERS),
            build_layer_norm_requant,
        )
        for suffix in ("U8", "I8")
    ),
)
