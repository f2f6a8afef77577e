"""What ITA can run."""

from __future__ import annotations

from match_core import Pattern

from match_ita import ita_attention_rules as attention_rules
from match_ita import ita_rules as rules
from match_ita import ita_structures as s
from match_ita import ita_workloads as w

_LINEAR = (
    rules.TYPES,
    rules.ZERO_POINTS,
    rules.MATRIX,
    rules.LINEAR_BLOCKS,
    rules.SUM_LENGTH,
    rules.LINEAR_REQUANT,
    rules.ACCUMULATOR,
)

ITA_PATTERNS = (
    Pattern(
        "ita_linear",
        "linear layer with requantisation, ReLU or GELU",
        s.LINEAR,
        (*_LINEAR, rules.LINEAR_BOUNDS, rules.GELU),
        w.linear,
    ),
    Pattern(
        "ita_linear_part",
        "linear layer of some rows or columns, which need not be copied",
        s.LINEAR_PART,
        (*_LINEAR, rules.PART, rules.LINEAR_BOUNDS, rules.GELU),
        w.linear,
    ),
    Pattern(
        "ita_linear_turned",
        "linear layer whose result is turned and filled up with zeros, for values of an attention",
        s.LINEAR_TURNED,
        (*_LINEAR, rules.BOUNDS, rules.TURNED, rules.TURNED_PAD),
        w.linear_turned,
    ),
    Pattern(
        "ita_attention",
        "attention of all heads between the linear layers: logits, softmax, products with the values",
        s.ATTENTION,
        (
            rules.TYPES,
            attention_rules.HEADS,
            attention_rules.TILES,
            attention_rules.SOFTMAX,
            attention_rules.ATTENTION_REQUANT,
            attention_rules.MASKED,
            attention_rules.ATTENTION_ACCUMULATOR,
        ),
        w.attention,
    ),
    Pattern(
        "ita_matmul",
        "product of two activations, the second one turned, with requantisation",
        s.MATMUL,
        (
            rules.TYPES,
            rules.ZERO_POINTS,
            rules.MATMUL_BLOCKS,
            rules.SUM_LENGTH,
            rules.PRODUCT_REQUANT,
            rules.BOUNDS,
        ),
        w.matmul,
    ),
)
