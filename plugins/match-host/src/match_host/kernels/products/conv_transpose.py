"""Transposed convolution: every element of the result gathers its products, from the taps that hit an element."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from match_core.contract.element_types import c_type
from match_core.ir.geometry import transposed_pads
from match_core.ir.reader import optional_input, shape_of

from match_host.graph import dtype_of, elements, integer, integers
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, inline_code, literal
from match_host.kernels.nest import row_major
from match_host.kernels.scalar import loaded, moved_halves, scalar_type, stored
from match_host.kernels.window import SPATIAL
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis of space: its name, elements of the source, results, taps, and how these lie. The place of a result,
    counted with the padding ``before``, is that of an element times the stride plus that of a tap times the
    dilation."""

    name: str
    size: int
    results: int
    taps: int
    stride: int
    dilation: int
    before: int

    @property
    def _direct(self) -> bool:
        """Whether the taps that hit an element are as far apart as the stride, from the first to the last."""
        return self.dilation == 1 and self.before >= 0

    @property
    def _single(self) -> bool:
        """Whether each result has one tap and one element, its own; a result may have neither, if there are more."""
        return self.taps == self.stride == 1 and self.before == 0 and self.results <= self.size

    def range(self, variable: str) -> list[str]:
        """The place of a result, and its first tap and the end of its taps."""
        place, last = f"place_{self.name}", self.stride * (self.size - 1)
        lines = [] if self._single else [f"const int32_t {place} = {affine([(variable, 1)], self.before)};"]
        if not self._direct or self._single:
            return lines
        first = f"{place} % {self.stride}" if self.stride > 1 else "0"
        reach = f"{place} >= {last + self.stride} ? {place} - {last} : {first}"
        lines.append(f"const int32_t first_{self.name} = {reach};")
        lines.append(f"const int32_t end_{self.name} = {place} < {self.taps} ? {place} + 1 : {self.taps};")
        return lines

    def enter(self, code: Code, stack: ExitStack, variable: str) -> tuple[str, str]:
        """The loop over taps; the names of a tap and of the element that it hits."""
        name, k, s = self.name, f"k{self.name}", f"s{self.name}"
        if self._single:
            return "", variable
        if self._direct:
            head = f"for (int32_t {k} = first_{name}; {k} < end_{name}; {k} += {self.stride})"
            stack.enter_context(code.block(head))
            of_tap = f"place_{name} - {k}"
            code.line(f"const int32_t {s} = {f'({of_tap}) / {self.stride}' if self.stride > 1 else of_tap};")
            return k, s
        stack.enter_context(code.block(f"for (int32_t {k} = 0; {k} < {self.taps}; {k}++)"))
        code.line(f"const int32_t from_{name} = place_{name} - {k} * {self.dilation};")
        code.line(f"const int32_t {s} = from_{name} / {self.stride};")
        inside = f"from_{name} >= 0 && {s} < {self.size}"
        stack.enter_context(code.block(f"if ({inside} && from_{name} % {self.stride} == 0)"))
        return k, s

    @property
    def hits(self) -> int:
        """Pairs of a result and a tap that hit an element."""
        places = range(self.before, self.before + self.results)
        reached = (place - tap * self.dilation for place in places for tap in range(self.taps))
        return sum(0 <= at < self.size * self.stride and at % self.stride == 0 for at in reached)


def build_conv_transpose(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """ConvTranspose with any group, stride, dilation and padding; weights are [inputs][outputs per group][taps]."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, out, weight = shape_of(node.inputs[0]), shape_of(node.outputs[0]), shape_of(node.inputs[1])
    dtype, groups = dtype_of(node.inputs[0]), integer(node, "group", 1)
    rank, inputs, outputs = len(shape) - 2, shape[1] // groups, weight[1]
    strides, dilations = integers(node, "strides", (1,) * rank), integers(node, "dilations", (1,) * rank)
    before = transposed_pads(node)
    names = SPATIAL[len(SPATIAL) - rank :]
    source, target, taps = row_major(shape), row_major(out), row_major(weight)
    bias = optional_input(node, 2)
    order = [("n", shape[0]), ("g", groups), ("o", outputs), *zip(names, out[2:], strict=True)]
    ctype = c_type(dtype)
    axes = [
        _Axis(name, *sizes)
        for name, *sizes in zip(names, shape[2:], out[2:], weight[2:], strides, dilations, before, strict=True)
    ]
    with code.loops(order) as used:
        n, g, o, *space = used
        place = f"in2[{affine([(g, outputs), (o, 1)])}]"
        start = loaded(place, dtype) if bias is not None else literal(0, dtype)
        code.line(f"{scalar_type(dtype)} acc = {start};")
        for axis, variable in zip(axes, space, strict=True):
            code.lines(axis.range(variable))
        with ExitStack() as stack:
            entered = [axis.enter(code, stack, variable) for axis, variable in zip(axes, space, strict=True)]
            places = [(s, step) for (_, s), step in zip(entered, source[2:], strict=True)]
            w = [(k, step) for (k, _), step in zip(entered, taps[2:], strict=True)]
            code.line(f"const {ctype} *from = &in0[{affine([(n, source[0]), (g, inputs * source[1]), *places])}];")
            code.line(f"const {ctype} *weight = &in1[{affine([(g, inputs * taps[0]), (o, taps[1]), *w])}];")
            added = f"acc += {loaded('*from', dtype)} * {loaded('*weight', dtype)};"
            if inputs > 1:  # pointers do not leave the tensors behind the last product
                with code.block(f"for (int32_t c = 1; c < {inputs}; c++)"):
                    code.lines((added, f"from += {source[1]};", f"weight += {taps[0]};"))
            code.line(added)
        spots = [(space[axis], target[2 + axis]) for axis in range(rank)]
        result = affine([(n, target[0]), (g, outputs * target[1]), (o, target[1]), *spots])
        code.line(f"out0[{result}] = {stored('acc', dtype)};")
    arguments = tuple(tensor for tensor in (*node.inputs[:2], bias) if tensor is not None)
    hits = elements(out[:2]) * prod(axis.hits for axis in axes)
    work = Work(floating_macs=hits * inputs) + moved_halves(dtype, 2 * hits * inputs)
    work += Work(memory=1, steps=1, integer=6 * rank, divide=rank).times(elements(out)) + Work(integer=6).times(hits)
    sizes = ", ".join("x".join(map(str, item)) for item in (shape, weight))
    comment = f"ConvTranspose: {sizes} to {'x'.join(map(str, out))}"
    return Built(arguments, inline_code(function, comment, arguments, node.outputs, code.text, uses), work)
