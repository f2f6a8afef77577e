"""The operators that can be divided along rows, each with its rule, and the operator on a part of them.

All operators here compute a row of the result from few rows of each input; what is not listed cannot be divided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.topology import is_constant

from match_beyond.rows import RowRule, computed, height, row_axis

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_beyond.rows import Cut

Values = np.ndarray[tuple[int, ...], np.dtype[np.generic]]
_NHWC, _ARITH = "match.nhwc::", "match.arith::"


def _named(domain: str, names: str) -> tuple[str, ...]:
    return tuple(domain + name for name in names.split())


#: Windows that move over the rows and columns of a picture in NHWC, with the attributes of a convolution.
_WINDOWS = _named(_NHWC, "Conv ConvInteger ConvIntegerI16 MaxPool MaxPoolI16 AveragePool")
#: Operators in NCHW that compute a channel from the same one: divided along channels, which are the rows there.
_PLANES = ("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool")
#: Operators that compute every element from the elements at the same place.
_ELEMENTWISE = (
    *_named(_ARITH, "RequantU8 RequantI8 RequantI16 RequantDoubleU8 RequantDoubleI8 LutU8 LutI8"),
    *_named(_ARITH, "AddRequantU8 AddRequantI8 AddRequantI16 OffsetI8ToU8 OffsetU8ToI8"),
    *_named("", "Abs Add Cast Ceil Clip Div Elu Erf Exp Floor Gelu HardSigmoid HardSwish LeakyRelu Log Max Min Mul"),
    *_named("", "Neg PRelu Pow Relu Round Selu Sigmoid Softplus Sqrt Sub Tanh ThresholdedRelu"),
)
#: Scales and zero points, of the whole tensor or along an axis.
_QUANTISERS = ("QuantizeLinear", "DequantizeLinear")
#: Operators that mix the elements along one axis only, or from one on.
_ALONG = (
    *_named(_ARITH, "SoftmaxI8 SoftmaxU8 SoftmaxFloorU8 ShiftSoftmaxU8"),
    *_named(_ARITH, "LayerNormI8 LayerNormRequantI8 LayerNormRequantU8 RmsNormI8"),
    *_named("", "Softmax LogSoftmax LayerNormalization RMSNormalization"),
)
#: Products of rows with a constant matrix, or of pairs of matrices.
_PRODUCTS = ("MatMul", "MatMulInteger", _ARITH + "MatMulIntegerI16")
#: Operators whose results are the same bytes.
_VIEWS = ("Reshape", "Flatten", "Unsqueeze")
#: A Resize that repeats rows and pixels.
_REPEATING = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


@dataclass(frozen=True, slots=True)
class _Place:
    """An operator with computed inputs of ``size`` rows each, along ``axis``; the result has ``made`` rows and ``rank``
    axes, and its rows are on the same axis."""

    node: gs.Node
    axis: int
    size: int
    made: int
    rank: int

    @property
    def plain(self) -> RowRule | None:
        """Each row from the same one, if they are as many."""
        return RowRule(self.size) if self.made == self.size else None

    def inner(self, axis: int) -> bool:
        """Whether an axis, counted from either end, is behind that of rows."""
        return axis % self.rank > self.axis


def pointwise(nodes: Sequence[gs.Node]) -> bool:
    """Whether each of these operators computes every element from one element of one tensor."""
    known = all(qualified_op(node) in (*_ELEMENTWISE, *_QUANTISERS) for node in nodes)
    return known and all(len(computed(node)) == 1 for node in nodes)


def turned_axes(nodes: Sequence[gs.Node]) -> dict[str, int]:
    """The axis of rows of each tensor that a layer transposes, by name, where rows of the result are on an inner axis
    of it; empty if the layer does more before."""
    place = next((number for number, node in enumerate(nodes) if node.op == "Transpose"), None)
    if place is None:
        return {}
    before, turn = nodes[:place], nodes[place]
    axis = int(turn.attrs["perm"][row_axis(turn.outputs[0])])
    if not pointwise(before) or len(computed(turn)) != 1:
        return {}
    return {computed(node)[0].name: axis for node in (*before, turn) if axis != row_axis(computed(node)[0])}


def rule_of(node: gs.Node, axes: Mapping[str, int]) -> RowRule | None:
    """The rule of an operator; None if it cannot be divided. ``axes``: of rows, by tensor, if not ``row_axis``."""
    tensors = computed(node)
    if len(node.outputs) != 1 or not tensors or not all(t.shape for t in (*tensors, node.outputs[0])):
        return None
    result = node.outputs[0]
    places = [axes.get(tensor.name, row_axis(tensor)) for tensor in tensors]
    axis, rank = axes.get(result.name, row_axis(result)), len(result.shape)
    sizes = {height(tensor, own) for tensor, own in zip(tensors, places, strict=True)}
    if len(sizes) != 1:
        return None
    (size,) = sizes
    if node.op == "Transpose":
        return RowRule(size) if int(node.attrs["perm"][axis]) == places[0] else None
    if node.op in _VIEWS:
        contiguous = places == [row_axis(tensor) for tensor in tensors] and axis == row_axis(result)
        return RowRule(size) if contiguous and len(tensors) == 1 and height(result, axis) == size else None
    if any(len(tensor.shape) != rank or own != axis for tensor, own in zip(tensors, places, strict=True)):
        return None
    return _rule(_Place(node, axis, size, height(result, axis), rank))


def _rule(place: _Place) -> RowRule | None:
    node, name = place.node, qualified_op(place.node)
    if name in (*_WINDOWS, *_PLANES, *_ALONG, "Pad", "Slice", "Resize") and len(computed(node)) != 1:
        return None  # weights, amounts or scales of rows of their own
    if name in _WINDOWS:
        return _window(place)
    if name in _PLANES:
        return place.plain if place.axis <= 1 else None
    if name == "Pad":
        pads = _pads(node)
        return None if pads is None else RowRule(place.size, pad=pads[place.axis])
    if name == "Slice":
        return _sliced(place)
    if name == "Resize":
        return _resized(place)
    if name == "Concat":
        inner = int(node.attrs["axis"]) % place.rank != place.axis and len(computed(node)) == len(node.inputs)
        return place.plain if inner else None
    if name in _ALONG:
        return place.plain if place.inner(int(node.attrs.get("axis", -1))) and _flat(node, place) else None
    if name in _PRODUCTS or name == "Gemm":
        return _product(place)
    if name in _QUANTISERS:
        return _quantiser(place)
    return place.plain if name in _ELEMENTWISE and _flat(node, place) else None


def _flat(node: gs.Node, place: _Place, but: int = -1) -> bool:
    """Whether all constants, ``but`` one, are the same for all rows."""
    values = [tensor.values for number, tensor in enumerate(node.inputs) if is_constant(tensor) and number != but]
    behind = place.rank - place.axis
    return all(array.ndim < behind or array.shape[-behind] == 1 for array in values)


def _window(place: _Place) -> RowRule | None:
    attributes, number = place.node.attrs, place.axis - 1
    if place.axis == 0:
        return place.plain
    if number > 1 or int(attributes.get("ceil_mode", 0)):
        return None
    kernel, stride = (int(attributes[name][number]) for name in ("kernel_shape", "strides"))
    dilation = int(attributes.get("dilations", (1, 1))[number])
    return RowRule(place.size, stride, int(attributes["pads"][number]), dilation * (kernel - 1) + 1)


def _quantiser(place: _Place) -> RowRule | None:
    """One scale for all rows, or scales along an axis behind that of rows."""
    node = place.node
    if not all(is_constant(tensor) for tensor in node.inputs[1:]):
        return None
    one = node.inputs[1].values.size == 1 or int(node.attrs.get("axis", 1)) % place.rank != place.axis
    return place.plain if one and _flat(node, place) else None


def _pads(node: gs.Node) -> list[int] | None:
    """The amounts of a Pad of all axes with a constant; None for others."""
    if len(node.inputs) > 3 and node.inputs[3].name:
        return None
    pads = [int(pad) for pad in node.inputs[1].values.reshape(-1)]
    return pads if node.attrs.get("mode", "constant") == "constant" and min(pads) >= 0 else None


def _sliced(place: _Place) -> RowRule | None:
    """Rows are left out at the begin and between others, or all remain."""
    parameters = place.node.inputs[1:]
    if len(parameters) < 3 or not all(is_constant(tensor) for tensor in parameters):
        return None
    starts, _, axes = ([int(value) for value in tensor.values.reshape(-1)] for tensor in parameters[:3])
    steps = [int(value) for value in parameters[3].values.reshape(-1)] if len(parameters) > 3 else [1] * len(axes)
    for start, axis, step in zip(starts, axes, steps, strict=True):
        if axis % place.rank == place.axis:
            first = start + place.size if start < 0 else start
            return RowRule(place.size, step, -first) if step > 0 and first >= 0 else None
    return place.plain


def _resized(place: _Place) -> RowRule | None:
    node = place.node
    if len(node.inputs) != 3 or node.attrs.get("coordinate_transformation_mode") == "tf_crop_and_resize":
        return None
    if place.made == place.size:
        return RowRule(place.size)
    same = all(node.attrs.get(key) == value for key, value in _REPEATING.items())
    return RowRule(place.size, times=place.made // place.size) if same and place.made % place.size == 0 else None


def _product(place: _Place) -> RowRule | None:
    """Rows that a constant matrix is multiplied with, or pairs of matrices; the axis of sums is not that of rows."""
    node = place.node
    if any(is_constant(tensor) for tensor in node.inputs[:1]) or not place.inner(-1) or node.attrs.get("transA", 0):
        return None
    matrix = is_constant(node.inputs[1]) and node.inputs[1].values.ndim == 2
    if not matrix and (is_constant(node.inputs[1]) or not place.inner(-2)):
        return None
    if node.op != "Gemm" and any(tensor.name and not _one(tensor) for tensor in node.inputs[2:3]):
        return None
    return place.plain if _flat(node, place, 1) else None


def _one(tensor: gs.Tensor) -> bool:
    return is_constant(tensor) and tensor.values.size == 1


def divided(node: gs.Node, cut: Cut, axis: int) -> tuple[dict[str, object], dict[int, Values]]:
    """Attributes, and constants by position of the input, of the operator on the rows of a cut, along ``axis``."""
    name = qualified_op(node)
    if name in _WINDOWS and axis > 0:
        pads = [int(pad) for pad in node.attrs["pads"]]
        pads[axis - 1], pads[axis + 1] = cut.before, cut.after
        return {**node.attrs, "pads": pads}, {}
    if name == "Pad":
        pads = _pads(node) or []
        pads[axis], pads[len(pads) // 2 + axis] = cut.before, cut.after
        return dict(node.attrs), {1: np.asarray(pads, np.int64)}
    if name == "Reshape":
        shape = np.asarray(node.outputs[0].shape, np.int64)
        shape[axis] = cut.made.count
        return {}, {1: shape}
    if name == "Slice":
        starts, ends, axes = (tensor.values.reshape(-1).copy() for tensor in node.inputs[1:4])
        along = [number for number, own in enumerate(axes) if int(own) % len(node.outputs[0].shape) == axis]
        starts[along], ends[along] = 0, cut.read.count
        return dict(node.attrs), {1: starts, 2: ends}
    return dict(node.attrs), {}
