"""Cycles of the 8-bit kernels on the eight cores; figures and their sources in ``int8_constants``. The twin computes
the same in C (``twin/src/carfield_cost_int8.c``)."""

from __future__ import annotations

import numpy as np
from match_core.patterns.formulas import Cycles, Tile, Timing, touched, up

_WORD_VALUES = 4
_BLOCK_CHANNELS = 4
_BLOCK_PIXELS = 2


def kernel_cycles(timing: Timing, kind: str, direct: bool, tile: Tile) -> Cycles:
    """Cycles of one call of the kernel ``kind`` on a tile, the hand-over to the cores not included. ``direct``: inputs
    are read where they are. KeyError for another kernel."""
    plain = timing["int8_call_cycles"] + _work(timing, kind, direct, tile)
    cycles: Cycles = up(plain * timing["pulp_scale_percent"], 100)
    return cycles


def _work(timing: Timing, kind: str, direct: bool, tile: Tile) -> Cycles:
    t = tile
    match kind:
        case "int8_conv2d":
            return _blocks(timing, t["OY"] * t["OX"], t["K"], t["FY"] * t["FX"] * t["C"], direct)
        case "int8_linear":
            return _blocks(timing, t["N"], t["K"], t["C"], direct)
        case "int8_depthwise2d":
            return _windows(timing, t["OY"] * t["OX"] * t["K"], t["FY"] * t["FX"], timing["int8_requant_cycles"])
        case "int8_pool2d":
            return _windows(timing, t["OY"] * t["OX"] * t["C"], t["FY"] * t["FX"], 0)
        case "int8_add":
            elements = t["Y"] * t["X"] * t["C"]
            return up(elements, timing["pulp_cores"]) * timing["int8_add_element_cycles"]
        case "int8_transpose":
            return up(t["C"], timing["pulp_cores"]) * t["R"] * timing["int8_transpose_element_cycles"]
    raise KeyError(kind)


def _blocks(timing: Timing, pixels: Cycles, channels: Cycles, taps: Cycles, direct: bool) -> Cycles:
    """Blocks of two pixels (one, if there is one) by four channels, dealt out to the cores."""
    side = np.where(pixels > 1, _BLOCK_PIXELS, 1)
    quads, groups, words = up(channels, _BLOCK_CHANNELS), up(pixels, side), up(taps, _WORD_VALUES)
    items = up(groups * quads, timing["pulp_cores"])
    word = np.where(side == 1, timing["int8_single_word_cycles"], timing["int8_block_word_cycles"])
    block = timing["int8_block_cycles"] + timing["int8_loop_cycles"] + words * word
    block = block + side * _BLOCK_CHANNELS * timing["int8_requant_cycles"]
    gather = 0 if direct else taps * timing["int8_gather_byte_cycles"]
    pixel = timing["int8_pixel_cycles"] + gather
    cycles: Cycles = items * block + touched(groups, quads, items) * side * pixel
    return cycles


def _windows(timing: Timing, outputs: Cycles, taps: Cycles, requant: int) -> Cycles:
    """Outputs one by one, dealt out to the cores."""
    each = timing["int8_output_cycles"] + taps * timing["int8_tap_cycles"] + requant
    return up(outputs, timing["pulp_cores"]) * each
