"""Cycles of the analog array (sheet 3.2). The twin charges the same figures."""

from __future__ import annotations

import numpy as np
from match_core.patterns.formulas import Cycles, Timing

from match_diana.analog import limits
from match_diana.digital.formulas import chunk_cycles

_REGISTERS = 11


def job_cycles(timing: Timing, *, channels: int, k: int, taps: int, pixel_groups: Cycles) -> Cycles:
    """One instruction: it is loaded, cells are fetched and written row by row, then one activation of the array for
    every group of unrolled pixels."""
    activations = -(-timing["analog_activation_tenth_cycles"] * pixel_groups // 10)
    rows = timing["analog_row_load_cycles"] * channels * taps
    fixed = timing["job_load_cycles"] + chunk_cycles(timing, np.asarray(limits.cell_bytes(channels, k, taps))) + rows
    cycles: Cycles = fixed + activations
    return cycles


def host_cycles(timing: Timing) -> int:
    """The host's cycles for one instruction: it is encoded, ten registers are written, and one is read that says that
    the array is done (runtime/match_diana_analog_conv.c)."""
    return timing["encode_cycles"] + _REGISTERS * timing["register_cycles"]
