"""Groups of nodes that become one, as long as no circle arises: the graph with every group contracted to a node.

The invariant is that the contracted graph (groups, and every other node alone) has no circle. Then each group is convex
(a path that leaves it and comes back would be a circle), and no two groups wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from match_core.regions.dag import Bits, members

if TYPE_CHECKING:
    from match_core.regions.dag import Dag
    from match_core.regions.limits import Measure, Usage


class Quotient:
    """A partition of the nodes. A group is known by one of its nodes, its leader; the tables hold the nodes of each
    group, those that it reads from and that read from it, and all that lead to it and that it leads to.

    ``groups``: what there is to begin with, without circles; only these grow, and only together, within the limits of
    ``measure``.
    """

    def __init__(self, dag: Dag, groups: Iterable[Bits], measure: Measure) -> None:
        self._measure = measure
        self._usage: dict[int, Usage] = {}
        #: How many pairs were looked at, and how often a group's reach changed because others merged: what growing
        #: costs in tangled graphs.
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
        """For each group all nodes of other groups that repeated steps come to."""
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
        """The groups that these nodes are in, the earliest first."""
        found = []
        while nodes:
            leader = self._leader[(nodes & -nodes).bit_length() - 1]
            found.append(leader)
            nodes &= ~self._nodes[leader]
        return found

    def grow(self, from_the_end: bool = False) -> tuple[Bits, ...]:
        """Merge neighbours until no two may be; the groups in the order of their first nodes. Each group takes what it
        reads from before what reads from it, starting with the first; ``from_the_end``: the other way round."""
        seeds = list(members(self._grows))
        for position in reversed(seeds) if from_the_end else seeds:
            group: int | None = self._leader[position]
            while group is not None:
                group = self._grown(group, from_the_end)
        leaders = sorted({self._leader[position] for position in seeds})
        return tuple(sorted((self._nodes[leader] for leader in leaders), key=lambda nodes: nodes & -nodes))

    def _grown(self, group: int, readers_first: bool) -> int | None:
        """The group that this one becomes together with a neighbour, None where there is none to take."""
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
        """Whether a path from a group to one that reads from it goes through a third."""
        both = self._nodes[maker] | self._nodes[reader]
        return bool(self._after[maker] & self._before[reader] & ~both)

    def _merge(self, maker: int, reader: int, usage: Usage) -> int:
        """Make one group of two; its leader is that of the larger one, so that few nodes get another."""
        both = usage.nodes
        before = (self._before[maker] | self._before[reader]) & ~both
        after = (self._after[maker] | self._after[reader]) & ~both
        # New paths begin at what led to the reader alone and end at what only followed the maker.
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
