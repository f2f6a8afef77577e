"""Conversion of a tensor from one stored form to another (match_core/forms.py): one loop nest over its elements, or
over words of four bytes where both forms keep these together."""

from __future__ import annotations

from dataclasses import replace
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

#: Bytes that are moved at once.
WORD = 4


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
    step = WORD if dtype.itemsize == 1 and _keeps_words(source, target, shape) else 1
    sizes = (*shape[:-1], shape[-1] // step) if shape else ()
    with code.loops([(VARIABLES[axis], size) for axis, size in enumerate(sizes)]) as variables:
        if step == 1:
            code.line(f"out0[{_index(target, shape, variables)}] = in0[{_index(source, shape, variables)}];")
        else:
            firsts = (*variables[:-1], variables[-1] and f"{WORD} * {variables[-1]}")
            swap = source.reversed_group != target.reversed_group
            places = [_index(replace(form, reversed_group=1), shape, firsts) for form in (target, source)]
            _write_word(code, uses, places[0], places[1], swap)
    work += _element_work(step, source, target).times(count // step)
    comment = f"{'x'.join(map(str, shape))} from {source.name or 'plain'} to {target.name or 'plain'} form"
    return Built((node.inputs[0],), inline_code(function, comment, node.inputs, node.outputs, code.text, uses), work)


def _keeps_words(source: Form, target: Form, shape: Sequence[int]) -> bool:
    """Whether words along the tensor's last axis are words in both forms, each straight or reversed as a whole."""
    if not shape or shape[-1] % WORD:
        return False
    return all(_last_axis_is_inside(form) and form.reversed_group in (1, WORD) for form in (source, target))


def _last_axis_is_inside(form: Form) -> bool:
    axes = form.rank + (form.split is not None)
    return (not form.order or form.order[-1] == axes - 1) and (form.split is None or form.split[0] != form.rank - 1)


def _write_word(code: Code, uses: Uses, target: str, source: str, swap: bool) -> None:
    """Move four bytes at once, in reversed order if ``swap``."""
    uses.include("string.h")
    code.line("uint32_t word;")
    code.line(f"memcpy(&word, &in0[{source}], sizeof(word));")
    if swap:
        code.line("word = (word >> 24) | ((word >> 8) & 0xff00u) | ((word << 8) & 0xff0000u) | (word << 24);")
    code.line(f"memcpy(&out0[{target}], &word, sizeof(word));")


def _element_work(step: int, source: Form, target: Form) -> Work:
    """Operations of one pass through the innermost loop."""
    if step == 1:
        return Work(memory=2, integer=4, steps=1)
    return Work(memory=2, integer=4 + 8 * (source.reversed_group != target.reversed_group), steps=1)


def _index(form: Form, shape: Sequence[int], variables: Sequence[str]) -> str:
    """C text of an element's index in memory. ``variables``: C text of the index along each axis, empty where it is
    0."""
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
