"""Layers whose requantisation requires 64-bit products: clip((sum * M + B) >> S) with M below 2**31 and a 64-bit B.

NE16 and PULP-NN multiply in 32 bits, which leaves M 9 to 12 bits. Here NE16 passes its raw 32-bit sums to the cores, or
this package's kernels on the cores do everything. They cost more than the 32-bit patterns, which stay legal as well. In
concurrent programs either the controller requantises NE16's sums alone, or the workers do, with both units busy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from match_core import Axis, Match, Operand, Pattern, Workload
from match_core.patterns import rules_requant as requant
from match_core.patterns import rules_tensors as tensors
from match_core.patterns import windows
from match_core.patterns.captures import shift
from match_core.patterns.workloads import Kernels, Scratch, axis
from match_quant.reach import product_below, product_reach

from match_gap9 import rules
from match_gap9 import structures as s
from match_gap9.cluster import patterns as cluster
from match_gap9.ne16 import patterns as ne16

_INT32 = 2**31
#: One bit of int64 to spare, so that no sum of two terms overflows.
_LIMIT_BITS = 62
_UPPER_WORD = 32
SIMD_BYTES = 4
#: Beginning of the names that NE16's patterns have where the cluster's workers run them with NE16.
JOINT = "with_"
#: Pixels that a core computes at once.
COLUMNS = 2

_COMMON = (
    tensors.uint8_activations,
    tensors.int8_weights,
    requant.uint8_bounds,
    requant.shift_at_most(62),
    rules.unsigned_multiplier,
    product_below(_LIMIT_BITS),
)


# ---- workloads -------------------------------------------------------------------------------------------------

_WIDE = Kernels(channels_first=True)


def raised_by(match: Match) -> int:
    """Bits by which M, B and S are raised, which changes no result: with S of 32 or more the cores shift and clip the
    upper word of a product only. 0 where that needs none, or where M or a product would leave its range."""
    bits = max(_UPPER_WORD - shift(match), 0)
    widest = int(match.const("multiplier").max())
    fits = widest << bits < _INT32 and product_reach(match) << bits < 1 << _LIMIT_BITS
    return bits if fits else 0


def _wide(workload: Workload, match: Match) -> Workload:
    """The same with a 64-bit addend per channel, and the shift that the cores do best."""

    def widened(operand: Operand) -> Operand:
        return replace(operand, element_bits=64) if operand.name == "addend" else operand

    bits = raised_by(match)
    geometry = tuple((name, value + bits if name == "shift" else value) for name, value in workload.geometry)
    return replace(workload, operands=tuple(map(widened, workload.operands)), geometry=geometry)


def column_bytes(taps: int) -> int:
    """Bytes of a row of weights, and of a column of inputs: whole SIMD words."""
    return -(-taps // SIMD_BYTES) * SIMD_BYTES


def _columns(taps: int, direct: bool) -> Scratch:
    """Scratch for the columns of each core; none where inputs are read where they are, a pixel in whole words."""
    return () if direct and taps % SIMD_BYTES == 0 else (((), cluster.CORES * COLUMNS * column_bytes(taps)),)


def _cluster_conv(match: Match) -> Workload:
    out_channels, in_channels, fy, fx = match.shape("weight")
    taps = fy * fx * in_channels
    weight = (axis("k", out_channels), Axis("tap", column_bytes(taps)))
    direct = fy * fx == 1 and not any(windows.window_of(match).pads)
    workload = _WIDE.convolution(match, "conv2d", weight, s.spatial_numbers(match), _columns(taps, direct))
    return _wide(workload, match)


def _cluster_depthwise(match: Match) -> Workload:
    channels, _, fy, fx = match.shape("weight")
    weight = (axis("k", channels), Axis("tap", fy * fx))
    return _wide(_WIDE.depthwise(match, "depthwise2d", weight, s.spatial_numbers(match)), match)


def _cluster_dense(match: Match) -> Workload:
    in_features, out_features = match.shape("weight")
    weight = (axis("k", out_features), Axis("c", column_bytes(in_features)))
    scratch = _columns(in_features, direct=True)
    return _wide(_WIDE.dense(match, "linear", weight, s.dense_numbers(match), scratch), match)


def _raw_sums(narrow: str, *sizes: str) -> Callable[[Match], Workload]:
    """The workload of NE16's pattern ``narrow``, whose 32-bit sums of a tile of ``sizes`` go through scratch."""
    workload = next(pattern.workload for pattern in ne16.NE16_PATTERNS if pattern.name == narrow)
    return lambda match: replace(_wide(workload(match), match), scratch=((sizes, 4),))


# ---- patterns --------------------------------------------------------------------------------------------------

_EXACT = "64-bit requantisation"

WIDE_CLUSTER_PATTERNS = (
    Pattern(
        "conv2d_wide",
        f"convolution with {_EXACT} (match_gap9_wide_conv2d)",
        s.CONV_PADDED,
        (*_COMMON, windows.one_group, windows.no_dilation, windows.plain_pad),
        _cluster_conv,
    ),
    Pattern(
        "depthwise_wide",
        f"depthwise convolution, average pooling included, with {_EXACT} (match_gap9_wide_depthwise)",
        s.CONV_PADDED,
        (*_COMMON, windows.depthwise, windows.no_dilation, windows.plain_pad),
        _cluster_depthwise,
    ),
    Pattern(
        "linear_wide",
        f"dense layer with {_EXACT} (match_gap9_wide_linear)",
        s.DENSE,
        _COMMON,
        _cluster_dense,
    ),
)

WIDE_NE16_PATTERNS = (
    Pattern(
        "conv3x3_wide",
        f"3x3 convolution on NE16, {_EXACT} on the cores",
        s.CONV_PADDED,
        (
            *_COMMON,
            tensors.sizes_in_16_bits,
            windows.one_group,
            windows.kernel_is(3),
            windows.no_dilation,
            windows.stride_is(1, 2),
            *ne16.NE16_PADS,
        ),
        _raw_sums("conv3x3", "OY", "OX", "K"),
        joint=("cluster", JOINT + "conv3x3_wide"),
    ),
    Pattern(
        "conv1x1_wide",
        f"1x1 convolution on NE16, {_EXACT} on the cores; a stride is a stride of addresses",
        s.CONV,
        (*_COMMON, tensors.sizes_in_16_bits, windows.one_group, windows.kernel_is(1), windows.pads_at_most(0)),
        _raw_sums("conv1x1", "OY", "OX", "K"),
        joint=("cluster", JOINT + "conv1x1_wide"),
    ),
    Pattern(
        "depthwise3x3_wide",
        f"3x3 depthwise convolution on NE16, {_EXACT} on the cores",
        s.CONV_PADDED,
        (
            *_COMMON,
            tensors.sizes_in_16_bits,
            windows.depthwise,
            windows.kernel_is(3),
            windows.no_dilation,
            windows.stride_is(1, 2),
            *ne16.NE16_PADS,
        ),
        _raw_sums("depthwise3x3", "OY", "OX", "K"),
        joint=("cluster", JOINT + "depthwise3x3_wide"),
    ),
    Pattern(
        "ne16_linear_wide",
        f"dense layer on NE16 as a 1x1 convolution, {_EXACT} on the cores",
        s.DENSE,
        (*_COMMON, tensors.sizes_in_16_bits),
        _raw_sums("ne16_linear", "N", "K"),
        joint=("cluster", JOINT + "ne16_linear_wide"),
    ),
)
