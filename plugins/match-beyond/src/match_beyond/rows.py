"""Which rows of its inputs an operator reads for some rows of its result, and the operator on these rows alone.

Rows are the indices of axis 1 of tensors with four axes and one sample (NHWC), or of axis 2 where a layer turns an
input of the network from NCHW to NHWC. All operators here compute a row of the result from few rows of each input; what
is not listed cannot be divided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.topology import is_constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: The axis of rows, and that of an input in NCHW.
AXIS, TURNED_AXIS = 1, 2
#: The permutation from NCHW to NHWC.
_TO_NHWC = [0, 2, 3, 1]
#: Windows that move over rows, with the attributes of a convolution.
_WINDOWS = ("match.nhwc::ConvInteger", "match.nhwc::MaxPool")
#: Operators that compute every element from the elements at the same place.
_ELEMENTWISE = (
    "match.arith::RequantU8",
    "match.arith::RequantI8",
    "match.arith::RequantDoubleU8",
    "match.arith::RequantDoubleI8",
    "match.arith::AddRequantU8",
    "match.arith::AddRequantI8",
    "match.arith::LutU8",
    "match.arith::LutI8",
    "match.arith::OffsetI8ToU8",
    "match.arith::OffsetU8ToI8",
    "Clip",
    "Cast",
    "Relu",
)
#: A Resize that repeats rows and pixels.
_REPEATING = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
Values = np.ndarray[tuple[int, ...], np.dtype[np.generic]]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows [first, end) of a tensor."""

    first: int
    end: int

    @property
    def count(self) -> int:
        """How many they are."""
        return self.end - self.first

    def joined(self, other: Rows | None) -> Rows:
        """The smallest range with both."""
        return self if other is None else Rows(min(self.first, other.first), max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Cut:
    """An operator on some rows: ``made``, the rows of its result (perhaps more than were asked for), ``read``: the
    rows of each computed input that it reads, and how many rows of padding are ``before`` and ``after`` them."""

    made: Rows
    read: Rows
    before: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True)
class RowRule:
    """How rows of the result follow from rows of the inputs, which have ``size`` rows: row r of the result reads rows
    [r * stride - pad, r * stride - pad + span); or, if ``times`` is above 1, the row r // times. Rows beyond the ends
    are padding."""

    size: int
    stride: int = 1
    pad: int = 0
    span: int = 1
    times: int = 1

    def cut(self, rows: Rows) -> Cut:
        """The operator on rows of its result."""
        if self.times > 1:
            read = Rows(rows.first // self.times, -(-rows.end // self.times))
            return Cut(Rows(read.first * self.times, read.end * self.times), read)
        low = rows.first * self.stride - self.pad
        high = (rows.end - 1) * self.stride + self.span - self.pad
        return Cut(rows, Rows(max(0, low), min(self.size, high)), max(0, -low), max(0, high - self.size))


def has_rows(tensor: gs.Tensor) -> bool:
    """Whether the tensor is a picture that can be divided along its rows."""
    return not is_constant(tensor) and tensor.shape is not None and len(tensor.shape) == 4 and int(tensor.shape[0]) == 1


def height(tensor: gs.Tensor, axis: int = AXIS) -> int:
    """The number of rows."""
    return int(tensor.shape[axis])


def computed(node: gs.Node) -> list[gs.Variable]:
    """The inputs that are not constant."""
    return [tensor for tensor in node.inputs if tensor.name and not is_constant(tensor)]


def turned_axes(nodes: Sequence[gs.Node]) -> dict[str, int]:
    """The axis of rows of each tensor in NCHW that a layer turns to NHWC, by name; empty if it does nothing else."""
    place = next((number for number, node in enumerate(nodes) if node.op == "Transpose"), None)
    if place is None or list(nodes[place].attrs["perm"]) != _TO_NHWC:
        return {}
    before = (*nodes[:place], nodes[place])
    if any(len(computed(node)) != 1 for node in before) or any(
        qualified_op(n) not in _ELEMENTWISE for n in before[:-1]
    ):
        return {}
    return {computed(node)[0].name: TURNED_AXIS for node in before}


def rule_of(node: gs.Node, axes: Mapping[str, int]) -> RowRule | None:
    """The rule of an operator; None if it cannot be divided. ``axes``: of rows, by tensor, if it is not ``AXIS``."""
    name, tensors = qualified_op(node), computed(node)
    if len(node.outputs) != 1 or not tensors or not all(has_rows(t) for t in (*tensors, node.outputs[0])):
        return None
    axis = axes.get(tensors[0].name, AXIS)
    size, made = height(tensors[0], axis), height(node.outputs[0], axes.get(node.outputs[0].name, AXIS))
    if any(height(tensor, axis) != size for tensor in tensors):
        return None
    if node.op == "Transpose":
        return RowRule(size) if axis == TURNED_AXIS else None
    if name in _WINDOWS:
        return _window(node, size)
    if name == "Pad":
        pads = _pads(node)
        return None if pads is None else RowRule(size, pad=pads[AXIS])
    if name == "Resize":
        same = all(node.attrs.get(key) == value for key, value in _REPEATING.items())
        return RowRule(size, times=made // size) if same and made % size == 0 and len(node.inputs) == 3 else None
    if name == "Concat":
        return RowRule(size) if int(node.attrs["axis"]) == len(node.outputs[0].shape) - 1 else None
    flat = all(t.values.ndim < 4 - axis or t.values.shape[axis - 4] == 1 for t in node.inputs if is_constant(t))
    return RowRule(size) if name in _ELEMENTWISE and made == size and flat else None


def _window(node: gs.Node, size: int) -> RowRule | None:
    attributes = node.attrs
    kernel, stride, dilation = (int(attributes[name][0]) for name in ("kernel_shape", "strides", "dilations"))
    if int(attributes.get("ceil_mode", 0)):
        return None
    return RowRule(size, stride, int(attributes["pads"][0]), dilation * (kernel - 1) + 1)


def _pads(node: gs.Node) -> list[int] | None:
    """The amounts of a Pad of four axes with a constant; None for others."""
    if len(node.inputs) > 3 and node.inputs[3].name:
        return None
    pads = [int(pad) for pad in node.inputs[1].values.reshape(-1)]
    if node.attrs.get("mode", "constant") != "constant" or len(pads) != 8 or min(pads) < 0:
        return None
    return pads


def divided(node: gs.Node, cut: Cut) -> tuple[dict[str, object], dict[int, Values]]:
    """Attributes, and constants by position of the input, of the operator on the rows of a cut."""
    if qualified_op(node) in _WINDOWS:
        pads = [int(pad) for pad in node.attrs["pads"]]
        return {**node.attrs, "pads": [cut.before, pads[1], cut.after, pads[3]]}, {}
    if node.op == "Pad":
        pads = _pads(node) or []
        pads[AXIS], pads[4 + AXIS] = cut.before, cut.after
        return dict(node.attrs), {1: np.asarray(pads, np.int64)}
    return dict(node.attrs), {}
