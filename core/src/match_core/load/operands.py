"""Sizes of operands that must agree and that inference of shapes does not compare: kernels rely on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import prod
from operator import ne
from typing import TYPE_CHECKING

from match_core.contract.errors import ModelError

if TYPE_CHECKING:
    import onnx

Shape = Sequence[int]
#: Position of an input, and the sizes that it must have: None for any.
Wanted = tuple[int, Sequence[int | None]]
#: Operators whose attribute ``axis`` inference of shapes does not compare with the rank.
_WITH_AXIS = ("LayerNormalization", "RMSNormalization", "LpNormalization", "Hardmax", "Softmax", "LogSoftmax", "Concat")
#: Operators that read an element of their first input for each one of the result.
_READING = frozenset(
    ["ArgMax", "ArgMin", "Gather", "GatherElements", "GatherND", "GridSample", "Resize", "RoiAlign", "Slice", "Tile"]
)


@dataclass(frozen=True, slots=True)
class _Node:
    """Shapes of inputs (None for an omitted one) and of the first output, and attributes that are integers or lists."""

    inputs: Sequence[Shape | None]
    output: Shape
    attributes: Mapping[str, int]
    lists: Mapping[str, Sequence[int]]

    def shape(self, position: int) -> Shape:
        return (self.inputs[position] if position < len(self.inputs) else None) or ()

    def kernel(self) -> Shape:
        return self.lists.get("kernel_shape") or self.shape(1)[2:]

    def group(self, channels: int) -> int:
        return channels // self.attributes.get("group", 1)

    def sizes(self, rank: int) -> Shape:
        """The first sizes of the first input, zeros where it has fewer."""
        return (*self.shape(0), *[0] * rank)[:rank]


def check_operands(node: onnx.NodeProto, shapes: Mapping[str, Shape], axes: Sequence[int] | None, where: str) -> None:
    """``shapes`` of all tensors whose shapes are known; ``axes``: those that a constant input lists.

    Errors: ModelError MATCH-F006.
    """
    given = [shapes.get(name) if name else None for name in node.input]
    if node.domain not in ("", "ai.onnx") or not any(node.output) or not given or given[0] is None:
        return
    attributes = {a.name: a.i for a in node.attribute if a.type == a.INT}
    lists = {a.name: a.ints for a in node.attribute if a.type == a.INTS}
    fault, output = _of_axes(node.op_type, len(given[0]), axes or lists.get("axes", ()), attributes), node.output[0]
    if not fault and node.op_type in _RULES and output in shapes:
        try:
            rules = list(_RULES[node.op_type](_Node(given, shapes[output], attributes, lists)))
        except IndexError:
            rules, fault = [], "its operands have too few axes"
        for position, wanted in rules:
            found = given[position] if position < len(given) else None
            if found is not None and any(a not in (None, b) for a, b in zip_longest(wanted, found, fillvalue=-1)):
                text = ", ".join("any" if size is None else str(size) for size in wanted)
                fault = f"input {node.input[position]!r} has shape {list(found)}, not [{text}]"
                break
    if node.op_type in _READING and 0 in given[0] and 0 not in shapes.get(output, (0,)):
        fault = "it reads data that have no elements"
    if fault:
        what, advice = "shapes and types of the model contradict each other", ("export the model again",)
        raise ModelError("MATCH-F006", what, where, fault, advice)


def _of_axes(operator: str, rank: int, axes: Sequence[int], attributes: Mapping[str, int]) -> str:
    """Why axes are wrong: outside the tensor, or one of them twice. A scalar has one axis."""
    axis, count = attributes.get("axis", 0) if operator in _WITH_AXIS else 0, max(rank, 1)
    if not -count <= axis < count:
        return f"axis {axis} is outside of a tensor with {rank} axes"
    if operator == "ReverseSequence" and attributes.get("batch_axis", 1) == attributes.get("time_axis", 0):
        return f"time_axis and batch_axis are both {attributes.get('time_axis', 0)}"
    twice = operator.startswith("Reduce") and len({axis % count for axis in axes}) != len(axes)
    return f"axes {list(axes)} name one of {rank} axes twice" if twice else ""


def _recurrent(gates: int) -> Callable[[_Node], Iterable[Wanted]]:
    def rule(node: _Node) -> Iterable[Wanted]:
        x, first = node.sizes(3), node.attributes.get("layout", 0)
        directions, hidden, batch = node.output[2 if first else 1], node.output[-1], x[0 if first else 1]
        state = (batch, directions, hidden) if first else (directions, batch, hidden)
        lines = directions, gates * hidden
        yield from ((0, x), (1, (*lines, x[2])), (2, (*lines, hidden)), (3, (directions, 2 * gates * hidden)))
        yield from ((4, (batch,)), (5, state), (6, state), (7, (directions, 3 * hidden)))

    return rule


def _broadcast(position: int) -> Callable[[_Node], Iterable[Wanted]]:
    """The operand is broadcast to the result."""

    def rule(node: _Node) -> Iterable[Wanted]:
        found = node.shape(position)
        last = node.output[max(0, len(node.output) - len(found)) :]
        yield position, [1 if size == 1 else wanted for size, wanted in zip(found, last, strict=False)]

    return rule


def _elements(node: _Node) -> Iterable[Wanted]:
    """Indices stay within the data in the other axes; as many updates as indices."""
    data, indices = node.shape(0), node.shape(1)
    axis = node.attributes.get("axis", 0) % max(1, len(data))
    yield 1, [size if place == axis else min(size, data[place]) for place, size in enumerate(indices[: len(data)])]
    yield 2, indices


def _slice(node: _Node) -> Iterable[Wanted]:
    count = min(prod(node.shape(1)), len(node.shape(0)))
    yield from ((position, (count,)) for position in range(1, 5))


def _pool(node: _Node) -> Iterable[Wanted]:
    """The last window of each axis begins within the data."""
    ends = [(size - 1) * step for size, step in zip(node.output[2:], node.lists.get("strides", ()), strict=False)]
    sizes = zip(ends, node.lists.get("pads", [0] * len(ends)), node.shape(0)[2:], strict=False)
    if ends:
        yield 0, [None, None, *(None if end - pad < size else end - pad + 1 for end, pad, size in sizes)]


def _resize(node: _Node) -> Iterable[Wanted]:
    """A number for each axis that is resized, two of them for a region."""
    count = len(node.lists.get("axes", ())) or len(node.output)
    yield from ((i, (size,)) for i, size in ((1, 2 * count), (2, count), (3, count)) if node.shape(i) != (0,))


def _scales(node: _Node) -> Iterable[Wanted]:
    """One scale, one for each index of an axis, or one for each block; as many zero points."""
    x, scales, block = node.shape(0), node.shape(1), node.attributes.get("block_size", 0)
    axis = node.attributes.get("axis", 1) if len(x) > 1 else 0
    if len(scales) > 1:
        blocks = [-(-size // max(block, 1)) for size in x]
        yield 1, [*x[:axis], blocks[axis], *x[axis % len(x) + 1 :]]
    elif prod(scales) != 1:
        yield 1, (x[axis],)
    if prod(scales) != prod(node.shape(2)):
        yield 2, scales


_RULES: Mapping[str, Callable[[_Node], Iterable[Wanted]]] = {
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool"), _pool),
    "Conv": lambda n: [(1, (n.output[1], n.group(n.shape(0)[1]), *n.kernel())), (2, n.output[1:2])],
    "ConvTranspose": lambda n: [(1, (n.shape(0)[1], n.group(n.output[1]), *n.kernel())), (2, n.output[1:2])],
    **dict.fromkeys(("GatherElements", "ScatterElements"), _elements),
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), _scales),
    **dict.fromkeys(
        ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"),
        lambda node: [(1, (*node.shape(0)[:1], *node.shape(0)[2:])), (2, node.shape(0)[1:2])],
    ),
    "BatchNormalization": lambda node: [(position, node.shape(0)[1:2]) for position in (1, 2, 3, 4)],
    "Gemm": _broadcast(2),
    "DFT": lambda node: [(0, node.output)] if sum(map(ne, node.shape(0)[:-1], node.output)) > 1 else [],
    "GridSample": lambda node: [(1, (*node.sizes(1), *[None] * (len(node.output) - 2), len(node.output) - 2))],
    "GRU": _recurrent(3),
    "InstanceNormalization": lambda node: [(position, node.shape(0)[1:2]) for position in (1, 2)],
    "LSTM": _recurrent(4),
    "MaxUnpool": lambda node: [(1, node.shape(0))],
    "NonMaxSuppression": lambda node: [(0, (*node.sizes(2), 4)), (1, (node.sizes(2)[0], None, node.sizes(2)[1]))],
    "PRelu": _broadcast(1),
    "Reshape": lambda node: [] if prod(node.shape(0)) == prod(node.output) else [(0, node.output)],
    "Resize": _resize,
    "ReverseSequence": lambda node: [(1, (node.sizes(2)[node.attributes.get("batch_axis", 1)],))],
    "RNN": _recurrent(1),
    "RoiAlign": lambda node: [(1, (None, 4)), (2, node.shape(1)[:1])],
    "ScatterND": lambda node: [(2, (*node.shape(1)[:-1], *node.shape(0)[node.shape(1)[-1] :]))],
    "Slice": _slice,
}
