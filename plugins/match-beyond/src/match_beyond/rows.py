"""Rows of tensors, and which rows of its inputs an operator reads for some rows of its result.

Rows are the indices of the first axis with more than one index, so that rows which follow each other are contiguous
bytes: axis 1 of a picture in NHWC with one sample, or of a sequence of one sample. Only where a layer turns an input of
the network from NCHW to NHWC are rows of that input on an inner axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.ir.topology import is_constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


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
    are padding. ``pad`` is negative where rows at the begin are left out."""

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


def row_axis(tensor: gs.Tensor) -> int:
    """The axis of rows: the first with more than one index, else the last."""
    sizes = [int(size) for size in tensor.shape]
    return next((axis for axis, size in enumerate(sizes) if size > 1), len(sizes) - 1)


def height(tensor: gs.Tensor, axis: int) -> int:
    """The number of rows; 1 without axes."""
    return int(tensor.shape[axis]) if tensor.shape else 1


def computed(node: gs.Node) -> list[gs.Variable]:
    """The inputs that are not constant."""
    return [tensor for tensor in node.inputs if tensor.name and not is_constant(tensor)]
