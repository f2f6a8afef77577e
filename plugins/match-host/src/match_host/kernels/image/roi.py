"""RoiAlign and MaxRoiPool: regions of feature maps, given at run time, resampled to one size.

For any regions, no access leaves the feature map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.element_types import c_type
from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements, integer, integers, number, text
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, literal
from match_host.kernels.movement.indexed import place
from match_host.kernels.nest import row_major
from match_host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, stored
from match_host.kernels.single import single
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import numpy as np
    import onnx_graphsurgeon as gs

#: Most samples along a side of a cell, as many as large feature maps have elements (an estimate): a region of any size
#: ends soon.
MOST_SAMPLES = 1024


def build_roi_align(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """RoiAlign: samples between elements, averaged or their largest weighted neighbour. Each cell of a region uses
    ``sampling_ratio`` samples along a side, or one per covered element."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, out, dtype = shape_of(node.inputs[0]), shape_of(node.outputs[0]), dtype_of(node.inputs[0])
    own = arithmetic(dtype)
    kind = scalar_type(own)
    strides, results = row_major(shape), row_major(out)
    average = text(node, "mode", "avg").lower() == "avg"
    sample = _sample_helper(own, dtype, average, uses)
    with code.loop("r", out[0]) as r:
        code.line(f"const int32_t image = {place(uses, f'in2[{r or 0}]', shape[0])};")
        _write_region(node, r, own, code, uses)
        with code.loops([("c", out[1]), ("y", out[2]), ("x", out[3])]) as (c, y, x):
            code.line(f"const {c_type(dtype)} *const map = &in0[{affine([('image', strides[0]), (c, strides[1])])}];")
            code.line(f"{kind} result = {literal(0, own)};")
            with code.block("for (int32_t i = 0; i < rows; i++)"):
                code.line(f"const {kind} v = {_position('top', y, 'high', 'i', 'rows', own)};")
                with code.block("for (int32_t j = 0; j < columns; j++)"):
                    code.line(f"const {kind} u = {_position('left', x, 'wide', 'j', 'columns', own)};")
                    code.line(f"const {kind} value = {sample}(map, {shape[2]}, {shape[3]}, v, u);")
                    if average:
                        code.line("result += value;")
                    else:
                        code.line("result = (i == 0 && j == 0) || value > result ? value : result;")
            target = affine([(r, results[0]), (c, results[1]), (y, results[2]), (x, 1)])
            value = f"result / ({kind})(rows * columns > 1 ? rows * columns : 1)" if average else "result"
            code.line(f"out0[{target}] = {stored(value, dtype)};")
    per_sample = Work(memory=4, floating=24, steps=1) + moved_halves(dtype, 4)
    samples = max(1, integer(node, "sampling_ratio", 0)) ** 2
    return single(node, function, code.text, uses, per_sample.times(elements(out) * samples), (0, 1, 2))


def _position(first: str, cell: str, size: str, sample: str, samples: str, own: np.dtype[np.generic]) -> str:
    kind, half = scalar_type(own), literal(0.5, own)
    begin = f"{first} + ({kind}){cell} * {size}" if cell else first
    return f"{begin} + (({kind}){sample} + {half}) * {size} / ({kind}){samples}"


def _write_region(node: gs.Node, r: str, own: np.dtype[np.generic], code: Code, uses: Uses) -> None:
    """Declare the start of region ``r``, the size of its cells, and the number of samples per cell."""
    kind, dtype, (_, _, height, width) = scalar_type(own), dtype_of(node.inputs[1]), shape_of(node.outputs[0])
    half_pixel = text(node, "coordinate_transformation_mode", "half_pixel").lower() == "half_pixel"
    scale, ratio = number(node, "spatial_scale", 1.0), integer(node, "sampling_ratio", 0)
    offset = f" - {literal(0.5, own)}" if half_pixel else ""

    def corner(index: int) -> str:
        return f"{loaded(f'in1[{affine([(r, 4)], index)}]', dtype)} * {literal(scale, own)}{offset}"

    for name, index in (("left", 0), ("top", 1), ("right", 2), ("bottom", 3)):
        code.line(f"const {kind} {name} = {corner(index)};")
    one = literal(1, own)
    for size, first, last, cells in (("high", "top", "bottom", height), ("wide", "left", "right", width)):
        whole = f"{last} - {first}"
        whole = f"({whole})" if half_pixel else f"({whole} > {one} ? {whole} : {one})"  # at least one element
        code.line(f"const {kind} {size} = {whole} / {literal(cells, own)};")
    for count, size in (("rows", "high"), ("columns", "wide")):
        code.line(f"const int32_t {count} = {ratio if ratio > 0 else f'{_count_helper(own, uses)}({size})'};")


def _count_helper(own: np.dtype[np.generic], uses: Uses) -> str:
    kind, suffix = scalar_type(own), "f" if own.itemsize == 4 else ""
    uses.include("math.h")
    name, most = f"host_roi_samples{suffix or '_f64'}", literal(MOST_SAMPLES, own)
    return uses.helper(
        name,
        "/* Samples along the side of a cell of this size. */\n"
        f"static inline int32_t {name}({kind} size)\n{{\n"
        f"    return !(size > {literal(0, own)}) ? 0 : size > {most} ? {MOST_SAMPLES} : "
        f"(int32_t)ceil{suffix}(size);\n}}\n",
    )


