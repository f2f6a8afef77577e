"""What a tile of loop indices means for an operand: which part of each axis, how many bytes, which copies.

An axis is read at index ``sum(coefficient * loop index) - offset``. The home memory holds the whole operand
dense and row-major, each axis rounded up to its ``round_up``, unless the axes state strides; the unit's memory holds
the tile dense in the order of the axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from match_core.schedule.workload import Axis, Operand, Workload


@dataclass(frozen=True, slots=True)
class AxisTile:
    """The part of an axis that a tile touches: indices [first, first + extent), and how many positions of the
    window fall before and after the axis. ``pad_before + extent + pad_after`` is the window's length."""

    first: int
    extent: int
    pad_before: int
    pad_after: int


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


def round_up(value: int, multiple: int) -> int:
    """The least multiple that is not below the value."""
    return -(-value // multiple) * multiple


def axis_tile(axis: Axis, starts: Mapping[str, int], sizes: Mapping[str, int]) -> AxisTile:
    """The part of an axis for the tile of loop indices [start, start + size) of each dimension.

    Dimensions that are not in ``starts`` start at 0. An axis without terms is always whole. ValueError for a
    negative coefficient, which no workload has.
    """
    if not axis.terms:
        return AxisTile(0, axis.size, 0, 0)
    if any(coefficient < 0 for _, coefficient in axis.terms):
        raise ValueError(f"axis {axis.name}: negative coefficient in {axis.terms}")
    low = sum(coefficient * starts.get(name, 0) for name, coefficient in axis.terms) - axis.offset
    high = low + sum(coefficient * (sizes[name] - 1) for name, coefficient in axis.terms)
    window = high - low + 1
    pad_before = min(max(0, -low), window)
    pad_after = min(max(0, high - (axis.size - 1)), window)
    first = min(max(0, low), axis.size)
    return AxisTile(first, window - pad_before - pad_after, pad_before, pad_after)


def far_sizes(operand: Operand) -> tuple[int, ...]:
    """The axis sizes of the whole operand in home memory."""
    return tuple(round_up(axis.size, axis.round_up) for axis in operand.axes)


def far_pitches(operand: Operand) -> tuple[int, ...]:
    """How many indices each axis has in home memory: those of the tensor that the operand is a view of."""
    return tuple(axis.pitch or round_up(axis.size, axis.round_up) for axis in operand.axes)


def far_strides(operand: Operand) -> tuple[int, ...]:
    """Elements from one index to the next of each axis in home memory."""
    if operand.strided:
        return tuple(axis.stride for axis in operand.axes)
    strides: list[int] = []
    stride = 1
    for pitch in reversed(far_pitches(operand)):
        strides.append(stride)
        stride *= pitch
    return tuple(reversed(strides))


def far_bytes(operand: Operand) -> int:
    """Bytes of the whole operand in home memory."""
    elements = 1
    for size in far_sizes(operand):
        elements *= size
    return -(-elements * operand.element_bits // 8)


def tile_extents(operand: Operand, starts: Mapping[str, int], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The stored extent of each axis of a tile (rounded up where the axis is)."""
    return tuple(round_up(axis_tile(axis, starts, sizes).extent, axis.round_up) for axis in operand.axes)


def tile_far_offset(operand: Operand, starts: Mapping[str, int], sizes: Mapping[str, int]) -> int:
    """Bytes from the start of the operand (the view, where it is one) to the first byte of the tile."""
    firsts = (axis_tile(axis, starts, sizes).first for axis in operand.axes)
    elements = sum(first * stride for first, stride in zip(firsts, far_strides(operand), strict=True))
    return elements * operand.element_bits // 8


def has_gap(operand: Operand, number: int) -> bool:
    """Whether the next index of the axis outside of this one begins elsewhere than right behind it: it is part of a
    longer one, or the tensor has the axes in another order."""
    axis = operand.axes[number]
    if axis.pitch > round_up(axis.size, axis.round_up):
        return True
    return operand.strided and number > 0 and operand.axes[number - 1].stride != axis.stride * axis.size


def is_cut(axis: Axis, tile: Mapping[str, int], sizes: Mapping[str, int]) -> bool:
    """Whether tiles of these sizes cut the axis. ``sizes`` are those of the whole dimensions."""
    return any(tile[name] < sizes[name] for name, _ in axis.terms)


def always_one(axis: Axis, tile: Mapping[str, int], sizes: Mapping[str, int]) -> bool:
    """Whether every tile stores exactly one index of the axis."""
    if axis.round_up > 1 or not is_cut(axis, tile, sizes):
        return round_up(axis.size, axis.round_up) == 1
    return not axis.windowed and tile[axis.terms[0][0]] == 1


def axis_levels(operand: Operand, tile: Mapping[str, int], sizes: Mapping[str, int]) -> tuple[tuple[int, ...], ...]:
    """The axes (by number) that each level of a copy joins, the contiguous level first.

    The levels are those of the schedule, not of the single tile, because one piece of code moves all of them:
    an axis joins the one inside it where that one is never cut, and an axis of which every tile has one index
    vanishes. ``tile``: the full sizes in the buffer; ``sizes``: those in the far memory.
    """
    levels: list[list[int]] = [[]]
    closed = False  # a cut axis leaves gaps, so the next axis begins a new level
    for number in reversed(range(len(operand.axes))):
        axis = operand.axes[number]
        if closed and always_one(axis, tile, sizes):
            continue
        if closed:
            levels.append([])
        levels[-1].append(number)
        closed = is_cut(axis, tile, sizes) or has_gap(operand, number)
    return tuple(tuple(level) for level in levels)


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


def scratch_bytes(workload: Workload, sizes: Mapping[str, int]) -> int:
    """Scratch that the kernel needs in the unit's memory for a tile of these sizes."""
    total = 0
    for names, coefficient in workload.scratch:
        product = coefficient
        for name in names:
            product *= sizes[name]
        total += product
    return total
