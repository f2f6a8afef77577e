"""Operators on single elements: arithmetic, comparisons, logic, casts, requantisation."""

from __future__ import annotations

from match_core.contract.node_rule import NodeRule

from match_host.kernels.elementwise.loop import build_elementwise
from match_host.kernels.elementwise.scalar_table import SCALAR_OPS
from match_host.kernels.scalar import SMALL, STORED_TYPES, ScalarOp
from match_host.operator import Operator
from match_host.rules import ONE_OUTPUT, STATIC, all_types, types


def _scalar_rules(op: ScalarOp) -> tuple[NodeRule, ...]:
    own = op.types if "float32" not in op.types or "Linear" in op.name else (*op.types, *SMALL)
    return (STATIC, ONE_OUTPUT, all_types(STORED_TYPES), types(own, op.data), *op.rules)


#: Operators of regions that are movements where they stand alone.
_MOVED = ("Expand",)
ELEMENTWISE: tuple[Operator, ...] = tuple(
    Operator(op.name, "elementwise", _scalar_rules(op), build_elementwise)
    for op in SCALAR_OPS.values()
    if op.name not in _MOVED
)
