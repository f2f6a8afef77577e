"""Layouts with swaps: a walk over an order of jobs; if a job's items do not fit, items that are not in use go to the
store and come back later.

It always finds a layout if the items of every operator fit the arena (with the order ``low_memory``; other orders may
have too many partly written items). Places are chosen so that few bytes are swapped and no job waits for recently used
bytes: copies back then run ahead of the job, as early as their place allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING

from match_core.plan.packing import aligned

from match_concurrent.planning.arena import Arena, Window
from match_concurrent.planning.draft import Layout, PlanStep
from match_concurrent.planning.lags import lags_of

if TYPE_CHECKING:
    from match_concurrent.planning.problem import Problem


def swapped(problem: Problem, order: Sequence[int]) -> Layout | None:
    """A layout for this order; None if a job does not fit."""
    walk = _Walk(problem, order)
    return walk.layout() if all(walk.run(number) for number in order) else None


class _Walk:
    """The state between two jobs. Times are estimates, which only guide choices."""

    def __init__(self, problem: Problem, order: Sequence[int]) -> None:
        self.problem = problem
        self.lags = lags_of(problem.lanes, problem.signalling)
        self.arena = Arena(problem.capacity_bytes // problem.alignment_bytes * problem.alignment_bytes)
        self.steps: list[PlanStep] = []
        self.homes: dict[tuple[int, int], int] = {}
        self.stores: dict[int, int] = {}
        self.store_top = 0
        self.residence: dict[int, int] = {}  # the number of the item's last residence
        self.used = [0] * len(problem.items)  # the last time when an item was used
        self.free = [0] * len(problem.lanes)
        self.end = [0] * len(problem.jobs)
        place = {number: position for position, number in enumerate(order)}
        self.place = place
        self.coming = [sorted((place[n] for n in jobs), reverse=True) for jobs in problem.users()]
        self.unwritten = [len(jobs) for jobs in problem.writers()]

    def layout(self) -> Layout:
        """The layout that the walk found."""
        return Layout(tuple(self.steps), self.homes, self.stores)

    def run(self, number: int) -> bool:
        """Make room for a job and run it; False if there is no room."""
        job = self.problem.jobs[number]
        needed = [item for item in job.items if self.problem.items[item].owned]
        missing = any(self.arena.address_of(item) is None for item in needed)
        before = self._saved() if missing and self.problem.link is not None else None
        if missing and not self._fetch_all(needed, number):
            if before is None:
                return False
            self._restore(before)
            if not self._rearrange(needed, number):
                return False
        places = tuple((item, self.residence[item]) for item in needed)
        ready = max((self.used[item] for item in needed), default=0)
        ready = max([ready, self.free[job.queue], *(self.end[maker] for maker in job.after)])
        self.end[number] = ready + job.cycles
        self.free[job.queue] = self.end[number]
        self.steps.append(PlanStep("job", job.queue, job.cycles, number, places=places))
        written = {access.item for access in job.accesses if access.writes}
        for item in needed:
            if item in written:
                self.unwritten[item] -= 1
            self.used[item] = max(self.used[item], self.end[number])
            self.coming[item].pop()
            if not self.coming[item]:
                self.arena.free(item, self.used[item])
        return True

    def _saved(self) -> _Walk:
        """A copy of the state that placing may change."""
        other = copy(self)
        other.arena = self.arena.copy()
        other.steps, other.used, other.free = list(self.steps), list(self.used), list(self.free)
        other.homes, other.stores, other.residence = dict(self.homes), dict(self.stores), dict(self.residence)
        return other

    def _restore(self, saved: _Walk) -> None:
        self.__dict__.update(saved.__dict__)

    def _fetch_all(self, needed: Sequence[int], number: int, *, tight: bool = False) -> bool:
        missing = [item for item in needed if self.arena.address_of(item) is None]
        for item in sorted(missing, key=lambda i: (-self.problem.size_of(i), i)):
            if not self._fetch(item, needed, number, tight):
                return False
        return True

    def _fetch(self, item: int, needed: Sequence[int], number: int, tight: bool) -> bool:
        """Place an item in the cheapest window (``tight``: the lowest that is free); items there leave."""
        job = self.problem.jobs[number]
        begin = max([self.free[job.queue], *(self.end[maker] for maker in job.after)])

        def cost(window: Window) -> tuple[int, ...] | None:
            if tight:
                return None if window.victims else ()
            if any(not self._may_leave(victim, needed) for victim in window.victims):
                return None
            copies = sum(self._cost_of_leaving(victim) for victim in window.victims)
            soonest = min((self.coming[victim][-1] for victim in window.victims), default=0)
            return (copies, max(0, window.since - begin), -soonest, window.waste)

        window = self.arena.best(self.problem.size_of(item), cost)
        if window is None:
            return False
        for victim in window.victims:
            if not self._leave(victim):
                return False
        self._enter(item, window.low)
        return True

    def _may_leave(self, item: int, needed: Sequence[int]) -> bool:
        """Whether the item may be swapped: the job does not use it, and it is completely written (else the copy would
        be incomplete)."""
        return self.problem.link is not None and item not in needed and self.unwritten[item] == 0

    def _cost_of_leaving(self, item: int) -> int:
        """Cycles of the link to the store (unless it has the item already) and back."""
        copies = 1 if item in self.stores else 2
        return copies * self.problem.swap_cycles(item)

    def _leave(self, item: int) -> bool:
        """Move the item to the store; False if the store has no room."""
        since = self.used[item]
        if item not in self.stores:
            size = aligned(self.problem.items[item].size_bytes, self.problem.store_alignment_bytes)
            if self.store_top + size > self.problem.store_bytes:
                return False
            self.stores[item] = self.store_top
            self.store_top += size
            since = self._copy("out", item, since)
        self.arena.free(item, since)
        return True

    def _enter(self, item: int, low: int) -> None:
        """Give the item bytes of the arena, and restore its contents if it had any."""
        number = self.residence.get(item, -1) + 1
        since = max(s.since for s in self.arena.segments if s.low < low + self.problem.size_of(item) and low < s.high)
        self.arena.put(item, low, self.problem.size_of(item))
        self.residence[item] = number
        self.homes[item, number] = low
        self.used[item] = since
        if item in self.stores:
            self.used[item] = self._copy("in", item, since)

    def _copy(self, kind: str, item: int, ready: int) -> int:
        lane, cycles = self.problem.swap_lane, self.problem.swap_cycles(item)
        end = max(self.free[lane], ready) + cycles
        self.free[lane] = end
        places = ((item, self.residence[item]),)
        self.steps.append(PlanStep("out" if kind == "out" else "in", lane, cycles, item=item, places=places))
        return end

    def _rearrange(self, needed: Sequence[int], number: int) -> bool:
        """Move all possible items to the store, and place the job's items anew, consecutively."""
        if self.problem.link is None:
            return False
        for item in self.arena.items():
            if self.unwritten[item] == 0 and not self._leave(item):
                return False
        return self._fetch_all(needed, number, tight=True)
