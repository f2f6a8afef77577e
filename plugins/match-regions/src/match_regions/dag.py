"""A graph as bit sets, for growing regions: nodes and tensors are bits of integers.

A set of nodes is an int whose bit *p* is the node at topological position *p*; sets of tensors likewise. Unions
and tests of thousands of members are then single operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.ir.topology import Topology, is_constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Bits = int


def members(bits: Bits) -> Iterator[int]:
    """The positions of the set bits, ascending."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


@dataclass(frozen=True)
class Dag:
    """``before`` and ``after``: producers and consumers of each node. ``read`` and ``made``:
    variables of each node, ``constants``: its constants, as sets of tensors; ``readers``: nodes by variable;
    ``exits``: variables that are graph outputs; ``sizes``: bytes by constant."""

    before: tuple[Bits, ...]
    after: tuple[Bits, ...]
    read: tuple[Bits, ...]
    made: tuple[Bits, ...]
    constants: tuple[Bits, ...]
    readers: tuple[Bits, ...]
    exits: Bits
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, topology: Topology) -> Dag:
        """The graph of a topology, with its positions."""
        tensors = _Tensors(topology)
        before, after = [0] * len(topology.nodes), [0] * len(topology.nodes)
        for position, node in enumerate(topology.nodes):
            for tensor in node.inputs:
                maker = topology.producer(tensor)
                if maker is not None:
                    before[position] |= 1 << topology.position(maker)
                    after[topology.position(maker)] |= 1 << position
        read = tuple(tensors.variables(node.inputs) for node in topology.nodes)
        made = tuple(tensors.variables(node.outputs) for node in topology.nodes)
        constants = tuple(tensors.constants(node.inputs) for node in topology.nodes)
        readers = [0] * len(tensors.variable)
        for position, bits in enumerate(read):
            for number in members(bits):
                readers[number] |= 1 << position
        return cls(
            tuple(before), tuple(after), read, made, constants, tuple(readers), tensors.exits, tuple(tensors.sizes)
        )

    def __len__(self) -> int:
        return len(self.before)


class _Tensors:
    """Numbers the tensors of a graph, variables and constants separately. Constants are identified by name: a graph may
    hold several objects for one constant."""

    def __init__(self, topology: Topology) -> None:
        self.variable: dict[int, int] = {}
        self._constant: dict[str, int] = {}
        self.sizes: list[int] = []
        self.exits = 0
        for node in topology.nodes:
            for tensor in (*node.inputs, *node.outputs):
                if tensor.is_empty():
                    continue
                if is_constant(tensor):
                    if tensor.name not in self._constant:
                        self._constant[tensor.name] = len(self.sizes)
                        self.sizes.append(int(tensor.values.nbytes))
                elif id(tensor) not in self.variable:
                    number = self.variable[id(tensor)] = len(self.variable)
                    self.exits |= int(topology.is_output(tensor)) << number

    def variables(self, tensors: list[gs.Tensor]) -> Bits:
        bits = 0
        for tensor in tensors:
            if id(tensor) in self.variable:
                bits |= 1 << self.variable[id(tensor)]
        return bits

    def constants(self, tensors: list[gs.Tensor]) -> Bits:
        bits = 0
        for tensor in tensors:
            if is_constant(tensor):
                bits |= 1 << self._constant[tensor.name]
        return bits
