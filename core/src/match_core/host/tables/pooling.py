"""Poolings."""

from __future__ import annotations

from match_core.host.kernels.pool import build_pool
from match_core.host.kernels.scalar import FLOATS
from match_core.host.operator import BYTES, Operator
from match_core.host.rules import ONE_OUTPUT, STATIC, rank, types

POOLING: tuple[Operator, ...] = (
    *(
        Operator(name, "pooling", (STATIC, ONE_OUTPUT, rank(3, 4, 5), types((*FLOATS, *BYTES), 0)), build_pool)
        for name in ("MaxPool", "match.nhwc::MaxPool", "GlobalMaxPool")
    ),
    *(
        Operator(name, "pooling", (STATIC, rank(3, 4, 5), types(FLOATS, 0)), build_pool)
        for name in ("AveragePool", "match.nhwc::AveragePool", "GlobalAveragePool")
    ),
)
