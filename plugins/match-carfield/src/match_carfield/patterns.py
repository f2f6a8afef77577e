"""The patterns of the two clusters. Both have the same patterns in binary16; RedMulE, a part of the PULP cluster, adds
variants of the products, and the cluster has kernels in 8 bits."""

from __future__ import annotations

from dataclasses import replace

from match_core import Constraint, Pattern
from match_core.patterns import rules_tensors as tensors
from match_core.patterns import windows

from match_carfield.half import rules
from match_carfield.half import structures as s
from match_carfield.half import workloads as w
from match_carfield.int8.patterns import INT8_PATTERNS

_CHANGED = (rules.bias, rules.per_channel, rules.no_reciprocal, rules.in_range)
_SIZED = (rules.half, tensors.sizes_in_16_bits)
_CONV = (*_SIZED, windows.explicit_padding.on("conv"), *_CHANGED)
_DENSE = (*_SIZED, tensors.matrix_weights, rules.plain_input, *_CHANGED)
_MATMUL = (*_SIZED, rules.readable, rules.factor)


#: Patterns of both units.
HALF_PATTERNS = (
    Pattern(
        "conv2d",
        "convolution with multiply-add per channel and ReLU",
        s.CONV,
        (*_CONV, windows.one_group),
        w.conv,
    ),
    Pattern(
        "depthwise2d",
        "depthwise convolution with multiply-add per channel and ReLU",
        s.CONV,
        (*_CONV, windows.depthwise),
        w.depthwise,
    ),
    Pattern(
        "group2d",
        "grouped convolution with multiply-add per channel and ReLU",
        s.CONV,
        (*_CONV, rules.grouped),
        w.group,
    ),
    Pattern(
        "linear",
        "dense layer with multiply-add per channel and ReLU",
        s.DENSE,
        _DENSE,
        w.linear,
    ),
    Pattern(
        "matmul",
        "product of two computed tensors, with a factor and the permutations around it",
        s.MATMUL,
        _MATMUL,
        w.matmul,
    ),
    Pattern("add", "element-wise sum and ReLU", s.ADD, (rules.half, tensors.same_shapes), w.add),
    Pattern(
        "pool2d",
        "mean or maximum of windows",
        s.POOL,
        (
            rules.half,
            tensors.sizes_in_16_bits,
            windows.explicit_padding.on("pool"),
            windows.window_in_input,
            rules.same_count,
        ),
        w.pool,
    ),
    Pattern("softmax", "softmax of rows", s.SOFTMAX, (rules.half, tensors.last_axis), w.softmax),
    Pattern(
        "layernorm",
        "layer normalisation of rows",
        s.LAYERNORM,
        (rules.half, tensors.last_axis, rules.constant_bias, rules.row_parameters),
        w.layernorm,
    ),
    Pattern("gelu", "GELU with the error function", s.GELU, (rules.half, rules.exact_gelu), w.gelu),
    Pattern(
        "transpose",
        "layout change between NCHW and NHWC",
        s.TRANSPOSE,
        (rules.half, tensors.turns_matrix),
        w.transpose,
    ),
)


def _on_redmule(name: str, *constraints: Constraint) -> Pattern:
    """A pattern of both units with its product on RedMulE, the rest on the cores."""
    plain = next(pattern for pattern in HALF_PATTERNS if pattern.name == name)
    description = f"{plain.description}; the product on RedMulE"
    whole = (*plain.constraints, rules.whole_columns, *constraints)
    return replace(plain, name=f"redmule_{name}", description=description, constraints=whole)


REDMULE_PATTERNS = (
    _on_redmule("conv2d", rules.unit_columns),
    _on_redmule("linear"),
    _on_redmule("matmul", rules.dense_rows),
)

#: RedMulE as MATCHA's firmware uses it: for one size of a dense layer, whole.
FIRMWARE_PATTERNS = (replace(_on_redmule("linear", rules.firmware_sizes), workload=w.undivided_linear),)

PULP_PATTERNS = (*HALF_PATTERNS, *REDMULE_PATTERNS, *INT8_PATTERNS)
PULP_FIRMWARE_PATTERNS = (*HALF_PATTERNS, *FIRMWARE_PATTERNS, *INT8_PATTERNS)
SPATZ_PATTERNS = HALF_PATTERNS
