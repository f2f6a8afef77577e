"""Copies of parts of tensors between the home memory and the store in a sequential program: when they start and end.

A copy out starts with the task after the one that writes the part; a copy in starts some tasks before the one that
reads it. All copies run one after another on one link, in the order in which they start, so a copy in finds what an
earlier copy out wrote. ``reach`` says how many tasks a copy may take: 1 is as many as hide its cycles, 0 is none.
More reach requires more memory, because parts live longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.map.dataflow import Flow, Storage
from match_core.plan.order import Life

if TYPE_CHECKING:
    from match_core.contract.hardware import Link

#: Tried in this order until a program fits.
REACHES = (1.0, 0.5, 0.25, 0.0)


@dataclass(frozen=True, slots=True)
class Transfer:
    """One copy between ``part`` (a tensor in the home memory, from ``part_start`` on) and the bytes of ``whole`` (in
    the store) from ``start_bytes`` on. It starts before the task at position ``first``, which waits for earlier copies
    before, and has ended before the one at ``last``; if that is the same task, it waits for the copy too."""

    part: str
    whole: str
    start_bytes: int
    size_bytes: int
    out: bool
    first: int
    last: int
    part_start: int = 0


def transfers(
    flows: Sequence[Flow], storages: Sequence[Storage], cycles: Sequence[int], link: Link, reach: float
) -> tuple[Transfer, ...]:
    """All copies in the order in which they start. ``cycles`` of the tasks, by position."""
    home = {name: number for number, storage in enumerate(storages) for name in storage.tensors}
    sizes = {name: storages[number].size_bytes for name, number in home.items()}
    touched = _touched(flows, home, len(storages))
    later = following(flows)
    found: list[Transfer] = []
    made: dict[str, int] = {}  # whole tensor -> where its last copy out starts
    for position, flow in enumerate(flows):
        for part in flow.parts if flow.swapped else ():
            out = part.whole in flow.makes
            size = sizes[part.name]
            need = round(link.copy_cycles(size) * reach)
            if out:
                first = later[1 + max(task for task in touched[home[part.name]].writes if task < position)]
                last = later[_until(cycles, first, need)]
                made[part.whole] = max(made.get(part.whole, 0), first)
            else:
                last = min((task for task in touched[home[part.name]].reads if task > position), default=position)
                first = max(made[part.whole], later[_since(cycles, last, need)])
            found.append(Transfer(part.name, part.whole, part.start_bytes, size, out, first, last))
    return tuple(sorted(found, key=lambda transfer: (transfer.first, not transfer.out)))


def following(flows: Sequence[Flow]) -> list[int]:
    """For each position, that of the first task with code from there on: copies start and end at those only."""
    found = [len(flows)] * (len(flows) + 1)
    for position in reversed(range(len(flows))):
        found[position] = found[position + 1] if flows[position].view else position
    return found


@dataclass
class _Touched:
    reads: list[int]
    writes: list[int]


def _touched(flows: Sequence[Flow], home: Mapping[str, int], count: int) -> list[_Touched]:
    """Positions of the tasks with code that read and write each storage."""
    found = [_Touched([], []) for _ in range(count)]
    for position, flow in enumerate(flows):
        if not flow.view:
            for name in flow.reads:
                found[home[name]].reads.append(position)
            for name in flow.makes:
                found[home[name]].writes.append(position)
    return found


def _until(cycles: Sequence[int], first: int, need: int) -> int:
    """The position from ``first`` on before which tasks take the cycles that are needed."""
    last = first
    while need > 0 and last < len(cycles):
        need -= cycles[last]
        last += 1
    return last


def _since(cycles: Sequence[int], last: int, need: int) -> int:
    first = last
    while need > 0 and first > 0:
        first -= 1
        need -= cycles[first]
    return first


def longer(lives: Sequence[Life], storages: Sequence[Storage], found: Sequence[Transfer]) -> tuple[Life, ...]:
    """The lives, extended by copies: a part lives from the start of the copy that fills it, or until the copy that
    saves it has ended; bytes in the store live as long as something is copied there or back."""
    home = {name: number for number, storage in enumerate(storages) for name in storage.tensors}
    changed = list(lives)
    firsts: dict[int, int] = {}
    for transfer in found:
        part, whole = home[transfer.part], home[transfer.whole]
        if transfer.out:
            ended = max(transfer.first, transfer.last - 1)  # others start with it, before the wait
            changed[part] = replace(changed[part], last=max(changed[part].last, ended))
            firsts[whole] = min(firsts.get(whole, transfer.first), transfer.first)
        else:
            changed[part] = replace(changed[part], first=min(changed[part].first, transfer.first))
        changed[whole] = replace(changed[whole], last=max(changed[whole].last, transfer.last))
    for whole, first in firsts.items():
        changed[whole] = replace(changed[whole], first=first)
    return tuple(changed)


@dataclass(frozen=True, slots=True)
class Times:
    """Modelled start of each task by position, start and end of each copy, and the end of the last task."""

    tasks: tuple[int, ...]
    copies: tuple[tuple[int, int], ...]
    end: int


def times_of(found: Sequence[Transfer], cycles: Sequence[int], streamed: Sequence[int], link: Link) -> Times:
    """When everything runs. ``streamed``: bytes that each task itself copies over the link; it begins with them, after
    the copies that were started before."""
    now = free = started = 0
    copies: list[tuple[int, int]] = []  # one after another, so the last of some ends last
    tasks = []
    waits, count = waited_by(found), len(found)
    for position, length in enumerate(cycles):
        need = waits.get(position, 0)
        if need and copies:
            now = max(now, copies[min(need, started) - 1][1])
        while started < count and found[started].first <= position:
            begin = max(now, free)
            free = begin + link.copy_cycles(found[started].size_bytes)
            copies.append((begin, free))
            started += 1
        if need:
            now = max(now, copies[need - 1][1])
        if streamed[position]:
            now = max(now, free)
            free = now + link.copy_cycles(streamed[position])
        tasks.append(now)
        now += length
    return Times(tuple(tasks), tuple(copies), now)


def waited_by(found: Sequence[Transfer]) -> dict[int, int]:
    """By position of a task: how many copies must have ended before it."""
    waits: dict[int, int] = {}
    for number, transfer in enumerate(found):
        waits[transfer.last] = max(waits.get(transfer.last, 0), number + 1)
    return waits
