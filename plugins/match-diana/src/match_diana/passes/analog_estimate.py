"""Modelled cycles of a convolution on either array, and of conversions of its tensors, before anything is scheduled.

The kernels' formulas are those of the cost models; copies are those of a layer whose tensors fit L1 whole.
"""

from __future__ import annotations

from math import prod

import numpy as np

from match_diana.analog import limits
from match_diana.analog.formulas import host_cycles, job_cycles
from match_diana.analog.limits import Window
from match_diana.constants import values
from match_diana.digital.formulas import chunk_cycles, tile_cycles
from match_diana.digital.limits import CONV_BIAS_BYTES, LANES

#: The host's cycles for a byte that it converts from one stored form to another, and where words of four bytes can be
#: moved: the core's model of the operator (match.form::Convert), which the mapper uses.
_BYTE_CYCLES, _WORD_BYTE_CYCLES = 12, 4.5


def analog_cycles(window: Window) -> int:
    """On the analog array."""
    timing = values()
    counts = limits.groups(window.c, window.taps)
    pixels = np.asarray(window.oy * (window.ox // limits.unroll(window)))
    jobs = sum(int(job_cycles(timing, channels=c, k=window.k, taps=window.taps, pixel_groups=pixels)) for c in counts)
    norm = _chunk(limits.norm_bytes(window.k))
    block = limits.CHANNEL_BLOCK
    copies = _chunk(limits.padded(window.c, block) * window.iy * window.ix)
    copies += _chunk(limits.padded(window.k, block) * window.oy * window.ox)
    return jobs + norm + copies + len(counts) * host_cycles(timing)


def digital_cycles(window: Window, top: int) -> int:
    """On the digital array; ``top``: rows of padding above. Filter rows that lie in the padding are skipped."""
    timing, one = values(), np.asarray(window.c)
    lines, blocks = -(-window.ox // LANES), -(-window.k // LANES)
    first = np.arange(window.oy) * window.stride - top
    rows = first[:, None] + np.arange(window.fy)
    inside = ((rows >= 0) & (rows < window.iy)).sum(axis=1)
    work = lines * blocks * sum(int(tile_cycles(timing, one, int(count), window.fx)) for count in inside)
    weights = blocks * LANES * (window.c * window.taps + CONV_BIAS_BYTES)
    calls = -(-weights // timing["digital_weight_bytes"])
    copies = _chunk(limits.padded(window.c, LANES) * window.iy * limits.padded(window.ix, LANES))
    copies += calls * _chunk(blocks * LANES * window.oy * lines * LANES // calls)
    each = timing["encode_cycles"] + timing["job_load_cycles"] + 11 * timing["register_cycles"]
    return work + _chunk(weights) + copies + calls * each


def conversion_cycles(shape: tuple[int, ...], *, columns_stay: bool) -> int:
    """On the host, from one stored form to another; ``columns_stay``: a row's bytes are contiguous in both."""
    words = columns_stay and shape[-1] % 4 == 0
    return int((_WORD_BYTE_CYCLES if words else _BYTE_CYCLES) * prod(shape))


def _chunk(size_bytes: int) -> int:
    return int(chunk_cycles(values(), np.asarray(size_bytes)))
