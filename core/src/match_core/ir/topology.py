"""Producers and consumers of each tensor of a graph, and a stable topological order of its nodes.

Nodes and tensors of onnx-graphsurgeon compare by content and are not hashable, so all tables are keyed by
identity.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def is_constant(tensor: gs.Tensor) -> bool:
    """Whether the tensor has values at compile time (an initialiser)."""
    import onnx_graphsurgeon as gs

    return isinstance(tensor, gs.Constant)


@dataclass(frozen=True)
class Topology:
    """A read-only index of a graph. It is valid until the graph changes."""

    #: All nodes, every producer before its consumers; ties follow the order in the graph.
    nodes: tuple[gs.Node, ...]
    _position: dict[int, int] = field(repr=False)
    _producer: dict[int, gs.Node] = field(repr=False)
    _consumers: dict[int, list[gs.Node]] = field(repr=False)
    _outputs: frozenset[int] = field(repr=False)

    @classmethod
    def of(cls, graph: gs.Graph) -> Topology:
        """Index a graph. ValueError if it has a cycle or a tensor with two producers."""
        producer: dict[int, gs.Node] = {}
        consumers: dict[int, list[gs.Node]] = {}
        for node in graph.nodes:
            for tensor in node.outputs:
                if tensor.is_empty():
                    continue
                if id(tensor) in producer:
                    raise ValueError(f"tensor {tensor.name!r} has two producers")
                producer[id(tensor)] = node
            for tensor in node.inputs:
                consumers.setdefault(id(tensor), []).append(node)
        nodes = _sorted_nodes(graph.nodes, producer)
        position = {id(node): index for index, node in enumerate(nodes)}
        return cls(nodes, position, producer, consumers, frozenset(id(tensor) for tensor in graph.outputs))

    def position(self, node: gs.Node) -> int:
        """The index of the node in ``nodes`` (KeyError if it is not in the graph)."""
        return self._position[id(node)]

    def producer(self, tensor: gs.Tensor) -> gs.Node | None:
        """The node that computes the tensor; None for graph inputs and constants."""
        return self._producer.get(id(tensor))

    def consumers(self, tensor: gs.Tensor) -> tuple[gs.Node, ...]:
        """The nodes that read the tensor; a node that reads it twice appears twice."""
        return tuple(self._consumers.get(id(tensor), ()))

    def is_output(self, tensor: gs.Tensor) -> bool:
        """Whether the tensor is an output of the graph."""
        return id(tensor) in self._outputs

    def sort(self, nodes: Iterable[gs.Node]) -> tuple[gs.Node, ...]:
        """These nodes without duplicates, in topological order."""
        positions = sorted({self.position(node) for node in nodes})
        return tuple(self.nodes[position] for position in positions)


def _sorted_nodes(nodes: list[gs.Node], producer: dict[int, gs.Node]) -> tuple[gs.Node, ...]:
    index = {id(node): number for number, node in enumerate(nodes)}
    order = in_order([{index[id(producer[id(t)])] for t in node.inputs if id(t) in producer} for node in nodes])
    if len(order) != len(nodes):
        stuck = sorted(nodes[number].name for number in set(range(len(nodes))) - set(order))
        raise ValueError(f"the graph has a cycle through {stuck[:8]}")
    return tuple(nodes[number] for number in order)


def in_order(needs: Sequence[set[int]]) -> list[int]:
    """Item numbers in topological order (Kahn's algorithm): each item follows those in its ``needs``; ties go to the
    lowest number. Items in a cycle, or after one, are omitted."""
    readers: list[list[int]] = [[] for _ in needs]
    for number, makers in enumerate(needs):
        for maker in makers:
            readers[maker].append(number)
    waiting = [len(makers) for makers in needs]
    ready = [number for number, count in enumerate(waiting) if count == 0]  # a heap: ascending
    order = []
    while ready:
        number = heapq.heappop(ready)
        order.append(number)
        for reader in readers[number]:
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heapq.heappush(ready, reader)
    return order
