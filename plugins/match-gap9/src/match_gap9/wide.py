"""Layers whose requantisation needs 64-bit products: clip((sum * M + B) >> S) with M below 2**31 and a 64-bit B.

NE16 and PULP-NN multiply in 32 bits, which leaves M 9 to 12 bits. Here NE16 gives its raw 32-bit sums to the cores, or
kernels of our own on the cores do it all. Dearer than the 32-bit patterns, which stay legal beside these: cost decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from match_core import Axis, Constraint, Match, Operand, Pattern, Workload
from numpy.typing import NDArray

from match_gap9 import patterns, rules
from match_gap9 import structures as s

_INT32 = 2**31
#: One bit of int64 to spare, so that no sum of two terms overflows.
_LIMIT = 2**62
_SHIFT_MAX = 62
_UPPER_WORD = 32
_SIMD_BYTES = 4
#: Pixels that a core computes at once.
COLUMNS = 2


# ---- rules -----------------------------------------------------------------------------------------------------


def _shift_range(match: Match) -> str | None:
    divisor, amount = int(match.const("divisor").reshape(-1)[0]), s.shift(match)
    return None if divisor == 1 << amount and amount <= _SHIFT_MAX else f"the divisor is {divisor}"


WIDE_SHIFT = Constraint("shift", f"the requantisation divides by 2**S with S of 0 to {_SHIFT_MAX}", _shift_range)


_Objects = NDArray[np.object_]


def _sum_bounds(match: Match) -> tuple[_Objects, _Objects]:
    """Smallest and largest sum per output channel for uint8 inputs, as Python integers."""
    weight = match.const("weight").astype(np.int64)
    rows = (weight.T if match.has("dense") else weight).reshape(match.output.shape[-1], -1)
    low, high = 255 * np.minimum(rows, 0).sum(1), 255 * np.maximum(rows, 0).sum(1)
    return low.astype(object), high.astype(object)


def _product_range(match: Match) -> str | None:
    sums = _sum_bounds(match)
    reach = max(abs(int(value)) for bound in sums for value in bound)
    if reach >= _INT32:
        return f"a sum reaches {reach}"
    multiplier, addend = (match.const(name).astype(object).reshape(-1) for name in ("multiplier", "addend"))
    least, most = int(multiplier.min()), int(multiplier.max())
    if least < 0 or most >= _INT32:
        return f"a multiplier is {least if least < 0 else most}"
    worst = _worst(sums, multiplier, addend)
    return None if worst < _LIMIT else f"a product reaches {worst}"


def _worst(sums: tuple[_Objects, ...], multiplier: _Objects, addend: _Objects) -> int:
    """The largest magnitude of a product, and of a product and B."""
    products = [bound * multiplier for bound in sums]
    return max(abs(int(value)) for terms in (*products, *(p + addend for p in products)) for value in terms)


def raised_by(match: Match) -> int:
    """Bits by which M, B and S are raised, which changes no result: with S of 32 or more the cores shift and clip the
    upper word of a product only. 0 where that needs none, or where M or a product would leave its range."""
    bits = max(_UPPER_WORD - s.shift(match), 0)
    multiplier, addend = (match.const(name).astype(object).reshape(-1) for name in ("multiplier", "addend"))
    worst = _worst(_sum_bounds(match), multiplier, addend)
    fits = int(multiplier.max()) << bits < _INT32 and worst << bits < _LIMIT
    return bits if fits else 0


WIDE_PRODUCT = Constraint(
    "product",
    "sums fit int32, M is 0 to 2**31 - 1, and sum * M and sum * M + B stay below 2**62 for every input",
    _product_range,
)


def _ne16_stride(match: Match) -> str | None:
    y, x = s.strides(match)
    return None if (y, x) in ((1, 1), (2, 2)) else f"stride is {y}x{x}"


NE16_STRIDE = Constraint("stride", "stride is 1x1 or 2x2", _ne16_stride)

_COMMON = (rules.ACTIVATIONS, rules.WEIGHTS, rules.SATURATION, WIDE_SHIFT, WIDE_PRODUCT)


# ---- workloads -------------------------------------------------------------------------------------------------


def _wide(workload: Workload, match: Match) -> Workload:
    """The same with a 64-bit addend per channel, and the shift that the cores do best."""

    def widened(operand: Operand) -> Operand:
        return replace(operand, element_bits=64) if operand.name == "addend" else operand

    bits = raised_by(match)
    geometry = tuple((name, value + bits if name == "shift" else value) for name, value in workload.geometry)
    return replace(workload, operands=tuple(map(widened, workload.operands)), geometry=geometry)


def column_bytes(taps: int) -> int:
    """Bytes of a row of weights, and of a column of inputs: whole SIMD words."""
    return -(-taps // _SIMD_BYTES) * _SIMD_BYTES


def _columns(taps: int, direct: bool) -> tuple[tuple[tuple[str, ...], int], ...]:
    """Scratch for the columns of each core; none where inputs are read where they are, a pixel in whole words."""
    return () if direct and taps % _SIMD_BYTES == 0 else (((), patterns.CORES * COLUMNS * column_bytes(taps)),)


def _cluster_conv(match: Match) -> Workload:
    out_channels, in_channels, fy, fx = match.shape("weight")
    taps = fy * fx * in_channels
    weight = (Axis("k", out_channels, (("K", 1),)), Axis("tap", column_bytes(taps)))
    direct = fy * fx == 1 and not any(s.pads(match))
    return _wide(s.conv_workload(match, weight, 1, 1, scratch=_columns(taps, direct)), match)


def _cluster_depthwise(match: Match) -> Workload:
    channels, _, fy, fx = match.shape("weight")
    weight = (Axis("k", channels, (("K", 1),)), Axis("tap", fy * fx))
    return _wide(s.depthwise_workload(match, weight, 1), match)


def _cluster_dense(match: Match) -> Workload:
    in_features, out_features = match.shape("weight")
    weight = (Axis("k", out_features, (("K", 1),)), Axis("c", column_bytes(in_features)))
    return replace(_wide(s.dense_workload(match, weight, 1), match), scratch=_columns(in_features, direct=True))


def _raw_sums(narrow: str, *sizes: str) -> Callable[[Match], Workload]:
    """The workload of NE16's pattern ``narrow``, whose 32-bit sums of a tile of ``sizes`` go through scratch."""
    workload = next(pattern.workload for pattern in patterns.NE16_PATTERNS if pattern.name == narrow)
    return lambda match: replace(_wide(workload(match), match), scratch=((sizes, 4),))


