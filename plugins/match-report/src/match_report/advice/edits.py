"""Edits of one layer that may move it to another unit: sizes, window, padding, groups, types. Each works on its own
graph (``isolate.layer_graph``) and states what it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import onnx_graphsurgeon as gs

from match_report.advice.edit_types import type_edits
from match_report.advice.weights import Linear, linear_of, resized, set_out_channels

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Granularities of channels, rows and columns that suit most units.
GRAINS = (4, 8, 16, 32, 64)
#: Sizes change by at most this factor.
FACTOR_MAX = 4
#: Added to the size of edits with which the layer does less work.
LESS = 100.0


@dataclass(frozen=True, slots=True)
class Edit:
    """``parameter`` of the layer from ``before`` to ``after``, as text. ``size`` orders edits by the relative
    amount of change; edits that do not change the layer's results come first (0 to 0.1), those with which the layer
    does less last (from LESS on)."""

    parameter: str
    before: str
    after: str
    size: float
    apply: Callable[[gs.Graph], None]


def edits_of(graph: gs.Graph) -> tuple[Edit, ...]:
    """All edits of a layer, smallest first."""
    linear = linear_of(graph)
    found = [*_image_edits(graph), *type_edits_of(graph, linear)]
    if linear is not None:
        found += [*_channel_edits(graph, linear), *_window_edits(linear)]
    elif not found or not _image_inputs(graph):
        found += list(_line_edits(graph))
    return tuple(sorted(found, key=lambda edit: (edit.size, edit.parameter, edit.after)))


def type_edits_of(graph: gs.Graph, linear: Linear | None) -> Iterator[Edit]:
    """Edits of element types and of the quantisation of weights."""
    for parameter, before, after, size, apply in type_edits(graph, linear):
        yield Edit(parameter, before, after, size, apply)


def _targets(size: int) -> Iterator[int]:
    """Sizes to try: the next multiples above and below, doubles and halves."""
    found = {size * 2, size // 2, size * FACTOR_MAX, size // FACTOR_MAX}
    for grain in GRAINS:
        found |= {-(-size // grain) * grain, size // grain * grain}
    yield from sorted(t for t in found if 0 < t <= size * FACTOR_MAX and t * FACTOR_MAX >= size and t != size)


def _relative(before: int, after: int) -> float:
    return 0.1 + abs(after - before) / before + (LESS if after < before else 0)


def _channel_edits(graph: gs.Graph, linear: Linear) -> Iterator[Edit]:
    if linear.is_depthwise:
        before = linear.out_channels
        for size in _targets(before):
            apply = partial(_set_depthwise, size=size)
            yield Edit("channels", str(before), str(size), _relative(before, size), apply)
        yield Edit("groups", str(linear.group), "1", 0.05, _ungroup)
        return
    if linear.group > 1:
        yield Edit("groups", str(linear.group), "1", 0.05, _ungroup)
        return
    for size in _targets(linear.out_channels):
        before = linear.out_channels
        yield Edit("output channels", str(before), str(size), _relative(before, size), partial(_set_out, size=size))
    for size in _targets(linear.in_channels):
        before = linear.in_channels
        yield Edit("input channels", str(before), str(size), _relative(before, size), partial(_set_in, size=size))


def _set_out(graph: gs.Graph, size: int) -> None:
    linear = _linear(graph)
    set_out_channels(graph, linear, size)
    _match_other_inputs(graph, linear, size)


def _set_in(graph: gs.Graph, size: int) -> None:
    linear = _linear(graph)
    linear.weights.values = resized(linear.values, linear.in_axis, size)
    _set_channels(_input_of(linear.node), linear, size)


def _set_depthwise(graph: gs.Graph, size: int) -> None:
    linear = _linear(graph)
    set_out_channels(graph, linear, size)
    linear.node.attrs["group"] = size
    _set_channels(_input_of(linear.node), linear, size)
    _match_other_inputs(graph, linear, size)


def _ungroup(graph: gs.Graph) -> None:
    """Replace groups with weights that are zero between groups; results do not change."""
    linear = _linear(graph)
    values = linear.values
    per_group, rows = values.shape[1], values.shape[0] // linear.group
    dense: NDArray[np.generic] = np.zeros((values.shape[0], per_group * linear.group, *values.shape[2:]), values.dtype)
    for row in range(values.shape[0]):
        first = row // rows * per_group
        dense[row, first : first + per_group] = values[row]
    linear.weights.values = dense
    linear.node.attrs["group"] = 1


def _window_edits(linear: Linear) -> Iterator[Edit]:
    """Kernel, stride, padding of a convolution of images."""
    if linear.node.op != "Conv" or linear.values.ndim != 4:
        return
    rows, columns = (int(size) for size in linear.values.shape[2:])
    pads = [int(pad) for pad in linear.node.attrs.get("pads", [0] * 4)]
    strides = [int(stride) for stride in linear.node.attrs.get("strides", [1, 1])]
    for size in (1, 3, 5, 7):
        if (size, size) != (rows, columns):
            same = size >= max(rows, columns) and (size - rows) % 2 == 0 == (size - columns) % 2
            cost = 0.02 * size if same else 0.5 + _relative(rows * columns, size * size)
            yield Edit("kernel", f"{rows}x{columns}", f"{size}x{size}", cost, partial(_set_kernel, size=size))
    for step in (1, 2):
        if strides != [step, step]:
            before = "x".join(map(str, strides))
            cost = 1.0 + (LESS if step > min(strides) else 0)
            apply = partial(_set_attribute, name="strides", value=[step] * 2)
            yield Edit("stride", before, f"{step}x{step}", cost, apply)
    around = [rows // 2, columns // 2] * 2
    for value in (around, [0] * 4):
        if value != pads and linear.node.attrs.get("auto_pad", "NOTSET") == "NOTSET":
            before, after = (",".join(map(str, entry)) for entry in (pads, value))
            yield Edit("padding", before, after, 0.3, partial(_set_attribute, name="pads", value=value))


def _set_kernel(graph: gs.Graph, size: int) -> None:
    """Centre the weights in a larger window with more padding, or keep the centre of the weights only."""
    linear = _linear(graph)
    values, pads = linear.values, [int(pad) for pad in linear.node.attrs.get("pads", [0] * 4)]
    for axis in (2, 3):
        more = size - values.shape[axis]
        before = abs(more) // 2
        if more >= 0:
            width = [(before, more - before) if index == axis else (0, 0) for index in range(4)]
            values = np.pad(values, width)
        else:
            values = np.take(values, np.arange(before, before + size), axis=axis)
        pads[axis - 2] = max(0, pads[axis - 2] + (before if more >= 0 else -before))
        pads[axis] = max(0, pads[axis] + (more - before if more >= 0 else more + before))
    linear.weights.values = np.ascontiguousarray(values)
    linear.node.attrs["kernel_shape"] = [size, size]
    linear.node.attrs["pads"] = pads


def _set_attribute(graph: gs.Graph, name: str, value: list[int]) -> None:
    _linear(graph).node.attrs[name] = value


def _image_inputs(graph: gs.Graph) -> list[gs.Variable]:
    return [tensor for tensor in graph.inputs if tensor.shape is not None and len(tensor.shape) == 4]


def _image_edits(graph: gs.Graph) -> Iterator[Edit]:
    """Rows and columns of all images at once."""
    images = _image_inputs(graph)
    if not images:
        return
    rows, columns = int(images[0].shape[2]), int(images[0].shape[3])
    pairs = {(2 * rows, 2 * columns), (rows // 2, columns // 2), (4 * rows, 4 * columns), (rows // 4, columns // 4)}
    for grain in GRAINS[:3]:
        pairs.add((-(-rows // grain) * grain, -(-columns // grain) * grain))
        pairs.add((rows // grain * grain, columns // grain * grain))
    for height, width in sorted(pairs - {(rows, columns)}):
        if height > 0 and width > 0:
            cost = _relative(rows * columns, height * width)
            apply = partial(_set_image, height=height, width=width)
            yield Edit("height and width", f"{rows}x{columns}", f"{height}x{width}", cost, apply)


def _set_image(graph: gs.Graph, height: int, width: int) -> None:
    for tensor in _image_inputs(graph):
        tensor.shape = [tensor.shape[0], tensor.shape[1], height, width]


def _line_edits(graph: gs.Graph) -> Iterator[Edit]:
    """The last axis of all inputs, if all have the same size."""
    sizes = {int(tensor.shape[-1]) for tensor in graph.inputs if tensor.shape}
    for before in sorted(sizes):
        for size in _targets(before):
            apply = partial(_set_lines, before=before, size=size)
            yield Edit("last axis", str(before), str(size), _relative(before, size), apply)


def _set_lines(graph: gs.Graph, before: int, size: int) -> None:
    for tensor in graph.inputs:
        if tensor.shape and int(tensor.shape[-1]) == before:
            tensor.shape = [*tensor.shape[:-1], size]


def _linear(graph: gs.Graph) -> Linear:
    linear = linear_of(graph)
    if linear is None:
        raise ValueError("the layer has no operator with constant weights")
    return linear


def _input_of(node: gs.Node) -> gs.Variable:
    """The graph input that an operator's first input comes from."""
    tensor = node.inputs[0]
    while tensor.inputs:
        tensor = tensor.inputs[0].inputs[0]
    return tensor


def _set_channels(tensor: gs.Variable, linear: Linear, size: int) -> None:
    axis = 1 if linear.node.op == "Conv" else len(tensor.shape) - 1
    tensor.shape = [size if index == axis else length for index, length in enumerate(tensor.shape)]


def _match_other_inputs(graph: gs.Graph, linear: Linear, size: int) -> None:
    """Resize operands that are added to the result to the same number of channels."""
    for tensor in graph.inputs:
        if tensor is not _input_of(linear.node) and tensor.shape:
            _set_channels(tensor, linear, size)
