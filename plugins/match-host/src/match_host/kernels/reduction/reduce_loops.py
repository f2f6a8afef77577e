"""The loops of a reduction, in one of three forms: one result after another; contiguous results together (``ACROSS``,
if the innermost axis remains); several accumulators for one result (``LANES``, if a long contiguous line of
floating-point values is reduced). Compilers vectorise the last two."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from match_host.graph import elements
from match_host.kernels.code import Code, affine
from match_host.kernels.lanes import FEWEST_ACROSS, LANES, block_of, in_lanes
from match_host.kernels.nest import VARIABLES, Nest, broadcast_strides, merge, row_major

#: A loop variable's value: terms and a constant.
Place = tuple[tuple[tuple[str, int], ...], int]
#: C text of an operand's element index, given its shape.
Index = Callable[[tuple[int, ...]], str]


@dataclass(frozen=True)
class ReduceLoops:
    """Loops over the kept axes, then over the reduced ones, for operands given by their shapes."""

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    seen: tuple[tuple[int, ...], ...]
    places: Mapping[str, Place] = field(default_factory=dict)

    @property
    def kept(self) -> tuple[int, ...]:
        """The axes that are not reduced."""
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.axes)

    def _part(self, values: Sequence[int], axes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(values[axis] for axis in axes)

    def _nests(self) -> tuple[Nest, Nest]:
        out = self._part(self.shape, self.kept)
        strides = [broadcast_strides(shape) for shape in self.seen]
        outer = merge(out, [row_major(out), *(self._part(item, self.kept) for item in strides)])
        inner = merge(self._part(self.shape, self.axes), [self._part(item, self.axes) for item in strides])
        return outer, inner

    @property
    def target(self) -> str:
        """C text of the result's element index."""
        outer, _ = self._nests()
        return self._text(outer.terms(row_major(self._part(self.shape, self.kept))))

    @property
    def variables(self) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]:
        """(name, steps) of the loops over kept and over reduced axes."""
        outer, inner = self._nests()
        names = VARIABLES[len(outer.groups) :]
        return outer.variables, tuple(zip(names, (size for _, size in inner.variables), strict=False))

    def index(self, seen: tuple[int, ...]) -> str:
        """C text of the element index of an operand of this shape."""
        outer, inner = self._nests()
        strides, names = broadcast_strides(seen), VARIABLES[len(outer.groups) :]
        terms = [*outer.terms(self._part(strides, self.kept))]
        terms += zip(names, (step for _, step in inner.terms(self._part(strides, self.axes))), strict=False)
        return self._text(terms)

    def _text(self, terms: Sequence[tuple[str, int]]) -> str:
        placed: list[tuple[str, int]] = []
        offset = 0
        for name, step in terms:
            parts, constant = self.places.get(name, (((name, 1),), 0))
            placed += [(part, factor * step) for part, factor in parts]
            offset += constant * step
        return affine(placed, offset)

    def at(self, name: str, terms: tuple[tuple[str, int], ...], offset: int = 0) -> ReduceLoops:
        """The loops with a loop variable replaced."""
        return ReduceLoops(self.shape, self.axes, self.seen, {**self.places, name: (terms, offset)})

    def at_first(self) -> ReduceLoops:
        """The loops at their first reduced element."""
        first = {name: ((), 0) for name, _ in self.variables[1]}
        return ReduceLoops(self.shape, self.axes, self.seen, {**self.places, **first})

    @property
    def innermost(self) -> int:
        """The last axis with more than one element, -1 without one."""
        return max((axis for axis, size in enumerate(self.shape) if size > 1), default=-1)


@dataclass(frozen=True)
class Steps:
    """C of one reduction: type and initial value of the accumulator (empty: the first value); ``value(index, code)``
    writes preparing statements and returns the next value's text, ``step(value)`` the accumulator ``acc`` after it,
    ``join`` that of two accumulators ``acc`` and ``{x}``, ``finish`` the stored value."""

    ctype: str
    start: str
    value: Callable[[Index, Code], str]
    step: Callable[[str], str]
    join: str
    finish: str


def _goes_across(loops: ReduceLoops) -> bool:
    """Whether contiguous results are computed together."""
    outer, inner = loops.variables
    return bool(outer and inner) and loops.innermost not in loops.axes and outer[-1][1] >= FEWEST_ACROSS


