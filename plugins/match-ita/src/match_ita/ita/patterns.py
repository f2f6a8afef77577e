"""ITA's patterns."""

from __future__ import annotations

from match_core import Pattern
from match_core.patterns import rules_tensors as tensors

from match_ita.ita import attention_rules, rules
from match_ita.ita import structures as s
from match_ita.ita import workloads as w

_LINEAR = (
    tensors.int8_tensors,
    tensors.no_zero_points,
    tensors.matrix_weights,
    rules.linear_blocks,
    rules.sum_length,
    rules.linear_requant,
    rules.accumulator,
)

ITA_PATTERNS = (
    Pattern(
        "ita_linear",
        "linear layer with requantisation, ReLU or GELU",
        s.LINEAR,
        (*_LINEAR, rules.linear_bounds, rules.gelu),
        w.linear,
    ),
    Pattern(
        "ita_linear_part",
        "linear layer of some rows or columns, which need not be copied",
        s.LINEAR_PART,
        (*_LINEAR, rules.part, rules.linear_bounds, rules.gelu),
        w.linear,
    ),
    Pattern(
        "ita_linear_turned",
        "linear layer whose result is turned and filled up with zeros, for values of an attention",
        s.LINEAR_TURNED,
        (*_LINEAR, rules.bounds, rules.turned, rules.turned_pad),
        w.linear_turned,
    ),
    Pattern(
        "ita_attention",
        "attention of all heads between the linear layers: logits, softmax, products with the values",
        s.ATTENTION,
        (
            tensors.int8_tensors,
            attention_rules.heads,
            attention_rules.tiles,
            attention_rules.softmax,
            attention_rules.attention_requant,
            attention_rules.masked,
            attention_rules.attention_accumulator,
        ),
        w.attention,
    ),
    Pattern(
        "ita_matmul",
        "product of two activations, the second one turned, with requantisation",
        s.MATMUL,
        (
            tensors.int8_tensors,
            tensors.no_zero_points,
            rules.matmul_blocks,
            rules.sum_length,
            rules.product_requant,
            rules.bounds,
        ),
        w.matmul,
    ),
)
