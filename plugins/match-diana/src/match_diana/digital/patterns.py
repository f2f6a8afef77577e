"""The digital array's patterns."""

from __future__ import annotations

from match_core import Pattern
from match_core.patterns import rules_tensors as tensors
from match_core.patterns import windows

from match_diana.digital import rules
from match_diana.digital import structures as s
from match_diana.digital import workloads as w
from match_diana.digital.limits import STRIDES

_WINDOW = (rules.kernel, windows.stride_is(*STRIDES), windows.no_dilation, rules.padding)
_CONV = (
    tensors.int8_tensors,
    tensors.no_zero_points,
    rules.image,
    rules.size,
    windows.one_group,
    *_WINDOW,
    *rules.ARITHMETIC,
)
_DEPTHWISE = (
    tensors.int8_tensors,
    tensors.no_zero_points,
    rules.image,
    rules.size,
    windows.depthwise,
    *_WINDOW,
    *rules.ARITHMETIC,
)
_SUM = (tensors.int8_tensors, rules.image, rules.size, tensors.same_shapes, rules.requant, rules.no_bias)

DIGITAL_PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "digital_conv",
        "convolution with requantisation, for further layers of the digital array",
        s.CONV,
        _CONV,
        w.conv,
    ),
    Pattern(
        "digital_conv_channels",
        "convolution with requantisation, for layers of the analog array",
        s.CONV,
        (*_CONV, rules.whole_lanes),
        w.conv_channels,
    ),
    Pattern(
        "digital_depthwise",
        "depthwise convolution with requantisation, one instruction for each channel",
        s.CONV,
        _DEPTHWISE,
        w.depthwise,
    ),
    Pattern(
        "digital_depthwise_blocks",
        "depthwise convolution with requantisation, as convolutions of 16 channels by 16",
        s.CONV,
        _DEPTHWISE,
        w.depthwise_blocks,
    ),
    Pattern(
        "digital_dense",
        "dense layer with requantisation",
        s.DENSE,
        (tensors.int8_tensors, tensors.no_zero_points, rules.vector, *rules.ARITHMETIC),
        w.dense,
    ),
    Pattern(
        "digital_add",
        "sum of two tensors",
        s.ADD,
        (*_SUM, rules.signed),
        w.add,
    ),
    Pattern(
        "digital_add_channels",
        "sum of two tensors that lie as the analog array has them",
        s.ADD,
        (*_SUM, rules.signed),
        w.add_channels,
    ),
    Pattern(
        "digital_add_relu",
        "sum of two tensors with ReLU, which a convolution with weights 1 computes",
        s.ADD,
        (*_SUM, rules.positive, rules.whole_blocks),
        w.add_relu,
    ),
)
