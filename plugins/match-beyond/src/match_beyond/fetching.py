"""Which constants are fetched ahead: copied from the store to the home memory while earlier tasks run.

Tasks that share their constants (stripes of a layer) are a group. Each group has options: constants resident, streamed
by the tasks through staging areas, or fetched whole into a buffer that lives from the first of its copies to the last
task of the group. A fetch is divided into copies that take the link's free cycles of one task each, as late as
possible, so that buffers live shortly. A task that streams leaves nothing of the link: what is queued before delays it.

The search starts from a choice that fits, and from one with the fewest resident bytes. It exchanges options of one
group after another while the replay of tasks and copies (``times_of``) ends earlier and all bytes fit, then anneals the
better result, with exchanges of up to three groups at once.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from match_beyond.transfers import Transfer, times_of

if TYPE_CHECKING:
    from match_core.contract.hardware import Link
    from match_core.contract.mapping import Assignment

#: How often all groups are visited one after another, and the tasks and copies that are replayed for it: of thousands
#: of tasks, only the exchanges that promise most are tried. An estimate: 5,000 operators on GAP9 take some 30 s of it.
PASSES, VISITED = 4, 1_000_000
#: Effort of annealing: tasks and copies that are replayed (some 0.5 s), within these numbers of replays.
EFFORT, REPLAYS = 400_000, (250, 8_000)
#: Walks of annealing, each from the start, in turns that share its effort. For a turn: how many cycles an exchange may
#: cost first, as a part of all, and the power with which that falls. A hot turn may undo large decisions, such as which
#: of two layers is resident; a cool one alone finds some programs that it does not lead to.
WALKS = (((0.001, 1),), ((0.1, 3), (0.001, 1)))
#: The walks that are hot at first need as many replays, or they find nothing and take as long (an estimate).
HOT_REPLAYS = 4_000
#: The buffer that stands for all constants of the store.
IMAGE = "constants"
#: A copy takes at least so many times the cycles of its start.
SETUPS_MIN = 4


@dataclass(frozen=True)
class Option:
    """One way for a group: the assignments of its tasks with cycles, streamed bytes and bytes of staging, and its bytes
    in the home memory, ``resident`` or ``fetched``."""

    assignments: tuple[Assignment, ...]
    cycles: tuple[int, ...]
    streamed: tuple[int, ...]
    staging: tuple[int, ...]
    resident: int
    fetched: int = 0


@dataclass(frozen=True, slots=True)
class Fetch:
    """The constants of ``tasks`` (a group) in a buffer of ``size_bytes``; ``copies`` in order: (position of the task
    before which it starts, first byte, bytes)."""

    tasks: tuple[int, ...]
    size_bytes: int
    copies: tuple[tuple[int, int, int], ...]

    @property
    def first(self) -> int:
        """The first task that reads them."""
        return self.tasks[0]

    @property
    def last(self) -> int:
        """The last one."""
        return self.tasks[-1]


@dataclass(frozen=True)
class Found:
    """The option of each group, what is fetched, and the end of the last task."""

    chosen: tuple[int, ...]
    fetches: tuple[Fetch, ...]
    cycles: int


@dataclass
class Fetching:
    """``groups``: positions of tasks, every task in one; ``options`` of each; ``live``: bytes that live in the home
    memory while each task runs, without staging and constants of units; ``capacity`` for all; ``following``: for each
    position, that of the first task with code from there on; ``given``: other copies on the ``link``, which keep it
    ``busy`` for so many cycles while each task runs; ``slack``: bytes that stay free while each task runs, for gaps
    between blocks, if the first options leave as many."""

    groups: Sequence[Sequence[int]]
    options: Sequence[Sequence[Option]]
    live: Sequence[int]
    capacity: int
    following: Sequence[int]
    given: Sequence[Transfer]
    link: Link
    busy: Sequence[int]
    slack: Sequence[int]

    def __post_init__(self) -> None:
        free = self._free([options[0] for options in self.options])
        self.slack = [max(0, min(pair)) for pair in zip(self.slack, free, strict=True)]

    def improved(self, start: Sequence[int], before: int) -> Found | None:
        """The best choice that was found, if it fits and ends before ``before``, as ``start`` does."""
        least = [min(range(len(options)), key=lambda n: _least(options[n])) for options in self.options]
        begun = [found for found in (self.replayed(start), self.replayed(least)) if found is not None]
        if not begun:
            return None
        climbed = min((self._climbed(found) for found in begun), key=lambda found: found.cycles)
        walks = WALKS if EFFORT // self._size >= HOT_REPLAYS else WALKS[:1]
        best = min((self._walked(climbed, turns) for turns in walks), key=lambda found: found.cycles)
        return best if best.cycles < before else None

    @property
    def _size(self) -> int:
        """Tasks and copies of a replay."""
        return len(self.live) + len(self.given)

    def _climbed(self, now: Found) -> Found:
        for _ in range(PASSES):
            before = now.cycles
            for group, option in self._exchanges(now.chosen):
                other = (*now.chosen[:group], option, *now.chosen[group + 1 :])
                found = self.replayed(other, now.cycles) if option != now.chosen[group] else None
                now = found if found is not None and found.cycles < now.cycles else now
            if now.cycles == before:
                break
        return now

    def _exchanges(self, chosen: Sequence[int]) -> list[tuple[int, int]]:
        """(group, option) in order; of many, those whose tasks are shortened most."""
        every = [(group, option) for group, options in enumerate(self.options) for option in range(len(options))]
        count = VISITED // PASSES // self._size
        if len(every) <= count:
            return every
        work = [[sum(option.cycles) for option in options] for options in self.options]
        gain = [work[group][chosen[group]] - work[group][option] for group, option in every]
        return [every[place] for place in sorted(range(len(every)), key=lambda place: -gain[place])[:count]]

    def _walked(self, best: Found, turns: Sequence[tuple[float, int]]) -> Found:
        count = max(REPLAYS[0], min(REPLAYS[1], EFFORT // self._size)) // len(turns)
        for most, power in turns:
            best = self._annealed(best, most, power, count)
        return best

    def _annealed(self, now: Found, most: float, power: int, count: int) -> Found:
        """The best of a deterministic walk, climbed."""
        best, dice = now, random.Random(0)
        groups = [group for group, options in enumerate(self.options) if len(options) > 1]
        for step in range(count):
            chosen = list(now.chosen)
            for group in dice.sample(groups, min(len(groups), dice.choice((1, 2, 2, 3)))):
                chosen[group] = dice.randrange(len(self.options[group]))
            heat = best.cycles * most * (1 - step / count) ** power
            limit = now.cycles - int(heat * log(1 - dice.random())) + 1
            found = self.replayed(chosen, limit)
            if found is not None and found.cycles < limit:
                now, best = found, min(best, found, key=lambda one: one.cycles)
        return self._climbed(best)

    def replayed(self, chosen: Sequence[int], limit: int | None = None) -> Found | None:
        """A choice with its fetches; None if it does not fit, or certainly takes ``limit`` cycles or more."""
        picked = [options[index] for options, index in zip(self.options, chosen, strict=True)]
        count = len(self.live)
        cycles, streamed = [0] * count, [0] * count
        for group, option in zip(self.groups, picked, strict=True):
            for place, task in enumerate(group):
                cycles[task], streamed[task] = option.cycles[place], option.streamed[place]
        if limit is not None and sum(cycles) >= limit:
            return None
        free = [own - slack for own, slack in zip(self._free(picked), self.slack, strict=True)]
        if min(free, default=0) < 0:
            return None
        fetches = self._fetches(picked, cycles, streamed, free)
        if fetches is None:
            return None
        transfers = merged(self.given, fetches)
        return Found(tuple(chosen), fetches, times_of(transfers, cycles, streamed, self.link).end)

    def _free(self, picked: Sequence[Option]) -> list[int]:
        """Free bytes while each task runs, without fetches."""
        left = self.capacity - sum(option.resident for option in picked)
        free = [left - live for live in self.live]
        for group, option in zip(self.groups, picked, strict=True):
            for task, own in zip(group, option.staging, strict=True):
                free[task] -= own
        return free

    def _fetches(
        self, picked: Sequence[Option], cycles: Sequence[int], streamed: Sequence[int], free: list[int]
    ) -> tuple[Fetch, ...] | None:
        """The copies of all fetches, the last group first; ``free`` bytes shrink."""
        idle = [0 if own else max(0, n - busy) for n, own, busy in zip(cycles, streamed, self.busy, strict=True)]
        setup = self.link.copy_cycles(0)
        wanted = [(group[0], number) for number, group in enumerate(self.groups) if picked[number].fetched]
        fetches = []
        for deadline, number in sorted(wanted, reverse=True):
            size, last = picked[number].fetched, self.groups[number][-1]
            for task in range(deadline, last + 1):
                free[task] -= size
                if free[task] < 0:
                    return None
            left, at, parts = size, deadline, []
            while left > 0 and at > 0 and free[at - 1] >= size:
                at -= 1
                free[at] -= size
                have = int((idle[at] - setup) * self.link.bytes_per_cycle)
                if have < min(left, SETUPS_MIN * setup):
                    continue
                part = min(left, have)
                idle[at] -= self.link.copy_cycles(part)
                parts.append((at, part))
                left -= part
            if left > 0:  # nothing hides the rest
                left += parts.pop()[1] if parts and parts[-1][0] == at else 0
                parts.append((at, left))
            copies, begin = [], 0
            for place, part in reversed(parts):
                copies.append((self.following[place], begin, part))
                begin += part
            for task in range(at, copies[0][0]):
                free[task] += size
            fetches.append(Fetch(tuple(self.groups[number]), size, tuple(copies)))
        return tuple(reversed(fetches))


def merged(given: Sequence[Transfer], fetches: Sequence[Fetch], starts: Sequence[int] = ()) -> tuple[Transfer, ...]:
    """All copies in the order of their start; those for earlier tasks first. ``starts``: of the constants of each fetch
    in the store's image."""
    found = list(given)
    for number, fetch in enumerate(fetches):
        start = starts[number] if starts else 0
        for first, begin, size in fetch.copies:
            found.append(
                Transfer(buffer_name(number), IMAGE, start + begin, size, False, first, fetch.first, part_start=begin)
            )
    return tuple(sorted(found, key=lambda transfer: (transfer.first, not transfer.out, transfer.last)))


def buffer_name(number: int) -> str:
    """The buffer of a fetch in the home memory."""
    return f"constant_{number}"


def _least(option: Option) -> tuple[int, int, int]:
    """A key: fewest resident bytes, then no fetch, then fewest cycles."""
    return option.resident, option.fetched, sum(option.cycles)
