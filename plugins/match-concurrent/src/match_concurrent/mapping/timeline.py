"""The time line of tasks on queues, with the host that posts them: a deterministic event simulation.

The host polls all queues in turn (docs/programs.md): it posts every task whose dependencies it knows to be done,
several of one queue at once, then runs at most one task of its own, during which it posts nothing. Times are modelled
cycles.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from match_core.contract.hardware import Signalling

#: The queue of the host.
HOST = 0


class Step(NamedTuple):
    """A task: its queue, its cycles, the numbers of the steps that must be done before it, and other queues whose units
    are busy while it runs."""

    queue: int
    cycles: int
    needs: tuple[int, ...] = ()
    occupies: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """``starts`` of the steps; ``finish``: the time when the host knows that all are done."""

    starts: tuple[int, ...]
    finish: int


def simulate(steps: Sequence[Step], order: Sequence[int], signalling: Signalling, limit: int | None = None) -> Timeline:
    """The time line in which every queue runs its steps in the order of ``order``, a permutation of all steps. A time
    line that is longer than ``limit`` may be left incomplete, with a finish after the limit.

    ValueError if steps wait for each other, or a step depends on a later one of its own queue.
    """
    return _Simulation(steps, order, signalling).run(limit)


def least_finish(steps: Sequence[Step], signalling: Signalling) -> int:
    """A lower bound of the finish of any time line of the steps, which depend on earlier ones only: the longest chain,
    with its signals, and the work of each queue after its earliest start."""
    gap, notify = signalling.task_cycles, signalling.notify_cycles
    wake = signalling.post_cycles + signalling.wake_cycles
    ends: list[int] = []
    queues: dict[int, list[int]] = {}  # earliest start, and work
    finish = 0
    for queue, cycles, needs, occupies in steps:
        start = 0 if queue == HOST else wake
        for need in needs:
            other = steps[need].queue
            lag = gap if other == queue else (notify if other != HOST else 0) + (wake if queue != HOST else 0)
            start = max(start, ends[need] + lag)
        ends.append(start + cycles)
        known = queues.setdefault(queue, [start, -gap])
        known[0] = min(known[0], start)
        known[1] += cycles + gap
        for other in occupies:
            known = queues.setdefault(other, [start, -gap])
            known[0] = min(known[0], start)
            known[1] += cycles - gap  # it may take the place of the gap between two tasks
        finish = max(finish, start + cycles + (notify if queue != HOST else 0))
    return max([finish, *(start + work for start, work in queues.values())])


class _Simulation:
    def __init__(self, steps: Sequence[Step], order: Sequence[int], signalling: Signalling) -> None:
        self.steps, self.signalling = steps, signalling
        if any(step.occupies for step in steps):
            steps = apart(steps, order)
        count = 1 + max((step.queue for step in steps), default=HOST)
        self.lines: list[list[int]] = [[] for _ in range(count)]
        for number in order:
            self.lines[steps[number].queue].append(number)
        self.readers, self.unmet = _waits(steps, order)
        self.next = [0] * count
        self.free = [-signalling.task_cycles] * count
        self.starts = [0] * len(steps)
        self.events: list[tuple[int, int]] = []
        self.now = 0

    def run(self, limit: int | None) -> Timeline:
        left = len(self.steps)
        while left:
            if limit is not None and self.now > limit:
                return Timeline(tuple(self.starts), self.now)
            while self.events and self.events[0][0] <= self.now:
                left -= 1
                for reader in self.readers[heapq.heappop(self.events)[1]]:
                    self.unmet[reader] -= 1
            posted = [self._post(queue) for queue in range(1, len(self.lines))]
            if not self._run_own() and not any(posted) and left:
                if not self.events:
                    raise ValueError("steps wait for each other")
                self.now = max(self.now, self.events[0][0])
        return Timeline(tuple(self.starts), self.now)

    def _post(self, queue: int) -> bool:
        line, first = self.lines[queue], self.next[queue]
        last = first
        while last < len(line) and not self.unmet[line[last]]:
            last += 1
        if last == first:
            return False
        self.next[queue] = last
        self.now += self.signalling.post_cycles
        awake = self.now + self.signalling.wake_cycles
        for number in line[first:last]:
            start = max(self.free[queue] + self.signalling.task_cycles, awake)
            self.starts[number] = start
            self.free[queue] = start + self.steps[number].cycles
            heapq.heappush(self.events, (self.free[queue] + self.signalling.notify_cycles, number))
        return True

    def _run_own(self) -> bool:
        line, first = self.lines[HOST], self.next[HOST]
        if first == len(line) or self.unmet[line[first]]:
            return False
        self.next[HOST] += 1
        self.starts[line[first]] = max(self.now, self.free[HOST] + self.signalling.task_cycles)
        self.now = self.free[HOST] = self.starts[line[first]] + self.steps[line[first]].cycles
        heapq.heappush(self.events, (self.now, line[first]))
        return True


def apart(steps: Sequence[Step], order: Sequence[int]) -> list[Step]:
    """The steps, which also need what keeps them apart in this order: of two successive ones that keep a unit busy the
    second needs the first, if another queue runs it."""
    made = list(steps)
    last: dict[int, int] = {}
    for number in order:
        step = steps[number]
        lines = (step.queue, *step.occupies)
        before = {last[line] for line in lines if line in last}
        more = sorted(other for other in before - set(step.needs) if steps[other].queue != step.queue)
        made[number] = step._replace(needs=(*step.needs, *more))
        last.update(dict.fromkeys(lines, number))
    return made


def _waits(steps: Sequence[Step], order: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    """For each step, the steps of other queues that depend on it, and the number of its dependencies in other
    queues."""
    place = {number: position for position, number in enumerate(order)}
    if len(place) != len(steps) or len(order) != len(steps):
        raise ValueError("the order does not contain each step once")
    readers: list[list[int]] = [[] for _ in steps]
    unmet = [0] * len(steps)
    for number, step in enumerate(steps):
        for need in step.needs:
            if steps[need].queue != step.queue:
                readers[need].append(number)
                unmet[number] += 1
            elif place[need] > place[number]:
                raise ValueError(f"step {number} comes before step {need} of its own queue, on which it depends")
    return readers, unmet


def ranks(steps: Sequence[Step], signalling: Signalling) -> list[int]:
    """For each step, the cycles from its start to the end of all dependent steps; steps depend on earlier ones only."""
    lag = signalling.notify_cycles + signalling.post_cycles + signalling.wake_cycles
    after = [0] * len(steps)
    for number in range(len(steps) - 1, -1, -1):
        step = steps[number]
        after[number] += step.cycles
        for need in step.needs:
            hop = lag if steps[need].queue != step.queue else 0
            after[need] = max(after[need], after[number] + hop)
    return after


def earliest_start_order(steps: Sequence[Step], signalling: Signalling) -> list[int]:
    """List scheduling: pick the ready step with the earliest start; break ties by the longest remaining path. Steps
    depend on earlier ones only."""
    if any(step.occupies for step in steps):
        return _order_of_occupying(steps, signalling)
    lag = signalling.notify_cycles + signalling.post_cycles + signalling.wake_cycles
    after = ranks(steps, signalling)
    readers: list[list[int]] = [[] for _ in steps]
    unmet = [len(step.needs) for step in steps]
    for number, step in enumerate(steps):
        for need in step.needs:
            readers[need].append(number)
    count = 1 + max((step.queue for step in steps), default=HOST)
    free, arrival = [0] * count, [0] * len(steps)
    # For each queue, steps that could start before it is free, by the longest path; and others, by their arrival.
    due: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    later: list[list[tuple[int, int, int]]] = [[] for _ in range(count)]
    for number, missing in enumerate(unmet):
        if missing == 0:
            heapq.heappush(later[steps[number].queue], (0, -after[number], number))
    order: list[int] = []
    for _ in steps:
        best: tuple[int, int, int] | None = None
        for queue in range(count):
            own, waiting, now = due[queue], later[queue], free[queue]
            while waiting and waiting[0][0] <= now:
                _, path, number = heapq.heappop(waiting)
                heapq.heappush(own, (path, number))
            found = (now, *own[0]) if own else (waiting[0] if waiting else None)
            if found is not None and (best is None or found < best):
                best = found
        if best is None:
            break
        begin, _, chosen = best
        queue = steps[chosen].queue
        if due[queue]:
            heapq.heappop(due[queue])
        else:
            heapq.heappop(later[queue])
        order.append(chosen)
        end = begin + steps[chosen].cycles
        free[queue] = end + signalling.task_cycles
        for reader in readers[chosen]:
            other = steps[reader].queue
            arrival[reader] = max(arrival[reader], end + (lag if other != queue else 0))
            unmet[reader] -= 1
            if not unmet[reader]:
                heapq.heappush(later[other], (arrival[reader], -after[reader], reader))
    return order


def _order_of_occupying(steps: Sequence[Step], signalling: Signalling) -> list[int]:
    """The same where steps keep several queues busy; what another queue did last, a step learns by a signal."""
    lag = signalling.notify_cycles + signalling.post_cycles + signalling.wake_cycles
    after = ranks(steps, signalling)
    readers: list[list[int]] = [[] for _ in steps]
    for number, step in enumerate(steps):
        for need in step.needs:
            readers[need].append(number)
    unmet, arrival = [len(step.needs) for step in steps], [0] * len(steps)
    last: dict[int, tuple[int, int]] = {}  # by queue: the last step's own queue, and its end
    ready = [number for number, missing in enumerate(unmet) if not missing]
    order: list[int] = []

    def begin(number: int) -> int:
        step, earliest = steps[number], arrival[number]
        for line in (step.queue, *step.occupies):
            if line in last:
                other, end = last[line]
                earliest = max(earliest, end + (signalling.task_cycles if other == step.queue else lag))
        return earliest

    while ready:
        start, _, chosen = min((begin(number), -after[number], number) for number in ready)
        ready.remove(chosen)
        order.append(chosen)
        step, end = steps[chosen], start + steps[chosen].cycles
        last.update((line, (step.queue, end)) for line in (step.queue, *step.occupies))
        for reader in readers[chosen]:
            arrival[reader] = max(arrival[reader], end + (lag if steps[reader].queue != step.queue else 0))
            unmet[reader] -= 1
            ready += [] if unmet[reader] else [reader]
    return order
