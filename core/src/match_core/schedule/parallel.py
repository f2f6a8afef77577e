"""Parallel searches of distinct requests in processes.

A process takes a few tenths of a second to start, a search some milliseconds, so processes pay for many searches only.
Every process loads the installed plugins and calls them with copies of the requests. The caller repeats what cannot be
copied or fails there, and attributes the fault. Answers do not depend on the number of processes.
"""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from match_core.schedule.evaluate import false_claim

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext
    from types import FrameType

    from match_core.contract.loops import ScheduleRequest
    from match_core.contract.scheduling import Answer
    from match_core.plugin.facade import Plugins

#: Minimum seconds of searches per process: some three times its start (measured: 0.2 to 0.4 s of processor time).
SECONDS_MIN = 1.0


def processes_for(seconds: float, jobs: int | None) -> int:
    """The number of processes that shortens so many seconds of searches; at most ``jobs`` (None: one per processor)."""
    return min(_processors() if jobs is None else jobs, int(seconds / SECONDS_MIN))


def search_in_processes(requests: Sequence[ScheduleRequest], processes: int) -> tuple[Answer | None, ...]:
    """One answer per request in their order; None for those that the caller has to search."""
    if processes < 2:
        return (None,) * len(requests)
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor

    copies = [_pickled(request) for request in requests]
    sent = [copy for copy in copies if copy is not None]
    try:
        with ProcessPoolExecutor(processes, _context(), _leave_interrupts_to_the_caller) as pool:
            with _interrupts_afterwards():
                found = iter(pool.map(_search, sent, chunksize=1))
            return tuple(next(found) if copy is not None else None for copy in copies)
    except (OSError, BrokenExecutor):  # processes are not available, or one was killed
        return (None,) * len(copies)


@contextmanager
def _interrupts_afterwards() -> Iterator[None]:
    """Delay a Ctrl-C until all processes are started.

    The pool does not wait for a process that is starting and not yet registered. After an interrupt, such a process
    would look for resources that this process has already released, and print a traceback.
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
    try:
        request = pickle.loads(copy)
        return _plugins().schedule(request, partial(false_claim, request))
    except Exception:
        return None


@cache
def _plugins() -> Plugins:
    """The plugins of a worker process, loaded once."""
    from match_core.plugin.facade import Plugins

    return Plugins.load()


class _Pickler(pickle.Pickler):
    """Also copies read-only mappings, in which cost models often store their figures."""

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
    """Starts new processes without the threads and locks of this one."""
    import multiprocessing

    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["match_core.schedule.timeline", "match_core.plugin.facade"])
    return context


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
