"""Lengths of steps: the copies that a step issues before and after its kernel ends, and the end of the last of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_core.contract.cost import Overlap

    Array = NDArray[np.int64]
    Flags = NDArray[np.bool_]

#: One direction of one link: (far memory, near memory, direction).
Channel = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Move:
    """All copies between an operand's buffer in a unit's memory and the next outer memory; element n is loaded for step
    n or stored after it. Cycles are 0 if ``present`` is False."""

    channel: Channel
    output: bool
    buffers: int
    present: Flags
    issue: Array
    data: Array
    wait: Array


@dataclass(frozen=True, slots=True)
class Steps:
    """Kernels and launches step by step, and the moves in the order in which a step issues them."""

    kernel: Array
    launch: Array
    moves: tuple[Move, ...]
    overlap: Overlap


@dataclass(frozen=True, slots=True)
class Issued:
    """One copy of every step, or none if it is not ``present``; ``move`` is its position among the moves."""

    move: int
    channel: Channel
    present: Flags
    issue: Array
    data: Array
    wait: Array


def before_end(steps: Steps) -> Iterator[Issued]:
    """Copies issued while the kernel runs: for double buffers, the next loads, then the store of the previous step."""
    for number, move in enumerate(steps.moves):
        if not move.output and move.buffers == 2:
            yield _shifted(number, move, 1)
    for number, move in enumerate(steps.moves):
        if move.output and move.buffers == 2:
            yield _shifted(number, move, -1)


def after_end(steps: Steps) -> Iterator[Issued]:
    """Copies issued when the kernel is done: the store of single buffers (in the last step, also of double buffers),
    then the next loads of single buffers."""
    last = steps.kernel.size - 1
    for number, move in enumerate(steps.moves):
        if move.output and move.buffers == 1:
            yield _issued(number, move, move.present)
        elif move.output:
            only_last = np.zeros_like(move.present)
            only_last[last] = move.present[last]
            yield _issued(number, move, only_last)
    for number, move in enumerate(steps.moves):
        if not move.output and move.buffers == 1:
            yield _shifted(number, move, 1)


def _issued(number: int, move: Move, present: Flags) -> Issued:
    return Issued(number, move.channel, present, move.issue * present, move.data * present, move.wait * present)


def _shifted(number: int, move: Move, ahead: int) -> Issued:
    """The copies of the step that is ``ahead`` of the issuing one (-1: the previous step)."""

    def shift(values: NDArray[np.generic]) -> NDArray[np.generic]:
        result = np.zeros_like(values)
        if ahead > 0:
            result[:-1] = values[1:]
        else:
            result[1:] = values[:-1]
        return result

    present = np.asarray(shift(move.present), dtype=np.bool_)
    cycles = (np.asarray(shift(values), dtype=np.int64) for values in (move.issue, move.data, move.wait))
    return Issued(number, move.channel, present, *cycles)


class Queue:
    """The core that issues copies, and the channels, for all steps at once. ``now`` is the core's time."""

    def __init__(self, now: Array) -> None:
        self.now = now
        self.busy: dict[Channel, tuple[Array, Array]] = {}  # end of the last copy, its wait

    def issue(self, copies: Iterable[Issued]) -> None:
        """Issue copies one after another."""
        zero = np.zeros_like(self.now)
        for copy in copies:
            self.now = self.now + copy.issue
            end, wait = self.busy.get(copy.channel, (zero, zero))
            done = np.maximum(end, self.now) + copy.data
            later = np.where(done > end, copy.wait, np.maximum(copy.wait, wait))
            self.busy[copy.channel] = np.where(copy.present, done, end), np.where(copy.present, later, wait)

    def issue_blocking(self, copies: Iterable[Issued]) -> None:
        """Issue copies, each waited for before the next."""
        for copy in copies:
            self.now = self.now + copy.issue + copy.data + copy.wait

    def ended(self) -> Array:
        """When the last copy ends."""
        latest = np.zeros_like(self.now)
        for done, _ in self.busy.values():
            latest = np.maximum(latest, done)
        return latest

    def finished(self) -> Array:
        """When the core resumes after the wait for all copies: at once if none is left, else at the end of the last
        copy plus the largest wait of the copies that end then."""
        end, wait = np.zeros_like(self.now), np.zeros_like(self.now)
        for done, woken in self.busy.values():
            wait = np.where(done > end, woken, np.where(done == end, np.maximum(wait, woken), wait))
            end = np.maximum(end, done)
        return np.where(end > self.now, end + wait, self.now)


def lengths(steps: Steps) -> Array:
    """The length of every step, from its launch to the launch of the next."""
    if steps.overlap == "none":
        queue = Queue(steps.launch + steps.kernel)
        queue.issue_blocking(before_end(steps))
        queue.issue_blocking(after_end(steps))
        return queue.now
    queue = Queue(np.zeros_like(steps.kernel))
    if steps.overlap == "data":
        queue.issue(before_end(steps))
        queue.now = queue.now + steps.launch + steps.kernel
    else:
        queue.now = queue.now + steps.launch
        queue.issue(before_end(steps))
        queue.now = np.maximum(queue.now, steps.launch + steps.kernel)
    queue.issue(after_end(steps))
    return queue.finished()


def length_of_first_loads(steps: Steps) -> int:
    """Cycles of the loads for step 0 and of the wait for them."""
    queue = Queue(np.zeros(1, dtype=np.int64))
    loads = [
        Issued(n, move.channel, move.present[:1], move.issue[:1], move.data[:1], move.wait[:1])
        for n, move in enumerate(steps.moves)
        if not move.output
    ]
    if steps.overlap == "none":
        queue.issue_blocking(loads)
        return int(queue.now[0])
    queue.issue(loads)
    return int(queue.finished()[0])
