"""Turns convolutions into linear layers of gathered rows, because ITA only multiplies matrices.

Two kinds: 1-D convolutions (one row of the feature map, windows may overlap), and those of whole patches (the stride is
the kernel's size, as at the start of vision transformers). Others stay on the cores: gathering overlapping 2-D windows
would take too much memory. Their results are [positions, channels]; if the model itself transposes to this order, the
two Transposes cancel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core import Model, Pass, PassContext, Phase
from match_core.contract.model import qualified_op
from match_core.ir.editor import Editor
from match_core.ir.geometry import ConvGeometry, conv_geometry
from match_core.ir.reader import constant, optional_input, producer, shape_of
from match_quant.linear.layers import Ints, is_private

from match_ita.passes.convolution_rows import known_rows, rows_of
from match_ita.passes.nodes import Label, Origin, padded, product, reshaped, sliced, transposed

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True)
class Convolution:
    """ConvInteger and the RequantI8 after it. ``x`` [1, C, H, W] is its input before the Pad; ``pads`` (top, left,
    bottom, right) with ``pad_value`` are those of the Pad."""

    conv: gs.Node
    requant: gs.Node
    x: gs.Tensor
    weight: Ints
    geometry: ConvGeometry
    pads: tuple[int, ...]
    pad_value: int


def run(model: Model, context: PassContext) -> Model:
    """Rewrite every such convolution, then the Transposes after them."""
    editor = Editor(model)
    changed = False
    for node in list(editor.graph.nodes):
        found = _convolution(editor, node)
        if found is None:
            continue
        if _is_row(found):
            _as_linear(editor, found, *_windows(editor, found))
        elif _is_patches(found):
            _as_linear(editor, found, *_patches(editor, found))
        else:
            continue
        changed = True
    if not changed:
        return model
    for node in list(editor.graph.nodes):
        _cancel(editor, node)
    return editor.finish()


def _convolution(editor: Editor, requant: gs.Node) -> Convolution | None:
    if qualified_op(requant) != "match.arith::RequantI8":
        return None
    conv, outputs = producer(requant.inputs[0]), editor.graph.outputs
    if conv is None or qualified_op(conv) != "ConvInteger" or not is_private(requant.inputs[0], outputs):
        return None
    weight, x = constant(conv.inputs[1]), conv.inputs[0]
    if weight is None or weight.ndim != 4 or x.dtype != np.int8 or weight.dtype != np.int8:
        return None
    zeros = [optional_input(conv, position) for position in (2, 3)]
    geometry = conv_geometry(conv)
    if any(zero is not None for zero in zeros) or geometry.group != 1:
        return None
    values = [np.asarray(constant(tensor)) for tensor in requant.inputs[1:3]]
    if any(value.size > 1 and (value.ndim < 3 or value.size != value.shape[-3]) for value in values):
        return None  # constants that differ along other axes than channels
    before, pads, value = producer(x), geometry.pads, 0
    if before is not None and before.op == "Pad" and not any(pads) and (amounts := _spatial_pad(before)) is not None:
        x, (pads, value) = before.inputs[0], amounts
    return Convolution(conv, requant, x, weight.astype(np.int64), geometry, pads, value)


def _spatial_pad(pad: gs.Node) -> tuple[tuple[int, ...], int] | None:
    """Amounts (top, left, bottom, right) and value of a Pad of a feature map; None for other Pads."""
    amounts, value = constant(pad.inputs[1]), optional_input(pad, 2)
    if amounts is None or amounts.size != 8 or pad.attrs.get("mode", "constant") != "constant":
        return None
    known = constant(value) if value is not None else np.array(0)
    begins, ends = amounts[:4].astype(int), amounts[4:].astype(int)
    if known is None or optional_input(pad, 3) is not None or amounts.min() < 0 or any((*begins[:2], *ends[:2])):
        return None
    return (int(begins[2]), int(begins[3]), int(ends[2]), int(ends[3])), int(known.reshape(-1)[0])


def _is_row(found: Convolution) -> bool:
    """Whether height is 1 everywhere."""
    return int(found.x.shape[2]) == 1 and found.geometry.kernel[0] == 1 and found.pads[0] == found.pads[2] == 0


def _is_patches(found: Convolution) -> bool:
    """Whether each pixel belongs to at most one window, and rows of pixels divide into windows evenly."""
    geometry = found.geometry
    whole = not any(found.pads) and set(geometry.dilations) == {1} and geometry.kernel == geometry.strides
    return whole and int(found.x.shape[3]) % geometry.kernel[1] == 0


def _windows(editor: Editor, found: Convolution) -> tuple[gs.Tensor, Ints]:
    """Rows of a 1-D convolution [T', taps * C] and its weights [taps * C, K]."""
    name, origin, geometry = found.conv.name, editor.origin(found.conv), found.geometry
    rows = rows_of(editor, found.x, name, origin)
    channels = shape_of(rows)[1]
    taps, step, gap = geometry.kernel[1], geometry.strides[1], geometry.dilations[1]
    rows = padded(editor, rows, 0, (found.pads[1], found.pads[3]), f"{name}_pad", origin, found.pad_value)
    windows = shape_of(found.conv.outputs[0])[3]
    index = np.arange(windows)[:, None] * step + np.arange(taps)[None, :] * gap
    weight = found.weight[:, :, 0, :].transpose(2, 1, 0).reshape(taps * channels, -1)
    return _gathered(editor, rows, index, name, origin), weight


def _patches(editor: Editor, found: Convolution) -> tuple[gs.Tensor, Ints]:
    """Rows of patches [H' * W', C * kernel] and weights [C * kernel, K]: the image with its axes in another order."""
    name, origin = found.conv.name, editor.origin(found.conv)
    height, width = found.geometry.kernel
    _, channels, rows, columns = shape_of(found.x)
    across, down = columns // width, rows // height
    whole = found.x
    if down * height < rows:  # the last rows belong to no patch
        planes = reshaped(editor, whole, (channels, rows * columns), f"{name}_planes", origin)
        whole = sliced(editor, planes, 0, down * height * columns, f"{name}_whole", origin)
    pieces = reshaped(editor, whole, (channels, down, height, across, width), f"{name}_pieces", origin)
    turned = transposed(editor, pieces, (1, 3, 0, 2, 4), f"{name}_patches", origin)
    weight = found.weight.reshape(found.weight.shape[0], -1).T
    return reshaped(editor, turned, (down * across, channels * height * width), f"{name}_windows", origin), weight


def _gathered(editor: Editor, rows: gs.Tensor, index: Ints, name: str, origin: Origin) -> gs.Tensor:
    """Each row of ``index`` [T, n] names rows [.., C] that lie behind each other in a row of the result [T, n * C]."""
    count, channels = shape_of(rows)
    many, taps = index.shape
    if taps == 1 and np.array_equal(index[:, 0], np.arange(count)):
        return rows
    given = [rows, editor.constant(f"{name}_index", index.astype(np.int64))]
    shape = (many, taps, channels)
    taken = editor.node("Gather", given, np.int8, shape, name=f"{name}_gather", origin=origin, attrs={"axis": 0})
    return reshaped(editor, taken, (many, taps * channels), f"{name}_windows", origin)


def _as_linear(editor: Editor, found: Convolution, rows: gs.Tensor, weight: Ints) -> None:
    """MatMulInteger and RequantI8 of the rows, transposed back to [1, K, H', W']."""
    conv, requant, old = found.conv, found.requant, found.requant.outputs[0]
    stored = editor.constant(f"{conv.name}_weight", np.ascontiguousarray(weight).astype(np.int8))
    constants = list(requant.inputs[1:])
    for position in (0, 1):
        values = np.asarray(constant(constants[position]))
        if values.size > 1:
            hint = constants[position].name
            constants[position] = editor.constant(hint, values.reshape(1, -1))
    origin, name = editor.origin(requant), requant.name
    result = product(editor, rows, stored, constants, Label(conv.name, editor.origin(conv)), Label(name, origin))
    back = transposed(editor, result, (1, 0), f"{name}_turned", origin)
    editor.replace(old, reshaped(editor, back, shape_of(old), f"{name}_map", origin))


def _cancel(editor: Editor, node: gs.Node) -> None:
    """A Transpose [1, C, T] to [1, T, C] of what was made from rows is a Reshape of them."""
    if qualified_op(node) != "Transpose" or list(node.attrs.get("perm", [])) != [0, 2, 1]:
        return
    rows = known_rows(editor, node.inputs[0])
    if rows is None:
        return
    old = node.outputs[0]
    editor.replace(old, reshaped(editor, rows, shape_of(old), f"{node.name}_rows", editor.origin(node)))


CONVOLUTION = Pass(
    "ita_convolution", Phase.TARGET, run, "1-D convolutions and those of patches become linear layers of gathered rows"
)
