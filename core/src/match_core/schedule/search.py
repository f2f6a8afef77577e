"""Answers to many requests: each distinct one is looked up or searched once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.schedule.cache import ScheduleCache
    from match_core.schedule.engine import Answer
    from match_core.schedule.loops import ScheduleRequest


def answers_to(
    requests: Sequence[ScheduleRequest], solve: Callable[[ScheduleRequest], Answer], cache: ScheduleCache
) -> tuple[Answer, ...]:
    """One answer per request, in their order."""
    keys = [cache.key(request) if request.unit.memory else "" for request in requests]
    known = {}
    for key, request in zip(keys, requests, strict=True):
        if key and key not in known:
            known[key] = cache.find(key) or cache.keep(key, solve(request))
    # Units that work in place have no schedules to search: asking costs less than looking up.
    return tuple(known[key] if key else solve(request) for key, request in zip(keys, requests, strict=True))
