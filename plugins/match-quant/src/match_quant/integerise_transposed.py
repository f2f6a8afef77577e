"""Quantised transposed convolution -> one convolution without stride for each phase of the result.

With stride s, place ``q s + r`` of the result (before its padding is cut off) reads the inputs ``q - j`` with the taps
``j s + r``. So the results of one phase r are a convolution of the input, whose kernel holds every s-th tap. Without
groups, all phases are output channels of one convolution; the channels of a place are then moved to their places.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.geometry import ConvGeometry, transposed_pads
from match_core.ir.reader import Site, attribute_ints, producer, shape_of
from numpy.typing import NDArray

from match_quant.expectation import Expectation
from match_quant.integer_graph import IntegerGraph
from match_quant.integerise_conv import Filters, append_layer, operands
from match_quant.nodes import append, reshape

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def transposed_convolution(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """ConvTranspose with quantised input and weights, and one or two spatial axes."""
    node = site.op
    if node.op != "ConvTranspose" or len(site.real_shape) not in (3, 4):
        return None
    groups = int(node.attrs.get("group", 1))
    given = operands(graph, site, channel_axis=1)
    if given is None:
        return None
    x, quant, weight = given.x, given.quant, given.weight
    axes = _axes(node)
    makers = [maker for tensor in node.inputs[1:] if (maker := producer(tensor)) is not None]
    origin, result_origin = graph.editor.origin(given.dequantize, *makers, node), graph.editor.origin(*site.nodes)
    if len(axes) == 1:
        x = graph.reshaped(x, (*shape_of(x)[:2], 1, shape_of(x)[2]), f"{node.name}_row", origin)
        axes = [_Axis(1, 1, 1, 1, 1, 0), *axes]
    rows, columns = axes
    scale = np.broadcast_to(weight.scale.reshape(-1), (weight.values.shape[1],))
    taps = _phases(weight.values.reshape(*weight.values.shape[:2], rows.taps, columns.taps), groups, rows, columns)
    geometry = ConvGeometry(
        (rows.window, columns.window), (1, 1), (1, 1), (rows.before, columns.before, rows.after, columns.after), groups
    )
    count, outputs = taps.shape[0], taps.shape[1]
    parts = [taps.reshape(-1, *taps.shape[2:])] if groups == 1 else list(taps)
    results = []
    for index, part in enumerate(parts):
        times = part.shape[0] // outputs
        filters = Filters(part, np.tile(scale, times * groups), np.tile(given.bias, times))
        image = (shape_of(x)[0], part.shape[0], rows.blocks, columns.blocks)
        name = node.name if groups == 1 else f"{node.name}_phase{index}"
        results.append(append_layer(graph, site, x, quant, filters, geometry, image, (name, origin, result_origin)))
    known = _merged([graph.expectation(result) for result in results], count, outputs)
    result = _interleaved(graph, results, rows, columns, outputs, node.name, result_origin)
    graph.expect(result, known)
    shape = site.real_shape
    return result if len(shape) == 4 else graph.reshaped(result, shape, f"{node.name}_rows", result_origin)


class _Axis:
    """One spatial axis: ``window`` taps of each phase; ``blocks`` of ``stride`` results each are computed from the
    input with padding ``before`` and ``after``, and ``first`` results of them are cut off."""

    def __init__(self, size: int, out: int, taps: int, stride: int, dilation: int, pad: int) -> None:
        self.taps, self.stride, self.dilation, self.out = taps, stride, dilation, out
        self.window = -(-((taps - 1) * dilation + 1) // stride)
        start = min(pad // stride, self.window - 1)
        stop = max((pad + out - 1) // stride, size - 1)
        self.before, self.after = self.window - 1 - start, stop - (size - 1)
        self.blocks = stop - start + 1
        self.first = pad - start * stride

    def tap(self, phase: int, place: int) -> int | None:
        """The tap at a place of a phase's window; None if there is none."""
        reach = phase + self.stride * (self.window - 1 - place)
        whole = reach % self.dilation == 0 and reach // self.dilation < self.taps
        return reach // self.dilation if whole else None


