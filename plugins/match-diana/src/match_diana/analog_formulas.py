"""Cycles of the analog array (sheet 3.2). The twin charges the same figures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Timing = Mapping[str, int]
Cycles = NDArray[np.int64]


def fetch_cycles(timing: Timing, size_bytes: Cycles | int) -> Cycles:
    """The array fetches constants from L2 in one piece."""
    cycles: Cycles = timing["dma_chunk_cycles"] - (-np.asarray(size_bytes) // timing["dma_bytes_per_cycle"])
    return cycles


def job_cycles(timing: Timing, *, channels: Cycles | int, taps: int, pixel_groups: Cycles, cells_bytes: int) -> Cycles:
    """One instruction: cells are fetched and written row by row, then one activation of the array for every group of
    unrolled pixels."""
    activations = -(-timing["analog_activation_tenth_cycles"] * pixel_groups // 10)
    rows = timing["analog_row_load_cycles"] * np.asarray(channels) * taps
    cycles: Cycles = fetch_cycles(timing, cells_bytes) + rows + activations
    return cycles
