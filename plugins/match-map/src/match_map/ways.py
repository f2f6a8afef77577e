"""Paths between a group of nodes that run as one and the rest of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.ir.groups import Group


def has_one_way_out(group: Group, read_by: Sequence[tuple[int, ...]]) -> bool:
    """Whether all paths in the group end in one node, the only one with readers outside. Such groups never form cycles
    of dependencies: a path that leaves a group leaves from its last node, and a cycle of such paths would be a cycle
    in the graph."""
    members = set(group)
    ends = [node for node in group if not read_by[node] or not members.issuperset(read_by[node])]
    return len(ends) == 1


def is_convex(group: Group, read_by: Sequence[tuple[int, ...]]) -> bool:
    """Whether no path leaves the group and returns (a group with such a path cannot run as one)."""
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
