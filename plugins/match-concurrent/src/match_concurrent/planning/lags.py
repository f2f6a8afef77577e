"""Cycles between tasks, from the Soc's ``signalling``, by kind of queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.hardware import Signalling

    from match_concurrent.planning.problem import Lane


@dataclass(frozen=True, slots=True)
class Lags:
    """``known``: from the end of a queue's task until the host knows; ``begun``: from there until a task of the queue
    that waits for it begins; ``between``: two tasks of a queue, the second posted in time. One value per queue."""

    known: tuple[int, ...]
    begun: tuple[int, ...]
    between: tuple[int, ...]

    def across(self, source: int, target: int) -> int:
        """The least cycles from the end of a task to the start of a dependent task of another queue."""
        return self.known[source] + self.begun[target]


def lags_of(lanes: tuple[Lane, ...], signalling: Signalling) -> Lags:
    """The lags of all queues. The host polls its own tasks and the link, and starts the link itself."""
    s = signalling
    known = {"host": 0, "unit": s.notify_cycles, "link": 0}
    begun = {"host": 0, "unit": s.post_cycles + s.wake_cycles, "link": s.post_cycles}
    between = {"host": 0, "unit": s.task_cycles, "link": s.post_cycles}
    kinds = [lane.kind for lane in lanes]
    return Lags(
        tuple(known[kind] for kind in kinds),
        tuple(begun[kind] for kind in kinds),
        tuple(between[kind] for kind in kinds),
    )
