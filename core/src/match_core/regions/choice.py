"""The user's options for regions: a minimum size, and the choice of every legal region.

By default the mapper chooses among regions and everything else by modelled cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.contract.candidate import Refusal
from match_core.contract.mapping import Assignment
from match_core.contract.region import Region
from match_core.contract.structure import Constraint, Match
from match_core.ir.groups import circles, readers
from match_core.ir.topology import Topology

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.pattern import Pattern
    from match_core.ir.groups import Group

#: Sizes that may have a minimum (REGION_MEASURES of the compile options): name, words, how it is counted.
_MINIMA: dict[str, tuple[str, Callable[[Region], int]]] = {
    "nodes": ("node", lambda region: len(region.nodes)),
    "macs": ("multiply-accumulate", lambda region: region.macs),
}


def with_minimum(pattern: Pattern, minimum: Sequence[tuple[str, int]]) -> Pattern:
    """The pattern with the user's minima (``--region-min``) as further constraints, if it is a pattern of regions."""
    if pattern.claims is None or not minimum:
        return pattern
    added = tuple(_at_least(name, least, pattern.constraints) for name, least in minimum)
    return replace(pattern, constraints=(*pattern.constraints, *added))


def _at_least(name: str, least: int, others: Sequence[Constraint]) -> Constraint:
    """The minimum for regions that obey all other rules; it holds for regions that another rule refuses."""
    what, count = _MINIMA[name]

    def check(match: Match) -> str | None:
        if any(rule.check(match) is not None for rule in others):
            return None
        found = count(Region.of(match.nodes, match.outputs))
        return None if found >= least else _counted(found, what)

    return Constraint(f"region_min_{name}", f"a region has at least {_counted(least, what)} (--region-min)", check)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def largest(graph: gs.Graph, offered: Sequence[Assignment]) -> tuple[tuple[Assignment, ...], tuple[Refusal, ...]]:
    """The candidates that are left if every legal region is taken (``--regions largest``), and refusals of the others.

    ``offered``: candidates with schedules, so that a region without one takes no node from others. Regions of two
    patterns or units may overlap or form a cycle of waits: then the region with more nodes is taken, of equal ones the
    first in ``offered``. A region is not taken if some node outside could then run nowhere.
    """
    topology = Topology.of(graph)
    matches = (assignment.candidate.match for assignment in offered)
    places = _Places(offered, tuple(tuple(sorted(map(topology.position, match.nodes))) for match in matches))
    ranked = sorted(places.regions, key=lambda number: (-len(places.groups[number]), number))
    left_out: set[int] = set()
    while True:
        taken = _taken(ranked, places.groups, left_out, readers(topology))
        stranding = places.stranding(taken, len(topology.nodes))
        if stranding is None:
            return places.split(taken)
        left_out.add(stranding)


def _taken(
    ranked: Sequence[int], groups: Sequence[Group], left_out: set[int], read_by: Sequence[tuple[int, ...]]
) -> tuple[int, ...]:
    """Regions that neither overlap nor form a cycle of waits, the first ones of the ranking."""
    waiting = set(left_out)
    while True:
        taken: list[int] = []
        inside: set[int] = set()
        for number in ranked:
            if number not in waiting and inside.isdisjoint(groups[number]):
                taken.append(number)
                inside.update(groups[number])
        alone = [(place,) for place in range(len(read_by)) if place not in inside]
        found = circles([*(groups[number] for number in taken), *alone], read_by)
        if not found:
            return tuple(taken)
        waiting.update(taken[max(place for place in circle if place < len(taken))] for circle in found)


@dataclass(frozen=True)
class _Places:
    """The offered candidates, and the positions of the nodes of each."""

    offered: Sequence[Assignment]
    groups: tuple[Group, ...]

    @property
    def regions(self) -> tuple[int, ...]:
        """Numbers of the regions of graph-level plug-ins."""
        return tuple(number for number, a in enumerate(self.offered) if a.candidate.pattern.claims is not None)

    def _homes(self, taken: Sequence[int]) -> dict[int, int]:
        return {place: number for number in taken for place in self.groups[number]}

    def stranding(self, taken: Sequence[int], count: int) -> int | None:
        """The smallest taken region without which a node outside could run again; None if every node can run."""
        homes = self._homes(taken)
        able = {place for g in self.groups if homes.keys().isdisjoint(g) for place in g} | homes.keys()
        stranded = {place for place in range(count) if place not in able}
        guilty = {homes[p] for g in self.groups if not stranded.isdisjoint(g) for p in g if p in homes}
        return min(guilty, key=lambda number: (len(self.groups[number]), -number), default=None)

    def split(self, taken: Sequence[int]) -> tuple[tuple[Assignment, ...], tuple[Refusal, ...]]:
        """The taken regions and the candidates that touch none of them; refusals of the rest."""
        homes = self._homes(taken)
        kept, refused = [], []
        for number, assignment in enumerate(self.offered):
            lost = sorted({homes[place] for place in self.groups[number] if place in homes})
            if number in taken or not lost:
                kept.append(assignment)
            else:
                refused.append(_refusal(assignment, self.offered[lost[0]]))
        return tuple(kept), tuple(refused)


def _refusal(assignment: Assignment, region: Assignment) -> Refusal:
    candidate, taker = assignment.candidate, region.candidate
    rule = "every legal region is taken, the largest first (--regions largest)"
    value = f"{taker.unit} takes a region of {_counted(len(taker.match.nodes), 'node')} here"
    return Refusal(candidate.unit, candidate.pattern.name, candidate.node_names, rule, value)
