"""Pointers to the taps of a window, so that instructions reach each tap from one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_cortexm.kernels.border import Border

#: Steps of a position that are written one after another, without a loop over blocks of channels (an estimate).
_MOST_STEPS = 40


@dataclass(frozen=True, slots=True)
class Reach:
    """Elements from an address up to which a load reaches or goes on, and pointers that have registers: with none, one
    pointer goes from tap to tap."""

    elements: int
    most: int


@dataclass(frozen=True, slots=True)
class Pointers:
    """``starts``: places of the pointers relative to the first tap; ``loop``: whole blocks of channels in a loop, 0 if
    all are written one after another; ``walks``: one pointer goes from tap to tap; ``taps``: places of these;
    ``far``: those that a load cannot go on to."""

    starts: tuple[int, ...]
    loop: int
    walks: bool
    taps: tuple[int, ...]
    far: int

    def steps(self, channel: int = 0, gone: int = 0) -> list[tuple[int, str]]:
        """Of the taps of a block from a channel: how far the one before is, and C text of the address, as pointers
        have ``gone`` so far."""
        before = (self.taps[0], *self.taps)
        return [(tap - last, self._at(tap + channel, gone)) for tap, last in zip(self.taps, before, strict=False)]

    def counts(self, border: Border, blocks: int, parts: bool) -> dict[str, int]:
        """What a kernel does of so many blocks: ``steps`` from tap to tap, ``moved`` pointers, ``far`` ones between
        taps, ``turns`` of a loop over blocks, ``parts`` of vectors; windows that leave the image apart."""
        inside, taps = border.tiles - border.outside, len(self.taps)
        turns = inside * self.loop
        return {
            "steps": inside * blocks * (taps - 1),
            "blocks": inside * blocks,
            "tiles": inside,
            "moved": (inside + turns) * len(self.starts),
            "turns": turns,
            "far": inside * blocks * self.far,
            "parts": inside * parts,
            "part_steps": inside * parts * (taps - 1),
            "outside": border.outside,
            "outside_blocks": border.outside * blocks,
            "outside_parts": border.outside * parts * taps,
            "outside_taps": border.outside * taps,
            "outside_steps": border.outside * blocks * taps,
        }

    def _at(self, place: int, gone: int) -> str:
        number = max(n for n, start in enumerate(self.starts) if start <= place - gone or n == 0)
        distance = place - gone - self.starts[number]
        return f"a{number} {'-' if distance < 0 else '+'} {abs(distance)}" if distance else f"a{number}"


def pointers_of(taps: Sequence[int], channels: int, block: int, reach: Reach) -> Pointers:
    """The pointers for windows whose taps are so many elements behind the first one."""
    blocks = range(0, channels, block)
    loop = 0 if len(blocks) * len(taps) <= _MOST_STEPS else channels // block
    starts = _starts([tap + at for tap in taps for at in ((0,) if loop else blocks)], reach.elements)
    walks = len(starts) > reach.most
    far = sum(tap - last > reach.elements for last, tap in pairwise(taps)) if walks else 0
    return Pointers((0,) if walks else starts, loop, walks, tuple(taps), far)


def _starts(places: Sequence[int], reach: int) -> tuple[int, ...]:
    """The fewest of the places from which the loads reach all of them."""
    found: list[int] = []
    for place in sorted(places):
        if not found or place - found[-1] > reach:
            found.append(place)
    return tuple(found)
