"""The title of a task in comments and tables: the source nodes that say what it computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from match_core.contract.mapping import Assignment
    from match_core.contract.model import Model

#: Operators that only convert or move values.
SILENT = frozenset(
    ("DequantizeLinear", "QuantizeLinear", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Identity")
)
_NAMES_MAX = 4


def source_operators(source: Model) -> dict[str, str]:
    """The operator of every node of the loaded model, by the name that provenance uses."""
    return {name: node.op for node in source.graph.nodes for name in source.origin([node])}


def task_title(model: Model, operators: Mapping[str, str], assignment: Assignment) -> str:
    """The source nodes of a task, without those that only convert or move values if others are left; raw names, not yet
    safe for C. The title of a task that the compiler inserted says what it does to which tensor."""
    nodes = assignment.candidate.match.nodes
    origin = model.origin(nodes)
    telling = [name for name in origin if operators.get(name) not in SILENT] or list(origin)
    if not telling:
        return f"{nodes[-1].op} of {nodes[0].inputs[0].name} (inserted)"
    more = f" and {len(telling) - _NAMES_MAX} more" if len(telling) > _NAMES_MAX else ""
    return ", ".join(telling[:_NAMES_MAX]) + more
