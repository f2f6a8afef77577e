"""The problem of a concurrent plan as plain data: jobs on queues, items of memory, and the bytes that jobs touch."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from match_core.contract.hardware import Link, Signalling

    from match_concurrent.boxes import TensorBox


@dataclass(frozen=True, slots=True)
class Box:
    """Bytes of an item: rows of ``row_bytes`` that begin at ``first`` and, for each level (outermost first), ``count``
    times ``stride`` bytes apart."""

    first: int
    row_bytes: int
    levels: tuple[tuple[int, int], ...] = ()

    @property
    def end(self) -> int:
        """The position after the last byte."""
        return self.first + sum((count - 1) * stride for count, stride in self.levels) + self.row_bytes


def box_of(region: TensorBox) -> Box:
    """A region as rows of bytes. Complete axes are merged with the axis before them."""
    sizes, first, end = region.sizes, region.first, region.end
    whole = len(sizes)
    while whole > 1 and (first[whole - 1], end[whole - 1]) == (0, sizes[whole - 1]):
        whole -= 1
    if region.element_bits % 8:
        if whole == 1:
            low, high = region.hull
            return Box(low, high - low)
        raise ValueError(f"rows of {region.element_bits}-bit elements do not begin at whole bytes")
    strides = [prod(sizes[axis + 1 :]) * region.element_bits // 8 for axis in range(whole)]
    levels = tuple((end[axis] - first[axis], strides[axis]) for axis in range(whole - 1))
    row = (end[whole - 1] - first[whole - 1]) * strides[whole - 1]
    begin = sum(first[axis] * strides[axis] for axis in range(whole))
    return Box(begin, row, tuple(level for level in levels if level[0] > 1))


@dataclass(frozen=True, slots=True)
class Item:
    """Bytes of tensors that share them, or the scratch of one job. "input" and "output" belong to the caller; all
    ``overflow`` items lie in the Soc's overflow memory at the same time; other items require a place in the arena of
    the home memory."""

    tensors: tuple[str, ...]
    size_bytes: int
    kind: Literal["activation", "input", "output", "scratch"]
    overflow: bool = False

    @property
    def owned(self) -> bool:
        """Whether the arena holds it."""
        return self.kind in ("activation", "scratch") and not self.overflow


@dataclass(frozen=True, slots=True)
class Access:
    """A job reads or writes some bytes of an item."""

    item: int
    box: Box
    writes: bool


@dataclass(frozen=True, slots=True)
class Job:
    """A task of a queue (by number). ``after``: the jobs that write bytes that it reads, ascending. ``units``: numbers
    of the units that it keeps busy, of those that jobs of several queues do."""

    queue: int
    cycles: int
    accesses: tuple[Access, ...]
    after: tuple[int, ...]
    units: tuple[int, ...] = ()

    @property
    def items(self) -> tuple[int, ...]:
        """The items that the job touches, each once."""
        return tuple(dict.fromkeys(access.item for access in self.accesses))


@dataclass(frozen=True, slots=True)
class Lane:
    """A queue of the problem."""

    name: str
    kind: Literal["host", "unit", "link"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Jobs in a valid sequential order; the last of ``lanes`` is the link to the store if the Soc has one
    (``link``). ``capacity_bytes``: of the arena in the home memory. ``hints``: the mapper's start
    times, one for each job."""

    lanes: tuple[Lane, ...]
    jobs: tuple[Job, ...]
    items: tuple[Item, ...]
    signalling: Signalling
    capacity_bytes: int
    alignment_bytes: int
    hints: tuple[int, ...]
    link: Link | None = None
    store_bytes: int = 0
    store_alignment_bytes: int = 1

    @property
    def swap_lane(self) -> int:
        """The number of the link's lane."""
        if self.link is None:
            raise ValueError("this Soc has no store to swap to")
        return len(self.lanes) - 1

    def size_of(self, item: int) -> int:
        """Bytes that the item takes in the arena, rounded up to the alignment."""
        return -(-self.items[item].size_bytes // self.alignment_bytes) * self.alignment_bytes

    def swap_cycles(self, item: int) -> int:
        """Modelled cycles to copy the item between the home memory and the store."""
        assert self.link is not None
        return self.link.copy_cycles(self.items[item].size_bytes)

    def users(self) -> tuple[tuple[int, ...], ...]:
        """For each item the jobs that touch it, ascending."""
        found: list[list[int]] = [[] for _ in self.items]
        for number, job in enumerate(self.jobs):
            for item in job.items:
                found[item].append(number)
        return tuple(tuple(jobs) for jobs in found)

    def writers(self) -> tuple[tuple[int, ...], ...]:
        """For each item the jobs that write it, ascending."""
        found: list[dict[int, None]] = [{} for _ in self.items]
        for number, job in enumerate(self.jobs):
            for access in job.accesses:
                if access.writes:
                    found[access.item][number] = None
        return tuple(tuple(jobs) for jobs in found)
