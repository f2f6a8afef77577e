"""Order among groups of nodes that run as one: cycles between groups, a topological order."""

from __future__ import annotations

from collections.abc import Sequence

from match_core.ir.topology import Topology, in_order

#: Positions of nodes that run as one, ascending.
Group = tuple[int, ...]


def readers(topology: Topology) -> tuple[tuple[int, ...], ...]:
    """For each node, the positions of the nodes that read its outputs."""
    return tuple(
        tuple(sorted({topology.position(r) for tensor in node.outputs for r in topology.consumers(tensor)}))
        for node in topology.nodes
    )


def _edges(groups: Sequence[Group], read_by: Sequence[tuple[int, ...]]) -> list[set[int]]:
    home = {node: number for number, group in enumerate(groups) for node in group}
    return [
        {home[reader] for node in group for reader in read_by[node] if home[reader] != number}
        for number, group in enumerate(groups)
    ]


def circles(groups: Sequence[Group], read_by: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Disjoint cycles of groups that depend on each other; empty if there are none. Other cycles may remain after one
    group of each is removed. Every node is in a group."""
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
    """Numbers of groups in topological order; ties are broken by the earliest last node."""
    ranked = sorted(range(len(groups)), key=lambda number: (groups[number][-1], number))
    rank = {number: place for place, number in enumerate(ranked)}
    needs: list[set[int]] = [set() for _ in groups]
    for number, targets in enumerate(_edges(groups, read_by)):
        for target in targets:
            needs[rank[target]].add(rank[number])
    order = in_order(needs)
    if len(order) != len(groups):
        raise ValueError("groups depend on each other in a cycle")
    return tuple(ranked[place] for place in order)
