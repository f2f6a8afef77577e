"""Results saturate to bounds that a unit has; a Clip behind it does the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model, qualified_op
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, shape_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Their last two inputs are the bounds.
_CLIPPING = frozenset(
    f"match.arith::{name}{kind}" for name in ("Requant", "RequantDouble", "AddRequant") for kind in ("I8", "U8")
)
Pairs = tuple[tuple[int, int], ...]


def run(pairs: Pairs, takes: Callable[[gs.Node], bool], model: Model, context: PassContext) -> Model:
    """Widen the bounds of each requantisation that the package wants to the nearest of the ``pairs``."""
    editor = Editor(model)
    nodes = [node for node in editor.graph.nodes if qualified_op(node) in _CLIPPING and takes(node)]
    changed = [_widen(editor, node, pairs) for node in nodes]
    return editor.finish() if any(changed) else model


def _widen(editor: Editor, node: gs.Node, pairs: Pairs) -> bool:
    ends = [constant(tensor) for tensor in node.inputs[-2:]]
    if any(values is None or values.size != 1 for values in ends):
        return False
    low, high = (int(np.asarray(values).reshape(-1)[0]) for values in ends)
    around = [pair for pair in pairs if pair[0] <= low and high <= pair[1]]
    if not around or (low, high) in around:
        return False
    wide, old = min(around, key=lambda pair: (pair[1] - pair[0], pair)), node.outputs[0]
    bounds = [editor.constant(f"{node.name}_bound", np.array(value, np.int64)) for value in wide]
    node.inputs = [*node.inputs[:-2], *bounds]
    limits = [editor.constant(f"{node.name}_limit", np.array(value, old.dtype)) for value in (low, high)]
    origin, shape = editor.origin(node), shape_of(old)
    made = editor.variable(f"{node.name}_saturated", old.dtype, shape)
    node.outputs = [made]
    clipped = editor.node("Clip", [made, *limits], old.dtype, shape, name=f"{node.name}_clip", origin=origin)
    editor.replace(old, clipped)
    return True


def every(node: gs.Node) -> bool:
    """All nodes, whatever the unit."""
    return True


def saturation_bounds(name: str, pairs: Pairs, takes: Callable[[gs.Node], bool] = every) -> Pass:
    """The pass for a unit: ``name`` begins its name, ``pairs`` are ``RequantSpec.bounds``, and ``takes`` says whether
    the unit could run a requantisation."""
    return Pass(
        f"{name}_bounds",
        Phase.TARGET,
        partial(run, pairs, takes),
        "results saturate to bounds that the unit has, and a Clip follows where they are wider than the layer's",
        optional=True,
    )
