"""NE16's patterns."""

from __future__ import annotations

from match_core import Axis, Match, Pattern, Workload
from match_core.patterns import windows
from match_core.patterns.workloads import axis

from match_gap9 import rules
from match_gap9 import structures as s

_NE16_COMMON = (*rules.NARROW, rules.unsigned_multiplier)
#: NE16 pads the last subtile of 3x3 outputs only; with two pixels, padding could reach into the subtile before it.
NE16_PADS = (windows.plain_pad, windows.pads_at_most(1))
#: Bytes of one bit of one weight position: 16 channels (sheet 5.2).
_BIT_BYTES = 2
#: Output channels come in whole 32-bit words. Fewer than the 32 that NE16 computes at once cost cycles, not results.
_NE16 = s.kernels(4, 3)


def _ne16_weight(out_channels: int, in_channels: int, taps: int, bits: int) -> tuple[Axis, Axis]:
    return axis("k", out_channels), Axis("bits", -(-in_channels // 16) * taps * bits * _BIT_BYTES)


def _ne16_conv(match: Match) -> Workload:
    out_channels, in_channels, fy, fx = match.shape("weight")
    bits = s.weight_bits(match)
    weight = _ne16_weight(out_channels, in_channels, fy * fx, bits)
    return _NE16.convolution(match, "conv2d", weight, s.spatial_numbers(match, bits))


def _ne16_depthwise(match: Match) -> Workload:
    bits = s.weight_bits(match)
    weight = (Axis("k", match.shape("weight")[0], (("K", 1),), round_up=16), Axis("tap", 9))
    return s.kernels(16).depthwise(match, "depthwise2d", weight, s.spatial_numbers(match, bits), weight_bits=bits)


def _ne16_dense(match: Match) -> Workload:
    in_features, out_features = match.shape("weight")
    bits = s.weight_bits(match)
    return _NE16.dense(match, "linear", _ne16_weight(out_features, in_features, 1, bits), s.dense_numbers(match, bits))


NE16_PATTERNS = (
    Pattern(
        "conv3x3",
        "3x3 convolution with requantisation",
        s.CONV_PADDED,
        (
            *_NE16_COMMON,
            windows.one_group,
            windows.kernel_is(3),
            windows.no_dilation,
            rules.ne16_stride,
            *NE16_PADS,
        ),
        _ne16_conv,
    ),
    Pattern(
        "conv1x1",
        "1x1 convolution with requantisation; a stride is a stride of addresses",
        s.CONV,
        (*_NE16_COMMON, windows.one_group, windows.kernel_is(1), windows.pads_at_most(0)),
        _ne16_conv,
    ),
    Pattern(
        "depthwise3x3",
        "3x3 depthwise convolution with requantisation",
        s.CONV_PADDED,
        (
            *_NE16_COMMON,
            windows.depthwise,
            windows.kernel_is(3),
            windows.no_dilation,
            rules.ne16_stride,
            *NE16_PADS,
        ),
        _ne16_depthwise,
    ),
    Pattern(
        "ne16_linear",
        "dense layer with requantisation, as a 1x1 convolution",
        s.DENSE,
        _NE16_COMMON,
        _ne16_dense,
    ),
)
