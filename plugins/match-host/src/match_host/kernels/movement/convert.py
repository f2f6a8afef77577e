"""Conversion of a tensor from one stored form to another (match_core/contract/forms.py): one loop nest over its
elements, or over words of four bytes if both forms keep these contiguous."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.contract.forms import Form
from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, inline_code
from match_host.kernels.nest import VARIABLES, row_major
from match_host.kernels.work import Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_graphsurgeon as gs

#: Bytes of a word.
WORD = 4


def forms_of(node: gs.Node) -> tuple[Form, Form]:
    """The form that a conversion reads and the form that it writes."""
    rank = len(shape_of(node.inputs[0]))
    return Form.of_attributes(node.attrs, "source", rank), Form.of_attributes(node.attrs, "target", rank)


def build_convert(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The kernel of one conversion. Padding of the target is zero."""
    (node,), code, uses = nodes, Code(), Uses()
    source, target = forms_of(node)
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    count, work = elements(shape), Work()
    if target.elements(shape) > count:
        uses.include("string.h")
        code.line(f"memset(out0, 0, {target.elements(shape) * dtype.itemsize});")
        words = -(-target.elements(shape) * dtype.itemsize // 4)
        work += Work(memory=words, steps=words)
    if dtype.itemsize == 1 and shape and shape[-1] >= WORD and _has_words(source) and _has_words(target):
        work += _write_rows(code, uses, source, target, shape)
    else:
        with code.loops([(VARIABLES[axis], size) for axis, size in enumerate(shape)]) as variables:
            code.line(f"out0[{_index(target, shape, variables)}] = in0[{_index(source, shape, variables)}];")
        work += Work(memory=2, integer=4, steps=1).times(count)
    comment = f"{'x'.join(map(str, shape))} from {source.name or 'plain'} to {target.name or 'plain'} form"
    return Built((node.inputs[0],), inline_code(function, comment, node.inputs, node.outputs, code.text, uses), work)


def _has_words(form: Form) -> bool:
    """Whether four neighbours along the tensor's last axis stay neighbours, in order or reversed."""
    axes = form.rank + (form.split is not None)
    inside = (not form.order or form.order[-1] == axes - 1) and (form.split is None or form.split[0] != form.rank - 1)
    return inside and form.reversed_group in (1, WORD)


def _write_rows(code: Code, uses: Uses, source: Form, target: Form, shape: Sequence[int]) -> Work:
    """Copy rows in words, and the remaining elements at their ends one by one."""
    words, rest = divmod(shape[-1], WORD)
    rows = elements(tuple(shape[:-1]))
    loops = [(VARIABLES[axis], size) for axis, size in enumerate(shape[:-1])]
    last = VARIABLES[len(shape) - 1]
    with code.loops(loops) as outer:
        with code.loop(last, words) as word:
            firsts = (*outer, f"{WORD} * {word}" if word else "")
            each = _write_word(code, uses, source, target, shape, firsts)
        for number in range(rest):
            place = (*outer, str(WORD * words + number))
            code.line(f"out0[{_index(target, shape, place)}] = in0[{_index(source, shape, place)}];")
    ends = Work(memory=2, integer=4).times(rest)
    return (each.times(words) + ends + Work(steps=1)).times(rows)


def _write_word(
    code: Code, uses: Uses, source: Form, target: Form, shape: Sequence[int], firsts: Sequence[str]
) -> Work:
    """Move four elements, as a word if rows are whole words on both sides. A caller's tensor may be unaligned, so
    memcpy moves words, which is one instruction on cores that support unaligned access."""
    read, write = (_index(replace(form, reversed_group=1), shape, firsts) for form in (source, target))
    swap = source.reversed_group != target.reversed_group
    by_word = [form.stored_shape(shape)[-1] % WORD == 0 for form in (source, target)]
    uses.include("string.h")
    if all(by_word):
        code.line("uint32_t word;")
        code.line(f"memcpy(&word, &in0[{read}], sizeof(word));")
        if swap:
            code.line("word = (word >> 24) | ((word >> 8) & 0xff00u) | ((word << 8) & 0xff0000u) | (word << 24);")
        code.line(f"memcpy(&out0[{write}], &word, sizeof(word));")
        return Work(memory=2, integer=4 + 8 * swap, steps=1)
    for number in range(WORD):
        other = WORD - 1 - number if swap else number
        code.line(f"out0[{write} + {number}] = in0[{read} + {other}];")
    return Work(memory=2 * WORD, integer=4, steps=1)


def _index(form: Form, shape: Sequence[int], variables: Sequence[str]) -> str:
    """C text of an element's index in memory. ``variables``: C text of the index along each axis, empty if it is 0."""
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
