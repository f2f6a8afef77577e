"""What the cluster and NE16 can run."""

from __future__ import annotations

import numpy as np
from match_core import Axis, Match, Pattern, Workload
from numpy.typing import NDArray

from match_gap9 import rules
from match_gap9 import structures as s

CORES = 8
_COMMON = (rules.ACTIVATIONS, rules.WEIGHTS, rules.SATURATION, rules.SHIFT, rules.PRODUCT, rules.SIZES)


# ---- cluster ---------------------------------------------------------------------------------------------------


def _cluster_conv(match: Match) -> Workload:
    out_channels, in_channels, fy, fx = match.shape("weight")
    weight = (Axis("k", out_channels, (("K", 1),)), Axis("tap", fy * fx * in_channels))
    # im2col scratch: two columns per core (dory tiler_conv2d.py)
    return s.conv_workload(match, weight, 4, 2, scratch=(((), 2 * CORES * fy * fx * in_channels),))


def _cluster_pointwise(match: Match) -> Workload:
    out_channels, in_channels = match.shape("weight")[:2]
    weight = (Axis("k", out_channels, (("K", 1),)), Axis("tap", in_channels))
    return s.conv_workload(match, weight, 4, 2)


def _cluster_depthwise(match: Match) -> Workload:
    channels, _, fy, fx = match.shape("weight")
    step = s.strides(match)
    weight = (Axis("k", channels, (("K", 1),)), Axis("tap", fy * fx))
    # The padded tile once more as CHW, (OY * sy + FY) * (OX * sx + FX) bytes a channel at most, then per core one
    # column of windows: FX * rows + FX bytes, 4 more for kernels below 4 taps (dory; pulp_nn_depthwise sources).
    sy, sx = step
    scratch = (
        (("K", "OY", "OX"), sy * sx),
        (("K", "OY"), sy * fx),
        (("K", "OX"), sx * fy),
        (("K",), fy * fx),
        (("OY",), CORES * fx * sy),
        ((), CORES * (fx * fy + fx + 4) + 32),
    )
    return s.depthwise_workload(match, weight, CORES, scratch)


def _cluster_dense(match: Match) -> Workload:
    in_features, out_features = match.shape("weight")
    weight = (Axis("k", out_features, (("K", 1),)), Axis("c", in_features))
    return s.dense_workload(match, weight, 4)


def _average(match: Match) -> Workload:
    fy, fx = match.shape("weight")[2:]
    multiplier, addend = (int(match.const(name).reshape(-1)[0]) for name in ("multiplier", "addend"))
    return s.pool_workload(match, "conv", (fy, fx), (multiplier, addend, s.shift(match)))


def _average_even(match: Match) -> Workload:
    fy, fx = match.shape("weight")[2:]
    shift = int(match.const("area").reshape(-1)[0]).bit_length() - 1
    return s.pool_workload(match, "conv", (fy, fx), (0, 0, shift), ties_even=True)


def _maximum(match: Match) -> Workload:
    kernel = match.node("pool").attrs["kernel_shape"]
    return s.pool_workload(match, "pool", (int(kernel[0]), int(kernel[1])), (0, 0, 0))


CLUSTER_PATTERNS = (
    Pattern(
        "conv2d",
        "convolution with requantisation (pulp_nn_conv_Ho_parallel)",
        s.CONV,
        (*_COMMON, rules.ONE_GROUP, rules.DILATION),
        _cluster_conv,
    ),
    Pattern(
        "pointwise",
        "1x1 convolution with requantisation (pulp_nn_pointwise_Ho_parallel)",
        s.CONV,
        (*_COMMON, rules.ONE_GROUP, rules.kernel_is(1), rules.UNIT_STRIDE, rules.NO_PADDING),
        _cluster_pointwise,
    ),
    Pattern(
        "depthwise",
        "depthwise convolution with requantisation (pulp_nn_depthwise_generic)",
        s.CONV_PADDED,
        (*_COMMON, rules.DEPTHWISE, rules.DILATION, rules.PLAIN_PAD, rules.DEPTHWISE_WINDOW),
        _cluster_depthwise,
    ),
    Pattern(
        "linear",
        "dense layer with requantisation (pulp_nn_linear)",
        s.DENSE,
        _COMMON,
        _cluster_dense,
    ),
    Pattern(
        "add",
        "element-wise sum with requantisation (match_gap9_add_requant)",
        s.ADD,
        (rules.ACTIVATIONS, rules.SAME_SHAPES, rules.ADD_SCALARS, rules.SATURATION, rules.SHIFT, rules.ADD_PRODUCT),
        s.add_workload,
    ),
    Pattern(
        "avgpool",
        "average pooling with requantisation (match_gap9_avgpool_requant)",
        s.CONV,
        (*_COMMON, rules.POOLING, rules.DILATION, rules.POOL_PRODUCT),
        _average,
    ),
    Pattern(
        "avgpool_even",
        "mean over a power of two, ties to even (match_gap9_avgpool_even)",
        s.AVERAGE_EVEN,
        (rules.ACTIVATIONS, rules.WEIGHTS, rules.POOLING, rules.DILATION, rules.POOL_AREA, rules.SIZES),
        _average_even,
    ),
    Pattern(
        "maxpool",
        "maximum pooling (match_gap9_maxpool)",
        s.MAXPOOL,
        (rules.ACTIVATIONS, rules.DILATION, rules.POOL_WINDOW),
        _maximum,
    ),
)


