"""Order of the clocks in the driver's ``clocks`` line."""

from __future__ import annotations

HOST, CONTROL, CLUSTER, NE16, DMA_IN, DMA_OUT, L3 = range(7)


def clocks(line: str) -> list[int]:
    """The line as numbers."""
    return [int(word) for word in line.split()]
