"""TFLite's integer kernels in numpy, stated independently of match: scalar formulas on Python's integers.

Sources: the documentation of TFLite's quantisation specification and the arithmetic of its reference kernels
(rounding doubling high multiplication, rounding shift, tables with interpolation).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.tflite_files.numpy_operators import Array


def multiplier(real: float) -> tuple[int, int]:
    """31 bits and a shift to the left."""
    if real == 0:
        return 0, 0
    fraction, shift = math.frexp(real)
    bits = math.floor(fraction * 2**31 + 0.5)
    return (bits // 2, shift + 1) if bits == 2**31 else (bits, shift)


def by_multiplier(x: int, real: float) -> int:
    """32-bit x: the high half of the doubled product, then a shift that rounds half away from zero."""
    m, shift = multiplier(real)
    return _shifted_product(x, m, shift)


def _shifted_product(x: int, m: int, shift: int) -> int:
    product = (x << max(shift, 0)) * m
    nudge = 2**30 if product >= 0 else 1 - 2**30
    total = product + nudge
    high = abs(total) // 2**31 * (1 if total >= 0 else -1)
    right = max(-shift, 0)
    magnitude = (abs(high) + (1 << right >> 1)) >> right
    return magnitude if high >= 0 else -magnitude


def by_short_multiplier(x: int, real: float) -> int:
    """64-bit x: 15 bits of the multiplier, one rounding upwards."""
    m, shift = multiplier(real)
    short = (m + 2**15) >> 16 if m < 0x7FFF0000 else 0x7FFF
    total = 15 - shift
    return (x * short + (1 << (total - 1))) >> total


def saturated(x: int, dtype: str) -> int:
    limits = np.iinfo(dtype)
    return max(int(limits.min), min(int(limits.max), x))


def each(function: Callable[[int], int], array: Array, dtype: str = "int64") -> Array:
    return np.array([function(int(x)) for x in array.reshape(-1)], dtype).reshape(array.shape)


def activation_bounds(kind: int, scale: float, zero: int, dtype: str) -> tuple[int, int]:
    limits = np.iinfo(dtype)
    low = {1: 0.0, 2: -1.0, 3: 0.0}.get(kind, -math.inf)
    high = {2: 1.0, 3: 6.0}.get(kind, math.inf)

    def step(real: float) -> int:
        return zero + int(math.copysign(math.floor(abs(real / scale) + 0.5), real))

    lowest = int(limits.min) if math.isinf(low) else max(int(limits.min), step(low))
    return lowest, int(limits.max) if math.isinf(high) else min(int(limits.max), step(high))


def requantised(sums: Array, reals: Sequence[float], bounds: tuple[int, int], wide: bool) -> Array:
    """Sums whose last axis has the channels, to int16."""
    scale = by_short_multiplier if wide else by_multiplier
    flat = sums.reshape(-1, sums.shape[-1])
    values = [
        [max(bounds[0], min(bounds[1], scale(int(x), r))) for x, r in zip(row, reals, strict=True)] for row in flat
    ]
    return np.array(values, np.int16).reshape(sums.shape)


def add16(a: Array, b: Array, scales: tuple[float, float, float], sign: int = 1) -> Array:
    """Both operands with 15 more bits at twice the larger scale."""
    unit = 2 * max(scales[:2])

    def one(x: int, y: int) -> int:
        first, second = by_multiplier(x << 15, scales[0] / unit), by_multiplier(y << 15, scales[1] / unit)
        return saturated(by_multiplier(first + sign * second, unit / (2**15 * scales[2])), "int16")

    a, b = np.broadcast_arrays(a, b)
    return np.array([one(int(x), int(y)) for x, y in zip(a.flat, b.flat, strict=True)], np.int16).reshape(a.shape)


def mul16(a: Array, b: Array, scales: tuple[float, float, float]) -> Array:
    real = float(np.float32(scales[0]) * np.float32(scales[1]) / np.float32(scales[2]))
    a, b = np.broadcast_arrays(a.astype(np.int64), b.astype(np.int64))
    return each(lambda x: saturated(by_multiplier(x, real), "int16"), a * b, "int16")


def average16(sums: Array, count: Array) -> Array:
    """Rounded half away from zero."""

    def one(total: int, n: int) -> int:
        return (total + n // 2) // n if total > 0 else -((-total + n // 2) // n)

    counts = np.broadcast_to(count, sums.shape)
    return np.array([one(int(t), int(n)) for t, n in zip(sums.flat, counts.flat, strict=True)], np.int16).reshape(
        sums.shape
    )


SIGMOID_TABLE = [min(65535, math.floor(65536 / (1 + math.exp(-i / 24)) + 0.5)) for i in range(256)]


def table_input(scale: float, powers: tuple[int, ...]) -> tuple[int, int]:
    fraction, exponent = math.frexp(scale)
    if fraction == 0.5 and 12 + exponent - 1 in powers:
        return 3 << (12 + exponent - 1), 0
    real, shift = scale * 4096 * 3, 0
    while real <= 32767 / 2 and shift <= 30:
        real, shift = real * 2, shift + 1
    return int(real), shift


def sigmoid16(x: int, m: int, shift: int) -> int:
    scaled = (x * m + (1 << (shift - 1) if shift else 0)) >> shift
    place, part = abs(scaled) >> 9, abs(scaled) & 0x1FF
    if place >= 255:
        value = 0x7FFF << 10
    else:
        value = (SIGMOID_TABLE[place] << 9) + part * (SIGMOID_TABLE[place + 1] - SIGMOID_TABLE[place])
    return (value + (1 << 9) if scaled >= 0 else (1 << 25) - value + (1 << 9) - 1) >> 10


def tanh16(x: int, m: int, shift: int) -> int:
    scaled = (x * m + (1 << (shift - 1) if shift else 0)) >> shift
    place, part = abs(scaled) >> 8, abs(scaled) & 0xFF
    if place >= 255:
        value = 0xFFFF << 8
    else:
        value = (SIGMOID_TABLE[place] << 8) + part * (SIGMOID_TABLE[place + 1] - SIGMOID_TABLE[place])
    return (value - (1 << 23) + (1 << 7) if scaled >= 0 else -value + (1 << 23) + (1 << 7) - 1) >> 8


def curve(function: Callable[[float], float], low: float, high: float) -> list[int]:
    """512 steps; each value less half of the interpolation's error in the middle of its step."""

    def near(x: float) -> int:
        return int(math.copysign(math.floor(abs(x) + 0.5), x))

    step, table = (high - low) / 512, []
    for i in range(512):
        here, middle, after = (32768 * function(low + step * (i + part)) for part in (0, 0.5, 1))
        error = near((after + near(here)) / 2) - near(middle)
        table.append(saturated(near(here) - near(error / 2), "int16"))
    return [*table, saturated(near(32768 * function(high)), "int16")]


