"""Binary16 arithmetic of the kernels in numpy, step by step: the contract of ``match_carfield.half.interfaces``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Half = NDArray[np.float16]
Double = NDArray[np.float64]
Single = NDArray[np.float32]


def rounded(value: Double) -> Double:
    """The nearest binary16 numbers. A product of two and a third are exact enough in float64 for one rounding."""
    with np.errstate(over="ignore"):
        return value.astype(np.float16).astype(np.float64)


def bits(value: Half) -> NDArray[np.uint16]:
    """What no number has one pattern, as in hardware."""
    return np.where(np.isnan(value), np.uint16(0x7E00), value.view(np.uint16))


def finished(acc: Double, mul: Half, add: Half, relu: bool) -> Half:
    result = rounded(acc * mul.astype(np.float64) + add.astype(np.float64)).astype(np.float16)
    return np.where(result > 0, result, np.float16(0)) if relu else result


def taps(
    image: tuple[int, int],
    out: tuple[int, int],
    kernel: tuple[int, int],
    pads: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
):  # type: ignore[no-untyped-def]
    """For each (fy, fx) in order: output pixels (rows, columns) that it serves, and the input pixels it meets."""
    for fy in range(kernel[0]):
        y = np.arange(out[0]) * stride[0] + fy * dilation[0] - pads[0]
        rows = np.flatnonzero((y >= 0) & (y < image[0]))
        for fx in range(kernel[1]):
            x = np.arange(out[1]) * stride[1] + fx * dilation[1] - pads[1]
            columns = np.flatnonzero((x >= 0) & (x < image[1]))
            if rows.size and columns.size:
                yield (fy, fx), np.ix_(rows, columns), np.ix_(y[rows], x[columns])


def sums(x: Half, weight: Half, out: tuple[int, int], **geometry: tuple[int, int]) -> Double:
    """x (Y, X, C), weight (FY, FX, C, K): sums (OY, OX, K) in the order fy, fx, c."""
    acc = np.zeros((*out, weight.shape[3]))
    wide, inputs = weight.astype(np.float64), x.astype(np.float64)
    for (fy, fx), here, there in taps(x.shape[:2], out, weight.shape[:2], **geometry):
        part = acc[here]
        for c in range(weight.shape[2]):
            part = rounded(inputs[there][..., c, None] * wide[fy, fx, c] + part)
        acc[here] = part
    return acc


def channel_sums(x: Half, weight: Half, out: tuple[int, int], **geometry: tuple[int, int]) -> Double:
    """x (Y, X, K), weight (FY, FX, K): sums (OY, OX, K)."""
    acc = np.zeros((*out, weight.shape[2]))
    for (fy, fx), here, there in taps(x.shape[:2], out, weight.shape[:2], **geometry):
        acc[here] = rounded(x.astype(np.float64)[there] * weight[fy, fx].astype(np.float64) + acc[here])
    return acc


def product(left: Half, right: Half) -> Double:
    """(M, C) times (C, K)."""
    plain = {"pads": (0, 0), "stride": (1, 1), "dilation": (1, 1)}
    return sums(left[None], right[None, None], (1, left.shape[0]), **plain)[0]


def pooled(x: Half, out: tuple[int, int], kernel: tuple[int, int], scale: np.float16 | None, **geometry) -> Half:  # type: ignore[no-untyped-def]
    """Sums times ``scale``, or the largest number where it is None: NaN where there is none."""
    start = 0.0 if scale is not None else np.nan
    acc = np.full((*out, x.shape[2]), start)
    wide = x.astype(np.float64)
    for _, here, there in taps(x.shape[:2], out, kernel, **geometry):
        if scale is None:
            acc[here] = np.where(
                (acc[here] == 0) & (wide[there] == 0), acc[here] + wide[there], np.fmax(acc[here], wide[there])
            )
        else:
            acc[here] = rounded(acc[here] + wide[there])
    return rounded(acc * (1.0 if scale is None else float(scale))).astype(np.float16)


# ---- binary32 inside ---------------------------------------------------------------------------------------------


def _single(bits_: NDArray[np.uint32]) -> Single:
    return bits_.astype(np.uint32).view(np.float32)


def exponential(x: Single) -> Single:
    f = np.float32
    shifted = x * f(1.44269504) + f(12582912.0)
    n = shifted - f(12582912.0)
    r = (x - n * f(0.693359375)) + n * f(2.12194440e-4)
    p = np.full_like(x, f(1.9875691500e-4))
    for constant in (1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1):
        p = p * r + f(constant)
    p = p * (r * r) + (r + f(1))
    with np.errstate(over="ignore"):
        result = _single(p.view(np.uint32) + (shifted.view(np.uint32) << np.uint32(23)))
    return np.where(x > f(-87), result, f(0))


def sequential(terms: Single) -> Single:
    """Sum of each row from left to right."""
    total = np.zeros(terms.shape[0], np.float32)
    for column in terms.T:
        total = total + column
    return total


def softmax(x: Half) -> Half:
    values = x.astype(np.float32)
    powers = exponential(values - values.max(1, keepdims=True))
    return (powers * (np.float32(1) / sequential(powers))[:, None]).astype(np.float16)


def layernorm(x: Half, scale: Half, bias: Half, epsilon: np.float32) -> Half:
    f = np.float32
    values, part = x.astype(np.float32), f(1) / f(x.shape[1])
    differences = values - (sequential(values) * part)[:, None]
    variance = sequential(differences * differences) * part + epsilon
    y = _single(np.uint32(0x5F3759DF) - (variance.view(np.uint32) >> np.uint32(1)))
    for _ in range(4):
        y = y * (f(1.5) - (f(0.5) * variance) * (y * y))
    with np.errstate(over="ignore"):
        return ((differences * y[:, None]) * scale.astype(f) + bias.astype(f)).astype(np.float16)


def gelu(x: Half) -> Half:
    f = np.float32
    values = x.astype(f)
    z = np.minimum(np.abs(values), f(8)) * f(0.70710678)
    p = np.full_like(z, f(4.30638e-5))
    for constant in (2.765672e-4, 1.520143e-4, 9.2705272e-3, 4.22820123e-2, 7.05230784e-2, 1.0):
        p = p * z + f(constant)
    y = _single(np.uint32(0x7EF311C7) - p.view(np.uint32))
    for _ in range(4):
        y = y * (f(2) - p * y)
    for _ in range(4):
        y = y * y
    return ((values * f(0.5)) * np.where(values < 0, y, f(2) - y)).astype(np.float16)