def _has_lanes(loops: ReduceLoops, dtype: np.dtype[np.generic]) -> bool:
    """Whether one result has several accumulators."""
    inner = loops.variables[1]
    return bool(inner) and loops.innermost in loops.axes and in_lanes(dtype, inner[-1][1])


def told_loops(loops: ReduceLoops, dtype: np.dtype[np.generic]) -> dict[str, int]:
    """What ``Built.told`` tells of the loops: contiguous results of a block and runs over blocks; or values of the
    accumulators' last turns, and lines; or turns of the innermost loop."""
    outer, inner = ([size for _, size in part] for part in loops.variables)
    if _goes_across(loops):
        block = block_of(outer[-1])
        return {"block": block, "runs": elements((*outer, *inner)) // block}
    if _has_lanes(loops, dtype):
        lines = elements((*outer, *inner[:-1]))
        return {"lines": lines, "rest": lines * (inner[-1] % LANES)}
    return {"turns": inner[-1] if inner else 1}


def write_reduction(loops: ReduceLoops, steps: Steps, dtype: np.dtype[np.generic], code: Code) -> None:
    """The body of the kernel. ``dtype``: the type of the values in memory."""
    outer, inner = loops.variables
    if _goes_across(loops):
        _across(loops, steps, code)
    elif _has_lanes(loops, dtype):
        _lanes(loops, steps, code)
    else:
        with code.loops(outer):
            _begin(loops, steps, f"{steps.ctype} acc", code)
            if steps.start or inner:
                with code.loops(inner):
                    code.line(f"acc = {steps.step(steps.value(loops.index, code))};")
            code.line(f"out0[{loops.target}] = {steps.finish};")


def _begin(loops: ReduceLoops, steps: Steps, name: str, code: Code) -> None:
    """Give an accumulator its initial value."""
    code.line(f"{name} = {steps.start or steps.value(loops.at_first().index, code)};")


def _named(text: str, name: str) -> str:
    """The text with ``acc`` replaced by another accumulator."""
    return re.sub(r"\bacc\b", name, text)


def _across(loops: ReduceLoops, steps: Steps, code: Code) -> None:
    (*front, (name, size)), inner = loops.variables
    block = block_of(size)
    head = f"for (int32_t c = 0; c < {block}; c++)"
    with code.loops(front), code.loop("b", size // block) as b:
        placed = loops.at(name, ((b, block), ("c", 1)))
        code.line(f"{steps.ctype} acc[{block}];")
        with code.block(head):
            _begin(placed, steps, "acc[c]", code)
        with code.loops(inner), code.block(head):
            code.line(f"acc[c] = {_named(steps.step(steps.value(placed.index, code)), 'acc[c]')};")
        with code.block(head):
            code.line(f"out0[{placed.target}] = {_named(steps.finish, 'acc[c]')};")


def _lanes(loops: ReduceLoops, steps: Steps, code: Code) -> None:
    outer, (*front, (name, size)) = loops.variables
    whole = size // LANES * LANES
    with code.loops(outer):
        code.line(f"{steps.ctype} lane[{LANES}];")
        with code.loop("t", LANES):
            _begin(loops.at_first().at(name, (("t", 1),)), steps, "lane[t]", code)
        with code.loops(front):
            with code.block(f"for (int32_t x = 0; x < {whole}; x += {LANES})"), code.loop("t", LANES):
                value = steps.value(loops.at(name, (("x", 1), ("t", 1))).index, code)
                code.line(f"lane[t] = {_named(steps.step(value), 'lane[t]')};")
            if size > whole:
                with code.block(f"for (int32_t t = 0; t < {size - whole}; t++)"):
                    value = steps.value(loops.at(name, (("t", 1),), whole).index, code)
                    code.line(f"lane[t] = {_named(steps.step(value), 'lane[t]')};")
        with (
            code.block(f"for (int32_t half = {LANES // 2}; half > 0; half /= 2)"),
            code.block("for (int32_t t = 0; t < half; t++)"),
        ):
            code.line(f"lane[t] = {_named(steps.join.format(x='lane[half + t]'), 'lane[t]')};")
        code.line(f"const {steps.ctype} acc = lane[0];")
        code.line(f"out0[{loops.target}] = {steps.finish};")
