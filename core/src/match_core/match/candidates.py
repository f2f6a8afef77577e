"""List all candidates: every legal one, and every refusal with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from match_core.contract.candidate import Candidate, Candidates, Refusal
from match_core.contract.model import qualified_op
from match_core.contract.pattern import Pattern
from match_core.contract.structure import Match
from match_core.ir.topology import Topology
from match_core.patterns.bundle import bundled
from match_core.patterns.matcher import matches_at, result_operators

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.hardware import Unit


def find_candidates(graph: gs.Graph, units_with_patterns: Sequence[tuple[Unit, Sequence[Pattern]]]) -> Candidates:
    """All places where a unit can run something.

    Units and patterns are visited in the given order; within a pattern, places are in topological order of their
    result, so the indices of the candidates are deterministic. At one result node a pattern has at most one legal
    candidate: its preferred match whose constraints all hold (an optional node that must not be fused is omitted).
    Every refused match is listed once per broken rule. ``graph`` is not changed.
    """
    topology = Topology.of(graph)
    names = tuple(qualified_op(node) for node in topology.nodes)
    legal: list[Candidate] = []
    refused: dict[Refusal, None] = {}
    for unit, patterns in units_with_patterns:
        for pattern in patterns:
            for alternatives in _places(graph, topology, names, pattern):
                match = _first_legal(unit.name, pattern, alternatives, refused)
                if match is not None:
                    workload = bundled(pattern.workload(match), unit)
                    legal.append(Candidate(len(legal), unit.name, pattern, match, workload))
    operators = {
        unit.name: frozenset().union(*(p.operators for p in patterns)) for unit, patterns in units_with_patterns
    }
    return Candidates(tuple(legal), tuple(refused), operators)


def _places(
    graph: gs.Graph, topology: Topology, operators: Sequence[str], pattern: Pattern
) -> Iterator[Iterator[Match]]:
    """For each place of the pattern, its alternative matches, preferred first. ``operators``: those of the nodes."""
    if pattern.search is not None:
        found = sorted(pattern.search(graph), key=lambda match: topology.position(match.nodes[-1]))
        yield from (iter((match,)) for match in found)
    elif pattern.structure is not None:
        names = result_operators(pattern.structure)
        for node, operator in zip(topology.nodes, operators, strict=True):
            if operator in names:
                yield matches_at(topology, node, pattern.structure)


def _first_legal(
    unit: str, pattern: Pattern, alternatives: Iterator[Match], refused: dict[Refusal, None]
) -> Match | None:
    for match in alternatives:
        broken = _refusals(unit, pattern, match)
        if not broken:
            return match
        refused.update(dict.fromkeys(broken))
    return None


def _refusals(unit: str, pattern: Pattern, match: Match) -> tuple[Refusal, ...]:
    names = tuple(node.name for node in match.nodes)
    return tuple(
        Refusal(unit, pattern.name, names, constraint.description, value)
        for constraint in pattern.constraints
        if (value := constraint.check(match)) is not None
    )
