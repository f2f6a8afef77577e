"""Replay of layers that stream constants through the home memory: copies into staging buffers run across steps.

If loads that are issued together include freshly staged pieces, one wait for all staging copies in flight precedes
them, and the staging copies of the next pieces follow them. All other steps have their usual length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from match_core.schedule.steps import Channel, Issued, Steps, after_end, before_end, lengths

#: (issue, data, wait) cycles of one copy.
_Cycles = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Staging:
    """One operand's staging copies in order. ``move``: the position of its loads into the unit's memory; ``steps``: the
    step for which each piece is first loaded."""

    move: int
    steps: tuple[int, ...]
    copies: tuple[_Cycles, ...]


@dataclass
class _Store:
    """The link from the store: the end of its last copy (from the start of the layer), and the wait of that copy."""

    end: int = 0
    wait: int = 0

    def issue(self, now: int, cycles: _Cycles) -> int:
        issue, data, wait = cycles
        done = max(self.end, now + issue) + data
        self.wait = wait if done > self.end else max(wait, self.wait)
        self.end = done
        return now + issue

    def waited(self, now: int) -> int:
        return self.end + self.wait if self.end > now else now


@dataclass
class _Clock:
    """The core's time in one step, and the channels of its copies: (end, wait)."""

    now: int
    busy: dict[Channel, tuple[int, int]] = field(default_factory=dict)

    def issue(self, channel: Channel, cycles: _Cycles) -> None:
        issue, data, wait = cycles
        self.now += issue
        end, before = self.busy.get(channel, (0, 0))
        done = max(end, self.now) + data
        self.busy[channel] = done, (wait if done > end else max(wait, before))

    def finished(self) -> int:
        end = max((done for done, _ in self.busy.values()), default=0)
        if end <= self.now:
            return self.now
        return end + max(wait for done, wait in self.busy.values() if done == end)


#: A copy of one step: its move, its channel, whether it loads into the unit's memory, its cycles.
_Copy = tuple[int, Channel, bool, _Cycles]


def _copies(issued: Sequence[Issued], steps: NDArray[np.int64]) -> list[list[_Copy]]:
    """The copies that are present at each of these steps."""
    found: list[list[_Copy]] = [[] for _ in steps]
    for copy in issued:
        cycles = (values[steps].tolist() for values in (copy.issue, copy.data, copy.wait))
        for here, present, *each in zip(found, copy.present[steps].tolist(), *cycles, strict=True):
            if present:
                here.append((copy.move, copy.channel, copy.channel[2] == "in", (each[0], each[1], each[2])))
    return found


class StagedRun:
    """One layer with streamed operands."""

    def __init__(self, steps: Steps, staging: Sequence[Staging]) -> None:
        self.steps = steps
        self.staging = staging
        self.turn = [0] * len(staging)
        self.store = _Store()

    def length(self, limit: int | None = None) -> int:
        """Cycles of the layer, from the first staging copy to the end of the last store; if they exceed ``limit``,
        perhaps fewer, but still more than the limit."""
        steps = self.steps
        if steps.overlap == "none":
            return self._blocking()
        ends = np.concatenate(([0], np.cumsum(lengths(steps)))).tolist()
        issuing = np.asarray(sorted({s - 1 for staged in self.staging for s in staged.steps if s > 0}), np.int64)
        now, done = self._first_loads(), 0
        if limit is not None and now + ends[-1] > limit:
            return int(now + ends[-1])
        before, after = (_copies(tuple(copies(steps)), issuing) for copies in (before_end, after_end))
        calls = zip(steps.kernel[issuing].tolist(), steps.launch[issuing].tolist(), strict=True)
        for number, (kernel, launch), early, late in zip(issuing.tolist(), calls, before, after, strict=True):
            if limit is not None and now + ends[-1] - ends[done] > limit:
                break
            clock = _Clock(now + ends[number] - ends[done])
            self._step(clock, kernel, launch, early, late, number + 1)
            now, done = clock.finished(), number + 1
        return int(now + ends[-1] - ends[done])

    def _blocking(self) -> int:
        total = int(lengths(self.steps).sum())
        for move in self.steps.moves:
            if not move.output:
                total += int(move.issue[0] + move.data[0] + move.wait[0])
        return total + sum(sum(cycles) for staged in self.staging for cycles in staged.copies)

    def _first_loads(self) -> int:
        now = 0
        for staged in self.staging:
            now = self.store.issue(now, staged.copies[0])
        clock = _Clock(now)
        moves = [(n, move) for n, move in enumerate(self.steps.moves) if not move.output]
        loads = [Issued(n, m.channel, m.present, m.issue, m.data, m.wait) for n, m in moves]
        self._loads(clock, _copies(loads, np.zeros(1, np.int64))[0], 0)
        return clock.finished()

    def _step(
        self, clock: _Clock, kernel: int, launch: int, early: Sequence[_Copy], late: Sequence[_Copy], loaded: int
    ) -> None:
        """Replay a step that issues loads of freshly staged pieces for step ``loaded``."""
        start = clock.now
        if self.steps.overlap == "data":
            self._loads(clock, early, loaded)
            clock.now += launch + kernel
        else:
            clock.now += launch
            self._loads(clock, early, loaded)
            clock.now = max(clock.now, start + launch + kernel)
        self._loads(clock, late, loaded)

    def _loads(self, clock: _Clock, copies: Sequence[_Copy], loaded: int) -> None:
        """Issue the copies of a step; loads are for step ``loaded``."""
        fresh = {
            staged.move: n
            for n, staged in enumerate(self.staging)
            if self.turn[n] < len(staged.steps) and staged.steps[self.turn[n]] == loaded
        }
        staged = [fresh[move] for move, *_ in copies if move in fresh]
        loads = [place for place, (_, _, load, _) in enumerate(copies) if load] if staged else []
        for place, (_, channel, _, cycles) in enumerate(copies):
            if staged and place == loads[0]:
                clock.now = self.store.waited(clock.now)
            clock.issue(channel, cycles)
            if staged and place == loads[-1]:
                for number in staged:
                    self._stage_next(clock, number)

    def _stage_next(self, clock: _Clock, number: int) -> None:
        self.turn[number] += 1
        staged = self.staging[number]
        if self.turn[number] < len(staged.copies):
            clock.now = self.store.issue(clock.now, staged.copies[self.turn[number]])
