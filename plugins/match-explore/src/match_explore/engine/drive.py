"""Sends points to a cluster and collects outcomes, each once: one retry elsewhere after an incident, then a coded row.

A task holds one point, or several where points are so short, or workers so many, that the scheduler could not keep up.
Workers that stop answering are found by their heartbeats, which the scheduler records: their tasks go elsewhere, and
what they may send later is ignored.
"""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from distributed.scheduler import KilledWorker

from match_explore.engine.incident import CODES, Incident
from match_explore.engine.remote import evaluate
from match_explore.errors import cluster_lost
from match_explore.task import Outcome, failed

if TYPE_CHECKING:
    from distributed import Client, Future

    from match_explore.points import Point
    from match_explore.study import Limits

#: Tasks that are sent ahead for each thread of a worker.
_AHEAD = 2
#: Seconds: between two looks at the workers; without a heartbeat until a worker counts as silent; without any worker.
_LOOK, SILENT, _EMPTY = 2.0, 30.0, 60.0
#: Seconds for fetching one outcome, which is small.
_FETCH = 15.0
#: Seconds between two tasks that client and scheduler stand for hours: twice what a task costs the slower one, measured
#: by benchmarks.explore_engine. No task holds more points than the largest number, an estimate.
TASK_SECONDS, POINTS_MAX = 0.012, 32
#: A task holds at most this part of the points of each worker that are left, so that all workers end together; an
#: estimate.
_PART_LEFT = 8
#: Incidents after which a worker gets no more tasks, as long as there are others.
_TOLERATED = 2


@dataclass(frozen=True)
class _Flight:
    points: tuple[Point, ...]
    attempt: int
    future: Future
    places: frozenset[str]
    avoid: frozenset[str]


