"""The order of tasks that keeps the fewest bytes alive: exact for small graphs, a beam for large ones.

The storages that are alive after some tasks depend on the set of these tasks and not on their order, so of all ways to
the same set only the one with the smallest peak so far is extended. Sets are visited by their number of tasks. The
answer is exact unless there are more sets of one size than the beam holds. Then the most promising ones are extended,
ranked by a lower bound on their peak: a storage that is alive now and that a later task reads is alive during all tasks
before that one.

One step is always optimal: a task that can run now, requires no more than the peak so far or than every order requires,
and leaves no more bytes alive than before. Run later, it would free no more, and all tasks before it would have less
room. Such a task is the only extension of its set, so chains, and most of a branch, need no search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from match_core.map.dataflow import Flow, Storage
from match_core.plan.order import dependencies
from match_core.plan.overlap import Over, saved_bytes
from match_core.plan.packing import aligned

#: Sets of tasks that are visited in total, in equal parts for every size, but no fewer than SETS_MIN of one size.
EFFORT = 10_000
SETS_MIN = 64


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to a set of tasks (a bit each): its peak of bytes; the tasks that could be next and the storages that are
    alive; the last task, and the way before it."""

    done: int
    peak_bytes: int
    ready: tuple[int, ...]
    alive: tuple[int, ...] = ()
    alive_bytes: int = 0
    task: int = -1
    before: _Way | None = None

    def order(self) -> tuple[int, ...]:
        """All tasks of the way, in order."""
        found, way = [], self
        while way.before is not None:
            found.append(way.task)
            way = way.before
        return tuple(reversed(found))


def least_memory_order(
    flows: Sequence[Flow],
    storages: Sequence[Storage],
    scratch_bytes: Mapping[int, int],
    alignment_bytes: int,
    limit_bytes: int,
    over: Over = (),
) -> tuple[int, ...] | None:
    """A topological order in which fewer than ``limit_bytes`` are alive at any time, the one with the smallest peak
    that was found; None if there is none, or none was found. Sizes are rounded up to the alignment; the caller's
    buffers and tensors in the overflow memory do not count. ``scratch_bytes`` by task; ``over``: what tasks may
    overwrite."""
    tasks = _Tasks(flows, storages, scratch_bytes, alignment_bytes, over or ((),) * len(flows))
    if tasks.floor_bytes >= limit_bytes:
        return None
    ways = [tasks.start()]
    share = max(SETS_MIN, EFFORT // max(1, len(flows)))
    for _ in flows:
        following: dict[int, _Way] = {}
        for way in sorted(ways, key=lambda way: (tasks.least_bytes(way), way.alive_bytes, way.done)):
            if len(following) >= share:
                break
            for new in tasks.steps(way):
                known = following.get(new.done)
                if new.peak_bytes < limit_bytes and (known is None or new.peak_bytes < known.peak_bytes):
                    following[new.done] = new
        ways = list(following.values())
    return ways[0].order() if ways else None


class _Tasks:
    """What each task writes, frees and requires. ``floor_bytes``: the largest number of bytes that one task touches,
    which no order can avoid."""

    def __init__(
        self, flows: Sequence[Flow], storages: Sequence[Storage], scratch: Mapping[int, int], align: int, over: Over
    ) -> None:
        self._over = over
        home = {name: number for number, storage in enumerate(storages) for name in storage.tensors}
        free = [storage.source or storage.target or storage.overflow for storage in storages]
        self._sizes = [
            0 if none else aligned(storage.size_bytes, align) for storage, none in zip(storages, free, strict=True)
        ]
        self._touches = [
            sorted(number for number in {home[name] for name in (*flow.reads, *flow.makes)} if self._sizes[number])
            for flow in flows
        ]
        self._users = [0] * len(storages)
        for task, touched in enumerate(self._touches):
            for number in touched:
                self._users[number] |= 1 << task
        makers = dependencies(flows)
        self._makers = [sum(1 << maker for maker in before) for before in makers]
        self._readers: list[list[int]] = [[] for _ in flows]
        for task, before in enumerate(makers):
            for maker in before:
                self._readers[maker].append(task)
        self._scratch = [aligned(scratch.get(task, 0), align) for task in range(len(flows))]
        self._own = [
            sum(self._sizes[number] for number in touched) + extra - saved_bytes(ways, touched, self._sizes)
            for touched, extra, ways in zip(self._touches, self._scratch, over, strict=True)
        ]
        self._largest_first = sorted(range(len(flows)), key=lambda task: -self._own[task])
        self._after = _reached(makers, self._readers)
        self.floor_bytes = max(self._own, default=0)

    def start(self) -> _Way:
        """Before all tasks."""
        return _Way(0, self.floor_bytes, tuple(task for task, makers in enumerate(self._makers) if not makers))

    def steps(self, way: _Way) -> Iterator[_Way]:
        """The ways with one more task; only one if that step is always optimal."""
        found = []
        for task in way.ready:
            new = self._with(way, task)
            if new.peak_bytes == way.peak_bytes and new.alive_bytes <= way.alive_bytes:
                yield new
                return
            found.append(new)
        yield from found

    def _with(self, way: _Way, task: int) -> _Way:
        done = way.done | 1 << task
        made = [number for number in self._touches[task] if not self._users[number] & way.done]
        freed = [number for number in self._touches[task] if not self._users[number] & ~done]
        during = way.alive_bytes + sum(self._sizes[number] for number in made)
        peak = during + self._scratch[task] - saved_bytes(self._over[task], freed, self._sizes)
        return _Way(
            done=done,
            peak_bytes=max(way.peak_bytes, peak),
            ready=self._ready(way, task, done),
            alive=tuple(number for number in (*way.alive, *made) if number not in freed),
            alive_bytes=during - sum(self._sizes[number] for number in freed),
            task=task,
            before=way,
        )

    def _ready(self, way: _Way, task: int, done: int) -> tuple[int, ...]:
        following = (reader for reader in self._readers[task] if not self._makers[reader] & ~done)
        return (*(other for other in way.ready if other != task), *following)

    def least_bytes(self, way: _Way) -> int:
        """A lower bound of the peak of all extensions: during every task to come, the bytes that it touches, and those
        that are alive and are used after it."""
        peak, done = way.peak_bytes, way.done
        for task in self._largest_first:
            if self._own[task] + way.alive_bytes <= peak:
                break
            if not done >> task & 1:
                behind, mine = self._after[task], 1 << task
                waiting = (n for n in way.alive if self._users[n] & behind and not self._users[n] & mine)
                peak = max(peak, self._own[task] + sum(self._sizes[n] for n in waiting))
        return peak


def _reached(makers: Sequence[Sequence[int]], readers: Sequence[Sequence[int]]) -> list[int]:
    """For each task, the tasks that come after it in every order (a bit each)."""
    after, left = [0] * len(makers), [len(behind) for behind in readers]
    ready = [task for task, count in enumerate(left) if count == 0]
    for task in ready:  # grows while it is walked
        for maker in makers[task]:
            after[maker] |= after[task] | 1 << task
            left[maker] -= 1
            if left[maker] == 0:
                ready.append(maker)
    return after
