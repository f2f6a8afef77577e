"""Merges groups of nodes without creating cycles: the graph with every group contracted to one node.

The invariant is that the contracted graph (groups, and every other node alone) has no cycle. Then each group is convex
(a path that leaves it and returns would be a cycle), and no two groups wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from match_regions.dag import Bits, members

if TYPE_CHECKING:
    from match_regions.dag import Dag
    from match_regions.limits import Measure, Usage


class Quotient:
    """A partition of the nodes. One node of each group, its leader, identifies it; the tables hold the nodes of each
    group, its direct producers and consumers, and all nodes that reach it and that it reaches.

    ``groups``: the initial groups, without cycles; only these are merged, within the limits of ``measure``.
    """

    def __init__(self, dag: Dag, groups: Iterable[Bits], measure: Measure) -> None:
        self._measure = measure
        self._usage: dict[int, Usage] = {}
        #: The number of visited pairs, and of changes of a group's reachability because others merged: the cost of
        #: growing in highly connected graphs.
        self.work = 0
        self._leader = list(range(len(dag)))
        self._nodes: list[Bits] = [1 << position for position in range(len(dag))]
        self._reads, self._read_by = list(dag.before), list(dag.after)
        self._grows: Bits = 0
        for group in groups:
            first = next(members(group))
            self._grows |= group
            self._nodes[first] = group
            self._usage[first] = measure.of_all(group)
            for position in members(group):
                self._leader[position] = first
                self._reads[first] |= dag.before[position]
                self._read_by[first] |= dag.after[position]
        self._before, self._after = self._closure(self._reads), self._closure(self._read_by)

    def _closure(self, step: Sequence[Bits]) -> list[Bits]:
        """For each group, all nodes of other groups that repeated steps reach."""
        found: list[Bits] = [0] * len(self._leader)
        known: set[int] = set()
        for root in self._leader:
            stack = [root]
            while stack:
                group = stack[-1]
                near = self._groups(step[group] & ~self._nodes[group])
                waiting = [other for other in near if other not in known]
                stack.extend(waiting)
                if not waiting:
                    stack.pop()
                    known.add(group)
                    for other in near:
                        found[group] |= self._nodes[other] | found[other]
        return found

    def _groups(self, nodes: Bits) -> list[int]:
        """The groups of these nodes, earliest first."""
        found = []
        while nodes:
            leader = self._leader[(nodes & -nodes).bit_length() - 1]
            found.append(leader)
            nodes &= ~self._nodes[leader]
        return found

    def grow(self, from_the_end: bool = False) -> tuple[Bits, ...]:
        """Merge neighbours until no merge is allowed; returns the groups in the order of their first nodes. Starting
        with the first, each group merges with producers before consumers; ``from_the_end``: in reverse."""
        seeds = list(members(self._grows))
        for position in reversed(seeds) if from_the_end else seeds:
            group: int | None = self._leader[position]
            while group is not None:
                group = self._grown(group, from_the_end)
        leaders = sorted({self._leader[position] for position in seeds})
        return tuple(sorted((self._nodes[leader] for leader in leaders), key=lambda nodes: nodes & -nodes))

    def _grown(self, group: int, readers_first: bool) -> int | None:
        """The group after a merge with one neighbour, None if no neighbour can be merged."""
        own = ~self._nodes[group] & self._grows
        makers = [(other, group) for other in reversed(self._groups(self._reads[group] & own))]
        readers = [(group, other) for other in self._groups(self._read_by[group] & own)]
        for maker, reader in (*readers, *makers) if readers_first else (*makers, *readers):
            self.work += 1
            if not self._is_between(maker, reader):
                usage = self._measure.joined(self._usage[maker], self._usage[reader])
                if self._measure.fits(usage):
                    return self._merge(maker, reader, usage)
        return None

    def _is_between(self, maker: int, reader: int) -> bool:
        """Whether a path from a group to one of its consumers goes through a third group."""
        both = self._nodes[maker] | self._nodes[reader]
        return bool(self._after[maker] & self._before[reader] & ~both)

    def _merge(self, maker: int, reader: int, usage: Usage) -> int:
        """Merge two groups; the leader is that of the larger one, so that few nodes change their leader."""
        both = usage.nodes
        before = (self._before[maker] | self._before[reader]) & ~both
        after = (self._after[maker] | self._after[reader]) & ~both
        # New paths start at nodes that reached only the reader and end at nodes that only the maker reached.
        leading = self._groups(self._before[reader] & ~self._before[maker] & ~both)
        following = self._groups(self._after[maker] & ~self._after[reader] & ~both)
        for group in leading:
            self._after[group] |= after | both
        for group in following:
            self._before[group] |= before | both
        self.work += len(leading) + len(following)
        leader, other = sorted((maker, reader), key=lambda group: (-self._nodes[group].bit_count(), group))
        for position in members(self._nodes[other]):
            self._leader[position] = leader
        self._nodes[leader], self._before[leader], self._after[leader] = both, before, after
        self._usage[leader] = usage
        self._reads[leader] |= self._reads[other]
        self._read_by[leader] |= self._read_by[other]
        return leader
