"""What the compute cores can run of products, attention, softmax, convolutions and maximum pooling."""

from __future__ import annotations

from match_core import Pattern

from match_ita import ita_rules
from match_ita import snitch_products_attention as attention
from match_ita import snitch_products_rules as rules
from match_ita import snitch_products_structures as s
from match_ita import snitch_products_window_rules as window_rules
from match_ita import snitch_products_windows as windows
from match_ita import snitch_products_workloads as w
from match_ita.ita_structures import ATTENTION

_LINEAR = (rules.INPUT, rules.WEIGHTS, rules.MATRIX, rules.ZERO_POINTS, rules.DIVISOR, rules.WEIGHTED)

PATTERNS: tuple[Pattern, ...] = (
    Pattern("linear", "dense layer with requantisation", s.LINEAR, _LINEAR, w.linear),
    Pattern(
        "linear_turned",
        "dense layer whose result is turned and filled up with zeros, for values of an attention",
        s.LINEAR_TURNED,
        (*_LINEAR, ita_rules.TURNED, rules.TURNED_PAD),
        w.linear_turned,
    ),
    Pattern(
        "matmul",
        "product of two activations with requantisation, permutations around it taken in",
        s.MATMUL,
        (rules.INPUTS, rules.LAYOUT, rules.MATMUL_ZERO_POINTS, rules.DIVISOR, rules.PRODUCT),
        w.matmul,
    ),
    Pattern(
        "attention",
        "attention of all heads as ITA computes it",
        ATTENTION,
        (rules.ATTENTION_TYPES, rules.HEADS, rules.GROUP, rules.NUMERATOR, rules.ATTENTION_PRODUCT),
        attention.attention,
    ),
    Pattern(
        "softmax",
        "integer softmax by table, rounded",
        s.SOFTMAX,
        (rules.INPUT, rules.LAST_AXIS, rules.TABLE),
        attention.softmax,
    ),
    Pattern(
        "softmax_floor",
        "integer softmax by table, rounded down",
        s.SOFTMAX_FLOOR,
        (rules.INPUT, rules.LAST_AXIS, rules.TABLE),
        attention.softmax,
    ),
    Pattern(
        "shift_softmax",
        "softmax in powers of two",
        s.SHIFT_SOFTMAX,
        (rules.INPUT, rules.GROUP, rules.NUMERATOR),
        attention.shift_softmax,
    ),
    Pattern(
        "conv2d",
        "convolution with requantisation",
        s.CONV,
        (
            rules.INPUT,
            rules.WEIGHTS,
            window_rules.IMAGE,
            window_rules.ONE_GROUP,
            window_rules.CONV_ZERO_POINTS,
            window_rules.PLAIN_PAD,
            rules.DIVISOR,
            rules.WEIGHTED,
        ),
        windows.conv2d,
    ),
    Pattern(
        "maxpool2d",
        "maximum pooling",
        s.MAXPOOL,
        (rules.INPUT, window_rules.IMAGE, window_rules.ONE_RESULT),
        windows.maxpool2d,
    ),
)
