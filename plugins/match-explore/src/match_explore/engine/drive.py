"""Sends points to a cluster and collects outcomes, each once: one retry elsewhere after an incident, then a coded row.

Workers that stop answering are found by their heartbeats, which the scheduler records: their tasks go elsewhere, and
what they may send later is ignored.
"""

from __future__ import annotations

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
#: Incidents after which a worker gets no more tasks, as long as there are others.
_TOLERATED = 2


@dataclass(frozen=True)
class _Flight:
    point: Point
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
        self._count = 0

    def run(self, points: Sequence[Point]) -> Iterator[tuple[Point, Outcome]]:
        """Outcomes as they arrive. ToolError MATCH-T023 if the cluster ends."""
        waiting = deque(points)
        while waiting or self._flying:
            self._look()
            while waiting and len(self._flying) < self._room():
                self._send(waiting.popleft(), 1, frozenset())
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

    def _send(self, point: Point, attempt: int, avoid: frozenset[str]) -> None:
        bad = {worker for worker, count in self._troubles.items() if count >= _TOLERATED}
        known = frozenset(self._threads)
        places = known - self._silent - avoid - bad or known - self._silent - avoid or known - self._silent
        self._count += 1
        future = self.client.submit(
            evaluate,
            self.name,
            point.content(),
            self.keep.get(point.index, ""),
            self.limits.seconds,
            self.limits.memory_bytes,
            key=f"{self.name}-{point.index}-{attempt}-{self._count}",
            pure=False,
            workers=sorted(places) if places < known else None,
        )
        self._flying[future.key] = _Flight(point, attempt, future, places, avoid)
        future.add_done_callback(self._arrived.put)

    def _landed(self, flight: _Flight) -> Iterator[tuple[Point, Outcome]]:
        found = self._fetched(flight)
        if not isinstance(found, Incident):
            yield flight.point, found
            return
        if flight.attempt == 1:
            self.retried.append(found)
            self._troubles[found.worker] += bool(found.worker)
            self._send(flight.point, 2, flight.avoid | ({found.worker} - {""}))
            return
        for worker in flight.avoid:  # the task is at fault, not the worker
            self._troubles[worker] -= 1
        code, what = CODES[found.kind]
        yield flight.point, failed(code, what, flight.point.model, f"{found.why}; it was tried twice")

    def _fetched(self, flight: _Flight) -> Outcome | Incident:
        try:
            worker, answer, incident = flight.future.result(timeout=_FETCH)
        except (TimeoutError, OSError):
            return Incident("worker", "its worker does not answer")
        except KilledWorker:
            return Incident("worker", "its worker was killed")
        except CancelledError:
            if self.client.status != "running":
                raise cluster_lost(self._address, "the scheduler closed the connection") from None
            return Incident("worker", "its worker is gone")
        if incident is not None:
            return Incident(**{**incident, "worker": worker})
        self.seconds[flight.point.index] = answer["seconds"]
        outcome: Outcome = answer["outcome"]
        return outcome

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
                self._send(flight.point, flight.attempt, flight.avoid)
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
