"""The arena of the home memory during a walk over jobs: addresses of items, and the times since bytes are free."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(slots=True)
class Segment:
    """Bytes [low, high): of an item, or free since ``since`` (a modelled time)."""

    low: int
    high: int
    item: int | None
    since: int


@dataclass(frozen=True, slots=True)
class Window:
    """A place of the required size: the items that would have to leave, and the time when it would be free."""

    low: int
    victims: tuple[int, ...]
    since: int
    waste: int


class Arena:
    """Segments in the order of addresses, without gaps. Mutable; each walk has its own."""

    def __init__(self, capacity_bytes: int) -> None:
        self.segments = [Segment(0, capacity_bytes, None, 0)] if capacity_bytes > 0 else []

    def copy(self) -> Arena:
        """A copy of the segments that can change independently."""
        other = Arena(0)
        other.segments = [Segment(s.low, s.high, s.item, s.since) for s in self.segments]
        return other

    def address_of(self, item: int) -> int | None:
        """The item's address; None if it is not in the arena."""
        return next((s.low for s in self.segments if s.item == item), None)

    def items(self) -> tuple[int, ...]:
        """All items in the arena, by address."""
        return tuple(s.item for s in self.segments if s.item is not None)

    def windows(self, size: int) -> Iterator[Window]:
        """Places that begin or end at the border of a segment, occupied or not."""
        lows = {s.low for s in self.segments} | {s.high - size for s in self.segments}
        top = self.segments[-1].high if self.segments else 0
        for low in sorted(lows):
            if low < 0 or low + size > top:
                continue
            met = [s for s in self.segments if s.low < low + size and low < s.high]
            waste = met[-1].high - met[0].low - size
            victims = tuple(s.item for s in met if s.item is not None)
            yield Window(low, victims, max((s.since for s in met), default=0), waste)

    def best(self, size: int, cost: Callable[[Window], tuple[int, ...] | None]) -> Window | None:
        """The window of least cost (None: not possible); ties go to the lowest address."""
        ranked = [(price, w.low, w) for w in self.windows(size) if (price := cost(w)) is not None]
        return min(ranked, key=lambda entry: entry[:2])[2] if ranked else None

    def put(self, item: int, low: int, size: int) -> None:
        """Place an item on free bytes."""
        kept: list[Segment] = []
        for s in self.segments:
            if s.high <= low or low + size <= s.low:
                kept.append(s)
                continue
            if s.item is not None:
                raise ValueError(f"item {item} does not fit at {low}")
            if s.low < low:
                kept.append(Segment(s.low, low, None, s.since))
            if low + size < s.high:
                kept.append(Segment(low + size, s.high, None, s.since))
        kept.append(Segment(low, low + size, item, 0))
        self.segments = sorted(kept, key=lambda s: s.low)

    def free(self, item: int, since: int) -> None:
        """Remove the item; its bytes are free from ``since`` on."""
        for s in self.segments:
            if s.item == item:
                s.item, s.since = None, since
