"""Splits an 8-bit tensor by one Slice for each part: the DMA copies parts, and layouts and patterns follow a Slice."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from match_core import Model, Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import shape_of

_BYTES = (np.dtype(np.int8), np.dtype(np.uint8))


def run(model: Model, context: PassContext) -> Model:
    """Rewrite every Split of 8-bit values."""
    if not any(node.op == "Split" for node in model.graph.nodes):
        return model
    editor = Editor(model)
    for node in list(editor.graph.nodes):
        x = node.inputs[0] if node.op == "Split" and not node.domain else None
        if x is None or x.dtype is None or np.dtype(x.dtype) not in _BYTES:
            continue
        axis = int(node.attrs.get("axis", 0)) % len(shape_of(x))
        outputs, origin = list(node.outputs), editor.origin(node)
        ends = list(accumulate(shape_of(output)[axis] for output in outputs))
        for number, (old, end) in enumerate(zip(outputs, ends, strict=True)):
            name = f"{node.name}_{number}"
            bounds = (("start", end - shape_of(old)[axis]), ("end", end), ("axis", axis))
            constants = [editor.constant(f"{name}_{what}", np.array([value], np.int64)) for what, value in bounds]
            part = editor.node("Slice", [x, *constants], x.dtype, shape_of(old), name=name, origin=origin)
            editor.replace(old, part)
    return editor.finish()


SPLIT_SLICES = Pass(
    "gap9_split_slices",
    Phase.INTEGER,
    run,
    "a Split of 8-bit values becomes a Slice for each part",
    after=("integerise", "unsigned_activations"),
)
