"""Parameters of matches of moves: axes with their steps in memory, windows of rows, padding.

Axes of one element are removed, and neighbouring axes that are contiguous on both sides are merged. An axis is (size,
step), the step in elements from one index to the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from match_core import Match
from numpy.typing import NDArray

from match_ita.snitch_rows import structures as s

#: Longest row of a normalisation: sums of squares then fit 32 bits.
ROW_LONGEST = 4096
#: Axes that a copy has, and a turned matrix with what is outside of it.
_COPIED, _TURNED = 5, 4

Steps = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Moved:
    """``axes`` of the result, outermost first, with their steps in the input, which begins at element ``base``."""

    axes: Steps
    base: int = 0


@dataclass(frozen=True, slots=True)
class Turned:
    """Two outer axes, rows and columns: sizes, steps in the input and steps in the result."""

    sizes: tuple[int, int, int, int]
    input_steps: tuple[int, int, int, int]
    output_steps: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Windows:
    """Row t * stride + k * dilation for t < count and k < taps."""

    count: int
    taps: int
    stride: int
    dilation: int


@dataclass(frozen=True, slots=True)
class Padded:
    """[outer][size][inner], with ``before`` and ``after`` more indices of ``value`` in the middle."""

    outer: int
    before: int
    size: int
    after: int
    inner: int
    value: int


def steps_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Elements from one index of each axis to the next."""
    return tuple(prod(shape[number + 1 :]) for number in range(len(shape)))


def merged(axes: Steps) -> Steps:
    """Axes with their steps, neighbours joined where the outer one steps over the inner one."""
    result: list[tuple[int, int]] = []
    for size, step in axes:
        if size == 1:
            continue
        if result and result[-1][1] == size * step:
            size, _ = result.pop()[0] * size, 0
        result.append((size, step))
    return tuple(result)


def _permuted(match: Match) -> Steps:
    shape = match.shape("input")
    default = range(len(shape))[::-1]
    order = [int(axis) for axis in match.node("transpose").attrs.get("perm", default)]
    steps = steps_of(shape)
    return merged(tuple((shape[axis], steps[axis]) for axis in order))


def _five(axes: Steps) -> Steps | None:
    """Five axes, the last one dense."""
    dense = axes if axes and axes[-1][1] == 1 else (*axes, (1, 1))
    missing = _COPIED - len(dense)
    return None if missing < 0 else (*((1, prod(size for size, _ in dense)),) * missing, *dense)


def copied(match: Match) -> Moved | None:
    """A Transpose that keeps the last axis; None for others."""
    axes = _permuted(match)
    five = _five(axes)
    return Moved(five) if five is not None and (not axes or axes[-1][1] == 1) else None


def turned(match: Match) -> Turned | None:
    """A Transpose that moves the last axis; None where more than four axes are left."""
    axes = _permuted(match)
    if not axes or axes[-1][1] == 1 or len(axes) > _TURNED:
        return None
    output_steps = steps_of(tuple(size for size, _ in axes))
    column = next(number for number, (_, step) in enumerate(axes) if step == 1)
    outer = [number for number in range(len(axes) - 1) if number != column]
    size = prod(size for size, _ in axes)
    entries = [(1, size, size)] * (2 - len(outer))
    entries += [(*axes[number], output_steps[number]) for number in (*outer, len(axes) - 1, column)]
    sizes, inputs, outputs = zip(*entries, strict=True)
    return Turned(sizes, inputs, outputs)


def sliced(match: Match) -> Moved | None:
    """A Slice; None for negative steps or where more than five axes are left."""
    shape, node = match.shape("input"), match.node("slice")
    constants = [_values(tensor) for tensor in node.inputs[1:]]
    starts, ends = constants[0], constants[1]
    axes = constants[2] if len(constants) > 2 and constants[2] is not None else np.arange(len(shape))
    strides = constants[3] if len(constants) > 3 and constants[3] is not None else np.ones(len(shape), np.int64)
    if starts is None or ends is None or (strides < 1).any():
        return None
    steps = steps_of(shape)
    entries, base = [(size, step) for size, step in zip(shape, steps, strict=True)], 0
    for axis, start, end, stride in zip(axes, starts, ends, strides, strict=False):
        number = int(axis) % len(shape)
        first, stop, _ = slice(int(start), int(end), int(stride)).indices(shape[number])
        entries[number] = (len(range(first, stop, int(stride))), steps[number] * int(stride))
        base += first * steps[number]
    five = _five(merged(tuple(entries)))
    return None if five is None or min(size for size, _ in five) < 1 else Moved(five, base)


def _values(tensor: object) -> NDArray[np.int64] | None:
    values = getattr(tensor, "values", None)
    return None if values is None else np.asarray(values, np.int64).reshape(-1)


def windows_of(match: Match) -> Windows | None:
    """Indices that are windows which follow each other; the shortest windows of more than one row, if there are."""
    index = match.const("index").astype(np.int64).reshape(-1)
    if index.size < 2 or index[0] != 0 or (index < 0).any():
        return None
    for taps in (taps for taps in range(2, index.size + 1) if index.size % taps == 0):
        grid = index.reshape(-1, taps)
        stride = int(grid[1, 0]) if len(grid) > 1 else 1
        dilation = int(grid[0, 1])
        expected = np.arange(len(grid))[:, None] * stride + np.arange(taps) * dilation
        if min(stride, dilation) > 0 and np.array_equal(grid, expected):
            return Windows(len(grid), taps, stride, dilation)
    return None


def padding(match: Match) -> Padded | None:
    """A Pad along one axis by a constant."""
    node, shape = match.node("pad"), match.shape("input")
    mode = node.attrs.get("mode", "constant")
    amounts = match.const("pads").astype(np.int64).reshape(-1)
    if mode not in ("constant", b"constant") or len(node.inputs) > 3 or amounts.size != 2 * len(shape):
        return None
    value = 0
    if len(node.inputs) > 2 and node.inputs[2].name:
        constant = _values(node.inputs[2])
        if constant is None:
            return None
        value = int(constant[0])
    pairs = amounts.reshape(2, -1).T
    padded = [number for number, pair in enumerate(pairs) if pair.any()]
    if len(padded) != 1 or (amounts < 0).any():
        return None
    axis = padded[0]
    before, after = (int(amount) for amount in pairs[axis])
    return Padded(prod(shape[:axis]), before, shape[axis], after, prod(shape[axis + 1 :]), value)


def joined(match: Match) -> tuple[int, tuple[int, ...], int]:
    """Of a Concat: elements outside of its axis, sizes along it, elements inside of it."""
    names = [name for name in ("input_a", "input_b", "input_c") if match.has(name)]
    shape = s.output_shape(match)
    axis = int(match.node("concat").attrs["axis"]) % len(shape)
    sizes = tuple(int(match.tensor(name).shape[axis]) for name in names)
    return prod(shape[:axis]), sizes, prod(shape[axis + 1 :])