def looked_up(x: int, table: list[int]) -> int:
    index = 256 + (x >> 7)
    return table[index] + (((table[index + 1] - table[index]) * (x & 0x7F) + 64) >> 7)


def softmax16(row: Sequence[int], scale: float) -> list[int]:
    exponentials, reciprocals = curve(math.exp, -10, 0), curve(lambda x: 1 / (1 + x), 0, 1)
    top = max(row)
    places = [saturated(by_multiplier(x - top, scale / (10 / 65535)) + 32767, "int16") for x in row]
    powers = [looked_up(x, exponentials) for x in places]
    total = sum(powers)
    headroom = 32 - total.bit_length()
    shifted = ((total << (headroom)) >> 1) if headroom == 0 else total << (headroom - 1)
    place = saturated(((shifted + (1 << 13)) >> 14) - (1 << 15) - (1 << 16), "int16")
    reciprocal, right = looked_up(place, reciprocals), 31 - headroom
    return [max(0, min(32767, (p * reciprocal + (1 << (right - 1))) >> right)) for p in powers]


def mean16(sums: Array, real: float, count: int) -> Array:
    """The factor of the scales and the count are one multiplier."""
    m, shift = multiplier(real)
    bits = min(count.bit_length() - 1, 32, 31 + shift)
    return each(lambda x: saturated(_shifted_product(x, (m << bits) // count, shift - bits), "int16"), sums, "int16")


def svdf8(
    x: Array, features: Array, time: Array, bias: Array, state: Array, scales: dict[str, float], zeros: tuple[int, int]
) -> tuple[Array, Array]:
    """(result, next state) of one batch row: x [features], state [filters, steps] int16."""
    first = float(np.float32(scales["x"]) * np.float32(scales["features"]) / np.float32(scales["state"]))
    second = float(np.float32(scales["state"]) * np.float32(scales["time"]) / np.float32(scales["y"]))
    filters, steps = time.shape
    after = np.empty_like(state)
    sums = [0] * filters
    for f in range(filters):
        dot = sum(int(w) * (int(v) - zeros[0]) for w, v in zip(features[f], x, strict=True))
        after[f, : steps - 1] = state[f, 1:]
        after[f, steps - 1] = saturated(by_multiplier(dot, first), "int16")
        sums[f] = sum(int(w) * int(s) for w, s in zip(time[f], after[f], strict=True))
    rank = filters // len(bias)
    totals = [int(bias[u]) + sum(sums[u * rank : (u + 1) * rank]) for u in range(len(bias))]
    y = [saturated(by_multiplier(total, second) + zeros[1], "int8") for total in totals]
    return np.array(y, np.int8), after


def lstm8(
    x: Array,
    weights: list[Array],
    recurrent: list[Array],
    biases: list[Array],
    h: Array,
    c: Array,
    held: dict[str, Any],
) -> tuple[Array, Array]:
    """One step of one sample with int8 values and an int16 cell state; gates are in the order input, forget, cell,
    output. ``held``: scales "x", "h", "c", lists "weights" and "recurrent", zero points "x_zero" and "h_zero", "clip"."""
    gates = []
    for gate in range(4):
        row = []
        for unit in range(len(h)):
            outer = sum(int(w) * (int(v) - held["x_zero"]) for w, v in zip(weights[gate][unit], x, strict=True))
            inner = sum(int(w) * (int(v) - held["h_zero"]) for w, v in zip(recurrent[gate][unit], h, strict=True))
            f32 = np.float32
            first = by_multiplier(
                outer + int(biases[gate][unit]), float(f32(held["x"]) * f32(held["weights"][gate])) * 4096
            )
            second = by_multiplier(inner, float(f32(held["h"]) * f32(held["recurrent"][gate])) * 4096)
            total = saturated(saturated(first, "int16") + saturated(second, "int16"), "int16")
            row.append(tanh16(total, 3, 0) if gate == 2 else sigmoid16(total, 3, 0))
        gates.append(row)
    next_h, next_c, shift = np.empty_like(h), np.empty_like(c), 12 + round(math.log2(held["c"]))
    for unit, (i, f, g, o) in enumerate(zip(*gates, strict=True)):
        kept = saturated(by_multiplier(f * int(c[unit]), 2.0**-15), "int16")
        new = saturated(by_multiplier(i * g, 2.0**-30 / held["c"]), "int16")
        clip = int(min(held["clip"] / held["c"], 32767)) or 32768
        cell = max(-clip, min(clip, saturated(kept + new, "int16")))
        curved = tanh16(cell, 3 << max(shift, 0), max(-shift, 0))
        next_h[unit] = saturated(
            by_multiplier(curved * o, 2.0**-30 / float(np.float32(held["h"]))) + held["h_zero"], "int8"
        )
        next_c[unit] = cell
    return next_h, next_c
