"""The windows of a captured convolution or pooling: its geometry, and rules about it.

The operator is captured as "conv" or "pool", a Pad node that the kernel includes as "pad". Of two axes, y is first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.contract.node_rule import NodeRule
from match_core.contract.structure import Constraint, Match
from match_core.ir.geometry import ConvGeometry, channels_last, conv_geometry
from match_core.ir.reader import attribute_text, constant, optional_input
from match_core.patterns.captures import number, there, type_name
from match_core.patterns.rule import rule

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def window_node(match: Match) -> gs.Node:
    """The convolution or pooling."""
    return match.node(there(match, "conv", "pool")[0])


def window_of(match: Match) -> ConvGeometry:
    """Kernel, strides, dilations and padding, including that of the Pad node."""
    node = window_node(match)
    found = conv_geometry(node)
    if not match.has("pad"):
        return found
    amounts, size = _pad_amounts(match), len(found.kernel)
    first = _first_spatial(node)
    last = len(amounts) // 2 + first
    added = (*amounts[first : first + size], *amounts[last : last + size])
    return replace(found, pads=tuple(own + more for own, more in zip(found.pads, added, strict=False)))


def pad_value(match: Match) -> int:
    """The value of padding pixels."""
    value = optional_input(match.node("pad"), 2) if match.has("pad") else None
    return 0 if value is None else int(value.values)


def is_depthwise(match: Match) -> bool:
    """Whether each group has one input channel and one output channel."""
    outputs, inputs = match.shape("weight")[:2]
    return inputs == 1 and conv_geometry(match.node("conv")).group == outputs


def _first_spatial(node: gs.Node) -> int:
    return 1 if channels_last(node) else 2


def _pad_amounts(match: Match) -> tuple[int, ...]:
    values = constant(match.node("pad").inputs[1])
    return () if values is None else tuple(int(amount) for amount in values.reshape(-1))


def _by(values: tuple[int, ...]) -> str:
    return "x".join(map(str, values))


# ---- channels --------------------------------------------------------------------------------------------------


@rule("groups", "there is one group")
def one_group(match: Match) -> str | None:
    group = conv_geometry(match.node("conv")).group
    return None if group == 1 else f"there are {group} groups"


@rule("depthwise", "each output channel reads its own input channel")
def depthwise(match: Match) -> str | None:
    outputs, inputs = match.shape("weight")[:2]
    group = conv_geometry(match.node("conv")).group
    sizes = f"there are {group} groups of {inputs} input channels for {outputs} output channels"
    return None if is_depthwise(match) else sizes


# ---- kernel, stride, padding -----------------------------------------------------------------------------------


@rule("dilation", "there is no dilation")
def no_dilation(match: Match) -> str | None:
    dilations = window_of(match).dilations
    return None if set(dilations) <= {1} else f"dilation is {_by(dilations)}"


def kernel_is(size: int) -> Constraint:
    """The kernel is size x size."""

    @rule("kernel", f"the kernel is {size}x{size}")
    def check(match: Match) -> str | None:
        kernel = window_of(match).kernel
        return None if kernel == (size, size) else f"kernel is {_by(kernel)}"

    return check


def stride_is(*allowed: int) -> Constraint:
    """The stride is one of these, the same both ways."""

    @rule("stride", f"stride is {' or '.join(f'{step}x{step}' for step in allowed)}")
    def check(match: Match) -> str | None:
        strides = window_of(match).strides
        return None if strides in {(step, step) for step in allowed} else f"stride is {_by(strides)}"

    return check


def pads_at_most(limit: int) -> Constraint:
    """At most ``limit`` padding pixels on each side."""

    @rule("padding size", f"padding is at most {limit} on each side" if limit else "there is no padding")
    def check(match: Match) -> str | None:
        pads = window_of(match).pads
        return None if max(pads) <= limit else f"padding is {_by(pads)}"

    return check


@rule("padding", "padding is constant, in y and x only", "pad")
def plain_pad(match: Match) -> str | None:
    node, inner = match.node("pad"), conv_geometry(window_node(match)).pads
    mode, amounts = attribute_text(node, "mode", "constant"), _pad_amounts(match)
    if mode != "constant" or not amounts:
        return f"mode is {mode}" if amounts else "amounts are computed"
    if len(node.inputs) > 3:
        return "it names axes"
    first, rank = _first_spatial(window_node(match)), len(amounts) // 2
    elsewhere = [amount for place, amount in enumerate(amounts) if place % rank not in (first, first + 1)]
    if rank != 4 or any(elsewhere) or min(amounts) < 0:
        return f"amounts are {list(amounts)}"
    return None if not any(inner) or pad_value(match) == 0 else f"the convolution pads by {list(inner)} itself"


def _explicit(node: gs.Node) -> str | None:
    mode = attribute_text(node, "auto_pad", "NOTSET")
    return None if mode == "NOTSET" else f"auto_pad is {mode}"


explicit_padding = NodeRule("explicit", "padding is given in numbers", _explicit)


# ---- pooling ---------------------------------------------------------------------------------------------------


@rule("window", "every window holds a pixel of the input")
def window_in_input(match: Match) -> str | None:
    window = window_of(match)
    if int(match.node("pool").attrs.get("ceil_mode", 0)):
        return "ceil_mode is set"
    if set(window.dilations) != {1}:
        return "there is dilation"
    worst = max(window.pads)
    return None if worst < min(window.kernel) else f"padding {worst} covers a whole window of {_by(window.kernel)}"


@rule("pooling", "it is a sum over a window with one multiplier: all weights are 1")
def sums_window(match: Match) -> str | None:
    """Means of windows have the form of a depthwise convolution with weights 1."""
    single = all(match.const(name).size == 1 for name in there(match, "multiplier", "addend"))
    ones = is_depthwise(match) and bool((match.const("weight") == 1).all())
    return None if ones and single else "weights differ from 1 or multipliers differ by channel"


def divides_by_area(most: int | None = None) -> Constraint:
    """A QuantizeLinear of a sum divides by the window's area: a power of two, at most ``most``."""
    limit = "" if most is None else f" up to {most}"

    @rule("area", f"it divides by the window's area, a power of two{limit}, and the result is uint8")
    def check(match: Match) -> str | None:
        fy, fx = match.shape("weight")[2:]
        area, zero = fy * fx, optional_input(match.node("quantize"), 2)
        divisor = float(match.const("area").reshape(-1)[0])
        if match.const("area").size != 1 or divisor != area or area & (area - 1) or (most and not 2 <= area <= most):
            return f"it divides by {number(match, 'area')} for {area} pixels"
        kind, offset = type_name(match.output), 0 if zero is None else int(zero.values)
        return None if (kind, offset) == ("uint8", 0) else f"the result is {kind} with zero point {offset}"

    return check
