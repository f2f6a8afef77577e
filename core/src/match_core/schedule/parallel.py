"""Searches of distinct requests side by side in processes.

A process needs a few tenths of a second before it searches, a search tens of milliseconds, so only many requests are
worth it. Every process runs the core's engine on copies of the requests; where a request cannot be copied, or its
search fails there, it is left to the caller, which can tell whose fault it is. Answers do not depend on the number of
processes.
"""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext
    from types import FrameType

    from match_core.schedule.engine import Answer
    from match_core.schedule.loops import ScheduleRequest

#: Searches that each process should have to do at least: at some 25 ms each, as long as the processes need to start.
#: Measured in processor seconds, 55 layers of MobileNetV1: the searches take 1.31 s in one process; in two, 0.74 s
#: each after a start of 0.21 s. Searches of streamed layers take longer, so that fewer would pay.
SEARCHES_MIN = 8


def processes_for(searches: int, jobs: int | None) -> int:
    """How many processes pay for so many searches; at most ``jobs``, or one per processor where that is None."""
    return min(_processors() if jobs is None else jobs, searches // SEARCHES_MIN)


def search_in_processes(requests: Sequence[ScheduleRequest], processes: int) -> tuple[Answer | None, ...]:
    """One answer per request in their order; None for one that the caller has to search."""
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor

    copies = [_pickled(request) for request in requests]
    sent = [copy for copy in copies if copy is not None]
    try:
        with ProcessPoolExecutor(processes, _context(), _leave_interrupts_to_the_caller) as pool:
            with _interrupts_afterwards():
                found = iter(pool.map(_search, sent, chunksize=1))
            return tuple(next(found) if copy is not None else None for copy in copies)
    except (OSError, BrokenExecutor):  # no processes to be had here, or one was killed
        return (None,) * len(copies)


@contextmanager
def _interrupts_afterwards() -> Iterator[None]:
    """A Ctrl-C while the processes are started counts once they are.

    A process that was asked for but is not yet known to the pool is not waited for: it would look for what this
    process has cleared away meanwhile, and say so in a traceback.
    """
    import signal
    import threading

    ours = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(ours):
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, ours)
    if came:
        ours(*came[0])


def _leave_interrupts_to_the_caller() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _search(copy: bytes) -> Answer | None:
    from match_core.schedule.engine import schedule

    try:
        return schedule(pickle.loads(copy))
    except Exception:
        return None


class _Pickler(pickle.Pickler):
    """Also copies read-only mappings, in which cost models like to keep their figures."""

    def reducer_override(self, value: object) -> Any:
        return (_read_only, (dict(value),)) if isinstance(value, MappingProxyType) else NotImplemented


def _read_only(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


def _pickled(request: ScheduleRequest) -> bytes | None:
    copy = io.BytesIO()
    try:
        _Pickler(copy, pickle.HIGHEST_PROTOCOL).dump(request)
    except Exception:
        return None
    return copy.getvalue()


def _context() -> BaseContext:
    """New processes without what runs in this one: its threads and locks stay here."""
    import multiprocessing

    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["match_core.schedule.optimum"])
    return context


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
