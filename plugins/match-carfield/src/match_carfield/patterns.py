"""What the two clusters can run. Both have the same patterns in binary16; RedMulE, a part of the PULP cluster, adds
variants of the products, and the cluster has kernels in 8 bits."""

from __future__ import annotations

from dataclasses import replace

from match_core import Constraint, Pattern

from match_carfield import rules
from match_carfield import structures as s
from match_carfield import workloads as w
from match_carfield.int8_patterns import INT8_PATTERNS

_CHANGED = (rules.BIAS, rules.PER_CHANNEL, rules.NO_RECIPROCAL, rules.RANGE)
_CONV = (rules.HALF, rules.SIZES, rules.EXPLICIT, *_CHANGED)
_DENSE = (rules.HALF, rules.SIZES, rules.MATRIX, rules.PLAIN_INPUT, *_CHANGED)
_MATMUL = (rules.HALF, rules.SIZES, rules.READABLE, rules.FACTOR)


#: Patterns of both units.
HALF_PATTERNS = (
    Pattern(
        "conv2d",
        "convolution with multiply-add per channel and ReLU",
        s.CONV,
        (*_CONV, rules.ONE_GROUP),
        w.conv,
    ),
    Pattern(
        "depthwise2d",
        "depthwise convolution with multiply-add per channel and ReLU",
        s.CONV,
        (*_CONV, rules.DEPTHWISE),
        w.depthwise,
    ),
    Pattern(
        "group2d",
        "grouped convolution with multiply-add per channel and ReLU",
        s.CONV,
        (*_CONV, rules.GROUPED),
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
    Pattern("add", "element-wise sum and ReLU", s.ADD, (rules.HALF, rules.SAME_SHAPES), w.add),
    Pattern(
        "pool2d",
        "mean or maximum of windows",
        s.POOL,
        (rules.HALF, rules.SIZES, rules.EXPLICIT, rules.POOL_WINDOW, rules.SAME_COUNT),
        w.pool,
    ),
    Pattern("softmax", "softmax of rows", s.SOFTMAX, (rules.HALF, rules.LAST_AXIS), w.softmax),
    Pattern(
        "layernorm",
        "layer normalisation of rows",
        s.LAYERNORM,
        (rules.HALF, rules.LAST_AXIS, rules.CONSTANT_BIAS, rules.ROW_PARAMETERS),
        w.layernorm,
    ),
    Pattern("gelu", "GELU with the error function", s.GELU, (rules.HALF, rules.EXACT_GELU), w.gelu),
    Pattern(
        "transpose",
        "layout change between NCHW and NHWC",
        s.TRANSPOSE,
        (rules.HALF, rules.MOVES_BLOCK),
        w.transpose,
    ),
)


def _on_redmule(name: str, *constraints: Constraint) -> Pattern:
    """A pattern of both units with its product on RedMulE, the rest on the cores."""
    plain = next(pattern for pattern in HALF_PATTERNS if pattern.name == name)
    description = f"{plain.description}; the product on RedMulE"
    whole = (*plain.constraints, rules.WHOLE_COLUMNS, *constraints)
    return replace(plain, name=f"redmule_{name}", description=description, constraints=whole)


REDMULE_PATTERNS = (
    _on_redmule("conv2d", rules.UNIT_COLUMNS),
    _on_redmule("linear"),
    _on_redmule("matmul", rules.DENSE_ROWS),
)

PULP_PATTERNS = (*HALF_PATTERNS, *REDMULE_PATTERNS, *INT8_PATTERNS)
SPATZ_PATTERNS = HALF_PATTERNS
