"""Replay of layers that stream constants through the home memory: copies into staging buffers run across steps.

If loads that are issued together include freshly staged pieces, one wait for all staging copies in flight precedes
them, and the staging copies of the next pieces follow them. All other steps have their usual length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

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


def _cycles(copy: Issued, element: int) -> _Cycles:
    return int(copy.issue[element]), int(copy.data[element]), int(copy.wait[element])


class StagedRun:
    """One layer with streamed operands."""

    def __init__(self, steps: Steps, staging: Sequence[Staging]) -> None:
        self.steps = steps
        self.staging = staging
        self.before = tuple(before_end(steps))
        self.after = tuple(after_end(steps))
        self.turn = [0] * len(staging)
        self.store = _Store()

    def length(self) -> int:
        """Cycles of the layer, from the first staging copy to the end of the last store."""
        if self.steps.overlap == "none":
            return self._blocking()
        now = self._first_loads()
        alone = lengths(self.steps)
        issuing = sorted({step - 1 for staged in self.staging for step in staged.steps if step > 0})
        done = 0
        for number in issuing:
            now += int(alone[done:number].sum())
            now = self._step(number, now)
            done = number + 1
        return now + int(alone[done:].sum())

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
        loads = [
            Issued(n, move.channel, move.present, move.issue, move.data, move.wait)
            for n, move in enumerate(self.steps.moves)
            if not move.output
        ]
        self._loads(clock, loads, 0, 0)
        return clock.finished()

    def _step(self, number: int, start: int) -> int:
        """Replay step ``number``, which issues loads of freshly staged pieces for the next one."""
        kernel, launch = int(self.steps.kernel[number]), int(self.steps.launch[number])
        clock = _Clock(start)
        if self.steps.overlap == "data":
            self._loads(clock, self.before, number, number + 1)
            clock.now += launch + kernel
        else:
            clock.now += launch
            self._loads(clock, self.before, number, number + 1)
            clock.now = max(clock.now, start + launch + kernel)
        self._loads(clock, self.after, number, number + 1)
        return clock.finished()

    def _loads(self, clock: _Clock, copies: Sequence[Issued], element: int, loaded: int) -> None:
        """Issue the copies that are ``element`` of the arrays; loads are for step ``loaded``."""
        fresh = {
            staged.move: n
            for n, staged in enumerate(self.staging)
            if self.turn[n] < len(staged.steps) and staged.steps[self.turn[n]] == loaded
        }
        here = [copy for copy in copies if copy.present[element]]
        staged = [fresh[copy.move] for copy in here if copy.move in fresh]
        loads = [place for place, copy in enumerate(here) if copy.channel[2] == "in"]
        for place, copy in enumerate(here):
            if staged and place == loads[0]:
                clock.now = self.store.waited(clock.now)
            clock.issue(copy.channel, _cycles(copy, element))
            if staged and place == loads[-1]:
                for number in staged:
                    self._stage_next(clock, number)

    def _stage_next(self, clock: _Clock, number: int) -> None:
        self.turn[number] += 1
        staged = self.staging[number]
        if self.turn[number] < len(staged.copies):
            clock.now = self.store.issue(clock.now, staged.copies[self.turn[number]])
