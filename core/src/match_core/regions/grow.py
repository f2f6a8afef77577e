"""Grow the regions of a unit: few and large ones that keep to its limits and never wait for each other in a circle.

Merging neighbours in one order can end with more regions than in another, and no order is best for all graphs, so
several ways are gone and the best end is taken: most nodes in regions, then the fewest regions, then the first way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.regions.claims import RegionLimits
from match_core.regions.dag import Bits, members
from match_core.regions.limits import Measure
from match_core.regions.quotient import Quotient

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from match_core.regions.dag import Dag

#: Nodes that a piece may go on growing by while it exceeds a limit, before it is cut where it last kept to all.
LOOK_AHEAD = 256
#: Pairs that are looked at and changes of what groups reach (some seconds' worth) after which no further way is gone.
#: They are few in the graphs of networks, which are long and narrow.
WORK_MAX = 300_000


def grown(dag: Dag, claimed: Bits, limits: RegionLimits) -> tuple[Bits, ...]:
    """Regions of the claimed nodes, in the order of their first nodes. Claimed nodes that no region within the limits
    holds are in none."""
    measure = Measure(dag, limits)
    best: tuple[Bits, ...] = ()
    fewest, work = _fewest(dag, claimed, limits), 0
    for start, from_the_end in _ways(dag, claimed, limits):
        quotient = Quotient(dag, start, measure)
        found = quotient.grow(from_the_end)
        work += quotient.work
        regions = tuple(region for region in found if measure.fits(measure.of_all(region)))
        if not best or _rank(regions) < _rank(best):
            best = regions
        if _rank(best) == (-claimed.bit_count(), fewest) or work > WORK_MAX:
            break
    return best


def _rank(regions: Sequence[Bits]) -> tuple[int, int]:
    return -sum(region.bit_count() for region in regions), len(regions)


def _fewest(dag: Dag, claimed: Bits, limits: RegionLimits) -> int:
    """No way ends with fewer regions of all claimed nodes."""
    parts = list(_connected(claimed, dag))
    if limits.nodes_max is None:
        return len(parts)
    return sum(-(-part.bit_count() // limits.nodes_max) for part in parts)


def _ways(dag: Dag, claimed: Bits, limits: RegionLimits) -> Iterator[tuple[Sequence[Bits], bool]]:
    """What to begin with (partitions of the claimed nodes without circles) and whether to grow from the end: single
    nodes, and where there are limits the regions that would grow without, cut into pieces."""
    single = [1 << position for position in members(claimed)]
    yield single, False
    yield single, True
    if limits == RegionLimits():
        return
    free = Measure(dag, RegionLimits())
    for from_the_end in (False, True):
        whole = Quotient(dag, single, free).grow(from_the_end)
        yield [piece for region in whole for piece in _pieces(region, Measure(dag, limits))], from_the_end


def _pieces(region: Bits, measure: Measure) -> Iterator[Bits]:
    """The region in topological order, cut into pieces that keep to the limits and are as long as they can be, and
    these into parts that hang together. A node that keeps to no limit is a piece."""
    if measure.fits(measure.of_all(region)):
        yield region
        return
    left = region
    while left:
        piece = _longest(left, measure)
        left &= ~piece
        yield from _connected(piece, measure.dag)


def _longest(nodes: Bits, measure: Measure) -> Bits:
    """The longest run of the first nodes that keeps to the limits; the first node where none does."""
    first, *others = members(nodes)
    usage = measure.of(first)
    longest = usage.nodes
    for position in others:
        usage = measure.joined(usage, measure.of(position))
        if not measure.may_shrink_to_fit(usage) or usage.nodes.bit_count() > longest.bit_count() + LOOK_AHEAD:
            break
        if measure.fits(usage):
            longest = usage.nodes
    return longest


def _connected(nodes: Bits, dag: Dag) -> Iterator[Bits]:
    """The parts of a set of nodes between which no tensor passes."""
    left = nodes
    while left:
        part = frontier = left & -left
        while frontier:
            near = 0
            for position in members(frontier):
                near |= dag.before[position] | dag.after[position]
            frontier = near & left & ~part
            part |= frontier
        left &= ~part
        yield part
