"""Which rows of its inputs an operator reads for some rows of its result, and the operator on these rows alone.

Rows are the indices of axis 1 of tensors with four axes and one sample (NHWC). All operators here compute a row of the
result from few rows of each input; what is not listed cannot be divided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.topology import is_constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: The axis of rows.
AXIS = 1
#: Windows that move over rows, with the attributes of a convolution.
_WINDOWS = ("match.nhwc::ConvInteger", "match.nhwc::MaxPool")
#: Operators that compute every element from the elements at the same place.
_ELEMENTWISE = (
    "match.arith::RequantU8",
    "match.arith::RequantI8",
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
    rows of each computed input that it reads; ``attributes`` that change, and ``constants`` that replace inputs by
    position."""

    made: Rows
    read: Rows
    attributes: Mapping[str, object] = field(default_factory=dict)
    constants: Mapping[int, np.ndarray[tuple[int, ...], np.dtype[np.generic]]] = field(default_factory=dict)


def has_rows(tensor: gs.Tensor) -> bool:
    """Whether the tensor is a picture that can be divided along its rows."""
    return not is_constant(tensor) and tensor.shape is not None and len(tensor.shape) == 4 and int(tensor.shape[0]) == 1


def height(tensor: gs.Tensor) -> int:
    """The number of rows."""
    return int(tensor.shape[AXIS])


def cut(node: gs.Node, rows: Rows) -> Cut | None:
    """The node on rows of its result; None if it cannot be divided."""
    name, tensors = qualified_op(node), [t for t in node.inputs if t.name and not is_constant(t)]
    if len(node.outputs) != 1 or not tensors or not all(has_rows(t) for t in (*tensors, node.outputs[0])):
        return None
    if name in _WINDOWS:
        return _window(node, rows)
    if name == "Pad":
        return _pad(node, rows)
    if name == "Resize":
        return _repeat(node, rows)
    if name == "Concat":
        return Cut(rows, rows) if int(node.attrs["axis"]) == 3 else None
    same = all(height(t) == height(node.outputs[0]) for t in tensors)
    flat = all(t.values.ndim < 3 or t.values.shape[-3] == 1 for t in node.inputs if is_constant(t))
    return Cut(rows, rows) if name in _ELEMENTWISE and same and flat else None


def _window(node: gs.Node, rows: Rows) -> Cut | None:
    attributes = node.attrs
    pads, kernel = [int(pad) for pad in attributes["pads"]], int(attributes["kernel_shape"][0])
    stride, dilation = int(attributes["strides"][0]), int(attributes["dilations"][0])
    if int(attributes.get("ceil_mode", 0)):
        return None
    low = rows.first * stride - pads[0]
    high = (rows.end - 1) * stride + dilation * (kernel - 1) + 1 - pads[0]
    size = height(node.inputs[0])
    around = [max(0, -low), pads[1], max(0, high - size), pads[3]]
    return Cut(rows, Rows(max(0, low), min(size, high)), {"pads": around})


def _pad(node: gs.Node, rows: Rows) -> Cut | None:
    if len(node.inputs) > 3 and node.inputs[3].name:
        return None
    pads, size = node.inputs[1].values.astype(np.int64).copy(), height(node.inputs[0])
    if node.attrs.get("mode", "constant") != "constant" or pads.size != 8 or pads.min() < 0:
        return None
    low, high = rows.first - int(pads[AXIS]), rows.end - int(pads[AXIS])
    read = Rows(max(0, low), min(size, high))
    if read.count < 1:
        return None
    pads[AXIS], pads[4 + AXIS] = max(0, -low), max(0, high - size)
    return Cut(rows, read, constants={1: pads})


def _repeat(node: gs.Node, rows: Rows) -> Cut | None:
    modes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    if any(node.attrs.get(name) != value for name, value in modes.items()) or len(node.inputs) != 3:
        return None
    times, rest = divmod(height(node.outputs[0]), height(node.inputs[0]))
    if rest:
        return None
    read = Rows(rows.first // times, -(-rows.end // times))
    return Cut(Rows(read.first * times, read.end * times), read)
