"""Structures that only move bytes, and the geometry of their matches."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from match_core import Any, Const, Match, Op
from match_host.graph import constant_at, text
from match_host.kernels.image.resize import as_copy
from match_host.kernels.image.resize_writer import Writer
from match_host.kernels.movement.movement import MOVERS, pad_amounts
from match_host.kernels.nest import merge

#: Dimensions of a move and of a padded tensor.
MOVED, PADDED = "OPABC", "PYXC"
#: Inputs of a Concat.
PARTS = ("input_a", "input_b", "input_c", "input_d")

MOVE = Op("Slice|Transpose|DepthToSpace|SpaceToDepth", "move", (Any("input"),))
PAD = Op("Pad", "pad", (Any("input"), Const("pads")))
RESIZE = Op("Resize", "resize", (Any("input"),))


def concat(count: int) -> Op:
    """So many tensors joined."""
    return Op("Concat", "concat", tuple(Any(name) for name in PARTS[:count]))


@dataclass(frozen=True, slots=True)
class Moved:
    """Axes as (size, step in the input, step in the result), outermost first; the input begins at element ``base``."""

    axes: tuple[tuple[int, int, int], ...]
    base: int


def moved(match: Match) -> Moved | None:
    """Five axes of which the last one is dense on both sides; None where there are more."""
    (copy,) = MOVERS[match.node("move").op](match.node("move"))
    nest = merge(copy.shape, (copy.source_strides, copy.target_strides))
    axes = [(steps, copy.source_strides[axis], copy.target_strides[axis]) for axis, steps in nest.groups]
    size = prod(copy.shape)
    if not axes or axes[-1][1:] != (1, 1):
        axes.append((1, 1, 1))
    missing = len(MOVED) - len(axes)
    if missing < 0 or min(step for axis in axes for step in axis[1:]) < 1 or copy.target_offset:
        return None
    return Moved((*((1, size, size),) * missing, *axes), copy.source_offset)


def padded(match: Match) -> tuple[tuple[int, int, int], ...] | None:
    """Four axes as (size, before, after), outermost first, axes without padding joined to the one before them; None
    where there are more, or some are cropped."""
    axes: list[tuple[int, int, int]] = []
    for size, (before, after) in zip(match.shape("input"), pad_amounts(match.node("pad")), strict=True):
        if min(before, after) < 0:
            return None
        if axes and (before, after) == (0, 0):
            axes[-1] = (axes[-1][0] * size, axes[-1][1] * size, axes[-1][2] * size)
        else:
            axes.append((size, before, after))
    missing = len(PADDED) - len(axes)
    return None if missing < 0 else (*((1, 0, 0),) * missing, *axes)


def is_constant_pad(match: Match) -> bool:
    """Whether a Pad fills with one constant value."""
    node = match.node("pad")
    value = node.inputs[2] if len(node.inputs) > 2 else None
    return text(node, "mode", "constant") == "constant" and (value is None or hasattr(value, "values"))


def pad_value(match: Match) -> int:
    """The byte that fills the padding."""
    value = constant_at(match.node("pad"), 2)
    return 0 if value is None else int(value.reshape(-1)[0]) & 0xFF


def joined(match: Match) -> tuple[int, tuple[int, ...], int]:
    """Of a Concat: elements outside of its axis, sizes along it, elements inside of it."""
    node, shape = match.node("concat"), [int(size) for size in match.output.shape]
    position = int(node.attrs["axis"]) % len(shape)
    sizes = tuple(int(tensor.shape[position]) for tensor in node.inputs)
    return prod(shape[:position]), sizes, prod(shape[position + 1 :])


def repeated(match: Match) -> tuple[int, int, int, int, int] | None:
    """Y, SY, X, SX and C of a Resize that repeats every row SY times and every pixel SX times; None for others."""
    node = match.node("resize")
    if text(node, "mode", "nearest") != "nearest":
        return None
    copy = as_copy(node, Writer(node))
    if copy is None or copy.source_offset:
        return None
    pairs: list[tuple[int, int]] = []
    for axis, steps in merge(copy.shape, (copy.source_strides, copy.target_strides)).groups:
        if copy.source_strides[axis]:
            pairs.append((steps, 1))
        elif pairs:
            pairs[-1] = (pairs[-1][0], steps)
        else:
            return None
    if not pairs or pairs[-1][1] > 1:
        pairs.append((1, 1))
    if len(pairs) > 3 or prod(size for size, _ in pairs) != prod(match.shape("input")):
        return None  # elements are left out
    y, x, c = [(1, 1)] * (3 - len(pairs)) + pairs
    return *y, *x, c[0]
