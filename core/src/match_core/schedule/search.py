"""Answers to many requests: each distinct one is looked up or searched once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from match_core.schedule.parallel import processes_for, search_in_processes

if TYPE_CHECKING:
    from match_core.contract.loops import ScheduleRequest
    from match_core.contract.observe import Watch
    from match_core.contract.scheduling import Answer
    from match_core.schedule.cache import ScheduleCache


#: Seconds that requests are searched here before the time of the others is estimated from them.
TRIED_SECONDS = 0.5


@dataclass(frozen=True)
class Parallel:
    """``copy``: the request without references to this process; ``jobs``: maximum number of processes, None: any."""

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
    unknown = [key for key, answer in known.items() if answer is None]
    began = monotonic()
    for done, key in enumerate(known, start=1):
        if known[key] is not None:
            continue
        request = distinct[key]
        if watch is not None:
            watch.progress({"layer": done, "of": len(known), "unit": request.unit.name, "kind": request.workload.kind})
        known[key] = cache.keep(key, solve(request))
        seconds = monotonic() - began
        if parallel is not None and seconds >= TRIED_SECONDS:
            rest = [key for key in unknown if known[key] is None]
            processes = processes_for(seconds * len(rest) / (len(unknown) - len(rest)), parallel.jobs)
            found = search_in_processes([parallel.copy(distinct[key]) for key in rest], processes)
            known.update({key: cache.keep(key, answer) for key, answer in zip(rest, found, strict=True) if answer})
            parallel = None
    # Units that work in place have no schedules to search: solving is cheaper than a look-up.
    return tuple(known.get(key) or solve(request) for key, request in zip(keys, requests, strict=True))
