"""Transposed convolution: every element of the result gathers its products."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    with code.loops(order) as used:
        n, g, o, *space = used
        place = f"in2[{affine([(g, outputs), (o, 1)])}]"
        start = loaded(place, dtype) if bias is not None else literal(0, dtype)
        code.line(f"{scalar_type(dtype)} acc = {start};")
        with code.loops([(f"k{name}", size) for name, size in zip(names, weight[2:], strict=True)]) as kernel:
            checks = []
            for axis, name in enumerate(names):
                offset = affine([(space[axis], 1), (kernel[axis], -dilations[axis])], before[axis])
                code.line(f"const int32_t s{name} = {offset};")
                inside = f"s{name} >= 0 && s{name} / {strides[axis]} < {shape[2 + axis]}"
                checks.append(f"{inside} && s{name} % {strides[axis]} == 0" if strides[axis] > 1 else inside)
            with code.block(f"if ({' && '.join(checks)})"), code.loop("c", inputs) as c:
                places = [
                    (f"(s{name} / {strides[axis]})" if strides[axis] > 1 else f"s{name}", source[2 + axis])
                    for axis, name in enumerate(names)
                ]
                x = affine([(n, source[0]), (g, inputs * source[1]), (c, source[1]), *places])
                w = [(kernel[axis], taps[2 + axis]) for axis in range(rank)]
                w_index = affine([(g, inputs * taps[0]), (c, taps[0]), (o, taps[1]), *w])
                code.line(f"acc += {loaded(f'in0[{x}]', dtype)} * {loaded(f'in1[{w_index}]', dtype)};")
        spots = [(space[axis], target[2 + axis]) for axis in range(rank)]
        result = affine([(n, target[0]), (g, outputs * target[1]), (o, target[1]), *spots])
        code.line(f"out0[{result}] = {stored('acc', dtype)};")
    arguments = tuple(tensor for tensor in (*node.inputs[:2], bias) if tensor is not None)
    macs = elements(out) * elements(weight[2:]) * inputs
    work = Work(floating_macs=macs) + moved_halves(dtype, 2 * macs)
    work += Work(memory=1, steps=1).times(elements(out)) + Work(integer=6, divide=2).times(macs // max(1, inputs))
    sizes = ", ".join("x".join(map(str, item)) for item in (shape, weight))
    comment = f"ConvTranspose: {sizes} to {'x'.join(map(str, out))}"
    return Built(arguments, inline_code(function, comment, arguments, node.outputs, code.text, uses), work)
