"""Structures of the integer graph that the product kernels implement, and what a match of one says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from match_core import Any, Const, Match, Maybe, Op
from match_core.patterns.structures import DENSE, arithmetic, constants, convolution, requantised

LINEAR = requantised(DENSE, "I8", "U8")
#: A dense layer whose result is transposed, with its last axis zero-padded.
LINEAR_TURNED = Maybe(Op("Pad", "pad", (Op("Transpose", "turn", (LINEAR,)),)))
#: A product of two activations with the permutations around it.
MATMUL = Maybe(
    Op(
        "Transpose",
        "turn_output",
        (
            requantised(
                Op(
                    "MatMulInteger",
                    "matmul",
                    (Maybe(Op("Transpose", "turn_a", (Any("a"),))), Maybe(Op("Transpose", "turn_b", (Any("b"),)))),
                ),
                "I8",
                "U8",
            ),
        ),
    )
)
SOFTMAX = Op(
    arithmetic("Softmax", "I8", "U8"),
    "softmax",
    (Any("input"), *constants("table", "numerator", "zero", "low", "high")),
)
SOFTMAX_FLOOR = Op("match.arith::SoftmaxFloorU8", "softmax", (Any("input"), Const("table"), Const("numerator")))
SHIFT_SOFTMAX = Op("match.arith::ShiftSoftmaxU8", "softmax", (Any("input"), Const("numerator")))
#: Convolution of images as they lie in ONNX, its zero-point padding (if any) taken in.
CONV = requantised(convolution("ConvInteger", padded=True), "I8", "U8")
MAXPOOL = Op("MaxPool", "pool", (Any("input"),))


def zero_point(match: Match, index: int) -> int | None:
    """A zero point of a product (2: of the first input, 3: of the second); None where it is not one known number."""
    inputs = match.node("matmul" if match.has("matmul") else "dense").inputs
    if len(inputs) <= index or inputs[index].is_empty():
        return 0
    values = getattr(inputs[index], "values", None)
    return int(values.reshape(-1)[0]) if values is not None and values.size == 1 else None


@dataclass(frozen=True, slots=True)
class Side:
    """The layout of an operand of a batched product in the home memory: elements from one index to the next, of heads,
    rows, columns (the last two axes of the product's side)."""

    heads: int
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Product:
    """Sizes of H products of [M, C] by [C, N], and the layouts of the operands. Steps along axes of one index are 0."""

    h: int
    m: int
    n: int
    c: int
    a: Side
    b: Side
    output: Side


def product_of(match: Match) -> Product | None:
    """None where batches differ or do not lie as one axis."""
    left, right = (tuple(int(size) for size in tensor.shape) for tensor in match.node("matmul").inputs[:2])
    if len(left) < 2 or left[:-2] != right[:-2]:
        return None
    whole = (*left[:-1], right[-1])
    turned = [_permutation(match, name, len(left)) for name in ("turn_a", "turn_b", "turn_output")]
    # The output's permutation says where the axes of the product go, those of the inputs where they come from.
    output = tuple(turned[2].index(axis) for axis in range(len(whole)))
    sides = [_side(shape, order) for shape, order in zip((left, right, whole), (*turned[:2], output), strict=True)]
    if sides[0] is None or sides[1] is None or sides[2] is None:
        return None
    return Product(prod(left[:-2]), left[-2], right[-1], left[-1], sides[0], sides[1], sides[2])


def _permutation(match: Match, capture: str, rank: int) -> tuple[int, ...]:
    if not match.has(capture):
        return tuple(range(rank))
    return tuple(int(axis) for axis in match.node(capture).attrs.get("perm", range(rank)[::-1]))


def _side(shape: Sequence[int], order: Sequence[int]) -> Side | None:
    """``order``: which axis of the tensor at home each axis of ``shape`` is."""
    stored = [0] * len(shape)
    for axis, place in enumerate(order):
        stored[place] = shape[axis]
    steps = [prod(stored[place + 1 :]) if shape[axis] > 1 else 0 for axis, place in enumerate(order)]
    batch = [(shape[axis], steps[axis]) for axis in range(len(shape) - 2) if shape[axis] > 1]
    for (_, outer), (size, inner) in pairwise(batch):
        if outer != size * inner:
            return None
    return Side(batch[-1][1] if batch else 0, steps[-2], steps[-1])
