"""What a job of the analog array computes and how its data lie, written from the published description only: the
weight encoder of DORY and HTVM, the arithmetic of diana-quantlib and HTVM, groups of 64 channels. Nothing of the
package is used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Cells = NDArray[np.int8]

ROWS = 1152
COLUMNS = 512


@dataclass(frozen=True)
class Shape:
    """Sizes of a job. ``pads``: bottom, top, right, left, as the bits of the padding field."""

    c: int
    k: int
    cy: int
    cx: int
    fy: int = 3
    fx: int = 3
    stride: int = 1
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    unroll: int = 1

    @property
    def oy(self) -> int:
        return (self.cy + self.pads[0] + self.pads[1] - self.fy) // self.stride + 1

    @property
    def ox(self) -> int:
        """Columns of the output; a multiple of ``unroll``, which may leave some out."""
        return ((self.cx + self.pads[2] + self.pads[3] - self.fx) // self.stride + 1) // self.unroll * self.unroll

    @property
    def rows(self) -> int:
        return self.c * self.fy * self.fx


@dataclass(frozen=True)
class Scaling:
    """Behind the array: log2 of the gain, then batch-norm [k] each, shift, ReLU; without ``mul`` only the ADC."""

    gain: int = 0
    mul: Ints | None = None
    add: Ints | None = None
    shift: int = 0
    relu: bool = False


def encode(weights: Cells) -> bytes:
    """[K, C, FY, FX] of -1, 0, 1 as the array loads them."""
    k = weights.shape[0]
    logical = weights.reshape(k, -1).T
    rows = -(-logical.shape[0] // 288) * 288
    columns = -(-k // 128) * 128
    array = np.zeros((rows, columns), np.int8)
    array[: logical.shape[0], :k] = logical
    array = array[::-1].copy()
    for block in range(rows // 64 + 1):
        part = slice(64 * block, 64 * block + 64)
        if not 6 <= block <= 11:
            array[part, 0::2] *= -1
        if block <= 8:
            array[part, 1::2] *= -1
    words = []
    for row in array:
        for plane in (row == 1, row == -1):
            words += [int("".join("1" if bit else "0" for bit in plane[i : i + 32]), 2) for i in range(0, columns, 32)]
    return np.array(words, "<u4").tobytes()


def encode_norm(scaling: Scaling) -> bytes:
    """k multipliers, then k addends, a word each."""
    if scaling.mul is None or scaling.add is None:
        return b""
    return np.concatenate([scaling.mul, scaling.add]).astype("<i4").tobytes()


def store(values: Ints, junk: int = 0x3C) -> bytes:
    """[C, Y, X] as groups of 64 channels per pixel, each four bytes reversed; unused channels hold ``junk``."""
    c, y, x = values.shape
    groups = -(-c // 64)
    wide = np.full((groups * 64, y, x), junk, np.int8)
    wide[:c] = values
    linear = wide.reshape(groups, 64, y, x).transpose(0, 2, 3, 1).reshape(-1)
    return bytes(linear.reshape(-1, 4)[:, ::-1].tobytes())


def load(data: bytes, c: int, y: int, x: int) -> Ints:
    """The other way round."""
    linear = np.frombuffer(data, np.int8).reshape(-1, 4)[:, ::-1].reshape(-1, y, x, 64)
    values: Ints = linear.transpose(0, 3, 1, 2).reshape(-1, y, x)[:c].astype(np.int64)
    return values


def sums(shape: Shape, x: Ints, weights: Cells) -> Ints:
    """Sums [K, OY, OX] of the columns, from inputs [C, Y, X] clipped to 7 bits."""
    bottom, top, right, left = shape.pads
    padded = np.pad(np.clip(x, -64, 63), ((0, 0), (top, bottom), (left, right)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (shape.fy, shape.fx), axis=(1, 2))
    windows = windows[:, :: shape.stride, :: shape.stride][:, : shape.oy, : shape.ox]
    found: Ints = np.einsum("cyxij,kcij->kyx", windows, weights.astype(np.int64))
    return found


def adc(values: Ints, gain: int) -> Ints:
    """6 bits; division rounds down."""
    converted: Ints = np.clip(values // 2**gain, -32, 31)
    return converted


def post(values: Ints, scaling: Scaling) -> Ints:
    """Batch-norm, shift down, 7 bits, of the sum over the groups [K, Y, X]."""
    if scaling.mul is None or scaling.add is None:
        return values
    scaled = values * scaling.mul[:, None, None] + scaling.add[:, None, None]
    assert np.all(np.abs(scaled) < 2**15)
    clipped: Ints = np.clip(scaled // 2**scaling.shift, 0 if scaling.relu else -64, 63)
    return clipped


def layer(shape: Shape, x: Ints, weights: Cells, scaling: Scaling) -> Ints:
    """One job over all channels."""
    return post(adc(sums(shape, x, weights), scaling.gain), scaling)
