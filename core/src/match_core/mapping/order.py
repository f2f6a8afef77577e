"""Order among groups of nodes that run as one: convexity of a group, cycles between groups, a topological
order."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.patterns.topology import Topology

#: Positions of nodes that run as one, ascending.
Group = tuple[int, ...]


def readers(topology: Topology) -> tuple[tuple[int, ...], ...]:
    """For each node, the positions of the nodes that read what it makes."""
    return tuple(
        tuple(sorted({topology.position(r) for tensor in node.outputs for r in topology.consumers(tensor)}))
        for node in topology.nodes
    )


def has_one_way_out(group: Group, read_by: Sequence[tuple[int, ...]]) -> bool:
    """Whether everything in the group ends in one node, the only one that others read. Groups of this form
    never depend on each other in a circle: a path that leaves a group leaves from its last node, and a circle
    of such paths would be one in the graph."""
    members = set(group)
    ends = [node for node in group if not read_by[node] or not members.issuperset(read_by[node])]
    return len(ends) == 1


def is_convex(group: Group, read_by: Sequence[tuple[int, ...]]) -> bool:
    """Whether no path leaves the group and comes back (then it could not run as one)."""
    members, last = set(group), group[-1]
    stack = [reader for node in group for reader in read_by[node] if reader not in members]
    seen = set(stack)
    while stack:
        for reader in read_by[stack.pop()]:
            if reader in members:
                return False
            if reader < last and reader not in seen:
                seen.add(reader)
                stack.append(reader)
    return True


def _edges(groups: Sequence[Group], read_by: Sequence[tuple[int, ...]]) -> list[set[int]]:
    home = {node: number for number, group in enumerate(groups) for node in group}
    return [
        {home[reader] for node in group for reader in read_by[node] if home[reader] != number}
        for number, group in enumerate(groups)
    ]


def circle(groups: Sequence[Group], read_by: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Numbers of groups that depend on each other in a circle; empty if there is none. Every node is in a
    group."""
    return next(iter(circles(groups, read_by)), ())


def circles(groups: Sequence[Group], read_by: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Circles of groups that depend on each other, none of which is in two; empty if there are none. Without one group
    of each there may still be others. Every node is in a group."""
    edges = [sorted(targets) for targets in _edges(groups, read_by)]
    done: set[int] = set()
    found: list[tuple[int, ...]] = []
    for root in range(len(groups)):
        path: list[int] = [] if root in done else [root]
        places = {root: 0}
        following = [iter(edges[root])]
        while path:
            step = next(following[-1], None)
            if step is None:
                done.add(path[-1])
            elif step in places:
                found.append(tuple(path[places[step] :]))
                done.update(found[-1])
            elif step not in done:
                places[step] = len(path)
                path.append(step)
                following.append(iter(edges[step]))
            while path and path[-1] in done:
                del places[path.pop()]
                following.pop()
    return tuple(found)


def sorted_groups(groups: Sequence[Group], read_by: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Numbers of groups in topological order; among the ready ones that with the earliest last node goes
    first."""
    edges = _edges(groups, read_by)
    waiting = [0] * len(groups)
    for targets in edges:
        for target in targets:
            waiting[target] += 1
    ready = [(groups[number][-1], number) for number, count in enumerate(waiting) if count == 0]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        _, number = heapq.heappop(ready)
        order.append(number)
        for target in sorted(edges[number]):
            waiting[target] -= 1
            if waiting[target] == 0:
                heapq.heappush(ready, (groups[target][-1], target))
    if len(order) != len(groups):
        raise ValueError("groups depend on each other in a circle")
    return tuple(order)
