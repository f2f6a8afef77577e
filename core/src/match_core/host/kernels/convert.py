"""Conversion of a tensor from one stored form to another (match_core/forms.py): one loop nest over its elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.forms import Form
from match_core.host.graph import dtype_of, elements, shape_of
from match_core.host.kernels.built import Built
from match_core.host.kernels.code import Code, Uses, inline_code
from match_core.host.kernels.nest import VARIABLES, row_major
from match_core.host.kernels.work import Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_graphsurgeon as gs


def forms_of(node: gs.Node) -> tuple[Form, Form]:
    """The form that a conversion reads and the one that it makes."""
    rank = len(shape_of(node.inputs[0]))
    return Form.of_attributes(node.attrs, "source", rank), Form.of_attributes(node.attrs, "target", rank)


def build_convert(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The kernel of one conversion. What the target pads is zero."""
    (node,), code, uses = nodes, Code(), Uses()
    source, target = forms_of(node)
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    count, work = elements(shape), Work()
    if target.elements(shape) > count:
        uses.include("string.h")
        code.line(f"memset(out0, 0, {target.elements(shape) * dtype.itemsize});")
        words = -(-target.elements(shape) * dtype.itemsize // 4)
        work += Work(memory=words, steps=words)
    loops = [(VARIABLES[axis], size) for axis, size in enumerate(shape)]
    with code.loops(loops) as variables:
        code.line(f"out0[{_index(target, shape, variables)}] = in0[{_index(source, shape, variables)}];")
    work += Work(memory=2, integer=4, steps=1).times(count)
    comment = f"{'x'.join(map(str, shape))} from {source.name or 'plain'} to {target.name or 'plain'} form"
    return Built((node.inputs[0],), inline_code(function, comment, node.inputs, node.outputs, code.text, uses), work)


def _index(form: Form, shape: Sequence[int], variables: Sequence[str]) -> str:
    """C text of an element's index in memory. ``variables``: one for each axis, empty where its index is 0."""
    coordinates = list(variables)
    if form.split is not None:
        axis, block = form.split
        name = variables[axis]
        coordinates[axis : axis + 1] = [f"({name} / {block})", f"({name} % {block})"] if name else ["", ""]
        if name and shape[axis] <= block:
            coordinates[axis : axis + 2] = ["", name]
    order = form.order or range(len(coordinates))
    strides = row_major(form.stored_shape(shape))
    terms = [(coordinates[axis], stride) for axis, stride in zip(order, strides, strict=True)]
    text = " + ".join(name if stride == 1 else f"{name} * {stride}" for name, stride in terms if name) or "0"
    return text if form.reversed_group == 1 else f"({text}) ^ {form.reversed_group - 1}"
