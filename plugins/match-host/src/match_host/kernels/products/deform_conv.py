"""DeformConv: convolution whose taps are moved by offsets that the model computes (Dai et al., Deformable convolutional
networks, 2017; with a mask: Zhu et al., 2019).

For each position of the result the moved taps are read once into scratch, and all output channels multiply them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.element_types import c_type
from match_core.ir.reader import optional_input, shape_of

from match_host.graph import dtype_of, elements, integer, integers
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, literal
from match_host.kernels.nest import row_major
from match_host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, stored
from match_host.kernels.single import names_of, single
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import numpy as np
    import onnx_graphsurgeon as gs

DATA, WEIGHT, OFFSET, BIAS, MASK = range(5)


def build_deform_conv(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """DeformConv in two dimensions with groups, groups of offsets, bias and mask."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, out, weight = shape_of(node.inputs[DATA]), shape_of(node.outputs[0]), shape_of(node.inputs[WEIGHT])
    dtype, groups = dtype_of(node.inputs[DATA]), integer(node, "group", 1)
    own, outputs = arithmetic(dtype), out[1] // groups
    kind, used = scalar_type(own), (DATA, WEIGHT, OFFSET, BIAS, MASK)
    names, steps = names_of(node, used), row_major(out)
    products = elements(weight[1:])
    code.line(f"{kind} *const taps = scratch;")
    with code.loops([("n", out[0]), ("y", out[2]), ("x", out[3])]) as (n, y, x):
        _write_samples(node, names, (n, y, x), code, uses)
        with code.loops([("g", groups), ("o", outputs)]) as (g, o):
            channel = affine([(g, outputs), (o, 1)])
            bias = (
                loaded(f"{names[BIAS]}[{channel}]", dtype)
                if optional_input(node, BIAS) is not None
                else literal(0, own)
            )
            code.line(f"{kind} sum = {bias};")
            with code.loop("k", products) as k:
                place = affine([(g, outputs * products), (o, products), (k, 1)])
                code.line(f"sum += taps[{affine([(g, products), (k, 1)])}] * {loaded(f'in1[{place}]', dtype)};")
            target = affine([(n, steps[0]), (g, outputs * steps[1]), (o, steps[1]), (y, steps[2]), (x, 1)])
            code.line(f"out0[{target}] = {stored('sum', dtype)};")
    samples = out[0] * elements(out[2:]) * shape[1] * elements(weight[2:])
    work = (Work(memory=8, floating=16, steps=1) + moved_halves(dtype, 5)).times(samples)
    work += Work(floating_macs=elements(out) * products) + moved_halves(dtype, elements(out) * products)
    scratch = shape[1] * elements(weight[2:]) * own.itemsize
    return single(node, function, code.text, uses, work, used, scratch)


def _write_samples(node: gs.Node, names: dict[int, str], place: tuple[str, str, str], code: Code, uses: Uses) -> None:
    """C that fills ``taps`` as [channel][row][column] for a position of the result."""
    shape, out, weight = shape_of(node.inputs[DATA]), shape_of(node.outputs[0]), shape_of(node.inputs[WEIGHT])
    dtype, own = dtype_of(node.inputs[DATA]), arithmetic(dtype_of(node.inputs[DATA]))
    kind, (n, y, x), (rows, columns) = scalar_type(own), place, weight[2:]
    strides, dilations = integers(node, "strides", (1, 1)), integers(node, "dilations", (1, 1))
    pads, moved = integers(node, "pads", (0, 0, 0, 0)), integer(node, "offset_group", 1)
    plane, per_group, sampler = elements(out[2:]), shape[1] // moved, _sampler(dtype, uses)
    with code.loops([("d", moved), ("i", rows), ("j", columns)]) as (d, i, j):
        tap = [(d, rows * columns), (i, columns), (j, 1)]
        spot = [(y, out[3]), (x, 1)]
        offset = [(n, 2 * moved * rows * columns * plane), *((name, 2 * step * plane) for name, step in tap), *spot]
        base = (
            affine([(y, strides[0]), (i, dilations[0])], -pads[0]),
            affine([(x, strides[1]), (j, dilations[1])], -pads[1]),
        )
        for name, start, shift in (("v", base[0], 0), ("u", base[1], plane)):
            given = loaded(f"{names[OFFSET]}[{affine(offset, shift)}]", dtype)
            code.line(f"const {kind} {name} = ({kind})({start}) + {given};")
        scale = ""
        if MASK in names:
            at = affine([(n, moved * rows * columns * plane), *((name, step * plane) for name, step in tap), *spot])
            code.line(f"const {kind} scale = {loaded(f'{names[MASK]}[{at}]', dtype)};")
            scale = "scale * "
        with code.loop("c", per_group) as c:
            channel = [(d, per_group), (c, 1)]
            image = affine([(n, elements(shape[1:])), *((name, step * elements(shape[2:])) for name, step in channel)])
            target = affine([*((name, step * rows * columns) for name, step in channel), (i, columns), (j, 1)])
            code.line(f"taps[{target}] = {scale}{sampler}(&in0[{image}], {shape[2]}, {shape[3]}, v, u);")


def _sampler(dtype: np.dtype[np.generic], uses: Uses) -> str:
    """The name of the function that interpolates in a plane."""
    own = arithmetic(dtype)
    kind, zero, one, name = scalar_type(own), literal(0, own), literal(1, own), f"host_between_{dtype.name}"
    suffix = "f" if own.itemsize == 4 else ""
    uses.include("math.h")
    value = loaded("plane[row * width + column]", dtype)
    uses.helper(
        name,
        "/* A plane at row v and column u, between four elements; those outside are zeros. */\n"
        f"static inline {kind} {name}(const {c_type(dtype)} *plane, int32_t height, int32_t width, "
        f"{kind} v, {kind} u)\n{{\n"
        f"    if (!(v > -{one} && v < ({kind})height && u > -{one} && u < ({kind})width)) {{\n"
        f"        return {zero};\n    }}\n"
        f"    const {kind} top = floor{suffix}(v), left = floor{suffix}(u);\n"
        f"    {kind} sum = {zero};\n"
        "    for (int32_t k = 0; k < 4; k++) {\n"
        "        const int32_t row = (int32_t)top + k / 2, column = (int32_t)left + k % 2;\n"
        f"        const {kind} down = k / 2 == 0 ? top + {one} - v : v - top;\n"
        f"        const {kind} right = k % 2 == 0 ? left + {one} - u : u - left;\n"
        "        if (row >= 0 && row < height && column >= 0 && column < width) {\n"
        f"            sum += down * right * {value};\n        }}\n    }}\n    return sum;\n}}\n",
    )
    return name
