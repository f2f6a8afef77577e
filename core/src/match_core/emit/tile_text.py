"""C text for the tiles of a schedule: first indices, sizes and boxes, written with the indices of its loops.

The loops of a layer are numbered from the outermost. At depth d the first d loops have selected a piece of each
dimension; a buffer of depth d holds the box that the operand's axes cover for those pieces. At the depth of all
loops the box is the kernel's tile.
"""

from __future__ import annotations

from dataclasses import dataclass

from match_core.contract.geometry import AxisTile, axis_tile, far_strides, round_up
from match_core.contract.loops import LoopSchedule
from match_core.contract.workload import Axis, Operand, Workload
from match_core.emit.expression import Expression, number, symbol, total


@dataclass(frozen=True, slots=True)
class Span:
    """The part of an axis in a box: first index, stored extent, and whether this is always the whole axis."""

    first: Expression
    extent: Expression
    whole: bool


class TileText:
    """Text of one layer's tiles. ``record``: C prefix of the loop indices, for example ``step->``; ``tile``: C prefix
    of the kernel's context, empty if there is none and sizes must be computed."""

    def __init__(self, workload: Workload, schedule: LoopSchedule, record: str, tile: str = "") -> None:
        self.workload = workload
        self.loops = schedule.loops
        self.record = record
        self.tile = tile

    def index(self, loop: int) -> str:
        """Field of a loop's index; loops over one dimension are numbered from the outermost."""
        dim = self.loops[loop].dim
        same = [number for number, other in enumerate(self.loops) if other.dim == dim]
        return dim.lower() if len(same) == 1 else f"{dim.lower()}_{same.index(loop)}"

    def over(self, dim: str, first: int = 0, end: int | None = None) -> list[int]:
        """The loops first <= number < end over a dimension."""
        stop = len(self.loops) if end is None else end
        return [loop for loop in range(first, stop) if self.loops[loop].dim == dim]

    def start(self, dim: str, first: int = 0, end: int | None = None) -> Expression:
        """First index of the piece at depth ``end``, counted from the piece at depth ``first``."""
        return total([symbol(f"{self.record}{self.index(loop)}") for loop in self.over(dim, first, end)])

    def lengths(self, dim: str, depth: int) -> set[int]:
        """All lengths of a dimension's pieces at a depth."""
        found = {self.workload.dim(dim).size}
        for loop in self.over(dim, 0, depth):
            tile = self.loops[loop].tile
            found = {min(tile, length) for length in found} | {length % tile for length in found} - {0}
        return found

    def computed_size(self, dim: str, depth: int) -> Expression:
        """Length of the piece of a dimension at a depth, from the indices."""
        lengths = self.lengths(dim, depth)
        if len(lengths) == 1:
            return number(*lengths)
        loop = self.over(dim, 0, depth)[-1]
        left = self.computed_size(dim, loop) + symbol(f"{self.record}{self.index(loop)}") * -1
        return symbol(f"match_min_u32({self.loops[loop].tile}u, {left})")

    def size(self, dim: str, depth: int) -> Expression:
        """Length of the piece, read from the context if it has the field."""
        size = self.computed_size(dim, depth)
        if size.value is None and self.tile and not self.over(dim, depth):
            return symbol(f"{self.tile}{dim.lower()}")
        return size

    def is_cut(self, axis: Axis, first: int = 0, end: int | None = None) -> bool:
        """Whether one of the loops first <= number < end cuts the axis."""
        return any(self.over(dim, first, end) for dim, _ in axis.terms)

    def is_clipped(self, axis: Axis) -> bool:
        """Whether windows reach beyond the ends of the axis (padding)."""
        reach = 1 + sum(coefficient * (self.workload.dim(dim).size - 1) for dim, coefficient in axis.terms)
        return axis.windowed and (axis.offset != 0 or reach > axis.size)

    def window(self, axis: Axis, depth: int) -> tuple[Expression, Expression]:
        """First index (offset not yet subtracted) and length of a box's window on an axis."""
        start = total([self.start(dim, 0, depth) * coefficient for dim, coefficient in axis.terms])
        lasts = [(self.size(dim, depth) + number(-1)) * coefficient for dim, coefficient in axis.terms]
        return start, total(lasts) + number(1)

    def clipped(self, axis: Axis, depth: int) -> str:
        """The ``match_span`` call for a clipped axis at a depth."""
        start, extent = self.window(axis, depth)
        return f"match_span({start}, {axis.offset}u, {extent}, {axis.size}u)"

    def span_name(self, operand: Operand, axis: Axis, depth: int) -> str:
        """Field that holds the span of a clipped axis that is cut at a depth."""
        inner = self.is_cut(axis, depth)
        return f"{operand.name}_{axis.name}{f'_{depth}' if inner else ''}"

    def span(self, operand: Operand, axis: Axis, depth: int) -> Span:
        """The axis' part of the operand's box at a depth."""
        stored = round_up(axis.size, axis.round_up)
        if not self.is_cut(axis, 0, depth):
            sizes = {dim: self.workload.dim(dim).size for dim, _ in axis.terms}
            part = axis_tile(axis, {}, sizes)
            extent = round_up(part.extent, axis.round_up)
            return Span(number(part.first), number(extent), extent == stored)
        if self.is_clipped(axis):
            name = f"{self.record}{self.span_name(operand, axis, depth)}"
            return Span(symbol(f"{name}.first"), symbol(f"{name}.size"), False)
        start, length = self.window(axis, depth)
        return Span(start, _rounded(length, axis.round_up), False)

    def offset(self, operand: Operand, outer: int | None, inner: int) -> Expression:
        """Bytes from the start of the box at depth ``outer`` (None: the whole operand) to that at depth ``inner``."""
        parts, stride = [], number(operand.element_bits)
        for axis, elements in reversed(list(zip(operand.axes, far_strides(operand), strict=True))):
            if outer is None:
                parts.append(self.span(operand, axis, inner).first * number(elements * operand.element_bits))
            else:
                parts.append(self._distance(operand, axis, outer, inner) * stride)
                stride *= self.span(operand, axis, outer).extent
        return total(parts[::-1]).bits_to_bytes()

    def _distance(self, operand: Operand, axis: Axis, outer: int, inner: int) -> Expression:
        if not self.is_cut(axis, outer, inner):
            return Expression()
        if not self.is_clipped(axis):
            return total([self.start(dim, outer, inner) * coefficient for dim, coefficient in axis.terms])
        first, base = self.span(operand, axis, inner).first, self.span(operand, axis, outer).first
        return symbol(f"({first} - {base})") if base.terms else first


