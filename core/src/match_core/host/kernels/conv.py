"""Convolutions: float and integer, any group, stride, dilation and padding, NCHW or NHWC, direct (no im2col).

Weights are stored as [group][output][taps][input channel], so that the innermost loop runs over channels, contiguous
in NHWC. Integer sums are exact in 32 bits (a constraint of the patterns bounds the number of products).
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from match_core.host.graph import dtype_of, elements, input_at, integer, integers_at, is_constant, shape_of, values_of
from match_core.host.kernels.built import Built
from match_core.host.kernels.code import Code, Uses, affine, inline_code, literal, minus
from match_core.host.kernels.depthwise import build_depthwise
from match_core.host.kernels.depthwise_shape import takes
from match_core.host.kernels.elementwise import Body, body, describe, factor, packed_constants, rounded_sum, statements
from match_core.host.kernels.nest import row_major
from match_core.host.kernels.scalar import loaded, moved_halves, scalar_type, stored
from match_core.host.kernels.window import Window, windows
from match_core.host.kernels.work import Work
from match_core.ir.model import qualified_op

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

CONV_OPS = ("Conv", "match.nhwc::Conv", "ConvInteger", "match.nhwc::ConvInteger")


@dataclass(frozen=True)
class _Conv:
    """Geometry of one convolution. ``fill`` is what a fused Pad puts around the input."""

    node: gs.Node
    source: gs.Tensor
    channels_last: bool
    batch: int
    groups: int
    inputs: int  # per group
    outputs: int  # per group
    windows: tuple[Window, ...]
    fill: int

    @property
    def floating(self) -> bool:
        return bool(self.node.op == "Conv")

    @property
    def result(self) -> gs.Tensor:
        return self.node.outputs[0]

    @property
    def taps(self) -> int:
        return elements(tuple(window.kernel for window in self.windows))

    @property
    def macs(self) -> int:
        positions = elements(tuple(window.out for window in self.windows))
        return self.batch * self.groups * self.outputs * positions * self.taps * self.inputs


def _geometry(nodes: tuple[gs.Node, ...]) -> _Conv:
    node = next(node for node in nodes if qualified_op(node) in CONV_OPS)
    last = node.domain == "match.nhwc"
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    weight = shape_of(node.inputs[1])
    spatial, outs = (shape[1:-1], out[1:-1]) if last else (shape[2:], out[2:])
    found = windows(node, spatial, outs, weight[2:])
    groups = integer(node, "group", 1)
    source, fill = node.inputs[0], 0
    if nodes[0].op == "Pad":
        source, fill = nodes[0].inputs[0], pad_fill(nodes[0])
        pads = integers_at(nodes[0], 1) or ()
        first = 1 if last else 2
        found = tuple(window.padded(pads[first + i], pads[first + i + len(shape)]) for i, window in enumerate(found))
    return _Conv(node, source, last, shape[0], groups, weight[1], weight[0] // groups, found, fill)


def pad_fill(node: gs.Node) -> int:
    """The integer value that a constant Pad writes."""
    value = integers_at(node, 2)
    return value[0] if value else 0


def _packed_weight(conv: _Conv) -> NDArray[np.generic] | None:
    tensor = conv.node.inputs[1]
    if not is_constant(tensor):
        return None
    values = values_of(tensor)
    return np.ascontiguousarray(np.moveaxis(values, 1, -1))


def build_conv(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The kernel of [Pad] convolution [elementwise operators on its result]."""
    if takes(nodes):
        return build_depthwise(nodes, function)
    conv, code, uses = _geometry(nodes), Code(), Uses()
    after = nodes[nodes.index(conv.node) + 1 :]
    epilogue = body(after, given=(conv.result.name,)) if after else None
    own, extra = _own_arguments(conv)
    arguments = own + (tuple(argument.tensor for argument in epilogue.arguments) if epilogue else ())
    packed = _packed_weight(conv)
    constants = {} if packed is None else {1: packed}
    if epilogue:
        constants |= packed_constants(epilogue, len(own))
    _write(conv, epilogue, len(own), extra, packed is not None, code, uses)
    outputs = nodes[-1].outputs[:1]
    work = Work(floating_macs=conv.macs) if conv.floating else Work(macs=conv.macs)
    work += moved_halves(dtype_of(conv.source), 2 * conv.macs + elements(shape_of(conv.result)))
    per_output = (epilogue.work if epilogue else Work()) + Work(memory=1, steps=2)
    work += per_output.times(elements(shape_of(outputs[0])))
    comment = _comment(conv, epilogue)
    return Built(arguments, inline_code(function, comment, arguments, outputs, code.text, uses, constants), work)


def _comment(conv: _Conv, epilogue: Body | None) -> str:
    kernel = "x".join(str(window.kernel) for window in conv.windows)
    stride = "x".join(str(window.stride) for window in conv.windows)
    sizes = f"{conv.groups * conv.inputs} to {conv.groups * conv.outputs} channels, kernel {kernel}, stride {stride}"
    groups = f", {conv.groups} groups" if conv.groups > 1 else ""
    tail = f", {describe(epilogue)}" if epilogue else ""
    return f"{conv.node.op}{tail}: {sizes}{groups}"


