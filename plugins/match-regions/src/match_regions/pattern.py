"""Regions as a pattern, which a graph-level plug-in returns from ``match_patterns``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.pattern import Pattern
from match_core.contract.region import Region
from match_core.contract.structure import Match
from match_core.ir.topology import Topology
from match_core.regions.match import region_match

from match_regions.atoms import atoms_of
from match_regions.claimed import Claimed, claim_constraints
from match_regions.dag import Dag, members
from match_regions.grow import grown
from match_regions.parts import parts_of
from match_regions.validate import validate_regions
from match_regions.workload import region_workload

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.claims import RegionClaims
    from match_core.contract.workload import Workload


def region_pattern(name: str, description: str, claims: RegionClaims) -> Pattern:
    """A pattern whose candidates are the regions that ``claims`` describes.

    Every candidate is a convex set of claimed nodes, as large as rules and limits allow; candidates do not overlap or
    wait for each other. Captures: the tensors ``in0``.., ``const0``.., ``out0``.. in the order of ``Region``. A node
    whose operator is claimed but that no region may contain is refused with the rule or limit that it breaks.
    A package may return several such patterns with different claims for one unit: the mapper chooses among them.
    """
    search = _Search(claims)
    workload = _Workload(name, claims)
    return Pattern(name, description, None, claim_constraints(claims), workload, search=search, claims=claims)


@dataclass(frozen=True, slots=True)
class _Workload:
    name: str
    claims: RegionClaims

    def __call__(self, match: Match) -> Workload:
        region, claims = Region.of(match.nodes, match.outputs), self.claims
        counts = claims.counts(region) if claims.counts else {}
        return region_workload(self.name, region, counts, claims.holds(region) if claims.holds else {})


@dataclass(frozen=True, slots=True)
class _Search:
    """All regions of a graph and their parts, and each refused node or atom as a separate match that breaks a
    constraint."""

    claims: RegionClaims

    def __call__(self, graph: gs.Graph) -> tuple[Match, ...]:
        claimed = Claimed(self.claims)
        topology = Topology.of(graph)
        named = [p for p, node in enumerate(topology.nodes) if claimed.names(node)]
        taken = sum(1 << p for p in named if claimed.takes(topology.nodes[p]))
        atoms = atoms_of(topology, self.claims)
        single = taken & ~sum(atoms.legal)
        if not named and not atoms.legal:
            return atoms.refused
        dag = Dag.of(topology)
        found = grown(dag, single | sum(atoms.legal), self.claims.limits, atoms.legal)
        validate_regions(graph, self.claims, [[topology.nodes[p] for p in members(nodes)] for nodes in found])
        inside = sum(found)
        pieces = [*atoms.legal, *(1 << p for p in members(single))]
        left = [piece for piece in (*atoms.legal, *(1 << p for p in named)) if not inside & piece]
        groups = sorted([*found, *left], key=lambda nodes: nodes & -nodes)
        for region in found if self.claims.parts_max else ():
            groups += parts_of(dag, [piece for piece in pieces if piece & region], self.claims.parts_max)
        return (*(_match(topology, tuple(members(nodes))) for nodes in groups), *atoms.refused)


def _match(topology: Topology, positions: Sequence[int]) -> Match:
    nodes = tuple(topology.nodes[position] for position in positions)
    inside = set(positions)
    made = [tensor for node in nodes for tensor in node.outputs if not tensor.is_empty()]
    leaving = [
        tensor
        for tensor in made
        if topology.is_output(tensor) or any(topology.position(n) not in inside for n in topology.consumers(tensor))
    ]
    return region_match(nodes, leaving or made[-1:])
