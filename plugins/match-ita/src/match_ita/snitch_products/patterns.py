"""The compute cores' patterns of products, attention, softmax, convolutions and maximum pooling."""

from __future__ import annotations

from match_core import Pattern
from match_core.patterns import rules_tensors as tensors
from match_core.patterns import windows as shared_windows
from match_core.patterns.rules_requant import shift_at_most

from match_ita.ita import rules as ita_rules
from match_ita.ita.structures import ATTENTION
from match_ita.snitch_products import attention, rules, windows
from match_ita.snitch_products import structures as s
from match_ita.snitch_products import workloads as w

_SHIFT = shift_at_most(62)
_LINEAR = (
    rules.one_input,
    tensors.int8_weights,
    tensors.matrix_weights,
    tensors.no_zero_points,
    _SHIFT,
    rules.weighted,
)

PATTERNS: tuple[Pattern, ...] = (
    Pattern("linear", "dense layer with requantisation", s.LINEAR, _LINEAR, w.linear),
    Pattern(
        "linear_turned",
        "dense layer whose result is turned and filled up with zeros, for values of an attention",
        s.LINEAR_TURNED,
        (*_LINEAR, ita_rules.turned, rules.turned_pad),
        w.linear_turned,
    ),
    Pattern(
        "matmul",
        "product of two activations with requantisation, permutations around it taken in",
        s.MATMUL,
        (rules.two_inputs, rules.layout, rules.matmul_zero_points, _SHIFT, rules.product),
        w.matmul,
    ),
    Pattern(
        "attention",
        "attention of all heads as ITA computes it",
        ATTENTION,
        (rules.attention_types, rules.heads, rules.group, rules.numerator, rules.attention_product),
        attention.attention,
    ),
    Pattern(
        "softmax",
        "integer softmax by table, rounded",
        s.SOFTMAX,
        (rules.one_input, tensors.last_axis, rules.table),
        attention.softmax,
    ),
    Pattern(
        "softmax_floor",
        "integer softmax by table, rounded down",
        s.SOFTMAX_FLOOR,
        (rules.one_input, tensors.last_axis, rules.table),
        attention.softmax,
    ),
    Pattern(
        "shift_softmax",
        "softmax in powers of two",
        s.SHIFT_SOFTMAX,
        (rules.one_input, rules.group, rules.numerator),
        attention.shift_softmax,
    ),
    Pattern(
        "conv2d",
        "convolution with requantisation",
        s.CONV,
        (
            rules.one_input,
            tensors.int8_weights,
            rules.image,
            shared_windows.one_group,
            tensors.no_zero_points,
            shared_windows.plain_pad,
            _SHIFT,
            rules.weighted,
        ),
        windows.conv2d,
    ),
    Pattern(
        "maxpool2d",
        "maximum pooling",
        s.MAXPOOL,
        (rules.one_input, rules.image, rules.one_result),
        windows.maxpool2d,
    ),
)
