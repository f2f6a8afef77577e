"""Who makes and who reads each tensor of a graph, and a stable topological order of its nodes.

Nodes and tensors of onnx-graphsurgeon compare by content and are not hashable, so everything is keyed by
identity.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
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
    """A read-only index of a graph. It is valid as long as the graph is not changed."""

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
        """The node that makes the tensor; None for graph inputs and constants."""
        return self._producer.get(id(tensor))

    def consumers(self, tensor: gs.Tensor) -> tuple[gs.Node, ...]:
        """The nodes that read the tensor; one that reads it twice is there twice."""
        return tuple(self._consumers.get(id(tensor), ()))

    def is_output(self, tensor: gs.Tensor) -> bool:
        """Whether the tensor is an output of the graph."""
        return id(tensor) in self._outputs

    def sort(self, nodes: Iterable[gs.Node]) -> tuple[gs.Node, ...]:
        """These nodes without repeats, in topological order."""
        positions = sorted({self.position(node) for node in nodes})
        return tuple(self.nodes[position] for position in positions)


def _sorted_nodes(nodes: list[gs.Node], producer: dict[int, gs.Node]) -> tuple[gs.Node, ...]:
    """Kahn's algorithm; among the ready nodes the one that comes first in the graph goes first."""
    index = {id(node): number for number, node in enumerate(nodes)}
    waiting: list[int] = []
    readers: list[list[int]] = [[] for _ in nodes]
    for number, node in enumerate(nodes):
        makers = {index[id(producer[id(t)])] for t in node.inputs if id(t) in producer}
        waiting.append(len(makers))
        for maker in makers:
            readers[maker].append(number)
    ready = [number for number, count in enumerate(waiting) if count == 0]
    heapq.heapify(ready)
    order: list[gs.Node] = []
    while ready:
        number = heapq.heappop(ready)
        order.append(nodes[number])
        for reader in readers[number]:
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) != len(nodes):
        stuck = sorted(nodes[number].name for number, count in enumerate(waiting) if count > 0)
        raise ValueError(f"the graph has a cycle through {stuck[:8]}")
    return tuple(order)
