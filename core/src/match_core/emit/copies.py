"""Copies of tiles in C: the position of a box inside of a bigger one, as calls of a memory API."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from match_core.contract.geometry import far_pitches, far_strides, has_gap
from match_core.contract.unit_api import MemoryApi
from match_core.contract.workload import Operand
from match_core.emit.expression import ZERO, Expression, number, symbol
from match_core.emit.tile_text import TileText
from match_core.lower.text import Block


@dataclass(frozen=True, slots=True)
class Address:
    """A place in a memory: the name of a byte pointer (or a number) plus bytes."""

    base: str
    offset: Expression = ZERO

    def __add__(self, offset: Expression) -> Address:
        return Address(self.base, self.offset + offset)

    def __str__(self) -> str:
        constant, rest = self.offset.split()
        return " + ".join([self.base, *(str(part) for part in (constant, rest) if part.terms)])


@dataclass(frozen=True, slots=True)
class Level:
    """One strided level of a copy: number of repetitions, and distance in the bigger box in bytes."""

    count: Expression
    stride: Expression


@dataclass(frozen=True, slots=True)
class Copy:
    """A strided copy: ``offset`` bytes into the bigger box, contiguous ``row_bytes``, levels outermost first."""

    offset: Expression
    row_bytes: Expression
    levels: tuple[Level, ...]


def copy_of(text: TileText, operand: Operand, outer: int | None, inner: int) -> Copy:
    """The copy between the operand's box at depth ``inner`` and that at depth ``outer`` (None: the whole operand)."""
    stride = row = number(operand.element_bits)
    levels: list[Level] = []
    closed = False  # an axis that is not whole leaves gaps: the next one begins a level
    pitches, strides = far_pitches(operand), far_strides(operand)
    for position in reversed(range(len(operand.axes))):
        axis = operand.axes[position]
        span = text.span(operand, axis, inner)
        if outer is None:
            whole, length = span.whole and not has_gap(operand, position), number(pitches[position])
            stride = number(strides[position] * operand.element_bits)
        else:
            whole, length = not text.is_cut(axis, outer, inner), text.span(operand, axis, outer).extent
        if closed and span.extent.value != 1:
            levels.append(Level(span.extent, stride.bits_to_bytes()))
        elif not closed and levels:
            levels[-1] = Level(span.extent * levels[-1].count, levels[-1].stride)
        elif not closed:
            row = row * span.extent
        closed = not whole or (closed and span.extent.value == 1)
        stride = stride * length
    return Copy(text.offset(operand, outer, inner), row.bits_to_bytes(), tuple(reversed(levels)))


def write_copy(block: Block, api: MemoryApi, direction: str, near: Address, far: Address, copy: Copy) -> None:
    """The calls for one copy; ``far`` is the start of the bigger box. More than three levels become loops."""
    calls = {
        "in": (api.copy_in_1d, api.copy_in_2d, api.copy_in_3d),
        "out": (api.copy_out_1d, api.copy_out_2d, api.copy_out_3d),
    }[direction]
    split = max(0, len(copy.levels) - 2)
    inner = copy.levels[split:]
    counts = [level.count for level in inner]
    strides = [level.stride for level in reversed(inner)]

    def call(near: Address, far: Address) -> str:
        places = (near, far) if direction == "in" else (far, near)
        return f"{calls[len(inner)]}({', '.join(map(str, (*places, *counts, copy.row_bytes, *strides)))});"

    _write_loops(block, copy, split, near, far, call)


def write_rows(block: Block, function: str, near: Address, far: Address, copy: Copy) -> None:
    """The calls for one copy with a function ``(near, far, bytes)``: a loop for every level."""
    _write_loops(block, copy, len(copy.levels), near, far, lambda n, f: f"{function}({n}, {f}, {copy.row_bytes});")


def _write_loops(
    block: Block, copy: Copy, loops: int, near: Address, far: Address, call: Callable[[Address, Address], str]
) -> None:
    """``call`` inside of loops over the first ``loops`` levels."""
    far += copy.offset
    with ExitStack() as stack:
        for position, level in enumerate(copy.levels[:loops]):
            index = symbol(f"i{position}")
            stack.enter_context(block.braces(f"for (uint32_t {index} = 0u; {index} < {level.count}; {index}++)"))
            dense = copy.row_bytes
            for inner in copy.levels[position + 1 :]:
                dense = inner.count * dense
            near, far = near + index * dense, far + index * level.stride
        block.line(call(near, far))
