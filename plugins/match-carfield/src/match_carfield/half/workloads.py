"""Turns matches into workloads: loop dimensions and positions of operands. Elements are binary16.

Channels come in pairs (``PAIR``): SIMD kernels of the cluster process two at a time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from match_core import Axis, Dim, Match, Operand, Workload
from match_core.patterns.rules_tensors import turned_matrix
from match_core.patterns.windows import window_of
from match_core.patterns.workloads import Kernels, Numbers, Scratch, axis, steps, turned, whole

from match_carfield.half.products import factor_bits, product_of

#: Bits of an element.
HALF = 16
#: Elements of a word.
PAIR = 2

_KERNELS = Kernels(bits=HALF, parameters=(("mul", HALF), ("add", HALF)), channels=PAIR)


def _relu(match: Match) -> Numbers:
    return (("relu", int(match.has("relu"))),)


def conv(match: Match) -> Workload:
    """A convolution with one group: OY, OX, K, C, FY, FX."""
    out_channels, in_channels, fy, fx = match.shape("weight")
    weight = (Axis("tap", fy * fx * in_channels), axis("k", out_channels))
    return _KERNELS.convolution(match, "half_conv2d", weight, (*steps(match), *_relu(match)))


def depthwise(match: Match) -> Workload:
    """A convolution of each channel: OY, OX, K, FY, FX."""
    channels, _, fy, fx = match.shape("weight")
    weight = (Axis("tap", fy * fx), axis("k", channels))
    return _KERNELS.depthwise(match, "half_depthwise2d", weight, (*steps(match), *_relu(match)))


def group(match: Match) -> Workload:
    """A convolution in groups: OY, OX, G, KG, CG, FY, FX. A group's channels stay together."""
    out_channels, in_channels, fy, fx = match.shape("weight")
    groups = window_of(match).group
    each = out_channels // groups
    g, kg = axis("g", groups), axis("kg", each)
    dims = (Dim("G", groups), Dim("KG", each, granularity=PAIR), whole("CG", in_channels))
    axes = ((g, axis("cg", in_channels)), (g, Axis("tap", fy * fx * in_channels), kg), (g, kg))
    return _KERNELS.spatial(match, "half_group2d", dims, axes, (*steps(match), *_relu(match)))


def linear(match: Match) -> Workload:
    """A dense layer: N rows of C inputs, K outputs each."""
    weight = (axis("c", match.shape("input")[-1]), axis("k", int(match.output.shape[-1])))
    return _KERNELS.dense(match, "half_linear", weight, _relu(match))


def undivided_linear(match: Match) -> Workload:
    """A dense layer that is neither tiled nor shared among units."""
    workload = linear(match)
    return replace(workload, dims=tuple(whole(dim.name, dim.size) for dim in workload.dims))


def matmul(match: Match) -> Workload:
    """A product of two computed tensors: B, M, K, C. Kernels turn a transposed right side in scratch first."""
    product = product_of(match)
    assert product is not None  # a rule says so
    axes = {
        "B": axis("b", product.b),
        "M": axis("m", product.m),
        "K": axis("k", product.k),
        "C": axis("c", product.c),
    }
    dims = (
        Dim("B", product.b),
        Dim("M", product.m),
        Dim("K", product.k, granularity=PAIR),
        whole("C", product.c),
    )
    geometry = (
        ("a_between", int(product.a_order == "MBC")),
        ("b_between", int(product.b_order in ("CBK", "KBC"))),
        ("b_transposed", int(product.b_order in ("BKC", "KBC"))),
        ("output_between", int(product.output_order == "MBK")),
        ("scale_bits", factor_bits(match)),
    )
    operands = (
        Operand("left", "input", tuple(axes[dim] for dim in product.a_order), HALF),
        Operand("right", "input", tuple(axes[dim] for dim in product.b_order), HALF),
        Operand("output", "output", tuple(axes[dim] for dim in product.output_order), HALF),
    )
    scratch: Scratch = ((("B", "K", "C"), HALF // 8),) if dict(geometry)["b_transposed"] else ()
    return Workload("half_matmul", dims, operands, product.b * product.m * product.k * product.c, geometry, scratch)


def add(match: Match) -> Workload:
    """The sum of two tensors of one shape: Y, X, C."""
    return _KERNELS.elements(match, "half_add", ("input_a", "input_b"), _relu(match))


def gelu(match: Match) -> Workload:
    """A function of each element: Y, X, C."""
    return _KERNELS.elements(match, "half_gelu", ("input",))


def pool(match: Match) -> Workload:
    """The mean or the largest of each window: OY, OX, C, FY, FX."""
    fy, fx = window_of(match).kernel
    average = match.node("pool").op != "MaxPool"
    scale = np.float16(1.0 / (fy * fx) if average else 1.0)
    numbers = (("average", int(average)), ("scale_bits", int(scale.view(np.uint16))))
    return _KERNELS.pooling(match, "half_pool2d", (*steps(match)[:2], *numbers))


def softmax(match: Match) -> Workload:
    """Softmax of each row: R, C."""
    return _KERNELS.rows(match, "half_softmax")


def layernorm(match: Match) -> Workload:
    """Normalisation of each row: R, C."""
    c = axis("c", match.shape("input")[-1])
    constants = tuple(Operand(name, "constant", (c,), HALF) for name in ("scale", "bias"))
    epsilon = np.float32(epsilon_of(match))
    return _KERNELS.rows(match, "half_layernorm", constants, (("epsilon_bits", int(epsilon.view(np.int32))),))


def epsilon_of(match: Match) -> float:
    """The epsilon that a normalisation adds to the variance."""
    return float(match.node("norm").attrs.get("epsilon", 1e-5))


def transpose(match: Match) -> Workload:
    """A transposed matrix: R, C."""
    size = turned_matrix(match)
    assert size is not None  # a rule says so
    return turned(size, "half_transpose", HALF)
