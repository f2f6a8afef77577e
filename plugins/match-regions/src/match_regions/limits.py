"""The usage of a unit's limits by a group of nodes, updated when groups are merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_regions.dag import Bits, members

if TYPE_CHECKING:
    from match_core.contract.claims import RegionLimits

    from match_regions.dag import Dag


@dataclass(frozen=True, slots=True)
class Usage:
    """Tensors that some nodes, as one region, read, make and hold (sets of tensors), those that leave the region, and
    the bytes of their constants."""

    nodes: Bits
    read: Bits
    made: Bits
    leaving: Bits
    constants: Bits
    constant_bytes: int


@dataclass(frozen=True, slots=True)
class Measure:
    """Computes the usage of nodes and groups, and checks it against the limits."""

    dag: Dag
    limits: RegionLimits

    def of(self, position: int) -> Usage:
        """The usage of one node."""
        dag, nodes, made = self.dag, 1 << position, self.dag.made[position]
        size = sum(dag.sizes[tensor] for tensor in members(dag.constants[position]))
        return Usage(nodes, dag.read[position], made, self._leaving(made, nodes), dag.constants[position], size)

    def of_all(self, nodes: Bits) -> Usage:
        """The usage of several nodes."""
        first, *others = members(nodes)
        usage = self.of(first)
        for position in others:
            usage = self.joined(usage, self.of(position))
        return usage

    def joined(self, one: Usage, other: Usage) -> Usage:
        """The usage of both together."""
        nodes = one.nodes | other.nodes
        between = (one.leaving & other.read) | (other.leaving & one.read)
        stays = between & ~self._leaving(between, nodes)
        shared = sum(self.dag.sizes[tensor] for tensor in members(one.constants & other.constants))
        return Usage(
            nodes,
            one.read | other.read,
            one.made | other.made,
            (one.leaving | other.leaving) & ~stays,
            one.constants | other.constants,
            one.constant_bytes + other.constant_bytes - shared,
        )

    def fits(self, usage: Usage) -> bool:
        """Whether the usage exceeds no limit."""
        limits = self.limits
        return (
            self.may_shrink_to_fit(usage)
            and _within((usage.read & ~usage.made).bit_count(), limits.inputs_max)
            and _within(usage.leaving.bit_count(), limits.outputs_max)
        )

    def may_shrink_to_fit(self, usage: Usage) -> bool:
        """Whether the group meets the limits that more nodes can only worsen: nodes and bytes of constants. A new
        producer or reader may reduce the numbers of inputs and outputs."""
        limits = self.limits
        return _within(usage.nodes.bit_count(), limits.nodes_max) and _within(
            usage.constant_bytes, limits.constant_bytes_max
        )

    def _leaving(self, tensors: Bits, nodes: Bits) -> Bits:
        """The tensors that are graph outputs or are read outside the nodes."""
        leaving = tensors & self.dag.exits
        for tensor in members(tensors & ~self.dag.exits):
            if self.dag.readers[tensor] & ~nodes:
                leaving |= 1 << tensor
        return leaving


def _within(count: int, most: int | None) -> bool:
    return most is None or count <= most
