"""How matches of 8-bit patterns become workloads."""

from __future__ import annotations

from math import prod

import numpy as np
from match_core import Axis, Dim, Match, Operand, Workload

from match_carfield import int8_structures as s
from match_carfield.windows import dilations, kernel, strides
from match_carfield.workloads import matrix

_CORES = 8
#: Pixels that a core computes at once.
_COLUMNS = 2
_WORD_BYTES = 4

Geometry = tuple[tuple[str, int], ...]


def row_bytes(taps: int) -> int:
    """Bytes of a row of weights, and of a column of inputs: whole words."""
    return -(-taps // _WORD_BYTES) * _WORD_BYTES


def _axis(name: str, size: int) -> Axis:
    return Axis(name, size, ((name.upper(), 1),))


def _bounds(match: Match) -> Geometry:
    return (("shift", s.shift(match)), ("low", s.number(match, "low")), ("high", s.number(match, "high")))


def _sign(match: Match, capture: str = "input") -> Geometry:
    return (("input_signed", int(np.dtype(match.tensor(capture).dtype) == np.int8)),)


def _conv_geometry(match: Match) -> Geometry:
    (stride_y, stride_x), (dilation_y, dilation_x) = strides(match), dilations(match)
    return (
        ("stride_y", stride_y),
        ("stride_x", stride_x),
        ("dilation_y", dilation_y),
        ("dilation_x", dilation_x),
        ("pad_value", s.pad_value(match)),
        *_bounds(match),
    )


def _window_axes(match: Match) -> tuple[Axis, Axis]:
    _, height, width, _ = match.shape("input")
    (stride_y, stride_x), (dilation_y, dilation_x) = strides(match), dilations(match)
    top, left, _, _ = s.pads(match)
    return (
        Axis("y", height, (("OY", stride_y), ("FY", dilation_y)), top),
        Axis("x", width, (("OX", stride_x), ("FX", dilation_x)), left),
    )


def _image(match: Match) -> tuple[Axis, Axis, Axis]:
    _, oy, ox, channels = (int(size) for size in match.output.shape)
    return Axis("y", oy, (("OY", 1),)), Axis("x", ox, (("OX", 1),)), _axis("k", channels)


def _weighted(inputs: tuple[Axis, ...], weight: tuple[Axis, ...], outputs: tuple[Axis, ...]) -> tuple[Operand, ...]:
    return (
        Operand("input", "input", inputs),
        Operand("weight", "constant", weight),
        Operand("multiplier", "constant", outputs[-1:], 32),
        Operand("addend", "constant", outputs[-1:], 64),
        Operand("output", "output", outputs),
    )


def _columns(taps: int) -> tuple[tuple[tuple[str, ...], int], ...]:
    return (((), _CORES * _COLUMNS * row_bytes(taps)),)


def conv(match: Match) -> Workload:
    """A convolution with one group: OY, OX, K, C, FY, FX."""
    out_channels, in_channels, fy, fx = match.shape("weight")
    oy, ox, k = _image(match)
    taps = fy * fx * in_channels
    dims = (
        Dim("OY", oy.size),
        Dim("OX", ox.size),
        Dim("K", out_channels),
        Dim("C", in_channels, tileable=False),
        Dim("FY", fy, tileable=False),
        Dim("FX", fx, tileable=False),
    )
    operands = _weighted(
        (*_window_axes(match), _axis("c", in_channels)), (k, Axis("tap", row_bytes(taps))), (oy, ox, k)
    )
    direct = fy * fx == 1 and not any(s.pads(match)) and strides(match) == (1, 1) and taps % _WORD_BYTES == 0
    scratch = () if direct else _columns(taps)
    return Workload(
        "int8_conv2d", dims, operands, prod(d.size for d in dims), (*_conv_geometry(match), *_sign(match)), scratch
    )


def depthwise(match: Match) -> Workload:
    """A convolution of each channel: OY, OX, K, FY, FX."""
    channels, _, fy, fx = match.shape("weight")
    oy, ox, k = _image(match)
    dims = (
        Dim("OY", oy.size),
        Dim("OX", ox.size),
        Dim("K", channels),
        Dim("FY", fy, tileable=False),
        Dim("FX", fx, tileable=False),
    )
    operands = _weighted((*_window_axes(match), k), (k, Axis("tap", fy * fx)), (oy, ox, k))
    return Workload("int8_depthwise2d", dims, operands, prod(d.size for d in dims), _conv_geometry(match))


def linear(match: Match) -> Workload:
    """A dense layer: N, K, C."""
    in_features, out_features = match.shape("weight")
    n, k = _axis("n", prod(match.shape("input")) // in_features), _axis("k", out_features)
    dims = (Dim("N", n.size), Dim("K", out_features), Dim("C", in_features, tileable=False))
    operands = _weighted((n, _axis("c", in_features)), (k, Axis("tap", row_bytes(in_features))), (n, k))
    scratch = _columns(in_features) if in_features % _WORD_BYTES else ()
    return Workload(
        "int8_linear", dims, operands, prod(d.size for d in dims), (*_bounds(match), *_sign(match)), scratch
    )


def add(match: Match) -> Workload:
    """The sum of two tensors of one shape: Y, X, C."""
    shape = [int(size) for size in match.output.shape]
    axes = (_axis("y", prod(shape[:-2])), *(_axis(n, size) for n, size in zip("xc", [1, 1, *shape][-2:], strict=True)))
    addend = s.number(match, "addend")
    geometry = (
        ("multiplier_a", s.number(match, "multiplier_a")),
        ("multiplier_b", s.number(match, "multiplier_b")),
        ("addend_low", int(np.uint32(addend & 0xFFFFFFFF).astype(np.int32))),
        ("addend_high", addend >> 32),
        *_bounds(match),
        *_sign(match, "input_a"),
    )
    names = (("input_a", "input"), ("input_b", "input"), ("output", "output"))
    operands = tuple(Operand(name, role, axes) for name, role in names)  # type: ignore[arg-type]
    return Workload("int8_add", tuple(Dim(a.name.upper(), a.size) for a in axes), operands, 0, geometry)


def pool(match: Match) -> Workload:
    """The mean or the largest of each window: OY, OX, C, FY, FX."""
    oy, ox, k = _image(match)
    c = _axis("c", k.size)
    fy, fx = kernel(match)
    average = match.has("area")
    dims = (
        Dim("OY", oy.size),
        Dim("OX", ox.size),
        Dim("C", c.size),
        Dim("FY", fy, tileable=False),
        Dim("FX", fx, tileable=False),
    )
    operands = (Operand("input", "input", (*_window_axes(match), c)), Operand("output", "output", (oy, ox, c)))
    step = strides(match)
    geometry = (
        ("stride_y", step[0]),
        ("stride_x", step[1]),
        ("average", int(average)),
        ("shift", s.shift(match, "area") if average else 0),
    )
    return Workload("int8_pool2d", dims, operands, 0, geometry)


def transpose(match: Match) -> Workload:
    """A matrix turned, its signs changed where the match says so: R, C."""
    shape = matrix(match)
    assert shape is not None  # a rule says so
    return _turned(shape, match.has("offset"))


def offset(match: Match) -> Workload:
    """Signs changed: a matrix of one row."""
    return _turned((1, prod(match.shape("input"))), True)


def _turned(shape: tuple[int, int], flip: bool) -> Workload:
    r, c = _axis("r", shape[0]), _axis("c", shape[1])
    operands = (Operand("input", "input", (r, c)), Operand("output", "output", (c, r)))
    geometry = (("flip", 0x80 if flip else 0),)
    return Workload("int8_transpose", (Dim("R", r.size), Dim("C", c.size)), operands, 0, geometry)
