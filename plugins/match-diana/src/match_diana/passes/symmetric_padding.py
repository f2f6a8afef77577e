"""Convolutions get kernels with zero taps where the digital array lacks their sides or their padding.

The array pads left and right alike, and its kernel sides are 1, 3, 5 and 7 (diana.md section 2.2). A kernel of side 3
with stride 2 and paddings 0 and 1, as TensorFlow makes it, is one of side 5 with padding 2 whose first two taps are 0.
Results are the same, bit for bit. Only layers that the array could take otherwise are changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core import Model, Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.model import qualified_op
from match_core.transforms.geometry import ConvGeometry, conv_geometry
from match_core.transforms.quant import constant, shape_of

from match_diana.passes.symmetric_padding_rule import Side, WiderSide, widened

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True)
class WiderKernel:
    """Rows and columns of a kernel with their zero taps."""

    rows: WiderSide
    columns: WiderSide


def run(model: Model, context: PassContext) -> Model:
    """Widen every convolution that needs it."""
    editor = Editor(model)
    changed = [_widen(editor, node) for node in editor.graph.nodes if qualified_op(node) == "ConvInteger"]
    return editor.finish() if any(changed) else model


def _widen(editor: Editor, node: gs.Node) -> bool:
    weight = constant(node.inputs[1])
    wide = wider_kernel(conv_geometry(node), shape_of(node.inputs[0])) if weight is not None else None
    if weight is None or wide is None or not _is_shifted(node):
        return False
    old = conv_geometry(node)
    sides = (wide.rows, wide.columns)
    pads = (*(side.side.begin for side in sides), *(side.side.end for side in sides))
    added = tuple((side.before, side.after) for side in sides)
    if pads == old.pads and not any(map(any, added)):
        return False
    taps = np.pad(weight, ((0, 0), (0, 0), *added))
    node.inputs[1] = editor.constant(f"{node.name}_weight", taps)
    node.attrs = {**old.attributes(pads), "kernel_shape": list(taps.shape[2:])}
    return True


def wider_kernel(geometry: ConvGeometry, shape: tuple[int, ...]) -> WiderKernel | None:
    """The kernel of the array that computes the same for an input [1, C, H, W]; None where it has none: other groups,
    strides or dilations than the array's, or sides beyond 7."""
    depthwise = geometry.group == shape[1]
    if len(geometry.kernel) != 2 or not (geometry.group == 1 or depthwise) or geometry.dilations != (1, 1):
        return None
    if geometry.strides not in ((1, 1), (2, 2)):
        return None
    sides = []
    for axis in (0, 1):
        pads = geometry.pads[axis], geometry.pads[axis + 2]
        side = Side(shape[axis + 2], geometry.kernel[axis], geometry.strides[axis], *pads)
        sides.append(widened(side, symmetric=axis == 1))
    if sides[0] is None or sides[1] is None:
        return None
    return WiderKernel(sides[0], sides[1])


def _is_shifted(node: gs.Node) -> bool:
    """Whether the sums are requantised by a shift alone, which is all that the array has."""
    readers = node.outputs[0].outputs
    if len(readers) != 1 or qualified_op(readers[0]) != "match.arith::RequantI8":
        return False
    multiplier = constant(readers[0].inputs[1])
    return multiplier is not None and bool(np.all(np.asarray(multiplier) == 1))


SYMMETRIC_PADDING = Pass(
    "diana_symmetric_padding",
    Phase.TARGET,
    run,
    "kernels get zero taps where the digital array lacks their sides or unequal padding",
    after=("diana_shift",),
    optional=True,
)
