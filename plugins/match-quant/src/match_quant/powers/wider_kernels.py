"""Adds zero taps to kernels of convolutions whose sides or padding a unit does not support.

Units pad left and right alike, and have a few sides of kernels. A kernel of side 3
with stride 2 and paddings 0 and 1, as TensorFlow makes it, is one of side 5 with padding 2 whose first two taps are 0.
Results are the same, bit for bit. Only layers that the unit supports otherwise are changed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model, qualified_op
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.geometry import conv_geometry
from match_core.ir.reader import constant, shape_of

from match_quant.powers.kernels import ShiftUnit

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def run(unit: ShiftUnit, model: Model, context: PassContext) -> Model:
    """Widen every convolution that needs it."""
    editor = Editor(model)
    changed = [_widen(editor, node, unit) for node in editor.graph.nodes if qualified_op(node) == "ConvInteger"]
    return editor.finish() if any(changed) else model


def _widen(editor: Editor, node: gs.Node, unit: ShiftUnit) -> bool:
    weight = constant(node.inputs[1])
    if weight is None or weight.ndim != 4 or not is_shifted(node):
        return False
    _, inputs, height, width = shape_of(node.inputs[0])
    old = conv_geometry(node)
    wide = unit.wider(old, (height, width), (inputs, weight.shape[0]))
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
    """Whether a unit with shifts could take the layer: int8, and sums that are requantised by a shift alone to its
    bounds. (Analog converters have others, and padding of their own.)"""
    readers = node.outputs[0].outputs
    if len(readers) != 1 or qualified_op(readers[0]) != "match.arith::RequantI8":
        return False
    multiplier, low, high = (constant(readers[0].inputs[position]) for position in (1, 4, 5))
    if multiplier is None or low is None or high is None or int(low.reshape(-1)[0]) not in (-128, 0):
        return False
    one = bool(np.all(np.asarray(multiplier) == 1)) and int(high.reshape(-1)[0]) == 127
    return one and all(np.dtype(tensor.dtype) == np.int8 for tensor in node.inputs[:2])


def symmetric_padding(unit: ShiftUnit) -> Pass:
    """The pass for a unit."""
    return Pass(
        f"{unit.name}_symmetric_padding",
        Phase.TARGET,
        partial(run, unit),
        "kernels get zero taps where the unit lacks their sides or unequal padding",
        after=(f"{unit.name}_shift",),
        optional=True,
    )
