"""How matches become workloads: loop dimensions and where operands lie. Elements are binary16.

Channels come in pairs (``PAIR``): kernels of the cluster with SIMD work on two at once.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from match_core import Axis, Dim, Match, Operand, Workload

from match_carfield.products import factor_bits, product_of
from match_carfield.windows import dilations, kernel, pads, strides

#: Bits of an element.
HALF = 16
#: Elements of a word.
PAIR = 2

Scratch = tuple[tuple[tuple[str, ...], int], ...]
Builder = Callable[[Match], Workload]


def _axis(name: str, size: int) -> Axis:
    """An axis that one dimension of the same name runs over."""
    return Axis(name, size, ((name.upper(), 1),))


def _window_axes(match: Match) -> tuple[Axis, Axis]:
    """y and x of the input of a spatial operator."""
    _, height, width, _ = match.shape("input")
    (stride_y, stride_x), (dilation_y, dilation_x) = strides(match), dilations(match)
    top, left, _, _ = pads(match)
    return (
        Axis("y", height, (("OY", stride_y), ("FY", dilation_y)), top),
        Axis("x", width, (("OX", stride_x), ("FX", dilation_x)), left),
    )


def _geometry(match: Match) -> tuple[tuple[str, int], ...]:
    (stride_y, stride_x), (dilation_y, dilation_x) = strides(match), dilations(match)
    return (
        ("stride_y", stride_y),
        ("stride_x", stride_x),
        ("dilation_y", dilation_y),
        ("dilation_x", dilation_x),
        ("relu", int(match.has("relu"))),
    )


def _spatial(
    match: Match,
    channels: tuple[Dim, ...],
    inputs: tuple[Axis, ...],
    weight: tuple[Axis, ...],
    outputs: tuple[Axis, ...],
) -> tuple[tuple[Dim, ...], tuple[Operand, ...]]:
    """Dimensions and operands of a convolution of any kind. ``channels``: its dimensions between the output's columns
    and the kernel's rows; ``inputs``, ``outputs``: axes of input and output channels; ``weight``: those of the weights.
    """
    _, oy, ox, _ = (int(size) for size in match.output.shape)
    fy, fx = kernel(match)
    rows, columns = Axis("y", oy, (("OY", 1),)), Axis("x", ox, (("OX", 1),))
    window = (Dim("FY", fy, tileable=False), Dim("FX", fx, tileable=False))
    dims = (Dim("OY", oy), Dim("OX", ox), *channels, *window)
    operands = (
        Operand("input", "input", (*_window_axes(match), *inputs), HALF),
        Operand("weight", "constant", weight, HALF),
        Operand("mul", "constant", outputs, HALF),
        Operand("add", "constant", outputs, HALF),
        Operand("output", "output", (rows, columns, *outputs), HALF),
    )
    return dims, operands


def _macs(dims: tuple[Dim, ...]) -> int:
    return prod(dim.size for dim in dims)


def conv(match: Match) -> Workload:
    """A convolution with one group: OY, OX, K, C, FY, FX."""
    out_channels, in_channels, fy, fx = match.shape("weight")
    dims, operands = _spatial(
        match,
        (Dim("K", out_channels, granularity=PAIR), Dim("C", in_channels, tileable=False)),
        (_axis("c", in_channels),),
        (Axis("tap", fy * fx * in_channels), _axis("k", out_channels)),
        (_axis("k", out_channels),),
    )
    return Workload("half_conv2d", dims, operands, _macs(dims), _geometry(match))


def depthwise(match: Match) -> Workload:
    """A convolution of each channel: OY, OX, K, FY, FX."""
    channels, _, fy, fx = match.shape("weight")
    k = _axis("k", channels)
    dims, operands = _spatial(match, (Dim("K", channels, granularity=PAIR),), (k,), (Axis("tap", fy * fx), k), (k,))
    return Workload("half_depthwise2d", dims, operands, _macs(dims), _geometry(match))


def group(match: Match) -> Workload:
    """A convolution in groups: OY, OX, G, KG, CG, FY, FX. A group's channels stay together."""
    out_channels, in_channels, fy, fx = match.shape("weight")
    groups = int(match.node("conv").attrs["group"])
    each = out_channels // groups
    g, kg = _axis("g", groups), _axis("kg", each)
    dims, operands = _spatial(
        match,
        (Dim("G", groups), Dim("KG", each, granularity=PAIR), Dim("CG", in_channels, tileable=False)),
        (g, _axis("cg", in_channels)),
        (g, Axis("tap", fy * fx * in_channels), kg),
        (g, kg),
    )
    return Workload("half_group2d", dims, operands, _macs(dims), _geometry(match))


def linear(match: Match) -> Workload:
    """A dense layer: N rows of C inputs, K outputs each."""
    out_features, in_features = (int(match.output.shape[-1]), match.shape("input")[-1])
    rows = prod(match.shape("input")) // in_features
    n, k, c = _axis("n", rows), _axis("k", out_features), _axis("c", in_features)
    dims = (Dim("N", rows), Dim("K", out_features, granularity=PAIR), Dim("C", in_features, tileable=False))
    operands = (
        Operand("input", "input", (n, c), HALF),
        Operand("weight", "constant", (c, k), HALF),
        Operand("mul", "constant", (k,), HALF),
        Operand("add", "constant", (k,), HALF),
        Operand("output", "output", (n, k), HALF),
    )
    return Workload("half_linear", dims, operands, _macs(dims), (("relu", int(match.has("relu"))),))


