"""Operators whose number of results depends on the data. The model states the size of the result: results beyond it are
dropped, and unused elements hold -1 if they are indices, else 0."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from match_core.contract.element_types import c_type
from match_core.ir.reader import optional_input, shape_of

from match_host.graph import dtype_of, elements, integer
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine
from match_host.kernels.nest import row_major
from match_host.kernels.scalar import arithmetic, loaded, scalar_type, simple
from match_host.kernels.single import names_of, single
from match_host.kernels.templates import render_body
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _along(node: gs.Node) -> tuple[int, int, int]:
    """Numbers of elements outside, along and inside the node's axis; all elements count as one axis if it has none."""
    shape = shape_of(node.inputs[0])
    if "axis" not in node.attrs:
        return 1, elements(shape), 1
    axis = integer(node, "axis", 0) % len(shape)
    return elements(shape[:axis]), shape[axis], elements(shape[axis + 1 :])


def build_compress(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """Compress: the slices along an axis whose condition holds."""
    (node,), code, uses = nodes, Code(), Uses()
    outer, size, inner = _along(node)
    listed = min(size, elements(shape_of(node.inputs[1])))
    kept = elements(shape_of(node.outputs[0])) // (outer * inner)

    def copy(source: str) -> None:
        with code.loops([("i", outer), ("j", inner)]) as (i, j):
            target = affine([(i, kept * inner), ("found", inner), (j, 1)])
            value = f"in0[{affine([(i, size * inner), (source, inner), (j, 1)])}]" if source else "0"
            code.line(f"out0[{target}] = {value};")

    code.line("int32_t found = 0;")
    with (
        code.block(f"for (int32_t k = 0; k < {listed}; k++)"),
        code.block(f"if (in1[k] != 0 && found < {kept})"),
    ):
        copy("k")
        code.line("found++;")
    with code.block(f"for (; found < {kept}; found++)"):
        copy("")
    work = Work(memory=2, steps=1).times(elements(shape_of(node.outputs[0]))) + Work(memory=1, integer=2).times(listed)
    return single(node, function, code.text, uses, work, (0, 1))


def build_non_zero(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """NonZero: the indices of elements that are not zero, a row for each axis."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, dtype, kept = shape_of(node.inputs[0]), dtype_of(node.inputs[0]), shape_of(node.outputs[0])[1]
    places = [(row * kept, step, size) for row, (step, size) in enumerate(zip(row_major(shape), shape, strict=True))]
    code.line("int32_t found = 0;")
    value = loaded("in0[e]", dtype)
    test = value if dtype.kind == "b" else f"{value} != 0"
    with (
        code.block(f"for (int32_t e = 0; e < {elements(shape)}; e++)"),
        code.block(f"if ({test} && found < {kept})"),
    ):
        for row, step, size in places:
            code.line(f"out0[{affine([('found', 1)], row)}] = e / {step} % {size};")
        code.line("found++;")
    with code.block(f"for (; found < {kept}; found++)"):
        for row, _, _ in places:
            code.line(f"out0[{affine([('found', 1)], row)}] = -1;")
    work = (simple(dtype) + Work(memory=1, integer=1, steps=1)).times(elements(shape))
    work += Work(memory=1, divide=2).times(elements(shape_of(node.outputs[0])))
    return single(node, function, code.text, uses, work)


def build_unique(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """Unique: distinct elements, or slices along an axis, sorted or in order of occurrence; their first positions, the
    number of the distinct value for each element, and counts."""
    (node,), uses = nodes, Uses()
    outer, size, inner = _along(node)
    dtype, kept = dtype_of(node.inputs[0]), elements(shape_of(node.outputs[0])) // (outer * inner)
    text = render_body(
        "unique",
        outer=outer,
        size=size,
        inner=inner,
        kept=kept,
        type=scalar_type(dtype),
        load=partial(loaded, dtype=dtype),
        real=arithmetic(dtype).kind == "f",
        ordered=integer(node, "sorted", 1) != 0,
        outputs=len(node.outputs),
    )
    slices = elements(shape_of(node.inputs[0]))
    work = (simple(dtype) + Work(memory=2, integer=2, steps=1)).times(slices * size)
    return single(node, function, text, uses, work, scratch_bytes=4 * size)


def build_non_max_suppression(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """NonMaxSuppression: boxes in the order of their scores, without those that overlap a better box of the same class
    by more than a threshold; rows of (sample, class, box)."""
    (node,), uses = nodes, Uses()
    dtype, used = dtype_of(node.inputs[0]), (0, 1, 2, 3, 4)
    batch, classes, boxes = shape_of(node.inputs[1])
    names = names_of(node, used)
    text = render_body(
        "non_max_suppression",
        batch=batch,
        classes=classes,
        boxes=boxes,
        kept=shape_of(node.outputs[0])[0],
        type=c_type(dtype),
        centred=integer(node, "center_point_box", 0) != 0,
        most=f"{names[2]}[0]" if 2 in names else "0",
        overlap=f"{names[3]}[0]" if 3 in names else "0.0f",
        least=f"{names[4]}[0]" if optional_input(node, 4) is not None else "",
    )
    uses.helper("host_box_overlap", _OVERLAP)
    work = (Work(memory=3, floating=3, steps=1).times(boxes) + Work(floating=16, floating_divide=1)).times(
        batch * classes * boxes
    )
    return single(node, function, text, uses, work, used)


_OVERLAP = """\
/* The intersection of two boxes (low and high of y, then of x) by their union; 0 where they do not meet. */
static inline float host_box_overlap(const float *a, const float *b)
{
    const float top = a[0] > b[0] ? a[0] : b[0], bottom = a[1] < b[1] ? a[1] : b[1];
    const float left = a[2] > b[2] ? a[2] : b[2], right = a[3] < b[3] ? a[3] : b[3];
    if (bottom <= top || right <= left) {
        return 0.0f;
    }
    const float shared = (right - left) * (bottom - top);
    const float first = (a[3] - a[2]) * (a[1] - a[0]), second = (b[3] - b[2]) * (b[1] - b[0]);
    return first > 0.0f && second > 0.0f ? shared / (first + second - shared) : 0.0f;
}
"""
