"""Functions of 16-bit integers by the tables of TFLite's kernels, with linear interpolation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from match_tflite.fixed_point import Fixed, Ints

#: sigmoid(i / 24) with 16 fractional bits; the last values saturate.
_SIGMOID = np.minimum(np.rint(65536.0 / (1.0 + np.exp(-np.arange(256) / 24.0))), 65535).astype(np.int64)
_STEPS = 512


def curve(function: Callable[[float], float], lowest: float, highest: float) -> Ints:
    """A function from [lowest, highest] to [-1, 1) at 512 places and the end, with 15 fractional bits. Each value is
    moved by half of the error that interpolation would have in the middle of its step."""
    places = np.linspace(lowest, highest, 2 * _STEPS + 1)
    values = np.array([function(float(place)) for place in places]) * 32768.0
    here, middle, after = _rounded(values[:-1:2]), _rounded(values[1::2]), values[2::2]
    error = _rounded((after + here) / 2) - middle
    table = np.append(here - _rounded(error / 2), _rounded(values[-1:]))
    return np.clip(table, -32768, 32767).astype(np.int64)


def _rounded(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Half away from zero."""
    return np.sign(values) * np.floor(np.abs(values) + 0.5)


def looked_up(fixed: Fixed, name: str, table: Ints) -> str:
    """Values of a curve for 16-bit integers."""
    index = fixed.node("Add", fixed.halves(name, 128), 256)
    base = fixed.node("Gather", fixed.number(table), index)
    slope = fixed.node("Gather", fixed.number(np.diff(table)), index)
    delta = fixed.node("Mul", slope, fixed.node("Mod", name, 128))
    return fixed.node("Add", base, fixed.halves(fixed.node("Add", delta, 64), 128))


def table_input(scale: float, left_shifts: tuple[int, ...]) -> tuple[int, int]:
    """(multiplier, right shift) that bring a 16-bit input to the step 1 / (3 * 4096) of the table of sigmoid.
    ``left_shifts``: the powers of two for which the kernel uses the multiplier 3 alone."""
    power = np.log2(np.float64(scale))
    if power == round(power) and (left := 12 + int(power)) in left_shifts:
        return 3 << left, 0
    multiplier, shift = float(scale) * 4096.0 * 3.0, 0
    while multiplier <= 32767.0 / 2.0 and shift <= 30:
        multiplier, shift = multiplier * 2.0, shift + 1
    return int(multiplier), shift


def sigmoid(fixed: Fixed, name: str, multiplier: int, shift: int) -> str:
    """sigmoid with 15 fractional bits of an input that ``table_input`` describes."""
    is_negative, value = _interpolated(fixed, name, multiplier, shift, 9, 0x7FFF << 10)
    mirrored = fixed.node("Sub", fixed.number((1 << 25) + (1 << 9) - 1), value)
    kept = fixed.node("Add", value, 1 << 9)
    return fixed.halves(fixed.call.node("Where", [is_negative, mirrored, kept]), 1 << 10)


def tanh(fixed: Fixed, name: str, multiplier: int, shift: int) -> str:
    """tanh(x) = 2 sigmoid(2 x) - 1, likewise."""
    is_negative, value = _interpolated(fixed, name, multiplier, shift, 8, 0xFFFF << 8)
    mirrored = fixed.node("Sub", fixed.number((1 << 23) + (1 << 7) - 1), value)
    kept = fixed.node("Sub", value, (1 << 23) - (1 << 7))
    return fixed.halves(fixed.call.node("Where", [is_negative, mirrored, kept]), 1 << 8)


def _interpolated(fixed: Fixed, name: str, multiplier: int, shift: int, bits: int, saturated: int) -> tuple[str, str]:
    """Whether the scaled input is negative, the table's value for its magnitude with ``bits`` more bits."""
    product = fixed.node("Mul", name, multiplier)
    x = fixed.halves(fixed.node("Add", product, (1 << shift) >> 1), 1 << shift)
    size = fixed.call.node("Abs", [x])
    place = fixed.node("Div", size, 1 << bits)
    index = fixed.clipped(place, 0, len(_SIGMOID) - 2)
    base = fixed.node("Gather", fixed.number(_SIGMOID[:-1]), index)
    slope = fixed.node("Gather", fixed.number(np.diff(_SIGMOID)), index)
    inner = fixed.node("Mul", slope, fixed.node("Mod", size, 1 << bits))
    value = fixed.node("Add", fixed.node("Mul", base, 1 << bits), inner)
    is_beyond = fixed.node("GreaterOrEqual", place, len(_SIGMOID) - 1)
    value = fixed.call.node("Where", [is_beyond, fixed.number(saturated), value])
    return fixed.node("Less", x, 0), value


def softmax(fixed: Fixed, name: str, scale: float) -> str:
    """Softmax along the last axis with 15 fractional bits; ``scale``: of the inputs, with beta."""
    call, axis = fixed.call, fixed.number(np.array([-1]))
    difference = fixed.node("Sub", name, call.node("ReduceMax", [name, axis], keepdims=1))
    scaled = fixed.node("Add", fixed.scaled(difference, scale / (10.0 / 65535.0)), 32767)
    powers = looked_up(fixed, fixed.clipped(scaled, -32768, 32767), curve(np.exp, -10.0, 0.0))
    total = call.node("ReduceSum", [powers, axis], keepdims=1)
    # The bits of the sum: how many powers of two it reaches.
    reached = fixed.node("GreaterOrEqual", total, 1 << np.arange(31, dtype=np.int64))
    bits = call.node("ReduceSum", [call.node("Cast", [reached], to=7), axis], keepdims=1)
    left = fixed.node("Gather", fixed.number(1 << np.arange(31, -1, -1, dtype=np.int64)), bits)
    right = fixed.node("Gather", fixed.number(1 << np.maximum(np.arange(-1, 31, dtype=np.int64), 0)), bits)
    shifted = fixed.halves(fixed.node("Add", fixed.node("Mul", total, left), 1 << 13), 1 << 14)
    place = fixed.clipped(fixed.node("Sub", shifted, (1 << 15) + (1 << 16)), -32768, 32767)
    reciprocal = looked_up(fixed, place, curve(lambda x: 1.0 / (1.0 + x), 0.0, 1.0))
    product = fixed.node("Add", fixed.node("Mul", powers, reciprocal), fixed.node("Div", right, 2))
    return fixed.clipped(fixed.node("Div", product, right), 0, 32767)
