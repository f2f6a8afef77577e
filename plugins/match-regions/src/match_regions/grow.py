"""Grows the regions of a unit: few, large regions within its limits and without cyclic waits.

The number of regions depends on the order of merging neighbours, and no order is best for all graphs. So several
variants are tried, and the best result is used: most nodes in regions, then fewest regions, then the first variant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.claims import RegionLimits

from match_regions.dag import Bits, members
from match_regions.limits import Measure
from match_regions.quotient import Quotient

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from match_regions.dag import Dag

#: Nodes that a piece may grow by while it exceeds a limit, before it is cut where it last met all limits.
LOOK_AHEAD = 256
#: Visited pairs and changes of reachability (some seconds of work) after which no other variant is tried. Graphs of
#: networks, which are long and narrow, cause few of them.
WORK_MAX = 300_000


def grown(dag: Dag, claimed: Bits, limits: RegionLimits, atoms: Sequence[Bits] = ()) -> tuple[Bits, ...]:
    """Regions of the claimed nodes, in the order of their first nodes. Claimed nodes that fit no region within the
    limits are omitted. ``atoms``: disjoint sets of claimed nodes that are in one region."""
    measure = Measure(dag, limits)
    best: tuple[Bits, ...] = ()
    fewest, work = _fewest(dag, claimed, limits), 0
    for start, from_the_end in _ways(dag, claimed, limits, atoms):
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
    """A lower bound of the number of regions that contain all claimed nodes."""
    parts = list(_connected(claimed, dag))
    if limits.nodes_max is None:
        return len(parts)
    return sum(-(-part.bit_count() // limits.nodes_max) for part in parts)


def _ways(
    dag: Dag, claimed: Bits, limits: RegionLimits, atoms: Sequence[Bits]
) -> Iterator[tuple[Sequence[Bits], bool]]:
    """Variants: a start (a partition of the claimed nodes without cycles), and whether to grow from the end. Starts are
    single nodes and atoms and, if there are limits and no atoms, the regions that grow without limits, cut into
    pieces."""
    single = [*atoms, *(1 << position for position in members(claimed & ~sum(atoms)))]
    yield single, False
    yield single, True
    if limits == RegionLimits() or atoms:
        return
    free = Measure(dag, RegionLimits())
    for from_the_end in (False, True):
        whole = Quotient(dag, single, free).grow(from_the_end)
        yield [piece for region in whole for piece in _pieces(region, Measure(dag, limits))], from_the_end


def _pieces(region: Bits, measure: Measure) -> Iterator[Bits]:
    """The region in topological order, cut into the longest pieces within the limits, and these into connected parts. A
    node that exceeds the limits alone is a piece."""
    if measure.fits(measure.of_all(region)):
        yield region
        return
    left = region
    while left:
        piece = _longest(left, measure)
        left &= ~piece
        yield from _connected(piece, measure.dag)


def _longest(nodes: Bits, measure: Measure) -> Bits:
    """The longest prefix of the nodes within the limits; the first node if there is none."""
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
    """The connected components of a set of nodes."""
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
