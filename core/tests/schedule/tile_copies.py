"""The copies that move one tile, worked out tile by tile: what the levels of a schedule's copies must amount to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from match_core.contract.geometry import axis_levels, axis_tile, far_strides, round_up
from match_core.contract.workload import Operand


@dataclass(frozen=True, slots=True)
class Transfer:
    """Copies that move one tile between a strided far tensor and a dense near one.

    ``planes`` times ``rows`` rows of ``row_bytes`` contiguous bytes; strides are bytes in the far tensor (0
    where the count is 1). ``repeats``: (count, far stride in bytes) of further levels, outermost first, each
    of which repeats all that is inside; empty unless the tile is cut in more than three places.
    """

    row_bytes: int
    rows: int = 1
    row_stride: int = 0
    planes: int = 1
    plane_stride: int = 0
    repeats: tuple[tuple[int, int], ...] = ()

    @property
    def bytes(self) -> int:
        """All bytes of the tile."""
        total = self.row_bytes * self.rows * self.planes
        for count, _ in self.repeats:
            total *= count
        return total


def tile_extents(operand: Operand, starts: Mapping[str, int], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The stored extent of each axis of a tile (rounded up where the axis is)."""
    return tuple(round_up(axis_tile(axis, starts, sizes).extent, axis.round_up) for axis in operand.axes)


def tile_far_offset(operand: Operand, starts: Mapping[str, int], sizes: Mapping[str, int]) -> int:
    """Bytes from the start of the operand (the view, where it is one) to the first byte of the tile."""
    firsts = (axis_tile(axis, starts, sizes).first for axis in operand.axes)
    elements = sum(first * stride for first, stride in zip(firsts, far_strides(operand), strict=True))
    return elements * operand.element_bits // 8


def transfer_of(
    operand: Operand, extents: Sequence[int], tile: Mapping[str, int], sizes: Mapping[str, int]
) -> Transfer:
    """The copies that move one tile with these extents; see ``axis_levels``. ``sizes``: those of the whole
    dimensions."""
    bits, strides = operand.element_bits, far_strides(operand)
    counts: list[int] = []
    steps: list[int] = []
    for level in axis_levels(operand, tile, sizes):
        count = 1
        for number in level:
            count *= extents[number]
        counts.append(count)
        steps.append(strides[level[0]] * bits // 8 if level else 0)
    strided = list(zip(counts, steps, strict=True))[1:]
    rows, row_stride = strided[0] if strided else (1, 0)
    planes, plane_stride = strided[1] if len(strided) > 1 else (1, 0)
    row_bytes = -(-counts[0] * bits // 8)
    return Transfer(row_bytes, rows, row_stride, planes, plane_stride, tuple(reversed(strided[2:])))
