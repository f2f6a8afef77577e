"""What a group of nodes takes of an engine's limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.regions.dag import Bits, members

if TYPE_CHECKING:
    from match_core.regions.claims import RegionLimits
    from match_core.regions.dag import Dag


@dataclass(frozen=True)
class LimitCheck:
    """Whether nodes of a graph keep to limits as one region."""

    dag: Dag
    limits: RegionLimits

    def __call__(self, nodes: Bits) -> bool:
        """Whether no limit is exceeded."""
        limits = self.limits
        return (
            _within(nodes.bit_count(), limits.nodes_max)
            and (limits.inputs_max is None or self._inputs(nodes) <= limits.inputs_max)
            and (limits.outputs_max is None or self._outputs(nodes) <= limits.outputs_max)
            and (limits.constant_bytes_max is None or self._constant_bytes(nodes) <= limits.constant_bytes_max)
        )

    def _inputs(self, nodes: Bits) -> int:
        read = made = 0
        for position in members(nodes):
            read |= self.dag.read[position]
            made |= self.dag.made[position]
        return (read & ~made).bit_count()

    def _outputs(self, nodes: Bits) -> int:
        count = 0
        for position in members(nodes):
            for tensor in members(self.dag.made[position]):
                leaves = self.dag.exits >> tensor & 1 or self.dag.readers[tensor] & ~nodes
                count += bool(leaves)
        return count

    def _constant_bytes(self, nodes: Bits) -> int:
        held = 0
        for position in members(nodes):
            held |= self.dag.constants[position]
        return sum(self.dag.sizes[tensor] for tensor in members(held))


def _within(count: int, most: int | None) -> bool:
    return most is None or count <= most
