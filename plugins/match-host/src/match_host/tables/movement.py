"""Operators that move, select or repeat elements."""

from __future__ import annotations

from match_core.contract.node_rule import NodeRule

from match_host.kernels.movement.cache import build_tensor_scatter
from match_host.kernels.movement.indexed import (
    INDEX_TYPES,
    JOINS,
    build_gather_elements,
    build_gather_nd,
    build_scatter_elements,
    build_scatter_nd,
)
from match_host.kernels.movement.movement import SAME_BYTES, build_movement
from match_host.kernels.movement.select import build_gather
from match_host.kernels.reduction.lines import (
    build_bit_cast,
    build_eye_like,
    build_one_hot,
    build_reverse_sequence,
    build_trilu,
)
from match_host.kernels.scalar import NUMBERS, STORED_TYPES
from match_host.operator import Operator
from match_host.rules import INFERENCE, ONE_OUTPUT, STATIC, attribute_is, rank, types

PAD_MODE = attribute_is("mode", "constant", "constant", "edge", "reflect", "wrap")
JOINING = attribute_is("reduction", "none", "none", *JOINS)


def _movement(name: str, *rules: NodeRule) -> Operator:
    return Operator(name, "movement", (STATIC, types(STORED_TYPES, 0), *rules), build_movement)


MOVEMENT: tuple[Operator, ...] = (
    Operator("Gather", "movement", (STATIC, types(STORED_TYPES, 0), types(("int32", "int64"), 1)), build_gather),
    *(
        Operator(name, "movement", (STATIC, types(STORED_TYPES, 0), types(INDEX_TYPES, 1)), build)
        for name, build in (("GatherElements", build_gather_elements), ("GatherND", build_gather_nd))
    ),
    *(
        Operator(name, "movement", (STATIC, types(STORED_TYPES, 0), types(INDEX_TYPES, 1), JOINING), build)
        for name, build in (("ScatterElements", build_scatter_elements), ("ScatterND", build_scatter_nd))
    ),
    *(
        Operator(name, "movement", (STATIC, types(STORED_TYPES, *read)), build)
        for name, read, build in (
            ("Trilu", (0,), build_trilu),
            ("EyeLike", (), build_eye_like),
            ("ReverseSequence", (0,), build_reverse_sequence),
            ("BitCast", (0,), build_bit_cast),
        )
    ),
    Operator("OneHot", "movement", (STATIC, types(NUMBERS, 0), types(STORED_TYPES, 2)), build_one_hot),
    *(_movement(name, ONE_OUTPUT, *((INFERENCE,) if name == "Dropout" else ())) for name in SAME_BYTES),
    Operator(
        "TensorScatter",
        "movement",
        (STATIC, types(STORED_TYPES, 0), types(("int64",), 2), attribute_is("mode", "linear", "linear", "circular")),
        build_tensor_scatter,
    ),
    _movement("Transpose"),
    _movement("Slice", types(INDEX_TYPES, 1, 3, 4)),
    _movement("Split"),
    _movement("Concat"),
    _movement("Pad", types(INDEX_TYPES, 1, 3), PAD_MODE),
    _movement("Tile"),
    _movement("Expand"),
    _movement("DepthToSpace", rank(4)),
    _movement("SpaceToDepth", rank(4)),
)
