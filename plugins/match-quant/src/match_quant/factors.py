"""Products of one tensor's powers and constants, in whatever order exporters write their Mul, Div and Pow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, producer
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Constants may be off by this many steps of their type: exporters multiply some of them, or round them twice.
_STEPS = 4
#: Operators above each other: products of shared factors double with each.
_MOST_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Factors:
    """``number`` times the product of ``tensors``, computed by ``nodes``."""

    number: float
    tensors: tuple[gs.Tensor, ...]
    nodes: tuple[gs.Node, ...] = ()

    def __mul__(self, other: Factors) -> Factors:
        return Factors(self.number * other.number, (*self.tensors, *other.tensors), (*self.nodes, *other.nodes))

    def is_power(self, x: gs.Tensor, exponent: int) -> bool:
        """Whether the tensors are ``exponent`` times ``x``."""
        return len(self.tensors) == exponent and all(tensor is x for tensor in self.tensors)


def made_by(tensor: gs.Tensor, *ops: str) -> gs.Node | None:
    """The node that computes a tensor, if it is one of these operators of the default domain."""
    node = producer(tensor)
    return node if node is not None and node.op in ops and (node.domain or "") in ("", "ai.onnx") else None


def scalar(tensor: gs.Tensor) -> float | None:
    """The value of a constant with one element; None for other tensors."""
    values = constant(tensor)
    return (
        float(values.reshape(-1)[0]) if values is not None and values.size == 1 and values.dtype.kind == "f" else None
    )


def factors(tensor: gs.Tensor, stop: Sequence[gs.Tensor] = (), depth: int = _MOST_DEPTH) -> Factors:
    """The factors of a tensor. Tensors in ``stop`` are not divided further."""
    number = scalar(tensor)
    if number is not None:
        return Factors(number, ())
    node = made_by(tensor, "Mul", "Div", "Pow") if depth and not any(tensor is end for end in stop) else None
    found = _of_node(node, stop, depth - 1) if node is not None else None
    return found if found is not None else Factors(1.0, (tensor,))


def _of_node(node: gs.Node, stop: Sequence[gs.Tensor], depth: int) -> Factors | None:
    own, (a, b) = Factors(1.0, (), (node,)), node.inputs[:2]
    if node.op == "Mul":
        return factors(a, stop, depth) * factors(b, stop, depth) * own
    number = constant(b)
    if number is None or number.size != 1:
        return None
    value = float(number.reshape(-1)[0])
    if node.op == "Div":
        return factors(a, stop, depth) * Factors(1 / value, ()) * own if value else None
    if value not in (2.0, 3.0):
        return None
    base = factors(a, stop, depth)
    return Factors(base.number**value, base.tensors * int(value), (*base.nodes, node))


def sums(node: gs.Node) -> Iterator[tuple[gs.Tensor, gs.Tensor]]:
    """The two inputs in both orders."""
    yield from (node.inputs[:2], node.inputs[1::-1])


def near(value: float | None, wanted: float, dtype: np.dtype[np.generic]) -> bool:
    """Whether a number is this one as a floating-point type holds it."""
    step = 2.0 ** -{2: 10, 4: 23, 8: 52}[dtype.itemsize]
    return value is not None and abs(value - wanted) <= _STEPS * step * abs(wanted)


def inner(editor: Editor, nodes: Sequence[gs.Node], last: gs.Node) -> bool:
    """Whether no other node reads results of these nodes, except the result of the last one."""
    members = {id(node) for node in nodes}
    tensors = [node.outputs[0] for node in nodes if node is not last]
    outputs = {id(tensor) for tensor in editor.graph.outputs}
    return all(id(t) not in outputs and all(id(reader) in members for reader in t.outputs) for t in tensors)


def real_constant(tensor: gs.Tensor) -> NDArray[np.generic] | None:
    """The values of a constant of real numbers; None for other tensors."""
    values = constant(tensor)
    return values if values is not None and values.dtype.kind == "f" else None