# ---- patterns --------------------------------------------------------------------------------------------------

_EXACT = "64-bit requantisation"

WIDE_CLUSTER_PATTERNS = (
    Pattern(
        "conv2d_wide",
        f"convolution with {_EXACT} (match_gap9_wide_conv2d)",
        s.CONV_PADDED,
        (*_COMMON, rules.ONE_GROUP, rules.DILATION, rules.PLAIN_PAD),
        _cluster_conv,
    ),
    Pattern(
        "depthwise_wide",
        f"depthwise convolution, average pooling included, with {_EXACT} (match_gap9_wide_depthwise)",
        s.CONV_PADDED,
        (*_COMMON, rules.DEPTHWISE, rules.DILATION, rules.PLAIN_PAD),
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
            rules.SIZES,
            rules.ONE_GROUP,
            rules.kernel_is(3),
            rules.DILATION,
            NE16_STRIDE,
            rules.PLAIN_PAD,
            rules.pads_up_to(1),
        ),
        _raw_sums("conv3x3", "OY", "OX", "K"),
    ),
    Pattern(
        "conv1x1_wide",
        f"1x1 convolution on NE16, {_EXACT} on the cores; a stride is a stride of addresses",
        s.CONV,
        (*_COMMON, rules.SIZES, rules.ONE_GROUP, rules.kernel_is(1), rules.NO_PADDING),
        _raw_sums("conv1x1", "OY", "OX", "K"),
    ),
    Pattern(
        "depthwise3x3_wide",
        f"3x3 depthwise convolution on NE16, {_EXACT} on the cores",
        s.CONV_PADDED,
        (
            *_COMMON,
            rules.SIZES,
            rules.DEPTHWISE,
            rules.kernel_is(3),
            rules.DILATION,
            NE16_STRIDE,
            rules.PLAIN_PAD,
            rules.pads_up_to(1),
        ),
        _raw_sums("depthwise3x3", "OY", "OX", "K"),
    ),
    Pattern(
        "ne16_linear_wide",
        f"dense layer on NE16 as a 1x1 convolution, {_EXACT} on the cores",
        s.DENSE,
        (*_COMMON, rules.SIZES),
        _raw_sums("ne16_linear", "N", "K"),
    ),
)
