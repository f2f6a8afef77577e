"""Finds matches of a structure in a graph: a backtracking walk from a result node upwards.

The walk consists of generators that yield every alternative, preferred ones first (with an optional node before
without it, alternatives in the order written, operands as written before swapped ones). A node inside the pattern
that is not its result is absorbed, so its outputs may have no other readers: its first output has exactly one
reader and is not a graph output, and its other outputs have no readers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op
from match_core.contract.structure import Any, Const, Match, Maybe, OneOf, Op, Structure
from match_core.ir.topology import Topology, is_constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Operators with any number of activations.
_VARIADIC = frozenset({"Concat", "Sum", "Mean", "Max", "Min"})


@dataclass(frozen=True)
class _State:
    """The bindings so far."""

    nodes: tuple[gs.Node, ...]
    captures: Mapping[str, gs.Node | gs.Tensor]

    def bind(self, capture: str, value: gs.Node | gs.Tensor) -> _State | None:
        """Bind a name; None if the name is already bound to something else."""
        if capture in self.captures:
            return self if self.captures[capture] is value else None
        return _State(self.nodes, {**self.captures, capture: value})

    def absorb(self, node: gs.Node) -> _State:
        return _State((*self.nodes, node), self.captures)


def matches_at(topology: Topology, node: gs.Node, structure: Structure) -> Iterator[Match]:
    """Every way in which the structure fits with this node as its result, preferred first."""
    for state in _at_node(topology, node, structure, _State((), {}), result=True):
        yield Match(topology.sort(state.nodes), state.captures)


def result_operators(structure: Structure) -> frozenset[str]:
    """The operators that the result of a match can have; other nodes cannot match."""
    if isinstance(structure, Op):
        return frozenset(structure.names)
    if isinstance(structure, Maybe):
        below = structure.op.inputs[:1]
        return frozenset(structure.op.names).union(*(result_operators(inner) for inner in below))
    if isinstance(structure, OneOf):
        return frozenset().union(*(result_operators(option) for option in structure.options))
    return frozenset()


def _at_node(
    topology: Topology, node: gs.Node, structure: Structure, state: _State, *, result: bool
) -> Iterator[_State]:
    """Matches at this node of a structure whose top is an operator."""
    if isinstance(structure, Op):
        yield from _at_op(topology, node, structure, state, result=result)
    elif isinstance(structure, Maybe):
        yield from _at_node(topology, node, structure.op, state, result=result)
        if structure.op.inputs:
            yield from _at_node(topology, node, structure.op.inputs[0], state, result=result)
    elif isinstance(structure, OneOf):
        for option in structure.options:
            yield from _at_node(topology, node, option, state, result=result)


def _at_op(topology: Topology, node: gs.Node, op: Op, state: _State, *, result: bool) -> Iterator[_State]:
    if qualified_op(node) not in op.names or len(node.inputs) < len(op.inputs) or _has_more_activations(node, op):
        return
    if not result and not _absorbable(topology, node):
        return
    bound = state.absorb(node).bind(op.capture, node)
    if bound is None:
        return
    tensors = tuple(node.inputs[: len(op.inputs)])
    yield from _at_inputs(topology, tensors, op.inputs, bound)
    if op.commutative and len(tensors) >= 2:
        swapped = (tensors[1], tensors[0], *tensors[2:])
        yield from _at_inputs(topology, swapped, op.inputs, bound)


def _has_more_activations(node: gs.Node, op: Op) -> bool:
    """Whether a structure with inputs omits an activation of an operator with any number of them: the kernel would not
    read it. (For other operators, rules state which inputs may be computed.)"""
    rest = node.inputs[len(op.inputs) :] if op.inputs and node.op in _VARIADIC else ()
    return any(not tensor.is_empty() and not is_constant(tensor) for tensor in rest)


def _absorbable(topology: Topology, node: gs.Node) -> bool:
    first, *others = node.outputs
    if topology.is_output(first) or len(topology.consumers(first)) != 1:
        return False
    return not any(topology.is_output(tensor) or topology.consumers(tensor) for tensor in others)


def _at_inputs(
    topology: Topology, tensors: tuple[gs.Tensor, ...], structures: tuple[Structure, ...], state: _State
) -> Iterator[_State]:
    if not structures:
        yield state
        return
    for head in _at_tensor(topology, tensors[0], structures[0], state):
        yield from _at_inputs(topology, tensors[1:], structures[1:], head)


def _at_tensor(topology: Topology, tensor: gs.Tensor, structure: Structure, state: _State) -> Iterator[_State]:
    """Matches of a structure at the producer of a tensor, or at the tensor itself."""
    if isinstance(structure, (Any, Const)):
        if not tensor.is_empty() and is_constant(tensor) == isinstance(structure, Const):
            bound = state.bind(structure.capture, tensor)
            if bound is not None:
                yield bound
    elif isinstance(structure, Op):
        node = topology.producer(tensor)
        if node is not None and node.outputs[0] is tensor:
            yield from _at_node(topology, node, structure, state, result=False)
    elif isinstance(structure, Maybe):
        yield from _at_tensor(topology, tensor, structure.op, state)
        if structure.op.inputs:
            yield from _at_tensor(topology, tensor, structure.op.inputs[0], state)
    else:
        for option in structure.options:
            yield from _at_tensor(topology, tensor, option, state)
