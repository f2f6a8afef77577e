"""Costs of the parts of an operator along one dimension, by their size."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

#: Cycles, and energy in pJ (0 if the unit publishes none).
Price = tuple[int, float]


@dataclass
class CostTable:
    """Known costs by size, and interpolation between them.

    A cost grows about linearly with the size, in small steps if cores or lanes are not all busy. Outside the known
    sizes the line through the two nearest is extrapolated, but not below the proportional cost of the nearest."""

    known: dict[int, Price]
    _sizes: list[int] = field(default_factory=list)

    def keep(self, size: int, price: Price) -> None:
        """Record the cost of a size."""
        self.known[size] = price
        self._sizes.clear()

    def at(self, size: int) -> Price:
        """The cost of a size."""
        known = self.known.get(size)
        if known is not None:
            return known
        sizes = self.sizes
        place = bisect_left(sizes, size)
        if 0 < place < len(sizes):
            cycles, energy = self._on_line(sizes[place - 1], sizes[place], size)
            return round(cycles), energy
        near = sizes[0] if place == 0 else sizes[-1]
        proportional = tuple(value * size / near for value in self.known[near])
        if len(sizes) == 1:
            return round(proportional[0]), proportional[1]
        low, high = sizes[:2] if place == 0 else sizes[-2:]
        cycles, energy = self._on_line(low, high, size)
        return round(max(cycles, proportional[0])), max(energy, proportional[1])

    @property
    def sizes(self) -> list[int]:
        """The known sizes, in order."""
        if not self._sizes:
            self._sizes = sorted(self.known)
        return self._sizes

    def nearest(self, size: int) -> int:
        """The known size that is nearest to this one, the larger one of two."""
        return min(self.sizes, key=lambda other: (abs(other - size), -other))

    def _on_line(self, low: int, high: int, size: int) -> tuple[float, float]:
        first, last, part = self.known[low], self.known[high], (size - low) / (high - low)
        return first[0] + part * (last[0] - first[0]), first[1] + part * (last[1] - first[1])
