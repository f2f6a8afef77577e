"""What the PULP cluster can run in 8 bits."""

from __future__ import annotations

from match_core import Pattern

from match_carfield import int8_rules as rules
from match_carfield import int8_structures as s
from match_carfield import int8_workloads as w
from match_carfield.rules import POOL_WINDOW

_LIMITS = (rules.WEIGHTS, rules.SIZES, rules.SHIFT, rules.PRODUCT)
_WEIGHTED = (rules.SAME_ACTIVATIONS, *_LIMITS)

INT8_PATTERNS = (
    Pattern(
        "int8_conv2d",
        "8-bit convolution with requantisation",
        s.CONV,
        (*_WEIGHTED, rules.ONE_GROUP, rules.PLAIN_PAD),
        w.conv,
    ),
    Pattern(
        "int8_depthwise2d",
        "8-bit depthwise convolution, average pooling included, with requantisation",
        s.CONV,
        (rules.ACTIVATIONS, *_LIMITS, rules.DEPTHWISE, rules.PLAIN_PAD),
        w.depthwise,
    ),
    Pattern("int8_linear", "8-bit dense layer with requantisation", s.DENSE, _WEIGHTED, w.linear),
    Pattern(
        "int8_add",
        "8-bit element-wise sum with requantisation",
        s.ADD,
        (rules.SAME_ACTIVATIONS, rules.SAME_SHAPES, rules.PER_TENSOR, rules.SHIFT, rules.ADD_PRODUCT),
        w.add,
    ),
    Pattern(
        "int8_average",
        "8-bit mean over a power of two, ties to even",
        s.AVERAGE,
        (rules.ACTIVATIONS, rules.MEAN, rules.NO_DILATION),
        w.pool,
    ),
    Pattern(
        "int8_maximum",
        "8-bit maximum pooling",
        s.MAXIMUM,
        (rules.ACTIVATIONS, rules.NO_DILATION, POOL_WINDOW),
        w.pool,
    ),
    Pattern(
        "int8_transpose",
        "layout change of 8-bit tensors between NCHW and NHWC, change of sign included",
        s.TRANSPOSE,
        (rules.BYTES, rules.MOVES_BLOCK),
        w.transpose,
    ),
    Pattern("int8_offset", "int8 to uint8 with zero 128 and back", s.OFFSET, (rules.BYTES,), w.offset),
)
