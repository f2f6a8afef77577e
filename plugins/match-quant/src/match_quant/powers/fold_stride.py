"""Turns convolutions of stride 2 with large kernels into convolutions of stride 1 with kernels of half the sides.

With stride 2, every window begins at an even
element, so even and odd rows and columns can become separate channels: a 10x4 kernel on one
channel is a 5x2 kernel on four. Results are the same, bit for bit; the host moves the input.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model, qualified_op
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.geometry import ConvGeometry, conv_geometry
from match_core.ir.reader import constant, shape_of
from numpy.typing import NDArray

from match_quant.powers.kernels import ShiftUnit, Side
from match_quant.powers.wider_kernels import is_shifted

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True)
class FoldedKernel:
    """``kernel`` sides of the convolution of stride 1, and ``pads`` (top, left, bottom, right) of the input that make
    its sides even and hold the old padding."""

    kernel: tuple[int, int]
    pads: tuple[int, int, int, int]


def folded_kernel(
    unit: ShiftUnit, geometry: ConvGeometry, size: tuple[int, int], channels: tuple[int, int]
) -> FoldedKernel | None:
    """The folded form of a convolution that the unit has not, where it has that; else None. ``size``: rows and columns
    of the input; ``channels``: of input and output."""
    plain = unit.folds and geometry.group == 1 and geometry.strides == (2, 2) and geometry.dilations == (1, 1)
    if not plain or unit.wider(geometry, size, channels) is not None:
        return None
    sides = [Side(size[axis], geometry.kernel[axis], 2, *geometry.pads[axis::2]) for axis in (0, 1)]
    kernel = (-(-sides[0].kernel // 2), -(-sides[1].kernel // 2))
    halves = tuple(side.outputs + half - 1 for side, half in zip(sides, kernel, strict=True))
    ends = [2 * half - side.begin - side.size for half, side in zip(halves, sides, strict=True)]
    folded = ConvGeometry(kernel, (1, 1), (1, 1), (0, 0, 0, 0))
    if min(ends) < 0 or unit.wider(folded, (halves[0], halves[1]), (4 * channels[0], channels[1])) is None:
        return None
    return FoldedKernel(kernel, (sides[0].begin, sides[1].begin, ends[0], ends[1]))


def run(unit: ShiftUnit, model: Model, context: PassContext) -> Model:
    """Fold every convolution that needs it."""
    editor = Editor(model)
    changed = [_fold(editor, node, unit) for node in list(editor.graph.nodes) if qualified_op(node) == "ConvInteger"]
    return editor.finish() if any(changed) else model


def _fold(editor: Editor, node: gs.Node, unit: ShiftUnit) -> bool:
    weight = constant(node.inputs[1])
    if weight is None or weight.ndim != 4 or not is_shifted(node):
        return False
    x = node.inputs[0]
    _, inputs, height, width = shape_of(x)
    found = folded_kernel(unit, conv_geometry(node), (height, width), (inputs, weight.shape[0]))
    if found is None:
        return False
    node.inputs = [_folded(editor, node, x, found), editor.constant(f"{node.name}_weight", _taps(weight, found))]
    node.attrs = ConvGeometry(found.kernel, (1, 1), (1, 1), (0, 0, 0, 0)).attributes()
    return True


def _taps(weight: NDArray[np.generic], found: FoldedKernel) -> NDArray[np.generic]:
    """Weights [K, 4 C, ...]: four channels for the rows and columns of either kind."""
    outputs, inputs, *sides = weight.shape
    added = [(0, 2 * half - side) for half, side in zip(found.kernel, sides, strict=True)]
    whole = np.pad(weight, ((0, 0), (0, 0), *added))
    parts = whole.reshape(outputs, inputs, found.kernel[0], 2, found.kernel[1], 2).transpose(0, 1, 3, 5, 2, 4)
    return np.ascontiguousarray(parts).reshape(outputs, 4 * inputs, *found.kernel)


def _folded(editor: Editor, node: gs.Node, x: gs.Tensor, found: FoldedKernel) -> gs.Variable:
    """The input [1, 4 C, H / 2, W / 2]."""
    name, origin = f"{node.name}_fold", editor.origin(node)
    _, channels, height, width = shape_of(x)
    top, left, bottom, right = found.pads
    rows, columns = (height + top + bottom) // 2, (width + left + right) // 2
    if any(found.pads):
        amounts = editor.constant(f"{name}_pads", np.array([0, 0, top, left, 0, 0, bottom, right], np.int64))
        value = editor.constant(f"{name}_value", np.array(0, np.int8))
        padded = (1, channels, 2 * rows, 2 * columns)
        x = editor.node("Pad", [x, amounts, value], np.int8, padded, name=f"{name}_pad", origin=origin)
    split = _reshaped(editor, x, (channels, rows, 2, columns, 2), f"{name}_split", origin)
    perm = {"perm": [0, 2, 4, 1, 3]}
    apart = (channels, 2, 2, rows, columns)
    parts = editor.node("Transpose", [split], np.int8, apart, name=f"{name}_parts", origin=origin, attrs=perm)
    return _reshaped(editor, parts, (1, 4 * channels, rows, columns), f"{name}_joined", origin)


def _reshaped(editor: Editor, x: gs.Tensor, shape: tuple[int, ...], name: str, origin: tuple[str, ...]) -> gs.Variable:
    target = editor.constant(f"{name}_shape", np.array(shape, np.int64))
    return editor.node("Reshape", [x, target], np.int8, shape, name=name, origin=origin)


def fold_stride(unit: ShiftUnit) -> Pass:
    """The pass for a unit."""
    return Pass(
        f"{unit.name}_fold_stride",
        Phase.TARGET,
        partial(run, unit),
        "convolutions of stride 2 with sides beyond the unit's become those of stride 1 with half the sides",
        before=(f"{unit.name}_symmetric_padding",),
        after=(f"{unit.name}_shift",),
        optional=True,
    )
