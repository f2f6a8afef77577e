"""Operators of TFLite on NHWC arrays, in numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.tflite_files.builder import SAME, VALID

Array = NDArray[Any]


def padded(
    x: Array, kernel: tuple[int, int], strides: tuple[int, int], dilation: int, padding: int, value: float
) -> Array:
    if padding == VALID:
        return x
    amounts = [(0, 0)]
    for size, taps, stride in zip(x.shape[1:3], kernel, strides, strict=True):
        total = max((-(-size // stride) - 1) * stride + (taps - 1) * dilation + 1 - size, 0)
        amounts.append((total // 2, total - total // 2))
    return np.pad(x, [*amounts, (0, 0)], constant_values=value)


def windows(x: Array, kernel: tuple[int, int], strides: tuple[int, int], dilation: int = 1) -> Array:
    """[1, rows, columns, kernel rows, kernel columns, channels]."""
    reach = [(k - 1) * dilation + 1 for k in kernel]
    view = np.lib.stride_tricks.sliding_window_view(x, reach, (1, 2))
    view = view[:, :: strides[0], :: strides[1], :, ::dilation, ::dilation]
    return view.transpose(0, 1, 2, 4, 5, 3)


def conv(
    strides: tuple[int, int] = (1, 1), dilation: int = 1, padding: int = SAME, groups: int = 1
) -> Callable[..., Array]:
    def compute(x: Array, w: Array, bias: Array | None = None) -> Array:
        view = windows(padded(x, w.shape[1:3], strides, dilation, padding, 0.0), w.shape[1:3], strides, dilation)
        parts = zip(np.split(view, groups, -1), np.split(w, groups, 0), strict=True)
        result = np.concatenate([np.einsum("nyxhwc,ohwc->nyxo", part, taps) for part, taps in parts], -1)
        return result if bias is None else result + bias

    return compute


def depthwise(x: Array, w: Array, bias: Array) -> Array:
    count = w.shape[3] // x.shape[3]
    view = windows(padded(x, w.shape[1:3], (2, 2), 1, SAME, 0.0), w.shape[1:3], (2, 2))
    return np.einsum("nyxhwo,hwo->nyxo", np.repeat(view, count, axis=-1), w[0]) + bias


def transposed_conv(shape: Array, w: Array, x: Array, bias: Array) -> Array:
    """Every pixel adds its filter at its place times the stride; SAME cuts the excess off on both sides."""
    full = np.zeros((1, (x.shape[1] - 1) * 2 + w.shape[1], (x.shape[2] - 1) * 2 + w.shape[2], w.shape[0]), np.float32)
    for row, column in np.ndindex(x.shape[1:3]):
        part = np.einsum("c,ohwc->hwo", x[0, row, column], w)
        full[0, 2 * row : 2 * row + w.shape[1], 2 * column : 2 * column + w.shape[2]] += part
    top, left = ((a - b) // 2 for a, b in zip(full.shape[1:3], shape[1:3], strict=True))
    return full[:, top : top + shape[1], left : left + shape[2]] + bias


def average(x: Array) -> Array:
    summed = windows(padded(x, (3, 3), (2, 2), 1, SAME, 0.0), (3, 3), (2, 2)).sum((3, 4))
    ones = windows(padded(np.ones_like(x), (3, 3), (2, 2), 1, SAME, 0.0), (3, 3), (2, 2)).sum((3, 4))
    return summed / ones


def bilinear(x: Array, size: Array, half: bool) -> Array:
    """Half-pixel centers, or source = place * scale."""
    for axis, length in ((1, int(size[0])), (2, int(size[1]))):
        scale = x.shape[axis] / length
        place = np.arange(length) * scale if not half else np.maximum((np.arange(length) + 0.5) * scale - 0.5, 0)
        low = np.minimum(np.floor(place).astype(int), x.shape[axis] - 1)
        high = np.minimum(low + 1, x.shape[axis] - 1)
        share = (place - low).reshape([-1 if i == axis else 1 for i in range(4)])
        x = np.take(x, low, axis) * (1 - share) + np.take(x, high, axis) * share
    return x


def nearest(x: Array, size: Array, half: bool) -> Array:
    for axis, length in ((1, int(size[0])), (2, int(size[1]))):
        place = np.floor((np.arange(length) + (0.5 if half else 0)) * x.shape[axis] / length).astype(int)
        x = np.take(x, np.minimum(place, x.shape[axis] - 1), axis)
    return x


def blocks(x: Array, size: int) -> Array:
    _, height, width, channels = x.shape
    cut = x.reshape(1, height // size, size, width // size, size, channels).transpose(0, 1, 3, 2, 4, 5)
    return cut.reshape(1, height // size, width // size, size * size * channels)


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "DIV": np.divide,
    "MINIMUM": np.minimum,
    "MAXIMUM": np.maximum,
    "SQUARED_DIFFERENCE": lambda a, b: (a - b) ** 2,
    "EQUAL": np.equal,
    "NOT_EQUAL": np.not_equal,
    "GREATER": np.greater,
    "GREATER_EQUAL": np.greater_equal,
    "LESS": np.less,
    "LESS_EQUAL": np.less_equal,
    "PRELU": lambda x, slope: np.where(x < 0, x * slope, x),
}
UNARY: dict[str, Callable[[Array], Array]] = {
    "RELU": lambda x: np.maximum(x, 0),
    "RELU6": lambda x: np.clip(x, 0, 6),
    "RELU_N1_TO_1": lambda x: np.clip(x, -1, 1),
    "RELU_0_TO_1": lambda x: np.clip(x, 0, 1),
    "LOGISTIC": lambda x: 1 / (1 + np.exp(-x)),
    "TANH": np.tanh,
    "HARD_SWISH": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "ELU": lambda x: np.where(x < 0, np.exp(x) - 1, x),
    "ABS": np.abs,
    "NEG": np.negative,
    "EXP": np.exp,
    "SIN": np.sin,
    "COS": np.cos,
    "FLOOR": np.floor,
    "CEIL": np.ceil,
    "ROUND": np.rint,
    "SIGN": np.sign,
    "SQUARE": np.square,
}
POSITIVE: dict[str, Callable[[Array], Array]] = {"SQRT": np.sqrt, "RSQRT": lambda x: 1 / np.sqrt(x), "LOG": np.log}
REDUCTIONS: dict[str, Callable[..., Array]] = {
    "MEAN": np.mean,
    "SUM": np.sum,
    "REDUCE_MAX": np.max,
    "REDUCE_MIN": np.min,
    "REDUCE_PROD": np.prod,
}