def _sample_helper(own: np.dtype[np.generic], dtype: np.dtype[np.generic], average: bool, uses: Uses) -> str:
    """The name of the function that interpolates in a map."""
    kind, zero, one = scalar_type(own), literal(0, own), literal(1, own)
    name = f"host_roi_{'mean' if average else 'max'}_{dtype.name}"
    corners = ("y * width + x", "y * width + x1", "y1 * width + x", "y1 * width + x1")
    weights = (f"({one} - dy) * ({one} - dx)", f"({one} - dy) * dx", f"dy * ({one} - dx)", "dy * dx")
    parts = [f"{w} * {loaded(f'map[{at}]', dtype)}" for w, at in zip(weights, corners, strict=True)]
    if average:
        end = f"    return {f'{chr(10)}        + '.join(parts)};\n"
    else:
        end = "".join(f"    const {kind} p{i} = {part};\n" for i, part in enumerate(parts))
        end += f"    const {kind} upper = p0 > p1 ? p0 : p1, lower = p2 > p3 ? p2 : p3;\n"
        end += "    return upper > lower ? upper : lower;\n"
    text = (
        f"/* Four elements around row v and column u: {'their mean' if average else 'the largest'} by weights. */\n"
        f"static inline {kind} {name}(const {c_type(dtype)} *map, int32_t height, int32_t width, "
        f"{kind} v, {kind} u)\n{{\n"
        f"    if (!(v >= -{one} && v <= ({kind})height && u >= -{one} && u <= ({kind})width)) {{\n"
        f"        return {zero};\n    }}\n"
        f"    const int32_t row = v > {zero} ? (int32_t)v : 0, column = u > {zero} ? (int32_t)u : 0;\n"
        "    const int32_t y = row < height - 1 ? row : height - 1, x = column < width - 1 ? column : width - 1;\n"
        "    const int32_t y1 = y < height - 1 ? y + 1 : y, x1 = x < width - 1 ? x + 1 : x;\n"
        f"    const {kind} dy = y1 > y && v > {zero} ? v - ({kind})y : {zero};\n"
        f"    const {kind} dx = x1 > x && u > {zero} ? u - ({kind})x : {zero};\n{end}}}\n"
    )
    return uses.helper(name, text)


def build_max_roi_pool(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """MaxRoiPool (Girshick, Fast R-CNN, 2015): the largest element of each cell of a region that is rounded to
    elements; zero for an empty cell."""
    (node,), code, uses = nodes, Code(), Uses()
    uses.include("math.h")
    shape, out, dtype = shape_of(node.inputs[0]), shape_of(node.outputs[0]), dtype_of(node.inputs[0])
    own = arithmetic(dtype)
    kind, strides, results = scalar_type(own), row_major(shape), row_major(out)
    suffix, scale = "f" if own.itemsize == 4 else "", literal(number(node, "spatial_scale", 1.0), own)
    cells = integers(node, "pooled_shape", (1, 1))

    def corner(index: int) -> str:
        return f"round{suffix}({loaded(f'in1[{affine([(r, 5)], index)}]', dtype)} * {scale})"

    with code.loop("r", out[0]) as r:
        image = loaded(f"in1[{affine([(r, 5)])}]", dtype)
        code.line(f"const int32_t image = {_whole_helper(own, uses)}({image}, 0, {shape[0] - 1});")
        for first, size, low, high, count in (("top", "high", 2, 4, cells[0]), ("left", "wide", 1, 3, cells[1])):
            code.line(f"const {kind} {first} = {corner(low)}, {first}_end = {corner(high)};")
            one = literal(1, own)
            whole = f"({first}_end >= {first} ? {first}_end - {first} + {one} : {one})"
            code.line(f"const {kind} {size} = {whole} / {literal(count, own)};")
        with code.loops([("c", out[1]), ("y", cells[0]), ("x", cells[1])]) as (c, y, x):
            for name, cell, first, size, limit in (
                ("y", y, "top", "high", shape[2]),
                ("x", x, "left", "wide", shape[3]),
            ):
                whole = _whole_helper(own, uses)
                begin = f"floor{suffix}(({kind}){cell or 0} * {size}) + {first}"
                end = f"ceil{suffix}(({kind})({f'{cell} + 1' if cell else 1}) * {size}) + {first}"
                code.line(
                    f"const int32_t {name}0 = {whole}({begin}, 0, {limit}), {name}1 = {whole}({end}, 0, {limit});"
                )
            code.line(f"{kind} result = y1 > y0 && x1 > x0 ? -{literal(float('inf'), own)} : {literal(0, own)};")
            with code.block("for (int32_t v = y0; v < y1; v++)"), code.block("for (int32_t u = x0; u < x1; u++)"):
                at = affine([("image", strides[0]), (c, strides[1]), ("v", strides[2]), ("u", 1)])
                code.line(f"const {kind} value = {loaded(f'in0[{at}]', dtype)};")
                code.line("result = value > result ? value : result;")
            target = affine([(r, results[0]), (c, results[1]), (y, results[2]), (x, 1)])
            code.line(f"out0[{target}] = {stored('result', dtype)};")
    work = Work(memory=1, floating=1, steps=1).times(out[0] * elements(shape[1:])) + Work(floating=8).times(
        elements(out)
    )
    return single(node, function, code.text, uses, work, (0, 1))


def _whole_helper(own: np.dtype[np.generic], uses: Uses) -> str:
    kind, name = scalar_type(own), f"host_whole_{scalar_type(own)}"
    return uses.helper(
        name,
        "/* A whole number between two limits; the lower one where it is none. */\n"
        f"static inline int32_t {name}({kind} value, int32_t low, int32_t high)\n{{\n"
        f"    return !(value > ({kind})low) ? low : value >= ({kind})high ? high : (int32_t)value;\n}}\n",
    )
