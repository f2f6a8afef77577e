"""Operators whose number of results depends on the data; the model states a size for them."""

from __future__ import annotations

from match_host.kernels.elementwise.bounded import (
    build_compress,
    build_non_max_suppression,
    build_non_zero,
    build_unique,
)
from match_host.kernels.scalar import ALL_TYPES, SMALL, STORED_TYPES
from match_host.operator import Operator
from match_host.rules import STATIC, rank, types

BOUNDED: tuple[Operator, ...] = (
    Operator("Compress", "selection", (STATIC, types(STORED_TYPES, 0), types(("bool",), 1)), build_compress),
    Operator("NonZero", "selection", (STATIC, rank(*range(1, 10)), types((*ALL_TYPES, *SMALL), 0)), build_non_zero),
    Operator("Unique", "selection", (STATIC, types((*ALL_TYPES, *SMALL), 0)), build_unique),
    Operator(
        "NonMaxSuppression",
        "selection",
        (STATIC, types(("float32",), 0, 1, 3, 4), types(("int64",), 2)),
        build_non_max_suppression,
    ),
)
