"""Convolutions and pooling as workloads: images as they lie in ONNX (NCHW)."""

from __future__ import annotations

from math import prod

from match_core import Axis, Dim, Match, Operand, Workload

from match_ita import snitch_products_requant as requant
from match_ita import snitch_products_structures as s
from match_ita.snitch_products_requant import Scale
from match_ita.snitch_products_workloads import PANEL_BYTES, Numbers, clip, one_dim


def _pair(match: Match, attribute: str, default: int = 1) -> tuple[int, int]:
    node = match.node("conv" if match.has("conv") else "pool")
    values = node.attrs.get(attribute)
    return (default, default) if values is None else (int(values[0]), int(values[1]))


def _pad_amounts(match: Match) -> tuple[int, int]:
    """Rows above and columns left of the image: the operator's own and those of its Pad node."""
    top, left = _pair(match, "pads", 0)
    if match.has("pad"):
        amounts = [int(amount) for amount in match.node("pad").inputs[1].values]
        top, left = top + amounts[2], left + amounts[3]
    return top, left


def _pad_value(match: Match) -> int:
    if not match.has("pad"):
        return 0
    inputs = match.node("pad").inputs
    return int(inputs[2].values) if len(inputs) > 2 and not inputs[2].is_empty() else 0


def _window_axes(match: Match) -> tuple[Axis, Axis]:
    height, width = match.shape("input")[2:]
    (stride_y, stride_x), (dilation_y, dilation_x) = _pair(match, "strides"), _pair(match, "dilations")
    top, left = _pad_amounts(match)
    return (
        Axis("y", height, (("OY", stride_y), ("FY", dilation_y)), top),
        Axis("x", width, (("OX", stride_x), ("FX", dilation_x)), left),
    )


def _steps(match: Match) -> Numbers:
    (stride_y, stride_x), (dilation_y, dilation_x) = _pair(match, "strides"), _pair(match, "dilations")
    return (("stride_y", stride_y), ("stride_x", stride_x), ("dilation_y", dilation_y), ("dilation_x", dilation_x))


def conv2d(match: Match) -> Workload:
    """A convolution with one group: OY, OX, K, C, FY, FX."""
    found = requant.weighted(match)
    assert isinstance(found, Scale)  # a rule says so
    channels, inputs, fy, fx = match.shape("weight")
    oy, ox = (int(size) for size in match.output.shape[2:])
    sizes = (("OY", oy), ("OX", ox), ("K", channels), ("C", inputs), ("FY", fy), ("FX", fx))
    dims = tuple(Dim(name, size, tileable=name in ("OY", "OX", "K")) for name, size in sizes)
    k, image = one_dim("k", channels), (one_dim("oy", oy), one_dim("ox", ox))
    operands = (
        Operand("input", "input", (one_dim("c", inputs), *_window_axes(match))),
        Operand("weight", "constant", (k, Axis("tap", inputs * fy * fx))),
        Operand("multiplier", "constant", (k,), 32),
        Operand("addend", "constant", (k,), 64),
        Operand("output", "output", (k, *image)),
    )
    arithmetic = (
        *clip(match, found),
        ("pad_value", _pad_value(match)),
        ("input_unsigned", int(s.is_unsigned(match, "input"))),
    )
    taps = ("C", "FY", "FX")
    return Workload(
        "snitch_conv2d",
        dims,
        operands,
        prod(dim.size for dim in dims),
        (*_steps(match), ("wide", int(found.wide))),
        # Panels of four pixels: their sums, then 2 bytes for each tap of each pixel.
        ((("OY", "OX", *taps), 2), (("OY", "OX"), 4), (taps, 6), ((), PANEL_BYTES)),
        arithmetic=arithmetic,
    )


def maxpool2d(match: Match) -> Workload:
    """The largest of each window: C, OY, OX, FY, FX."""
    _, channels, oy, ox = (int(size) for size in match.output.shape)
    fy, fx = _pair(match, "kernel_shape")
    dims = (
        Dim("C", channels),
        Dim("OY", oy),
        Dim("OX", ox),
        Dim("FY", fy, tileable=False),
        Dim("FX", fx, tileable=False),
    )
    c = one_dim("c", channels)
    operands = (
        Operand("input", "input", (c, *_window_axes(match))),
        Operand("output", "output", (c, one_dim("oy", oy), one_dim("ox", ox))),
    )
    arithmetic = (("input_unsigned", int(s.is_unsigned(match, "input"))),)
    return Workload("snitch_maxpool2d", dims, operands, 0, _steps(match), arithmetic=arithmetic)
