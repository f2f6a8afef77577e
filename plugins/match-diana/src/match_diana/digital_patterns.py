"""What the digital array can run."""

from __future__ import annotations

from match_core import Pattern

from match_diana import digital_rules as rules
from match_diana import digital_structures as s
from match_diana import digital_workloads as w

_ARITHMETIC = (rules.REQUANT, rules.BOUNDS, rules.ACCUMULATOR)
_WINDOW = (rules.KERNEL, rules.STRIDE, rules.DILATION, rules.PADDING)
_CONV = (rules.TYPES, rules.ZERO_POINTS, rules.IMAGE, rules.SIZE, rules.ONE_GROUP, *_WINDOW, *_ARITHMETIC)
_DEPTHWISE = (rules.TYPES, rules.ZERO_POINTS, rules.IMAGE, rules.SIZE, rules.DEPTHWISE, *_WINDOW, *_ARITHMETIC)
_SUM = (rules.TYPES, rules.IMAGE, rules.SIZE, rules.SAME_SHAPES, rules.REQUANT, rules.NO_BIAS)

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
        (*_CONV, rules.WHOLE_LANES),
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
        (rules.TYPES, rules.ZERO_POINTS, rules.VECTOR, *_ARITHMETIC),
        w.dense,
    ),
    Pattern(
        "digital_add",
        "sum of two tensors",
        s.ADD,
        (*_SUM, rules.SIGNED),
        w.add,
    ),
    Pattern(
        "digital_add_channels",
        "sum of two tensors that lie as the analog array has them",
        s.ADD,
        (*_SUM, rules.SIGNED),
        w.add_channels,
    ),
    Pattern(
        "digital_add_relu",
        "sum of two tensors with ReLU, which a convolution with weights 1 computes",
        s.ADD,
        (*_SUM, rules.POSITIVE, rules.WHOLE_BLOCKS),
        w.add_relu,
    ),
)
