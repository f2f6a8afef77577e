"""Nodes that no graph output depends on go."""

from __future__ import annotations

from match_core.ir.editor import Editor
from match_core.ir.model import Model
from match_core.transforms.base import Pass, PassContext, Phase


def run(model: Model, context: PassContext) -> Model:
    """Remove them; graph inputs stay, used or not, because they are the model's interface."""
    return Editor(model).finish()


REMOVE_DEAD_NODES = Pass(
    "remove_dead_nodes", Phase.CLEAN, run, "nodes that no output depends on are removed", before=("fold_constants",)
)