def _own_arguments(conv: _Conv) -> tuple[tuple[gs.Tensor, ...], dict[int, str]]:
    """Input, weights, then bias or zero points that are read; and the C text behind node inputs 2 and 3
    (``{o}`` stands for the output channel)."""
    own, extra = [conv.source, conv.node.inputs[1]], {}
    for index in (2, 3):
        tensor = input_at(conv.node, index)
        if tensor is None:
            continue
        values = values_of(tensor).reshape(-1) if is_constant(tensor) else None
        if values is not None and not conv.floating and bool((values == values[0]).all()):
            if int(values[0]):
                extra[index] = str(int(values[0]))
            continue
        scalar = elements(shape_of(tensor)) == 1
        extra[index] = f"in{len(own)}[{'0' if scalar else '{o}'}]"
        own.append(tensor)
    return tuple(own), extra


def _write(
    conv: _Conv, epilogue: Body | None, first: int, extra: dict[int, str], packed: bool, code: Code, uses: Uses
) -> None:
    batch, group, output = ("n", conv.batch), ("g", conv.groups), ("o", conv.outputs)
    space = [(window.name, window.out) for window in conv.windows]
    order = [batch, *space, group, output] if conv.channels_last else [batch, group, output, *space]
    with code.loops(order) as names:
        at = dict(zip((name for name, _ in order), names, strict=True))
        channel = ((at["g"], conv.outputs), (at["o"], 1))
        dtype = dtype_of(conv.result)
        start = loaded(extra[2], dtype) if conv.floating and 2 in extra else literal(0, dtype)
        code.line(f"{scalar_type(dtype)} acc = {start.format(o=affine(channel))};")
        _taps(conv, at, channel, extra, packed, code)
        coordinates = _coordinates(conv, at, channel)

        def index(seen: tuple[int, ...]) -> str:
            strides = row_major(seen)
            terms = [
                (name, factor * stride)
                for axis, stride, size in zip(coordinates, strides, seen, strict=True)
                for name, factor in axis
                if size != 1
            ]
            return affine(terms)

        place = f"out0[{index(shape_of(conv.result))}]"
        if epilogue:
            known = {conv.result.name: rounded_sum(dtype, code)}
            code.lines(statements(epilogue, uses, index, place, first, known))
        else:
            code.line(f"{place} = {stored('acc', dtype)};")


def _coordinates(
    conv: _Conv, at: dict[str, str], channel: tuple[tuple[str, int], ...]
) -> tuple[tuple[tuple[str, int], ...], ...]:
    """The result's index along each axis, as affine terms."""
    space = tuple(((at[window.name], 1),) for window in conv.windows)
    batch = ((at["n"], 1),)
    return (batch, *space, channel) if conv.channels_last else (batch, channel, *space)


def _taps(
    conv: _Conv,
    at: dict[str, str],
    channel: tuple[tuple[str, int], ...],
    extra: dict[int, str],
    packed: bool,
    code: Code,
) -> None:
    """The loops over kernel taps and input channels that add to ``acc``."""
    sizes = tuple(window.size for window in conv.windows)
    depth = conv.groups * conv.inputs
    if conv.channels_last:
        strides = row_major((conv.batch, *sizes, depth))
        batch_step, space_steps, channel_step = strides[0], strides[1:-1], strides[-1]
    else:
        strides = row_major((conv.batch, depth, *sizes))
        batch_step, channel_step, space_steps = strides[0], strides[1], strides[2:]
    kernel = tuple(window.kernel for window in conv.windows)
    total = conv.groups * conv.outputs
    weight_strides = row_major((total, *kernel, conv.inputs) if packed else (total, conv.inputs, *kernel))
    tap_steps = weight_strides[1:-1] if packed else weight_strides[2:]
    input_step = weight_strides[-1] if packed else weight_strides[1]
    with ExitStack() as stack:
        for window in conv.windows:
            if window.leaves:
                head = f"for (int32_t k{window.name} = 0; k{window.name} < {window.kernel}; k{window.name}++)"
                stack.enter_context(code.block(head))
                terms, offset = window.position
                code.line(f"const int32_t i{window.name} = {affine(terms, offset)};")
            else:
                stack.enter_context(code.loop(f"k{window.name}", window.kernel))
        weight = [(name, factor * weight_strides[0]) for name, factor in channel]
        weight += [
            (f"k{window.name}" if window.kernel > 1 else "", step)
            for window, step in zip(conv.windows, tap_steps, strict=True)
        ]
        inner = "i" if conv.inputs > 1 else ""
        weight_place = f"in1[{affine([*weight, (inner, input_step)])}]"
        outside = " || ".join(window.outside for window in conv.windows if window.leaves)
        if outside:
            with code.block(f"if ({outside})"):
                if conv.fill:
                    with code.loop("i", conv.inputs):
                        code.line(f"acc += {conv.fill} * {weight_place};")
                code.line("continue;")
        source = [(at["n"], batch_step), (at["g"], conv.inputs * channel_step)]
        offset = 0
        for window, step in zip(conv.windows, space_steps, strict=True):
            source += window.terms(step)
            offset += window.offset * step
        with code.loop("i", conv.inputs):
            x = factor(f"in0[{affine([*source, (inner, channel_step)], offset)}]", dtype_of(conv.source), code)
            weight_value = loaded(weight_place, dtype_of(conv.node.inputs[1]))
            if not conv.floating:
                x = minus(x, extra.get(2, ""))
                weight_value = minus(weight_value, extra.get(3, "").format(o=affine(channel)))
            code.line(f"acc += {x} * {weight_value};")
