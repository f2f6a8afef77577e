"""Makes a program fit by candidates that need less of the home memory: with smaller constants, or smaller stored forms.

Some units pack weights into blocks that are larger than the weights, or read and write tensors in forms with padding.
Where the memory is too small for that, other units, or other kernels, run some of the nodes: those where a saved byte
costs the fewest cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from match_core.contract.geometry import far_bytes

from match_beyond.constants import constant_sizes

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate
    from match_core.contract.fitting import FitRequest
    from match_core.contract.mapping import Assignment

    _Size = Callable[[Candidate], int]


def fits_with_lighter(request: FitRequest) -> bool:
    """Whether an attempt without some candidates fits: without those of large constants; if that does not suffice, of
    large operands; then of other units than the host, whose forms take memory for conversions. The fewest are left out
    with which a program fits, in the order of their prices. Where tensors have another memory, only constants count."""

    def constants(candidate: Candidate) -> int:
        return 0 if request.streams(candidate) or request.soc.mapped else sum(constant_sizes(candidate))

    def operands(candidate: Candidate) -> int:
        tensors = sum(far_bytes(o) for o in candidate.workload.operands if o.role != "constant")
        return tensors + constants(candidate)

    def away(candidate: Candidate) -> int:
        return int(candidate.unit != request.soc.host)

    sizes = (constants, operands, away) if request.soc.overflow is None else (constants,)
    return any(_fewest(request, [*_exchanges(request, size)]) for size in sizes)


def _fewest(request: FitRequest, exchanges: list[tuple[float, frozenset[int]]]) -> bool:
    """Search the fewest exchanges, the cheapest first, whose program fits; False if none do."""
    ordered = [barred for _, barred in sorted(exchanges, key=lambda pair: (pair[0], min(pair[1])))]
    low, high = 0, len(ordered)

    def fits(count: int) -> bool:
        return request.without(frozenset[int]().union(*ordered[:count])) is not None

    if not ordered or not fits(high):
        return False
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return True


def _exchanges(request: FitRequest, size: _Size) -> Iterator[tuple[float, frozenset[int]]]:
    """For each assignment of the mapping, what follows it at the fewest cycles per saved byte, and what follows that:
    these cycles, and the indices of the candidates of the same nodes that are larger."""
    rivals: dict[tuple[str, ...], list[Assignment]] = {}
    for offered in request.offered:
        rivals.setdefault(offered.candidate.node_names, []).append(offered)
    for used in request.mapping.assignments:
        same = rivals.get(used.candidate.node_names, [])
        cycles, most, price = used.schedule.cost.total_cycles, size(used.candidate), 0.0
        while smaller := [one for one in same if size(one.candidate) < most]:
            found = min((_price(one, cycles, most - size(one.candidate)), one.candidate.index, one) for one in smaller)
            price, (_, _, then) = max(price, found[0]), found
            cycles, most = then.schedule.cost.total_cycles, size(then.candidate)
            yield price, frozenset(one.candidate.index for one in same if size(one.candidate) > most)


def _price(assignment: Assignment, cycles: int, saved: int) -> float:
    """Cycles for each saved byte."""
    return (assignment.schedule.cost.total_cycles - cycles) / saved
