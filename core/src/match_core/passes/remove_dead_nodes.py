"""Removes nodes that no graph output depends on."""

from __future__ import annotations

from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor


def run(model: Model, context: PassContext) -> Model:
    """Remove them; unused graph inputs stay, because they are part of the model's interface."""
    return Editor(model).finish()


REMOVE_DEAD_NODES = Pass(
    "remove_dead_nodes", Phase.CLEAN, run, "nodes that no output depends on are removed", before=("fold_constants",)
)
