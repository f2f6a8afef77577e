"""Splits requantisation that saturates inside 0 and 255 into a plain one and a Clip.

GAP9's kernels saturate at the ends of uint8. Models with symmetric activations put the zero point in the middle, so
a ReLU saturates at 128; the following Clip is cheap on the cluster, and the convolution stays on the accelerators.
"""

from __future__ import annotations

import numpy as np
from match_core import Model, Pass, PassContext, Phase
from match_core.ir.editor import Editor

_OPERATORS = ("RequantU8", "AddRequantU8")


def run(model: Model, context: PassContext) -> Model:
    """Rewrite every requantisation to uint8 whose bounds are not 0 and 255."""
    if not any(node.op in _OPERATORS for node in model.graph.nodes):
        return model
    editor = Editor(model)
    for node in list(editor.graph.nodes):
        if node.domain != "match.arith" or node.op not in _OPERATORS:
            continue
        low, high = (int(tensor.values) for tensor in node.inputs[-2:])
        if (low, high) == (0, 255):
            continue
        old, name, origin = node.outputs[0], node.name, editor.origin(node)
        whole = [editor.constant(f"{name}_{end}", np.array(value, np.int64)) for end, value in (("lo", 0), ("hi", 255))]
        inputs = [*list(node.inputs)[:-2], *whole]
        wide = editor.node(f"match.arith::{node.op}", inputs, np.uint8, old.shape, name=name, origin=origin)
        limits = [editor.constant(f"{name}_limit", np.array(value, np.uint8)) for value in (low, high)]
        clipped = editor.node("Clip", [wide, *limits], np.uint8, old.shape, name=f"{name}_clip", origin=origin)
        editor.replace(old, clipped)
    return editor.finish()


SPLIT_SATURATION = Pass(
    "gap9_split_saturation",
    Phase.TARGET,
    run,
    "requantisation that saturates inside of uint8 is followed by a Clip",
)
