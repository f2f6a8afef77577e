"""The cluster's patterns that move bytes: parts, permutations, padding, joined tensors, repeated pixels."""

from __future__ import annotations

from match_core import Axis, Dim, KernelInterface, Match, Operand, Pattern, Workload
from match_core.lower.interfaces import UNARY, Operands
from match_core.patterns.rule import rule
from match_core.patterns.rules_tensors import types_are
from match_core.patterns.workloads import axis, whole

from match_gap9.moves import structures as s

#: output = input, both dense and in the same order.
MOVE = KernelInterface("move", UNARY, tuple(s.MOVED), (), ())
#: output[p][y][x][c], ``value`` where that is outside of the input. K is one index.
PAD = KernelInterface("pad", UNARY, (*s.PADDED, "K"), tuple(("input", name.lower()) for name in s.PADDED), ("value",))
#: output[y][sy][x][sx][c] = input[y][x][c].
REPEAT = KernelInterface("repeat", UNARY, ("Y", "SY", "X", "SX", "C"), (), ())

_COUNTS = {2: "two", 3: "three", 4: "four"}


def _concat_interface(count: int) -> KernelInterface:
    inputs: Operands = tuple((name, "input") for name in s.PARTS[:count])
    sizes = tuple(name.replace("input", "size") for name in s.PARTS[:count])
    return KernelInterface(f"concat_{_COUNTS[count]}", (*inputs, ("output", "output")), ("O", "I"), (), sizes)


#: output[o] = input_a[o][size_a][i], input_b[o][size_b][i] and so on, by the number of inputs.
CONCATS = {count: _concat_interface(count) for count in _COUNTS}
INTERFACES = (MOVE, PAD, REPEAT, *CONCATS.values())

_BYTES = types_are("elements are 8 bits wide", "int8", "uint8", "bool", of=("input", *s.PARTS), name="elements")


# ---- rules -----------------------------------------------------------------------------------------------------


@rule("order", "at most five axes with steps of their own, and indices grow")
def few_axes(match: Match) -> str | None:
    return None if s.moved(match) is not None else "there are more, or some are reversed"


@rule("transpose", "a permutation keeps the last axis", "move")
def keeps_rows(match: Match) -> str | None:
    node = match.node("move")
    order = [int(axis) for axis in node.attrs.get("perm", ())]
    shape = match.shape("input")
    longer = [number for number in order if shape[number] > 1]
    kept = node.op != "Transpose" or not longer or longer[-1] == max(longer)
    return None if kept else f"it is {order}"


@rule("mode", "the padding is one constant value")
def constant_padding(match: Match) -> str | None:
    return None if s.is_constant_pad(match) else "it is not"


@rule("axes", "at most four axes are padded, and none is cropped")
def padded_axes(match: Match) -> str | None:
    return None if s.padded(match) is not None else "there are more, or amounts are negative"


@rule("inputs", "every input is computed")
def no_more_inputs(match: Match) -> str | None:
    captured = sum(match.has(name) for name in s.PARTS)
    count = len(match.node("concat").inputs)
    return None if count == captured else f"{count - captured} inputs are constant"


@rule("resize", "every row and every pixel is repeated a whole number of times")
def repeats(match: Match) -> str | None:
    return None if s.repeated(match) is not None else "it is not"


# ---- workloads -------------------------------------------------------------------------------------------------


def _move(match: Match) -> Workload:
    found = s.moved(match)
    assert found is not None  # a rule says so
    named = list(zip(s.MOVED, found.axes, strict=True))
    inputs = tuple(axis(name.lower(), size, step) for name, (size, step, _) in named)
    outputs = tuple(axis(name.lower(), size, step) for name, (size, _, step) in named)
    operands = (Operand("input", "input", inputs, base=found.base), Operand("output", "output", outputs))
    return Workload("move", tuple(Dim(name, size) for name, (size, _, _) in named), operands, 0)


def _pad(match: Match) -> Workload:
    axes = s.padded(match)
    assert axes is not None  # a rule says so
    named = list(zip(s.PADDED, axes, strict=True))
    # Two terms, so that parts without padding too say how many indices they have.
    inputs = tuple(Axis(name.lower(), size, ((name, 1), ("K", 1)), offset=before) for name, (size, before, _) in named)
    sizes = {name: before + size + after for name, (size, before, after) in named}
    outputs = tuple(axis(name.lower(), size) for name, size in sizes.items())
    operands = (Operand("input", "input", inputs), Operand("output", "output", outputs))
    dims = (*(Dim(name, size) for name, size in sizes.items()), whole("K", 1))
    return Workload("pad", dims, operands, 0, arithmetic=(("value", s.pad_value(match)),))


def _concat(match: Match) -> Workload:
    outer, sizes, inner = s.joined(match)
    o, i = axis("o", outer), axis("i", inner)
    parts = list(zip(s.PARTS, sizes, strict=False))
    operands = (
        *(Operand(name, "input", (o, Axis("n", size), i)) for name, size in parts),
        Operand("output", "output", (o, Axis("n", sum(sizes)), i)),
    )
    geometry = tuple((name.replace("input", "size"), size) for name, size in parts)
    return Workload(f"concat_{_COUNTS[len(sizes)]}", (Dim("O", outer), Dim("I", inner)), operands, 0, geometry)


def _repeat(match: Match) -> Workload:
    found = s.repeated(match)
    assert found is not None  # a rule says so
    sizes = dict(zip(REPEAT.dims, found, strict=True))
    y, sy, x, sx, c = (axis(name.lower(), size) for name, size in sizes.items())
    dims = tuple(Dim(name, size, tileable=len(name) == 1) for name, size in sizes.items())
    operands = (Operand("input", "input", (y, x, c)), Operand("output", "output", (y, sy, x, sx, c)))
    return Workload("repeat", dims, operands, 0)


def _joined(count: int) -> Pattern:
    name = f"concat_{_COUNTS[count]}"
    description = f"{_COUNTS[count]} tensors joined (match_gap9_{name})"
    return Pattern(name, description, s.concat(count), (_BYTES, no_more_inputs), _concat)


PATTERNS = (
    Pattern(
        "move",
        "part of a tensor, or its axes in another order, copied by the DMA (match_gap9_move)",
        s.MOVE,
        (_BYTES, keeps_rows, few_axes),
        _move,
    ),
    Pattern(
        "pad",
        "padding with a constant (match_gap9_pad)",
        s.PAD,
        (_BYTES, constant_padding, padded_axes),
        _pad,
    ),
    *map(_joined, _COUNTS),
    Pattern(
        "repeat",
        "resize to a multiple of the size by the nearest pixel (match_gap9_repeat)",
        s.RESIZE,
        (_BYTES, repeats),
        _repeat,
    ),
)
