"""Atoms: the places of a graph where the structure of an ``AtomClaim`` fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op
from match_core.contract.structure import Match
from match_core.ir.topology import Topology
from match_core.patterns.matcher import matches_at, result_operators

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.claims import AtomClaim, RegionClaims
    from match_core.contract.region import Region

    from match_regions.dag import Bits

#: The capture by which a rule knows the matches of its claim.
_MARK = "claim {}"


@dataclass(frozen=True, slots=True)
class Atoms:
    """``legal``: disjoint sets of nodes, in the order of their results; ``matches``: theirs, with the names of their
    claims; ``refused``: matches that break a rule of their claim."""

    legal: tuple[Bits, ...]
    matches: tuple[tuple[str, Match], ...]
    refused: tuple[Match, ...]


def atoms_in(region: Region, claims: RegionClaims) -> tuple[tuple[str, Match], ...]:
    """The atoms of a region, with the names of their claims, in topological order."""
    import onnx_graphsurgeon as gs

    graph = gs.Graph(nodes=list(region.nodes), outputs=list(region.outputs))
    return atoms_of(Topology.of(graph), claims).matches


def is_of(match: Match, number: int) -> bool:
    """Whether a match is a refused atom of the claim of that number."""
    return match.has(_MARK.format(number))


def is_atom(match: Match, claims: RegionClaims) -> bool:
    """Whether a match is a refused atom, not a region."""
    return any(is_of(match, number) for number in range(len(claims.atoms)))


def atoms_of(topology: Topology, claims: RegionClaims) -> Atoms:
    """At each node, the preferred match of each claim whose rules hold. Of atoms that overlap, the one with more nodes
    is taken, then the first."""
    legal: list[tuple[int, int, Bits, str, Match]] = []
    refused: list[Match] = []
    for number, claim in enumerate(claims.atoms):
        names = result_operators(claim.structure)
        for node in topology.nodes:
            if qualified_op(node) not in names:
                continue
            match, holds = _preferred(topology, node, number, claim)
            if match is not None and holds:
                bits = sum(1 << topology.position(inner) for inner in match.nodes)
                legal.append((-len(match.nodes), topology.position(node), bits, claim.name, match))
            elif match is not None:
                refused.append(match)
    taken: list[tuple[Bits, str, Match]] = []
    for _, _, bits, name, match in sorted(legal, key=lambda entry: entry[:3]):
        if not any(bits & other for other, _, _ in taken):
            taken.append((bits, name, match))
    taken.sort(key=lambda entry: entry[0].bit_length())
    inside = sum(bits for bits, _, _ in taken)
    left = [match for match in refused if not all(inside >> topology.position(node) & 1 for node in match.nodes)]
    matches = tuple((name, match) for _, name, match in taken)
    return Atoms(tuple(bits for bits, _, _ in taken), matches, tuple(left))


def _preferred(topology: Topology, node: gs.Node, number: int, claim: AtomClaim) -> tuple[Match | None, bool]:
    """The first match whose rules hold and True, else the first match at all, with its claim's mark, and False."""
    first = None
    for match in matches_at(topology, node, claim.structure):
        if all(rule.check(match) is None for rule in claim.constraints):
            return match, True
        first = first or Match(match.nodes, {**match.captures, _MARK.format(number): node}, match.results)
    return first, False