def matmul(match: Match) -> Workload:
    """A product of two computed tensors: B, M, K, C. Kernels turn a transposed right side in scratch first."""
    product = product_of(match)
    assert product is not None  # a rule says so
    axes = {
        "B": _axis("b", product.b),
        "M": _axis("m", product.m),
        "K": _axis("k", product.k),
        "C": _axis("c", product.c),
    }
    dims = (
        Dim("B", product.b),
        Dim("M", product.m),
        Dim("K", product.k, granularity=PAIR),
        Dim("C", product.c, tileable=False),
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
    return Workload("half_matmul", dims, operands, _macs(dims), geometry, scratch)


def _elements(match: Match) -> tuple[tuple[Dim, ...], tuple[Axis, ...]]:
    """The last three axes of the output (missing ones are 1; what stands before them joins the first)."""
    shape = [int(size) for size in match.output.shape]
    y, x, c = (prod(shape[:-2]), *([1, 1, *shape][-2:]))
    axes = (_axis("y", y), _axis("x", x), _axis("c", c))
    return (Dim("Y", y), Dim("X", x), Dim("C", c, granularity=PAIR)), axes


def add(match: Match) -> Workload:
    """The sum of two tensors of one shape: Y, X, C."""
    dims, axes = _elements(match)
    operands = (
        Operand("input_a", "input", axes, HALF),
        Operand("input_b", "input", axes, HALF),
        Operand("output", "output", axes, HALF),
    )
    return Workload("half_add", dims, operands, 0, (("relu", int(match.has("relu"))),))


def gelu(match: Match) -> Workload:
    """A function of each element: Y, X, C."""
    dims, axes = _elements(match)
    operands = (Operand("input", "input", axes, HALF), Operand("output", "output", axes, HALF))
    return Workload("half_gelu", dims, operands, 0)


def pool(match: Match) -> Workload:
    """The mean or the largest of each window: OY, OX, C, FY, FX."""
    _, oy, ox, channels = (int(size) for size in match.output.shape)
    fy, fx = kernel(match)
    c = _axis("c", channels)
    average = match.node("pool").op != "MaxPool"
    scale = np.float16(1.0 / (fy * fx) if average else 1.0)
    step = strides(match)
    return Workload(
        "half_pool2d",
        (
            Dim("OY", oy),
            Dim("OX", ox),
            Dim("C", channels, granularity=PAIR),
            Dim("FY", fy, tileable=False),
            Dim("FX", fx, tileable=False),
        ),
        (
            Operand("input", "input", (*_window_axes(match), c), HALF),
            Operand("output", "output", (Axis("y", oy, (("OY", 1),)), Axis("x", ox, (("OX", 1),)), c), HALF),
        ),
        0,
        (
            ("stride_y", step[0]),
            ("stride_x", step[1]),
            ("average", int(average)),
            ("scale_bits", int(scale.view(np.uint16))),
        ),
    )


def _rows(match: Match) -> tuple[Axis, Axis, tuple[Dim, Dim]]:
    """Rows of the last axis, which kernels need whole."""
    columns = match.shape("input")[-1]
    rows = prod(match.shape("input")) // columns
    return _axis("r", rows), _axis("c", columns), (Dim("R", rows), Dim("C", columns, tileable=False))


def softmax(match: Match) -> Workload:
    """Softmax of each row: R, C."""
    r, c, dims = _rows(match)
    operands = (Operand("input", "input", (r, c), HALF), Operand("output", "output", (r, c), HALF))
    return Workload("half_softmax", dims, operands, 0)


def layernorm(match: Match) -> Workload:
    """Normalisation of each row: R, C."""
    r, c, dims = _rows(match)
    operands = (
        Operand("input", "input", (r, c), HALF),
        Operand("scale", "constant", (c,), HALF),
        Operand("bias", "constant", (c,), HALF),
        Operand("output", "output", (r, c), HALF),
    )
    epsilon = np.float32(epsilon_of(match))
    return Workload("half_layernorm", dims, operands, 0, (("epsilon_bits", int(epsilon.view(np.int32))),))


def epsilon_of(match: Match) -> float:
    """What a normalisation adds to the variance."""
    return float(match.node("norm").attrs.get("epsilon", 1e-5))


def transpose(match: Match) -> Workload:
    """A matrix turned: R, C."""
    shape = matrix(match)
    assert shape is not None  # a rule says so
    r, c = _axis("r", shape[0]), _axis("c", shape[1])
    operands = (Operand("input", "input", (r, c), HALF), Operand("output", "output", (c, r), HALF))
    return Workload("half_transpose", (Dim("R", shape[0]), Dim("C", shape[1])), operands, 0)


def matrix(match: Match) -> tuple[int, int] | None:
    """Rows and columns if a permutation turns a matrix: one block of axes moves past the rest."""
    shape = match.shape("input")
    order = [int(axis) for axis in match.node("transpose").attrs["perm"] if shape[int(axis)] > 1]
    kept = sorted(order)
    for cut in range(1, len(kept)):
        if order == kept[cut:] + kept[:cut]:
            return prod(shape[axis] for axis in kept[:cut]), prod(shape[axis] for axis in kept[cut:])
    return None
