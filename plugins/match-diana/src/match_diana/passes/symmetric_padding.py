"""Adds zero taps to kernels of convolutions whose sides or padding the digital array does not support.

The array pads left and right alike, and its kernel sides are 1, 3, 5 and 7 (diana.md section 2.2). A kernel of side 3
with stride 2 and paddings 0 and 1, as TensorFlow makes it, is one of side 5 with padding 2 whose first two taps are 0.
Results are the same, bit for bit. Only layers that the array supports otherwise are changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core import Model, Pass, PassContext, Phase
from match_core.contract.model import qualified_op
from match_core.ir.editor import Editor
from match_core.ir.geometry import conv_geometry
from match_core.ir.reader import constant, shape_of

from match_diana.passes.symmetric_padding_rule import wider_kernel

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def run(model: Model, context: PassContext) -> Model:
    """Widen every convolution that needs it."""
    editor = Editor(model)
    changed = [_widen(editor, node) for node in editor.graph.nodes if qualified_op(node) == "ConvInteger"]
    return editor.finish() if any(changed) else model


def _widen(editor: Editor, node: gs.Node) -> bool:
    weight = constant(node.inputs[1])
    if weight is None or weight.ndim != 4 or not is_shifted(node):
        return False
    _, inputs, height, width = shape_of(node.inputs[0])
    old = conv_geometry(node)
    wide = wider_kernel(old, (height, width), (inputs, weight.shape[0]))
    if wide is None:
        return False
    added = tuple((side.before, side.after) for side in (wide.rows, wide.columns))
    if wide.pads == old.pads and not any(map(any, added)):
        return False
    taps = np.pad(weight, ((0, 0), (0, 0), *added))
    node.inputs[1] = editor.constant(f"{node.name}_weight", taps)
    node.attrs = {**old.attributes(wide.pads), "kernel_shape": list(taps.shape[2:])}
    return True


def is_shifted(node: gs.Node) -> bool:
    """Whether the array could take the layer: int8, and sums that are requantised by a shift alone to its bounds.
    (Converters of the analog array have others, and padding of their own.)"""
    readers = node.outputs[0].outputs
    if len(readers) != 1 or qualified_op(readers[0]) != "match.arith::RequantI8":
        return False
    multiplier, low, high = (constant(readers[0].inputs[position]) for position in (1, 4, 5))
    if multiplier is None or low is None or high is None or int(low.reshape(-1)[0]) not in (-128, 0):
        return False
    one = bool(np.all(np.asarray(multiplier) == 1)) and int(high.reshape(-1)[0]) == 127
    return one and all(np.dtype(tensor.dtype) == np.int8 for tensor in node.inputs[:2])


SYMMETRIC_PADDING = Pass(
    "diana_symmetric_padding",
    Phase.TARGET,
    run,
    "kernels get zero taps where the digital array lacks their sides or unequal padding",
    after=("diana_shift",),
    optional=True,
)