@dataclass
class Driver:
    """``name``: of the worker plugin with the study's files; ``keep``: point index -> folder for its program."""

    client: Client
    name: str
    limits: Limits
    silent_seconds: float = field(default_factory=lambda: SILENT)
    keep: dict[int, str] = field(default_factory=dict)
    #: Seconds of the work by point index, without the way there and back.
    seconds: dict[int, float] = field(default_factory=dict)
    #: What happened to tasks that were tried again.
    retried: list[Incident] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._arrived: SimpleQueue[Future] = SimpleQueue()
        self._flying: dict[str, _Flight] = {}
        self._troubles: Counter[str] = Counter()
        self._threads: dict[str, int] = {}
        self._silent: frozenset[str] = frozenset()
        self._beats: dict[str, tuple[float, float]] = {}
        self._looked, self._seen = 0.0, time.monotonic()
        self._count, self._work = 0, 0.0

    def run(self, points: Sequence[Point]) -> Iterator[tuple[Point, Outcome]]:
        """Outcomes as they arrive. ToolError MATCH-T023 if the cluster ends."""
        waiting = deque(points)
        while waiting or self._flying:
            self._look()
            while waiting and len(self._flying) < self._room():
                self._send(tuple(waiting.popleft() for _ in range(self._points_each(len(waiting)))), 1, frozenset())
            try:
                future = self._arrived.get(timeout=0.5)
            except Empty:
                continue
            flight = self._flying.pop(future.key, None)
            if flight is not None:
                yield from self._landed(flight)

    def _room(self) -> int:
        usable = sum(threads for worker, threads in self._threads.items() if worker not in self._silent)
        return max(1, _AHEAD * usable)

    def _points_each(self, left: int) -> int:
        """How many points the next task holds."""
        threads = max(1, sum(self._threads.values()))
        known = self._work / len(self.seconds) if self.seconds else math.inf
        wanted = min(POINTS_MAX, threads * TASK_SECONDS / max(known, 1e-3))
        return max(1, min(math.ceil(wanted), left // (_PART_LEFT * threads)))

    def _send(self, points: tuple[Point, ...], attempt: int, avoid: frozenset[str]) -> None:
        bad = {worker for worker, count in self._troubles.items() if count >= _TOLERATED}
        known = frozenset(self._threads)
        places = known - self._silent - avoid - bad or known - self._silent - avoid or known - self._silent
        self._count += 1
        future = self.client.submit(
            evaluate,
            self.name,
            [(point.content(), self.keep.get(point.index, "")) for point in points],
            self.limits.seconds,
            self.limits.memory_bytes,
            key=f"{self.name}-{points[0].index}-{attempt}-{self._count}",
            pure=False,
            workers=sorted(places) if places < known else None,
        )
        self._flying[future.key] = _Flight(points, attempt, future, places, avoid)
        future.add_done_callback(self._arrived.put)

    def _landed(self, flight: _Flight) -> Iterator[tuple[Point, Outcome]]:
        answers, incident = self._fetched(flight)
        for point, answer in zip(flight.points, answers, strict=False):
            self.seconds[point.index] = answer["seconds"]
            self._work += answer["seconds"]
            yield point, answer["outcome"]
        if incident is None:
            return
        troubled, *others = flight.points[len(answers) :]
        if others:  # they had no chance yet, or a chance beside another
            self._send(tuple(others), flight.attempt, flight.avoid)
        if flight.attempt == 1:
            self.retried.append(incident)
            self._troubles[incident.worker] += bool(incident.worker)
            self._send((troubled,), 2, flight.avoid | ({incident.worker} - {""}))
            return
        for worker in flight.avoid:  # the task is at fault, not the worker
            self._troubles[worker] -= 1
        code, what = CODES[incident.kind]
        yield troubled, failed(code, what, troubled.model, f"{incident.why}; it was tried twice")

    def _fetched(self, flight: _Flight) -> tuple[Sequence[dict[str, Any]], Incident | None]:
        """The answers for the first points of a task, and what happened to the next one."""
        try:
            worker, answers, incident = flight.future.result(timeout=_FETCH)
        except (TimeoutError, OSError):
            return (), Incident("worker", "its worker does not answer")
        except KilledWorker:
            return (), Incident("worker", "its worker was killed")
        except CancelledError:
            if self.client.status != "running":
                raise cluster_lost(self._address, "the scheduler closed the connection") from None
            return (), Incident("worker", "its worker is gone")
        return answers, None if incident is None else Incident(**{**incident, "worker": worker})

    @property
    def _address(self) -> str:
        return f"scheduler {self.client.scheduler.address}" if self.client.scheduler else "the scheduler"

    def _look(self) -> None:
        """Which workers there are, which are silent; tasks of those, and of workers that are gone, go elsewhere."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        workers = self._workers()
        self._threads = {worker: info["nthreads"] for worker, info in workers.items()}
        for worker, info in workers.items():  # by this clock: that of the scheduler's machine may differ
            if self._beats.get(worker, (None, now))[0] != info["last_seen"]:
                self._beats[worker] = (info["last_seen"], now)
        self._silent = frozenset(w for w in workers if now - self._beats[w][1] > self.silent_seconds)
        if workers:
            self._seen = now
        elif now - self._seen > _EMPTY:
            raise cluster_lost(self._address, f"it has had no worker for {_EMPTY:g} s")
        stuck = {key for keys in self._processing().values() for key in keys}
        for key, flight in tuple(self._flying.items()):
            nowhere = not flight.places & (frozenset(self._threads) - self._silent)
            if key in stuck or (nowhere and len(self._silent) < len(self._threads)):
                del self._flying[key]
                self.retried.append(Incident("worker", "its worker sends no heartbeat", *sorted(flight.places)[:1]))
                self._send(flight.points, flight.attempt, flight.avoid)
                flight.future.cancel()

    def _workers(self) -> dict[str, Any]:
        try:
            workers: dict[str, Any] = self.client.sync(self.client.scheduler.identity, n_workers=-1)["workers"]
        except (OSError, AttributeError, TimeoutError) as error:
            raise cluster_lost(self._address, "the scheduler does not answer") from error
        return workers

    def _processing(self) -> dict[str, Sequence[str]]:
        """Tasks that silent workers have taken."""
        if not self._silent:
            return {}
        found: dict[str, Sequence[str]] = self.client.processing(sorted(self._silent))
        return found
