"""Layers of the analog array in numpy: the reference for the graph's form, the runtime and the twin (sheet 5.3)."""

from __future__ import annotations

import numpy as np
from match_diana.analog import limits
from match_diana.analog.arithmetic import Ints, Norm, converted


def normalised(total: Ints, norm: Norm) -> Ints:
    """What the stage behind makes of the sum of all groups, [..., K, Y, X]. ValueError where 16 bits do not hold it."""
    shape = (-1, 1, 1)
    wide = total * norm.multiplier.reshape(shape) + norm.addend.reshape(shape)
    if wide.size and (wide.min() < -(1 << 15) or wide.max() >= 1 << 15):
        raise ValueError(f"a value before the shift is {wide.min()} or {wide.max()}: 16 bits do not hold it")
    result: Ints = np.clip(wide >> norm.shift, norm.low, limits.OUTPUT_MAX)
    return result


def convolution(x: Ints, cells: Ints, pads: tuple[int, int, int, int], stride: int) -> Ints:
    """Sums [K, OY, OX] of inputs [C, Y, X] and cells [K, C, FY, FX]; ``pads`` as in ONNX: top, left, bottom, right."""
    top, left, bottom, right = pads
    k, _, fy, fx = cells.shape
    wide = np.pad(x, ((0, 0), (top, bottom), (left, right)))
    oy, ox = (wide.shape[1] - fy) // stride + 1, (wide.shape[2] - fx) // stride + 1
    sums = np.zeros((k, oy, ox), np.int64)
    for y in range(fy):
        for column in range(fx):
            part = wide[:, y : y + stride * (oy - 1) + 1 : stride, column : column + stride * (ox - 1) + 1 : stride]
            sums += np.tensordot(cells[:, :, y, column], part, axes=1)
    return sums


def layer(x: Ints, cells: Ints, pads: tuple[int, int, int, int], stride: int, norm: Norm) -> Ints:
    """A layer [K, OY, OX] of inputs [C, Y, X], its input channels in groups."""
    x = np.clip(x, limits.INPUT_MIN, limits.INPUT_MAX)
    total, first = None, 0
    for count in limits.groups(cells.shape[1], cells.shape[2] * cells.shape[3]):
        chosen = slice(first, first + count)
        sums = converted(convolution(x[chosen], cells[:, chosen], pads, stride), norm.gain)
        total, first = sums if total is None else total + sums, first + count
    assert total is not None
    return normalised(total, norm)
