"""Poolings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.node_rule import NodeRule

from match_host.graph import integer
from match_host.kernels.movement.unpool import build_max_unpool
from match_host.kernels.reduction.pool import build_pool
from match_host.kernels.scalar import ANY_FLOATS
from match_host.operator import BYTES, Operator
from match_host.rules import ONE_OUTPUT, STATIC, rank, types

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _exponent(node: gs.Node) -> str | None:
    p = integer(node, "p", 2)
    return None if p > 0 else f"p is {p}"


EXPONENT = NodeRule("exponent", "the norm's exponent p is positive", _exponent)
_MAX = types((*ANY_FLOATS, *BYTES), 0)

POOLING: tuple[Operator, ...] = (
    Operator("MaxPool", "pooling", (STATIC, rank(3, 4, 5), _MAX), build_pool),
    *(
        Operator(name, "pooling", (STATIC, ONE_OUTPUT, rank(3, 4, 5), _MAX), build_pool)
        for name in ("match.nhwc::MaxPool", "GlobalMaxPool")
    ),
    *(
        Operator(name, "pooling", (STATIC, rank(3, 4, 5), types(("int16",), 0)), build_pool)
        for name in ("match.arith::MaxPoolI16", "match.nhwc::MaxPoolI16")
    ),
    *(
        Operator(name, "pooling", (STATIC, rank(3, 4, 5), types(ANY_FLOATS, 0)), build_pool)
        for name in ("AveragePool", "match.nhwc::AveragePool", "GlobalAveragePool")
    ),
    *(
        Operator(name, "pooling", (STATIC, rank(3, 4, 5), types(ANY_FLOATS, 0), EXPONENT), build_pool)
        for name in ("LpPool", "GlobalLpPool")
    ),
    Operator("MaxUnpool", "pooling", (STATIC, rank(3, 4, 5), types(ANY_FLOATS, 0)), build_max_unpool),
)
