"""The part of an operand that a tile of loop indices covers: which indices of each axis, how many bytes, which copies.

An axis is read at index ``sum(coefficient * loop index) - offset``. The home memory holds the whole operand dense and
row-major, each axis rounded up to its ``round_up``, unless the axes state strides; the unit's memory holds the tile
dense in the order of the axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from match_core.contract.workload import Axis, Operand, Workload


@dataclass(frozen=True, slots=True)
class AxisTile:
    """The part of an axis that a tile touches: indices [first, first + extent), and how many positions of the window
    are before and after the axis. ``pad_before + extent + pad_after`` is the length of the window."""

    first: int
    extent: int
    pad_before: int
    pad_after: int


def round_up(value: int, multiple: int) -> int:
    """The smallest multiple that is not below the value."""
    return -(-value // multiple) * multiple


def axis_tile(axis: Axis, starts: Mapping[str, int], sizes: Mapping[str, int]) -> AxisTile:
    """The part of an axis for the tile of loop indices [start, start + size) of each dimension.

    Dimensions that are not in ``starts`` start at 0. An axis without terms is always whole. ValueError for a negative
    coefficient; workloads have none.
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
    """Indices of each axis in home memory; for a view, those of the tensor that it is a view of."""
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


def has_gap(operand: Operand, number: int) -> bool:
    """Whether the indices of the axis outside of this one are not contiguous in memory, because this axis is part of a
    longer one or the tensor has another order of axes."""
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

    The levels belong to the schedule, not to a single tile, because one piece of code copies all tiles. An axis joins
    the one inside it if that one is never cut; an axis of which every tile has one index is dropped. ``tile``: the full
    sizes in the buffer; ``sizes``: those in the far memory.
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


def scratch_bytes(workload: Workload, sizes: Mapping[str, int]) -> int:
    """Scratch bytes that the kernel requires in the unit's memory for a tile of these sizes."""
    total = 0
    for names, coefficient in workload.scratch:
        product = coefficient
        for name in names:
            product *= sizes[name]
        total += product
    return total
