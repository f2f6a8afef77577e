"""Placing blocks one after another in the gaps between those placed before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes that live during the steps [first, last], both included. ``over``: (number of a block, lead) of blocks
    whose last step is ``first`` and whose bytes may be overwritten if this one begins at least ``lead`` bytes before
    them."""

    size_bytes: int
    first: int
    last: int
    over: tuple[tuple[int, int], ...] = ()


def aligned(size_bytes: int, alignment_bytes: int) -> int:
    """The size rounded up to the alignment."""
    return -(-size_bytes // alignment_bytes) * alignment_bytes


def live_bytes(blocks: Sequence[Block], alignment_bytes: int = 1) -> dict[int, int]:
    """Bytes that live at each step where a block begins (the sum grows at no other step), sizes rounded up to the
    alignment; bytes that two blocks can share count once. The largest value is a lower bound of every allocation."""
    sizes = [aligned(block.size_bytes, alignment_bytes) for block in blocks]
    change = Counter[int]()
    for block, size in zip(blocks, sizes, strict=True):
        change[block.first] += size
        change[block.last + 1] -= size
    total = dict(zip(steps := sorted(change), accumulate(change[step] for step in steps), strict=True))
    live = {block.first: total[block.first] for block in blocks}
    for block, size in zip(blocks, sizes, strict=True):
        live[block.first] -= shared_bytes(size, [(sizes[number], lead) for number, lead in block.over])
    return live


def shared_bytes(size_bytes: int, under: Sequence[tuple[int, int]]) -> int:
    """The most bytes that a block can share with blocks of these (size, lead), which share none with each other."""
    return min(size_bytes - min((lead for _, lead in under), default=0), sum(size for size, _ in under))


def least_span(blocks: Sequence[Block], alignment_bytes: int) -> int:
    """A lower bound of every allocation: the bytes that live together; and for blocks each of which overwrites the one
    before, their leads and the first one, unless two of them are apart."""
    sizes = [aligned(block.size_bytes, alignment_bytes) for block in blocks]
    bound = max(live_bytes(blocks, alignment_bytes).values(), default=0)
    for block, size in zip(blocks, sizes, strict=True):
        leads, apart = 0, sum(sizes)
        while block.over:
            number, lead = max(block.over, key=lambda pair: sizes[pair[0]])
            leads, apart = leads + lead, min(apart, size + sizes[number])
            block, size = blocks[number], sizes[number]
            bound = max(bound, min(leads + size, apart))
    return bound


def _together(blocks: Sequence[Block]) -> list[list[int]]:
    """For each block, those that live at some step of its life."""
    found: list[list[int]] = [[] for _ in blocks]
    alive: list[int] = []
    for number in sorted(range(len(blocks)), key=lambda number: blocks[number].first):
        alive = [other for other in alive if blocks[other].last >= blocks[number].first]
        for other in alive:
            found[other].append(number)
        found[number] += alive
        alive.append(number)
    return found


class Packing:
    """Blocks with their aligned sizes and the blocks that live together with each."""

    def __init__(self, blocks: Sequence[Block], alignment_bytes: int) -> None:
        self.blocks = tuple(blocks)
        self.sizes = tuple(aligned(block.size_bytes, alignment_bytes) for block in blocks)
        self.rivals = tuple(tuple(sorted(n for n in each if self.sizes[n])) for each in _together(blocks))
        lead = {(n, i): lead for i, block in enumerate(blocks) for n, lead in block.over}
        #: For each block, (rival, need, reach): it begins ``need`` bytes before the rival, or ``reach`` bytes after.
        self.limits = tuple(
            tuple((j, lead.get((j, i), self.sizes[i]), lead.get((i, j), self.sizes[j])) for j in rivals)
            for i, rivals in enumerate(self.rivals)
        )

    def span(self, offsets: Sequence[int]) -> int:
        """The bytes from 0 to the end of the highest block."""
        return max((offset + size for offset, size in zip(offsets, self.sizes, strict=True)), default=0)

    def place(
        self, order: Sequence[int], *, best_fit: bool = False, end: float = inf, known: Mapping[int, int] | None = None
    ) -> tuple[int, ...]:
        """Offsets by first fit (the lowest gap) or best fit (the smallest gap, else on top), in this order. ``known``:
        those of the first blocks in it. Ends at a block that reaches beyond ``end``; those behind it get -1."""
        offsets = [(known or {}).get(block, -1) for block in range(len(self.blocks))]
        for block in order[len(known or {}) :]:
            offsets[block] = self._gap(block, offsets, best_fit)
            if offsets[block] + self.sizes[block] > end:
                break
        return tuple(offsets)

    def _gap(self, block: int, offsets: Sequence[int], best_fit: bool) -> int:
        size, end = self.sizes[block], 0
        if size == 0:
            return 0
        best: tuple[int, int] | None = None
        known = [(at - need, at + reach) for n, need, reach in self.limits[block] if (at := offsets[n]) >= 0]
        for last, stop in sorted(known):
            if last >= end:
                if not best_fit:
                    return end
                best = (last - end, end) if best is None else min(best, (last - end, end))
            end = max(end, stop)
        return end if best is None else best[1]
