"""Turns a layer of the analog array into a workload.

The array reads and writes the stored form "channels": words of 64 channels of a pixel. Output channels and columns
are never tiled: a row of the feature map is one piece in memory. Output rows may be tiled, and groups of input
channels, whose sums are stored in the output's place between two calls.
"""

from __future__ import annotations

from match_core import Axis, Dim, Match, Operand, Workload

from match_diana.analog import limits
from match_diana.analog import structures as s

FORM = "channels"


def conv(match: Match) -> Workload:
    """OY output rows, G groups of input channels with B words of 64 channels each, FY filter rows."""
    w, (top, left, _, _) = s.window_of(match), s.geometry_of(match).pads
    counts = limits.groups(w.c, w.taps)
    block = limits.CHANNEL_BLOCK
    each = -(-counts[0] // block)
    dims = (
        Dim("OY", w.oy),
        Dim("FY", w.fy, tileable=False),
        Dim("G", len(counts)),
        Dim("B", each, tileable=False),
    )
    words = Axis("words", -(-w.c // block), (("G", each), ("B", 1)))
    operands = (
        Operand(
            "input",
            "input",
            (
                words,
                Axis("y", w.iy, (("OY", w.stride), ("FY", 1)), offset=top),
                Axis("x", w.ix),
                Axis("c", block),
            ),
            form=FORM,
        ),
        Operand(
            "weights",
            "constant",
            (Axis("g", len(counts), (("G", 1),)), Axis("byte", limits.cell_bytes(counts[0], w.k, w.taps))),
        ),
        Operand("norm", "constant", (Axis("byte", limits.norm_bytes(w.k)),)),
        Operand(
            "output",
            "output",
            (Axis("words", -(-w.k // block)), Axis("y", w.oy, (("OY", 1),)), Axis("x", w.ox), Axis("c", block)),
            form=FORM,
        ),
    )
    norm, pixels = s.norm_of(match), limits.unroll(w)
    geometry = (
        ("channels", counts[0]),
        ("last_channels", counts[-1]),
        ("k", w.k),
        ("fx", w.fx),
        ("stride", w.stride),
        ("ix", w.ix),
        ("ox", w.ox),
        ("unroll", pixels),
        ("pad_left", left),
        ("pad_right", max(0, (w.ox - 1) * w.stride + w.fx - w.ix - left)),
        ("weight_bytes", limits.cell_bytes(counts[0], w.k, w.taps)),
    )
    arithmetic = (("gain_shift", norm.gain.bit_length() - 1), ("shift", norm.shift), ("relu", int(norm.relu)))
    return Workload(
        "analog_conv",
        dims,
        operands,
        w.k * w.c * w.taps * w.oy * w.ox,
        geometry,
        accumulates=True,
        unroll=(("OX", pixels),),
        arithmetic=arithmetic,
    )
