"""Answers to many requests: each distinct one is looked up or searched once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.schedule.parallel import processes_for, search_in_processes

if TYPE_CHECKING:
    from match_core.contract.loops import ScheduleRequest
    from match_core.contract.observe import Watch
    from match_core.contract.scheduling import Answer
    from match_core.schedule.cache import ScheduleCache


@dataclass(frozen=True)
class Parallel:
    """``copy``: the request without references to this process; ``jobs``: maximum number of processes, None for as many
    as reduce the time."""

    copy: Callable[[ScheduleRequest], ScheduleRequest]
    jobs: int | None = None


def answers_to(
    requests: Sequence[ScheduleRequest],
    solve: Callable[[ScheduleRequest], Answer],
    cache: ScheduleCache,
    parallel: Parallel | None = None,
    watch: Watch | None = None,
) -> tuple[Answer, ...]:
    """One answer per request, in their order. ``watch`` receives each search."""
    keys = [cache.key(request) if request.unit.memory else "" for request in requests]
    distinct = {key: request for key, request in zip(keys, requests, strict=True) if key}
    known = {key: cache.find(key) for key in distinct}
    if parallel is not None:
        unknown = [key for key, answer in known.items() if answer is None]
        known.update(_searched(unknown, [distinct[key] for key in unknown], cache, parallel))
    answers = {}
    for done, (key, answer) in enumerate(known.items(), start=1):
        if answer is None and watch is not None:
            request = distinct[key]
            watch.progress({"layer": done, "of": len(known), "unit": request.unit.name, "kind": request.workload.kind})
        answers[key] = answer or cache.keep(key, solve(distinct[key]))
    # Units that work in place have no schedules to search: solving is cheaper than a look-up.
    return tuple(answers[key] if key else solve(request) for key, request in zip(keys, requests, strict=True))


def _searched(
    keys: Sequence[str], requests: Sequence[ScheduleRequest], cache: ScheduleCache, parallel: Parallel
) -> dict[str, Answer]:
    """The answers found by processes, if there are enough requests."""
    processes = processes_for(len(requests), parallel.jobs)
    if processes < 2:
        return {}
    found = search_in_processes([parallel.copy(request) for request in requests], processes)
    return {key: cache.keep(key, answer) for key, answer in zip(keys, found, strict=True) if answer is not None}