class FirstTile(TileText):
    """The same for the first step, where all indices are 0 and all sizes are known."""

    def __init__(self, workload: Workload, schedule: LoopSchedule) -> None:
        super().__init__(workload, schedule, "")

    def start(self, dim: str, first: int = 0, end: int | None = None) -> Expression:
        """Zero."""
        return Expression()

    def computed_size(self, dim: str, depth: int) -> Expression:
        """The full piece: the first one is never a smaller remainder."""
        return number(max(self.lengths(dim, depth)))

    def span(self, operand: Operand, axis: Axis, depth: int) -> Span:
        """Numbers only."""
        if not (self.is_clipped(axis) and self.is_cut(axis, 0, depth)):
            return super().span(operand, axis, depth)
        part = self.part(axis, depth)
        return Span(number(part.first), number(part.extent), False)

    def part(self, axis: Axis, depth: int) -> AxisTile:
        """The part of the axis that the first box at a depth touches."""
        return axis_tile(axis, {}, {dim: max(self.lengths(dim, depth)) for dim, _ in axis.terms})


def _rounded(extent: Expression, multiple: int) -> Expression:
    if multiple == 1:
        return extent
    if extent.value is not None:
        return number(round_up(extent.value, multiple))
    return symbol(f"(({extent + number(multiple - 1)}) / {multiple}u * {multiple}u)")
