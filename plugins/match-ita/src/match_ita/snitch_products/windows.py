"""Convolutions and pooling as workloads: images as they lie in ONNX (NCHW)."""

from __future__ import annotations

from match_core import Axis, Match, Workload
from match_core.patterns.captures import is_type
from match_core.patterns.windows import pad_value
from match_core.patterns.workloads import Kernels, Numbers, axis, steps

from match_ita.snitch_products import requant
from match_ita.snitch_products.workloads import KERNELS, PANEL_BYTES, clip, scale_of


def _sign(match: Match) -> Numbers:
    return (("input_unsigned", int(is_type(match, "input", "uint8"))),)


def conv2d(match: Match) -> Workload:
    """A convolution with one group: OY, OX, K, C, FY, FX."""
    found = scale_of(requant.weighted(match))
    channels, inputs, fy, fx = match.shape("weight")
    weight = (axis("k", channels), Axis("tap", inputs * fy * fx))
    geometry = (*steps(match), ("wide", int(found.wide)))
    arithmetic = (*clip(match, found), ("pad_value", pad_value(match)), *_sign(match))
    taps = ("C", "FY", "FX")
    # Panels of four pixels: their sums, then 2 bytes for each tap of each pixel.
    scratch = ((("OY", "OX", *taps), 2), (("OY", "OX"), 4), (taps, 6), ((), PANEL_BYTES))
    return KERNELS.convolution(match, "snitch_conv2d", weight, geometry, scratch, arithmetic)


def maxpool2d(match: Match) -> Workload:
    """The largest of each window: C, OY, OX, FY, FX."""
    kernels = Kernels(channels_first=True)
    return kernels.pooling(match, "snitch_maxpool2d", steps(match), arithmetic=_sign(match))
