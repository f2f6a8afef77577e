"""The parts of a tensor that an assignment reads or writes, and whether two parts overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.geometry import far_pitches, far_strides
from match_core.map.dataflow import tensor_bytes

from match_concurrent.share import operand_part

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.candidate import Candidate
    from match_core.contract.mapping import Assignment
    from match_core.contract.workload import Operand
    from numpy.typing import NDArray


@dataclass(frozen=True)
class TensorBox:
    """A box in a dense row-major tensor: ``sizes`` of its axes, indices [first, end) of each, elements of
    ``element_bits``. A whole tensor has one axis of bytes. Each box is compared with many others."""

    sizes: tuple[int, ...]
    first: tuple[int, ...]
    end: tuple[int, ...]
    element_bits: int = 8

    @cached_property
    def hull(self) -> tuple[int, int]:
        """The range of bytes [first, end) that encloses the box."""
        low = high = 0
        stride = 1
        for size, first, end in zip(reversed(self.sizes), reversed(self.first), reversed(self.end), strict=True):
            low, high = low + first * stride, high + (end - 1) * stride
            stride *= size
        return low * self.element_bits // 8, -(-(high + 1) * self.element_bits // 8)

    @cached_property
    def dense(self) -> bool:
        """Whether the box is one range of bytes, which is its hull."""
        extents = [end - first for first, end in zip(self.first, self.end, strict=True)]
        outer = next((axis for axis, extent in enumerate(extents) if extent != 1), len(extents))
        return all(extent == size for extent, size in zip(extents[outer + 1 :], self.sizes[outer + 1 :], strict=True))

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The box as ranges [first, end) of bytes, ascending, with adjacent ranges merged."""
        firsts, ends = self.bounds
        return tuple(zip(firsts.tolist(), ends.tolist(), strict=True))

    @cached_property
    def bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First bytes and ends of the ranges."""
        whole = len(self.sizes)
        while whole > 1 and (self.first[whole - 1], self.end[whole - 1]) == (0, self.sizes[whole - 1]):
            whole -= 1
        inner = prod(self.sizes[whole:])
        starts, stride = np.zeros(1, np.int64), inner
        last = whole - 1
        for axis in reversed(range(last)):
            stride *= self.sizes[axis + 1]
            rows = np.arange(self.first[axis], self.end[axis], dtype=np.int64) * stride
            starts = (rows[:, None] + starts[None, :]).ravel()
        firsts = starts + self.first[last] * inner
        ends = firsts + (self.end[last] - self.first[last]) * inner
        return firsts * self.element_bits // 8, -(-ends * self.element_bits // 8)


def overlap(one: TensorBox, other: TensorBox) -> bool:
    """Whether the boxes have a byte in common."""
    if one.sizes == other.sizes and one.element_bits == other.element_bits:
        for first, end, start, stop in zip(one.first, one.end, other.first, other.end, strict=True):
            if first >= stop or start >= end:
                return False
        return True
    (low, high), (start, stop) = one.hull, other.hull
    if low >= stop or start >= high:
        return False
    if one.dense and other.dense:
        return True
    (firsts, ends), (starts, stops) = one.bounds, other.bounds
    # For each range of this box, the first range of the other box that does not end before it (ends ascend).
    place = np.searchsorted(stops, firsts, side="right")
    inside = place < len(stops)
    return bool((starts[place[inside]] < ends[inside]).any())


def meet(boxes: Sequence[TensorBox], others: Sequence[TensorBox]) -> bool:
    """Whether a box overlaps one of the others."""
    for box in boxes:
        for other in others:
            if overlap(box, other):
                return True
    return False


def whole(tensor: gs.Tensor) -> TensorBox:
    """All bytes of a tensor."""
    size = tensor_bytes(tensor)
    return TensorBox((size,), (0,), (size,))


def reads(assignment: Assignment, tensor: gs.Tensor) -> tuple[TensorBox, ...]:
    """The parts of a tensor that the assignment reads through its operands. The whole tensor if the assignment is a
    whole operator; nothing if it does not read the tensor."""
    return boxes_of(assignment.candidate, tensor, "input")


def writes(assignment: Assignment, tensor: gs.Tensor) -> tuple[TensorBox, ...]:
    """The parts of a tensor that the assignment writes; as for ``reads``."""
    return boxes_of(assignment.candidate, tensor, "output")


def boxes_of(
    candidate: Candidate, tensor: gs.Tensor, role: str, part: tuple[str, int, int] | None = None
) -> tuple[TensorBox, ...]:
    """The same for a candidate; ``part``: only for this dimension, first index and size of a whole operator, which is
    faster than to make the candidate of the part."""
    if candidate.share is None and part is None:
        nodes = candidate.match.nodes
        used = [t for node in nodes for t in (node.inputs if role == "input" else node.outputs)]
        return (whole(tensor),) if any(t is tensor or t.name == tensor.name for t in used) else ()
    match, workload = candidate.match, candidate.workload
    operands = [operand for operand in workload.operands if operand.role == role]
    names = [(match.output if role == "output" else match.tensor(operand.name)).name for operand in operands]
    touched = [operand for operand, name in zip(operands, names, strict=True) if name == tensor.name]
    shown = touched if part is None else [operand_part(workload, operand, *part) for operand in touched]
    return tuple(view_box(operand) for operand in shown)


def view_box(operand: Operand) -> TensorBox:
    """The box of the whole tensor that an operand shows."""
    sizes, strides, pitches = [axis.size for axis in operand.axes], far_strides(operand), far_pitches(operand)
    if operand.strided:
        sizes, strides, pitches = _row_major(sizes, strides, operand.base)
    first = [operand.base // stride % pitch for stride, pitch in zip(strides, pitches, strict=True)]
    end = tuple(start + size for start, size in zip(first, sizes, strict=True))
    return TensorBox(pitches, tuple(first), end, operand.element_bits)


def _row_major(
    sizes: list[int], strides: tuple[int, ...], base: int
) -> tuple[list[int], tuple[int, ...], tuple[int, ...]]:
    """The axes with more than one index in the order of their strides, with contiguous axes merged, and the number of
    indices of each in the tensor (for the outermost one, up to the end of the view)."""
    axes: list[tuple[int, int]] = []
    for stride, size in sorted(((t, n) for t, n in zip(strides, sizes, strict=True) if n > 1), reverse=True):
        if axes and axes[-1][0] == stride * size:
            axes[-1] = (stride, axes[-1][1] * size)
        else:
            axes.append((stride, size))
    if not axes or axes[-1][0] != 1:
        axes.append((1, 1))
    inner = tuple(outer // stride for (outer, _), (stride, _) in pairwise(axes))
    pitches = (base // axes[0][0] + axes[0][1], *inner)
    return [size for _, size in axes], tuple(stride for stride, _ in axes), pitches
