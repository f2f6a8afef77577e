"""The cluster's patterns."""

from __future__ import annotations

from match_core import Axis, Match, Pattern, Workload
from match_core.patterns import rules_requant as requant
from match_core.patterns import rules_tensors as tensors
from match_core.patterns import windows
from match_core.patterns.captures import number, shift
from match_core.patterns.structures import AVERAGE, MAXIMUM
from match_core.patterns.workloads import axis
from match_quant.reach import added_below

from match_gap9 import rules
from match_gap9 import structures as s

CORES = 8

_PULP_NN = s.kernels(4, 2)


def _cluster_conv(match: Match) -> Workload:
    out_channels, in_channels, fy, fx = match.shape("weight")
    taps = fy * fx * in_channels
    weight = (axis("k", out_channels), Axis("tap", taps))
    # im2col scratch: two columns per core (dory tiler_conv2d.py)
    return _PULP_NN.convolution(match, "conv2d", weight, s.spatial_numbers(match), (((), 2 * CORES * taps),))


def _cluster_pointwise(match: Match) -> Workload:
    out_channels, in_channels = match.shape("weight")[:2]
    weight = (axis("k", out_channels), Axis("tap", in_channels))
    return _PULP_NN.convolution(match, "conv2d", weight, s.spatial_numbers(match))


def _cluster_depthwise(match: Match) -> Workload:
    channels, _, fy, fx = match.shape("weight")
    weight = (axis("k", channels), Axis("tap", fy * fx))
    # The padded tile once more as CHW, (OY * sy + FY) * (OX * sx + FX) bytes a channel at most, then per core one
    # column of windows: FX * rows + FX bytes, 4 more for kernels below 4 taps (dory; pulp_nn_depthwise sources).
    sy, sx = windows.window_of(match).strides
    scratch = (
        (("K", "OY", "OX"), sy * sx),
        (("K", "OY"), sy * fx),
        (("K", "OX"), sx * fy),
        (("K",), fy * fx),
        (("OY",), CORES * fx * sy),
        ((), CORES * (fx * fy + fx + 4) + 32),
    )
    return s.kernels(CORES).depthwise(match, "depthwise2d", weight, s.spatial_numbers(match), scratch)


def _cluster_dense(match: Match) -> Workload:
    in_features, out_features = match.shape("weight")
    return _PULP_NN.dense(match, "linear", (axis("k", out_features), axis("c", in_features)), s.dense_numbers(match))


def _add(match: Match) -> Workload:
    numbers = tuple((name, number(match, name)) for name in ("multiplier_a", "multiplier_b", "addend"))
    return s.kernels().elements(match, "add", ("input_a", "input_b"), (*numbers, ("shift", shift(match))))


def _pool(match: Match, multiplier: int, addend: int, shift: int, ties_even: int = 0) -> Workload:
    means = (("multiplier", multiplier), ("addend", addend), ("shift", shift), ("ties_even", ties_even))
    return s.kernels().pooling(match, "pool2d", (*s.strides(match), *means), macs=True)


def _average(match: Match) -> Workload:
    return _pool(match, number(match, "multiplier"), number(match, "addend"), shift(match))


def _average_even(match: Match) -> Workload:
    return _pool(match, 0, 0, shift(match, "area"), ties_even=1)


def _maximum(match: Match) -> Workload:
    return _pool(match, 0, 0, 0)


CLUSTER_PATTERNS = (
    Pattern(
        "conv2d",
        "convolution with requantisation (pulp_nn_conv_Ho_parallel)",
        s.CONV,
        (*rules.NARROW, windows.one_group, windows.no_dilation),
        _cluster_conv,
    ),
    Pattern(
        "pointwise",
        "1x1 convolution with requantisation (pulp_nn_pointwise_Ho_parallel)",
        s.CONV,
        (*rules.NARROW, windows.one_group, windows.kernel_is(1), windows.stride_is(1), windows.pads_at_most(0)),
        _cluster_pointwise,
    ),
    Pattern(
        "depthwise",
        "depthwise convolution with requantisation (pulp_nn_depthwise_generic)",
        s.CONV_PADDED,
        (*rules.NARROW, windows.depthwise, windows.no_dilation, windows.plain_pad, rules.depthwise_window),
        _cluster_depthwise,
    ),
    Pattern(
        "linear",
        "dense layer with requantisation (pulp_nn_linear)",
        s.DENSE,
        rules.NARROW,
        _cluster_dense,
    ),
    Pattern(
        "add",
        "element-wise sum with requantisation (match_gap9_add_requant)",
        s.ADD,
        (
            tensors.uint8_activations,
            tensors.same_shapes,
            requant.per_tensor(),
            requant.uint8_bounds,
            requant.shift_at_most(31),
            added_below(31),
        ),
        _add,
    ),
    Pattern(
        "avgpool",
        "average pooling with requantisation (match_gap9_avgpool_requant)",
        s.CONV,
        (*rules.NARROW, windows.sums_window, windows.no_dilation),
        _average,
    ),
    Pattern(
        "avgpool_even",
        "mean over a power of two, ties to even (match_gap9_avgpool_even)",
        AVERAGE,
        (
            tensors.uint8_activations,
            tensors.int8_weights,
            windows.sums_window,
            windows.no_dilation,
            windows.divides_by_area(256),
            tensors.sizes_in_16_bits,
        ),
        _average_even,
    ),
    Pattern(
        "maxpool",
        "maximum pooling (match_gap9_maxpool)",
        MAXIMUM,
        (tensors.uint8_activations, windows.no_dilation, windows.window_in_input),
        _maximum,
    ),
)