def _axes(node: gs.Node) -> list[_Axis]:
    sizes, outs, kernel = (shape_of(tensor)[2:] for tensor in (node.inputs[0], node.outputs[0], node.inputs[1]))
    one = [1] * len(sizes)
    strides, dilations = attribute_ints(node, "strides", one), attribute_ints(node, "dilations", one)
    given = zip(sizes, outs, kernel, strides, dilations, transposed_pads(node), strict=True)
    return [_Axis(*numbers) for numbers in given]


def _phases(weight: NDArray[np.int64], groups: int, rows: _Axis, columns: _Axis) -> NDArray[np.int64]:
    """[phases, outputs, inputs / group, rows, columns] from [inputs, outputs / group, rows, columns]."""
    inputs, outputs = weight.shape[0] // groups, weight.shape[1]
    turned = weight.reshape(groups, inputs, outputs, rows.taps, columns.taps).transpose(0, 2, 1, 3, 4)
    turned = turned.reshape(groups * outputs, inputs, rows.taps, columns.taps)
    shape = (rows.stride, columns.stride, groups * outputs, inputs, rows.window, columns.window)
    result = np.zeros(shape, np.int64)
    for r, c, y, x in np.ndindex(rows.stride, columns.stride, rows.window, columns.window):
        row, column = rows.tap(r, y), columns.tap(c, x)
        if row is not None and column is not None:
            result[r, c, :, :, y, x] = turned[:, :, row, column]
    return result.reshape(-1, *shape[2:])


def _merged(parts: list[Expectation], count: int, outputs: int) -> Expectation:
    """The expectation of all phases together, per channel."""
    lo, hi, mean, sd = (
        np.concatenate([getattr(part, name) for part in parts]).reshape(count, outputs)
        for name in ("lo", "hi", "mean", "sd")
    )
    spread = np.sqrt(np.square(sd).mean(axis=0) + mean.var(axis=0))
    return replace(parts[0], lo=lo.min(axis=0), hi=hi.max(axis=0), mean=mean.mean(axis=0), sd=spread)


def _interleaved(
    graph: IntegerGraph,
    parts: list[gs.Variable],
    rows: _Axis,
    columns: _Axis,
    channels: int,
    name: str,
    origin: tuple[str, ...],
) -> gs.Variable:
    """The phases at their places, without the results that padding cuts off. Channels are last meanwhile: most units
    store activations this way, so that the outer transposes vanish."""
    editor, batch, count = graph.editor, shape_of(parts[0])[0], rows.stride * columns.stride
    last = (batch, rows.blocks, columns.blocks, count * channels)
    moved = [
        append(editor, "Transpose", [part], (*last[:3], shape_of(part)[1]), f"{name}_last", origin, perm=[0, 2, 3, 1])
        for part in parts
    ]
    x = moved[0] if len(moved) == 1 else append(editor, "Concat", moved, last, f"{name}_phases", origin, axis=3)
    full = (batch, rows.blocks * rows.stride, columns.blocks * columns.stride, channels)
    if count > 1:
        split = (batch, rows.blocks, columns.blocks, rows.stride, columns.stride, channels)
        order = [0, 1, 3, 2, 4, 5]
        x = reshape(editor, x, split, f"{name}_blocks", origin)
        x = append(editor, "Transpose", [x], [split[axis] for axis in order], f"{name}_places", origin, perm=order)
        x = reshape(editor, x, full, f"{name}_image", origin)
    cut = (batch, rows.out, columns.out, channels)
    if cut != full:
        starts, ends = (rows.first, columns.first), (rows.first + rows.out, columns.first + columns.out)
        bounds = [editor.constant(f"{name}_cut", np.array(values, np.int64)) for values in (starts, ends, (1, 2))]
        x = append(editor, "Slice", [x, *bounds], cut, f"{name}_inside", origin)
    shape = (batch, channels, rows.out, columns.out)
    return append(editor, "Transpose", [x], shape, f"{name}_first", origin, perm=[0, 3, 1, 2])
