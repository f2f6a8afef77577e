"""Finds a rewritten model that fits: choices for several sizes of memory, compiled and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.fitting import Fit

from match_beyond.choice import Chooser
from match_beyond.network import Network
from match_beyond.rewrite import rewritten

if TYPE_CHECKING:
    from match_core.contract.fitting import FitRequest
    from match_core.contract.model import Model

    from match_beyond.choice import Choice

#: The most programs that are made, and how many of them after the first that fits.
ATTEMPTS_MAX = 6
BETTER_MAX = 1
#: The part of the home memory that constants get in the first attempt.
CONSTANTS_PART = 6


def fit(request: FitRequest) -> Fit | None:
    """A model that fits, the one whose program has the fewest cycles of those that were made."""
    soc = request.soc
    link = soc.link_between(soc.home, soc.store or "")
    if link is None:
        return None
    network = Network.of(request.model, request.mapping)
    chooser = Chooser(network, link)
    home = soc.memory(soc.home).size_bytes
    free = home - sum(network.sizes[name] for name in network.ends)
    reserve = free // CONSTANTS_PART
    tried: dict[Choice, Model] = {}
    for _ in range(ATTEMPTS_MAX):
        choice = chooser.choose(free - reserve)
        if choice is None:
            return None
        model = rewritten(request.model, network, choice)
        attempt = request.attempt(model)
        print("attempt", free, reserve, choice.cycles, len(choice.runs), [ (r.first,r.end,r.count) for r in choice.runs if r.count>1 or r.end>r.first+1], sorted(choice.away), attempt)
        tried[choice] = model
        if attempt.cycles is not None:
            return Fit(model)
        reserve += max(attempt.over_bytes, free // 64)
    return None
