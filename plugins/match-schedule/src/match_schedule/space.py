"""The space of tilings: the dimensions that may be cut, and the tile sizes to try for each.

A dimension may be cut if the workload allows it and every result element stays in exactly one tile: each output has
exactly one axis that uses it, and tiles of that axis do not overlap. A reduction dimension may be cut only if the
workload accumulates (otherwise kernels finish their sums). Of several dimensions in one axis only the largest is cut,
so that an axis's extents follow from one tile size.
"""

from __future__ import annotations

from dataclasses import dataclass

from match_core.contract.geometry import axis_tile, far_strides, round_up
from match_core.contract.workload import Axis, Dim, Operand, Workload

#: The most tilings (products of tile sizes) in one search; limits a search to milliseconds.
TILINGS_MAX = 32768
#: Sizes are also tried rounded up to these multiples, which kernels with several cores or lanes prefer.
PREFERRED_MULTIPLES = (2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class Cut:
    """A dimension that may be cut; ``tiles`` are the sizes tried, largest (the whole dimension) first."""

    dim: Dim
    tiles: tuple[int, ...]


def cuts_of(workload: Workload) -> tuple[Cut, ...]:
    """The dimensions that may be cut, in the workload's order, with at most TILINGS_MAX combinations of
    sizes."""
    cuttable = [dim for dim in workload.dims if dim.size > 1 and _may_cut(workload, dim)]
    lists = [_valid_sizes(workload, dim) for dim in cuttable]
    _thin(lists)
    cuts = (Cut(dim, tuple(tiles)) for dim, tiles in zip(cuttable, lists, strict=True))
    return tuple(cut for cut in cuts if len(cut.tiles) > 1)


def uses(axis: Axis, dim: Dim) -> bool:
    """Whether the axis's index depends on the dimension."""
    return any(name == dim.name for name, _ in axis.terms)


def _may_cut(workload: Workload, dim: Dim) -> bool:
    reduction = _is_reduction(workload, dim)
    if not dim.tileable or (reduction and not workload.accumulates):
        return False
    for operand in workload.operands:
        axes = [(axis, stride) for axis, stride in zip(operand.axes, far_strides(operand), strict=True)]
        used = [(axis, stride) for axis, stride in axes if uses(axis, dim)]
        makes = operand.role == "output" and not reduction
        if makes and (len(used) != 1 or not _tiles_are_disjoint(workload, used[0][0], dim)):
            return False
        for axis, stride in used:
            if stride * operand.element_bits % 8 != 0 or not _leads(workload, axis, dim):
                return False
    return True


def _tiles_are_disjoint(workload: Workload, axis: Axis, dim: Dim) -> bool:
    """Whether different indices of ``dim`` always reach different indices of the axis: all other dimensions together
    span less than one step of it."""
    step = next(coefficient for name, coefficient in axis.terms if name == dim.name)
    span = sum(c * (workload.dim(name).size - 1) for name, c in axis.terms if name != dim.name)
    return span < step


def _leads(workload: Workload, axis: Axis, dim: Dim) -> bool:
    """Whether ``dim`` is the largest tileable dimension of the axis (the first of equals); a reduction only if
    no other dimension can be cut."""
    rivals = [workload.dim(name) for name, _ in axis.terms]
    rivals = [rival for rival in rivals if rival.tileable and rival.size > 1]
    made = [rival for rival in rivals if not _is_reduction(workload, rival)]
    return max(made or rivals, key=lambda rival: rival.size).name == dim.name


def _is_reduction(workload: Workload, dim: Dim) -> bool:
    outputs = [operand for operand in workload.operands if operand.role == "output"]
    return any(not any(uses(axis, dim) for axis in operand.axes) for operand in outputs)


def _sizes(dim: Dim) -> list[int]:
    """The smallest tile for each number of steps (these include all divisors), and rounded up to preferred
    multiples; largest first."""
    grain, last = dim.granularity, -(-dim.size // dim.granularity) - 1
    balanced = {dim.size}
    steps = 1
    while steps <= last + 1:
        grains = last // steps + 1  # the fewest grains per tile that result in this many steps
        balanced.add(min(dim.size, grains * grain))
        steps = last // (grains - 1) + 1 if grains > 1 else last + 2  # the next number of steps with smaller tiles
    preferred = {round_up(tile, grain * multiple) for tile in balanced for multiple in PREFERRED_MULTIPLES}
    return sorted(balanced | {tile for tile in preferred if tile < dim.size}, reverse=True)


def _valid_sizes(workload: Workload, dim: Dim) -> list[int]:
    """The sizes with which no tile lies completely in the padding, and packed axes are cut at multiples of their
    rounding. Tiles of axes that are as long as the dimension never lie in padding."""
    whole = {other.name: other.size for other in workload.dims}
    axes = [axis for operand in workload.operands for axis in operand.axes if uses(axis, dim)]
    axes = [axis for axis in axes if axis.windowed or axis.round_up > 1 or axis.size < dim.size]
    return [t for t in _sizes(dim) if t == dim.size or all(_axis_is_valid(axis, dim, t, whole) for axis in axes)]


def _axis_is_valid(axis: Axis, dim: Dim, tile: int, whole: dict[str, int]) -> bool:
    step = next(coefficient for name, coefficient in axis.terms if name == dim.name)
    if axis.round_up > 1 and (axis.windowed or step * tile % axis.round_up != 0):
        return False
    last = (dim.size - 1) // tile * tile
    # Extents are smallest at the ends, so tiles between them need no check.
    for start, size in ((0, tile), (last, dim.size - last)):
        if axis_tile(axis, {dim.name: start}, {**whole, dim.name: size}).extent <= 0:
            return False
    return True


def _thin(lists: list[list[int]]) -> None:
    """Remove sizes that differ least from their neighbours until few enough combinations remain; divisors of the
    dimension are removed last."""

    def combinations() -> int:
        product = 1
        for tiles in lists:
            product *= len(tiles)
        return product

    while combinations() > TILINGS_MAX:
        longest = max(lists, key=len)
        inner = range(1, len(longest) - 1)
        if not inner:
            return
        worth = [(longest[0] % longest[i] == 0, longest[i - 1] / longest[i + 1], -i) for i in inner]
        del longest[1 + worth.index(min(worth))]


def operand_cuts(operand: Operand, cuts: tuple[Cut, ...]) -> tuple[int, ...]:
    """Positions in ``cuts`` of the dimensions that the operand's axes use."""
    return tuple(i for i, cut in enumerate(cuts) if any(uses(axis, cut.dim) for axis in operand.axes))
