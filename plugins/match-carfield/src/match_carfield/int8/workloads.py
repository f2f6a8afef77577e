"""Turns matches of 8-bit patterns into workloads."""

from __future__ import annotations

from math import prod

from match_core import Axis, Match, Workload
from match_core.patterns.captures import is_type, number, shift, words
from match_core.patterns.rules_tensors import turned_matrix
from match_core.patterns.windows import pad_value, window_of
from match_core.patterns.workloads import Kernels, Numbers, Scratch, axis, bounds, steps, turned

_CORES = 8
#: Pixels that a core computes at once.
_COLUMNS = 2
WORD_BYTES = 4

_KERNELS = Kernels()


def row_bytes(taps: int) -> int:
    """Bytes of a row of weights, and of a column of inputs: whole words."""
    return -(-taps // WORD_BYTES) * WORD_BYTES


def _sign(match: Match, capture: str = "input") -> Numbers:
    return (("input_signed", int(is_type(match, capture, "int8"))),)


def _geometry(match: Match) -> Numbers:
    return (*steps(match), ("pad_value", pad_value(match)), *bounds(match))


def _columns(taps: int) -> Scratch:
    return (((), _CORES * _COLUMNS * row_bytes(taps)),)


def conv(match: Match) -> Workload:
    """A convolution with one group: OY, OX, K, C, FY, FX."""
    out_channels, in_channels, fy, fx = match.shape("weight")
    window, taps = window_of(match), fy * fx * in_channels
    direct = fy * fx == 1 and not any(window.pads) and window.strides == (1, 1) and taps % WORD_BYTES == 0
    weight = (axis("k", out_channels), Axis("tap", row_bytes(taps)))
    geometry = (*_geometry(match), *_sign(match))
    return _KERNELS.convolution(match, "int8_conv2d", weight, geometry, () if direct else _columns(taps))


def depthwise(match: Match) -> Workload:
    """A convolution of each channel: OY, OX, K, FY, FX."""
    channels, _, fy, fx = match.shape("weight")
    weight = (axis("k", channels), Axis("tap", fy * fx))
    return _KERNELS.depthwise(match, "int8_depthwise2d", weight, _geometry(match))


def linear(match: Match) -> Workload:
    """A dense layer: N, K, C."""
    in_features, out_features = match.shape("weight")
    weight = (axis("k", out_features), Axis("tap", row_bytes(in_features)))
    scratch = _columns(in_features) if in_features % WORD_BYTES else ()
    return _KERNELS.dense(match, "int8_linear", weight, (*bounds(match), *_sign(match)), scratch)


def add(match: Match) -> Workload:
    """The sum of two tensors of one shape: Y, X, C."""
    low, high = words(number(match, "addend"))
    geometry = (
        ("multiplier_a", number(match, "multiplier_a")),
        ("multiplier_b", number(match, "multiplier_b")),
        ("addend_low", low),
        ("addend_high", high),
        *bounds(match),
        *_sign(match, "input_a"),
    )
    return _KERNELS.elements(match, "int8_add", ("input_a", "input_b"), geometry)


def pool(match: Match) -> Workload:
    """The mean or the largest of each window: OY, OX, C, FY, FX."""
    average = match.has("area")
    numbers = (("average", int(average)), ("shift", shift(match, "area") if average else 0))
    return _KERNELS.pooling(match, "int8_pool2d", (*steps(match)[:2], *numbers))


def transpose(match: Match) -> Workload:
    """A transposed matrix, with signs changed if the match includes that: R, C."""
    size = turned_matrix(match)
    assert size is not None  # a rule says so
    return turned(size, "int8_transpose", geometry=(("flip", 0x80 if match.has("offset") else 0),))


def offset(match: Match) -> Workload:
    """Signs changed: a matrix of one row."""
    return turned((1, prod(match.shape("input"))), "int8_transpose", geometry=(("flip", 0x80),))
