"""The PULP cluster's 8-bit patterns."""

from __future__ import annotations

from match_core import Any, Pattern
from match_core.patterns import rules_requant as requant
from match_core.patterns import rules_tensors as tensors
from match_core.patterns import structures as s
from match_core.patterns import windows
from match_quant.reach import added_below

from match_carfield.int8 import rules
from match_carfield.int8 import workloads as w

_TYPES = ("U8", "I8")
_WEIGHTED = (rules.same_activations, *rules.WEIGHTED)
#: Convolution, its zero-point padding (if any) taken in.
_CONV = s.requantised(s.convolution("match.nhwc::ConvInteger", padded=True), *_TYPES)
_DENSE = s.requantised(s.DENSE, *_TYPES)

INT8_PATTERNS = (
    Pattern(
        "int8_conv2d",
        "8-bit convolution with requantisation",
        _CONV,
        (*_WEIGHTED, windows.one_group, windows.plain_pad),
        w.conv,
    ),
    Pattern(
        "int8_depthwise2d",
        "8-bit depthwise convolution, average pooling included, with requantisation",
        _CONV,
        (tensors.uint8_activations, *rules.WEIGHTED, windows.depthwise, windows.plain_pad),
        w.depthwise,
    ),
    Pattern("int8_linear", "8-bit dense layer with requantisation", _DENSE, _WEIGHTED, w.linear),
    Pattern(
        "int8_add",
        "8-bit element-wise sum with requantisation",
        s.added(Any("input_a"), Any("input_b"), *_TYPES),
        (rules.same_activations, tensors.same_shapes, requant.per_tensor(), rules.SHIFT, added_below(62)),
        w.add,
    ),
    Pattern(
        "int8_average",
        "8-bit mean over a power of two, ties to even",
        s.AVERAGE,
        (tensors.uint8_activations, windows.sums_window, windows.divides_by_area(), windows.no_dilation),
        w.pool,
    ),
    Pattern(
        "int8_maximum",
        "8-bit maximum pooling",
        s.MAXIMUM,
        (tensors.uint8_activations, windows.no_dilation, windows.window_in_input),
        w.pool,
    ),
    Pattern(
        "int8_transpose",
        "layout change of 8-bit tensors between NCHW and NHWC, change of sign included",
        s.TRANSPOSE,
        (tensors.bytes_wide, tensors.turns_matrix),
        w.transpose,
    ),
    Pattern("int8_offset", "int8 to uint8 with zero 128 and back", s.OFFSET, (tensors.bytes_wide,), w.offset),
)
