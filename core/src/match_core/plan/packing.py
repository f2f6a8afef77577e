"""Placing blocks one after another in the gaps between those placed before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes that live during the steps [first, last], both included."""

    size_bytes: int
    first: int
    last: int

    def meets(self, other: Block) -> bool:
        """Whether both live at some step."""
        return self.first <= other.last and other.first <= self.last


def aligned(size_bytes: int, alignment_bytes: int) -> int:
    """The size rounded up to the alignment."""
    return -(-size_bytes // alignment_bytes) * alignment_bytes


def live_bytes(blocks: Sequence[Block], alignment_bytes: int = 1) -> dict[int, int]:
    """Bytes that live at each step where a block begins (the sum grows at no other step), sizes rounded up to the
    alignment. The largest value is a lower bound of every allocation."""
    return {
        step: sum(aligned(b.size_bytes, alignment_bytes) for b in blocks if b.first <= step <= b.last)
        for step in sorted({block.first for block in blocks})
    }


class Packing:
    """Blocks with their aligned sizes and the blocks that live together with each."""

    def __init__(self, blocks: Sequence[Block], alignment_bytes: int) -> None:
        self.blocks = tuple(blocks)
        self.sizes = tuple(aligned(block.size_bytes, alignment_bytes) for block in blocks)
        self.rivals = tuple(
            tuple(j for j, other in enumerate(blocks) if j != i and block.meets(other) and self.sizes[j])
            for i, block in enumerate(blocks)
        )

    def span(self, offsets: Sequence[int]) -> int:
        """The bytes from 0 to the end of the highest block."""
        return max((offset + size for offset, size in zip(offsets, self.sizes, strict=True)), default=0)

    def place(self, order: Sequence[int], *, best_fit: bool = False) -> tuple[int, ...]:
        """Offsets by first fit (the lowest gap) or best fit (the smallest gap, else on top), in this order."""
        offsets = [-1] * len(self.blocks)
        for block in order:
            offsets[block] = self._gap(block, offsets, best_fit)
        return tuple(offsets)

    def _gap(self, block: int, offsets: Sequence[int], best_fit: bool) -> int:
        size, end = self.sizes[block], 0
        if size == 0:
            return 0
        best: tuple[int, int] | None = None
        taken = sorted((offsets[r], offsets[r] + self.sizes[r]) for r in self.rivals[block] if offsets[r] >= 0)
        for start, stop in taken:
            gap = start - end
            if gap >= size:
                if not best_fit:
                    return end
                best = (gap, end) if best is None else min(best, (gap, end))
            end = max(end, stop)
        return end if best is None else best[1]
