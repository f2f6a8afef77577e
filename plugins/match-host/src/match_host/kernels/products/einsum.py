"""Einsum: loops over the labels of the result, and sums over all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements, text
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, inline_code, literal
from match_host.kernels.nest import row_major
from match_host.kernels.scalar import loaded, moved_halves, scalar_type, simple, stored, wide_unsigned
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True)
class Equation:
    """Labels of the axes of every input and of the result; those of an ellipsis are named 0, 1, ..., counted
    from the last one."""

    inputs: tuple[tuple[str, ...], ...]
    result: tuple[str, ...]


def equation_of(node: gs.Node) -> Equation:
    """The node's equation, with an implicit result made explicit."""
    left, arrow, right = text(node, "equation", "").replace(" ", "").partition("->")
    terms = left.split(",")
    ranks = [len(shape_of(tensor)) for tensor in node.inputs]
    unnamed = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True)]
    inputs = tuple(_labels(term, count) for term, count in zip(terms, unnamed, strict=True))
    dots = max(unnamed)
    if arrow:
        return Equation(inputs, _labels(right, dots))
    plain = left.replace("...", "").replace(",", "")
    once = "".join(sorted(label for label in set(plain) if plain.count(label) == 1))
    return Equation(inputs, (*_labels("...", dots), *once) if "." in left else tuple(once))


def _labels(term: str, dots: int) -> tuple[str, ...]:
    before, ellipsis, after = term.partition("...")
    return (*before, *((str(number) for number in reversed(range(dots))) if ellipsis else ()), *after)


def build_einsum(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """Products of elements, summed over the labels that the result does not have."""
    (node,), code, uses = nodes, Code(), Uses()
    found, dtype = equation_of(node), dtype_of(node.inputs[0])
    sizes: dict[str, int] = {}
    for labels, tensor in zip(found.inputs, node.inputs, strict=True):
        for label, size in zip(labels, shape_of(tensor), strict=True):
            sizes[label] = max(size, sizes.get(label, 1))
    summed = [label for label in sizes if label not in found.result]
    names = {label: f"{'d' if label.isdigit() else 'l' if label.islower() else 'u'}{label.lower()}" for label in sizes}
    whole = dtype.kind in "iu"
    with code.loops([(names[label], sizes[label]) for label in found.result]) as outer:
        used = dict(zip(found.result, outer, strict=True))
        code.line(f"{wide_unsigned(dtype) if whole else scalar_type(dtype)} acc = {0 if whole else literal(0, dtype)};")
        with code.loops([(names[label], sizes[label]) for label in summed]) as inner:
            used |= dict(zip(summed, inner, strict=True))
            factors = []
            for number, (labels, tensor) in enumerate(zip(found.inputs, node.inputs, strict=True)):
                shape = shape_of(tensor)
                steps = zip(labels, row_major(shape), shape, strict=True)
                terms = [(used[label], step) for label, step, size in steps if size > 1]
                value = loaded(f"in{number}[{affine(terms)}]", dtype)
                factors.append(f"({wide_unsigned(dtype)}){value}" if whole else value)
            code.line(f"acc += {' * '.join(factors)};")
        out = shape_of(node.outputs[0])
        target = affine([(used[label], step) for label, step in zip(found.result, row_major(out), strict=True)])
        code.line(f"out0[{target}] = {stored(f'({scalar_type(dtype)})acc' if whole else 'acc', dtype)};")
    arguments = tuple(node.inputs)
    steps_total = elements(tuple(sizes.values()))
    work = (simple(dtype).times(2) + Work(memory=len(arguments), steps=1) + moved_halves(dtype, 2)).times(steps_total)
    shapes = ", ".join("x".join(map(str, shape_of(tensor))) or "scalar" for tensor in arguments)
    comment = f"Einsum: {shapes}"
    return Built(arguments, inline_code(function, comment, arguments, node.outputs, code.text, uses), work)
