"""Candidates that are too slow for a part in a concurrent program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate
    from match_core.contract.mapping import Assignment

#: A unit that takes so many times the cycles of another one for the same nodes saves this one less than a hundredth of
#: the time that it works itself. Searches for its parts take as long as those for others. An estimate.
SLOW = 100


def too_slow(offered: Sequence[Assignment], used: Iterable[Assignment]) -> tuple[Candidate, ...]:
    """The candidates that take more than ``SLOW`` times the modelled cycles of another one of the same nodes, but not
    those that are ``used`` by the sequential program, which is the first choice of a search."""
    kept = {item.candidate.index for item in used}
    least: dict[tuple[str, ...], int] = {}
    for item in offered:
        nodes, cycles = item.candidate.node_names, item.schedule.cost.total_cycles
        least[nodes] = min(cycles, least.get(nodes, cycles))
    return tuple(
        item.candidate
        for item in offered
        if item.schedule.cost.total_cycles > SLOW * max(1, least[item.candidate.node_names])
        and item.candidate.index not in kept
    )


def are_needed(slow: Sequence[Candidate], scheduled: Iterable[Assignment]) -> bool:
    """Whether nothing else that has a schedule runs the nodes of one of the slow candidates."""
    others = {item.candidate.node_names for item in scheduled}
    return any(candidate.node_names not in others for candidate in slow)
