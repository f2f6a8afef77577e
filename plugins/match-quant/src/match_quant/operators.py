"""Whether a pass has anything to do: most models lack the operators of most passes, and copies of graphs are slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.model import Model


def has_operator(model: Model, *operators: str) -> bool:
    """Whether the graph has a node of one of these operators, in any domain."""
    return any(node.op in operators for node in model.graph.nodes)
