"""The connected convex parts of a region, made of its atoms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from match_regions.dag import Bits, members

if TYPE_CHECKING:
    from match_regions.dag import Dag


def parts_of(dag: Dag, atoms: Sequence[Bits], most: int) -> tuple[Bits, ...]:
    """At most ``most`` connected convex sets of the ``atoms`` of one region, the smallest first, the region itself
    excepted. ``atoms``: disjoint convex sets of nodes."""
    whole = sum(atoms)
    before, after = _closures(dag)
    found: dict[Bits, None] = {}
    level: dict[Bits, None] = dict.fromkeys(atoms)
    while level and len(found) < most:
        found.update(level)
        larger: dict[Bits, None] = {}
        for part in level:
            for atom in atoms:
                if not atom & part and _touch(dag, part, atom):
                    joined = _convex(part | atom, atoms, before, after)
                    if joined & ~whole == 0 and joined not in found:
                        larger[joined] = None
        level = dict.fromkeys(sorted(larger, key=lambda bits: (bits.bit_count(), bits)))
    found.pop(whole, None)
    return tuple(found)[:most]


def _touch(dag: Dag, part: Bits, atom: Bits) -> bool:
    return any((dag.before[position] | dag.after[position]) & part for position in members(atom))


def _convex(nodes: Bits, atoms: Sequence[Bits], before: Sequence[Bits], after: Sequence[Bits]) -> Bits:
    """The smallest union of atoms around the nodes, and of nodes outside the region, without a path that returns."""
    while True:
        reached = led = 0
        for position in members(nodes):
            reached |= after[position]
            led |= before[position]
        between = reached & led & ~nodes
        if not between:
            return nodes
        nodes |= between
        for atom in atoms:
            if atom & between:
                nodes |= atom


def _closures(dag: Dag) -> tuple[list[Bits], list[Bits]]:
    """All nodes before and after each node."""
    before, after = [0] * len(dag), [0] * len(dag)
    for position in range(len(dag)):
        for maker in members(dag.before[position]):
            before[position] |= before[maker] | 1 << maker
    for position in reversed(range(len(dag))):
        for reader in members(dag.after[position]):
            after[position] |= after[reader] | 1 << reader
    return before, after