# ---- NE16 ------------------------------------------------------------------------------------------------------

_NE16_COMMON = (*_COMMON, rules.UNSIGNED_MULTIPLIER)
#: Bytes of one bit of one weight position: 16 channels (sheet 5.2).
_BIT_BYTES = 2
#: Output channels come in whole 32-bit words. Fewer than the 32 that NE16 computes at once cost cycles, not results.
_NE16_K = 4


def _ne16_conv3x3(match: Match) -> Workload:
    out_channels, in_channels = match.shape("weight")[:2]
    bits = s.weight_bits(match)
    weight = (Axis("k", out_channels, (("K", 1),)), Axis("bits", -(-in_channels // 16) * 9 * bits * _BIT_BYTES))
    return s.conv_workload(match, weight, _NE16_K, 3, bits=bits)


def _ne16_conv1x1(match: Match) -> Workload:
    out_channels, in_channels = match.shape("weight")[:2]
    bits = s.weight_bits(match)
    weight = (Axis("k", out_channels, (("K", 1),)), Axis("bits", -(-in_channels // 16) * bits * _BIT_BYTES))
    return s.conv_workload(match, weight, _NE16_K, 3, bits=bits)


def _ne16_depthwise(match: Match) -> Workload:
    channels = match.shape("weight")[0]
    bits = s.weight_bits(match)
    weight = (Axis("k", channels, (("K", 1),), round_up=16), Axis("tap", 9))
    return s.depthwise_workload(match, weight, 16, bits=bits, packed=True)


def _ne16_dense(match: Match) -> Workload:
    in_features, out_features = match.shape("weight")
    bits = s.weight_bits(match)
    weight = (Axis("k", out_features, (("K", 1),)), Axis("bits", -(-in_features // 16) * bits * _BIT_BYTES))
    return s.dense_workload(match, weight, _NE16_K, bits=bits)


NE16_PATTERNS = (
    Pattern(
        "conv3x3",
        "3x3 convolution with requantisation",
        s.CONV_PADDED,
        (
            *_NE16_COMMON,
            rules.ONE_GROUP,
            rules.kernel_is(3),
            rules.DILATION,
            rules.NE16_STRIDE,
            rules.PLAIN_PAD,
            rules.pads_up_to(1),
        ),
        _ne16_conv3x3,
    ),
    Pattern(
        "conv1x1",
        "1x1 convolution with requantisation; a stride is a stride of addresses",
        s.CONV,
        (*_NE16_COMMON, rules.ONE_GROUP, rules.kernel_is(1), rules.NO_PADDING),
        _ne16_conv1x1,
    ),
    Pattern(
        "depthwise3x3",
        "3x3 depthwise convolution with requantisation",
        s.CONV_PADDED,
        (
            *_NE16_COMMON,
            rules.DEPTHWISE,
            rules.kernel_is(3),
            rules.DILATION,
            rules.NE16_STRIDE,
            rules.PLAIN_PAD,
            rules.pads_up_to(1),
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


def multiplier_array(match: Match, channels: int) -> NDArray[np.int32]:
    """Multipliers, one int32 per output channel."""
    return np.broadcast_to(match.const("multiplier").reshape(-1), (channels,)).astype(np.int32)


def addend_array(match: Match, channels: int) -> NDArray[np.int32]:
    """Addends, one int32 per output channel."""
    return np.broadcast_to(match.const("addend").reshape(-1), (channels,)).astype(np.int32)
