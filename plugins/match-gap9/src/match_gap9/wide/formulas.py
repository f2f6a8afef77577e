"""Cycle formulas of NE16 with the cores behind it, which requantise its sums with 64-bit products.

On the twin their overlap follows from its clocks.
"""

from __future__ import annotations

import numpy as np
from match_core.patterns.formulas import Timing
from numpy.typing import NDArray

from match_gap9.cluster import counted
from match_gap9.formula_types import Sizes, as_array, ceil_div
from match_gap9.ne16.formulas import Ne16Quant, Operation, ne16_job, ne16_layer

#: How runtime/match_gap9_ne16_wide.c cuts a tile into bands.
_BAND_ELEMENTS = 1024
_BANDS_MAX = 8
_CONTEXTS = 2


def _bands(timing: Timing, rows: NDArray[np.int64], elements: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """How many bands a tile of stride 1 is cut into, and the rows of each but the last."""
    side = timing["ne16_tile_pixels"]
    subtiles = ceil_div(rows, side)
    wanted = np.maximum(np.minimum(np.minimum(elements // _BAND_ELEMENTS, _BANDS_MAX), subtiles), 1)
    height = side * -(-subtiles // wanted)
    return -(-rows // height), height


def ne16_wide(
    timing: Timing,
    operation: Operation,
    *,
    out_y: Sizes,
    out_x: Sizes,
    k_out: Sizes,
    k_in: Sizes,
    stride: int,
    weight_bits: int,
    shift: int,
    pad_bottom: Sizes = 0,
    pad_right: Sizes = 0,
    alone: bool = False,
    led: bool = False,
) -> NDArray[np.int64]:
    """Elapsed cycles of a tile on the team: core 0 fills the words and issues jobs with 32-bit outputs, all cores
    requantise band after band. With stride 1 they work on a band while NE16 works on the next two (its contexts).
    ``alone``: the controller does all of it, without a team; ``led``: core 0 starts the others at a barrier."""
    quant = Ne16Quant(weight_bits=weight_bits, scale_bits=0, out_bits=32)
    y, x, k, c = np.broadcast_arrays(as_array(out_y), as_array(out_x), as_array(k_out), as_array(k_in))
    barrier, begin = timing["team_barrier_cycles"], timing["team_start_cycles"] + timing["ne16_words_cycles"]
    cores = None
    if led:
        begin = 2 * barrier + timing["ne16_words_cycles"]
    if alone:
        barrier, begin, cores = 0, timing["ne16_words_cycles"], 1
    if stride != 1:
        layer = ne16_layer(timing, operation, out_y=y, out_x=x, k_out=k, k_in=c, stride=stride, quant=quant)
        return (
            begin
            + layer
            + 2 * barrier
            + counted.wide_requant(timing, pixels=y * x, channels=k, shift=shift, cores=cores)
        )

    bands, height = _bands(timing, y, y * x * k)
    last = y - (bands - 1) * height

    def job(rows: NDArray[np.int64], below: Sizes) -> NDArray[np.int64]:
        sizes = {"out_y": rows, "out_x": x, "k_out": k, "k_in": c, "pad_bottom": below, "pad_right": pad_right}
        return ne16_job(timing, operation, quant=quant, **sizes)

    # Of all bands but the last, and of the last.
    jobs = (job(height, 0), job(last, pad_bottom))
    epilogues = tuple(
        barrier + counted.wide_requant(timing, pixels=rows * x, channels=k, shift=shift, cores=cores)
        for rows in (height, last)
    )
    program = timing["ne16_program_cycles"] + np.where(bands > 1, timing["ne16_rows_cycles"], 0)
    core = np.full_like(y, begin)
    free = np.zeros_like(y)
    ends: list[NDArray[np.int64]] = []

    def issue(band: int) -> None:
        nonlocal core, free
        exists = band < bands
        core = core + np.where(exists, program, 0)
        end = np.maximum(free, core) + np.where(band + 1 < bands, *jobs)
        free = np.where(exists, end, free)
        ends.append(free)

    for band in range(_CONTEXTS):
        issue(band)
    for band in range(int(bands.max(initial=1))):
        exists = band < bands
        core = np.where(exists, np.maximum(core, ends[band]), core)
        issue(band + _CONTEXTS)
        core = core + np.where(exists, np.where(band + 1 < bands, *epilogues), 0)
    return core + barrier
