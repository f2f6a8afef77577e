"""Elementwise kernels: one node or a region of nodes as one loop nest without tensors in between."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.ir.topology import is_constant

from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, apart, inline_code
from match_host.kernels.elementwise.elementwise import body, describe, packed_constants, result_elements, statements
from match_host.kernels.nest import broadcast_strides, merge, row_major
from match_host.kernels.overlap import element_by_element
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.unit_api import InlineCode


def build_elementwise(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """One loop nest that computes the last node's result from the group's inputs."""
    group, uses, code = body(nodes), Uses(), Code()
    dense = row_major(group.shape)
    operands = [broadcast_strides(argument.shape) for argument in group.arguments if argument.shape is not None]
    nest = merge(group.shape, [dense, *operands])

    arguments, constants = tuple(argument.tensor for argument in group.arguments), packed_constants(group, 0)
    outputs = nodes[-1].outputs[:1]

    def index(seen: tuple[int, ...]) -> str:
        return nest.index(broadcast_strides(seen))

    def text() -> InlineCode:
        with code.loops(nest.variables):
            code.lines(statements(group, uses, index, f"out0[{nest.index(dense)}]"))
        comment = f"{describe(group)}: {'x'.join(str(size) for size in group.shape) or 'scalar'}"
        inline = inline_code(function, comment, arguments, outputs, code.text, uses, constants)
        elsewhere = {argument.tensor.name for argument in group.arguments if argument.shape != group.shape}
        overlaps = element_by_element((t for t in arguments if t.name not in elsewhere), outputs[0])
        lines = sum(is_constant(argument.tensor) for argument in group.arguments if argument.shape is not None)
        # The addresses of several lines and the places of a nest are more than Thumb-1 has registers.
        inline = apart(inline) if lines > 1 and len(nest.variables) > 1 else inline
        return replace(inline, overlaps=overlaps)

    work = (group.work + Work(memory=1, steps=1)).times(result_elements(group))
    return Built(arguments, text, work, constants=constants, told=group.told_of(result_elements(group)))
