"""A small network that DIANA's powers of two ruin: channels of one tensor have very different sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.end_to_end.residual import Activation, CalibratedBuilder, convolve

SHAPE = (3, 6, 6)
#: The largest channel of the tensor between the two convolutions is this many times the smallest.
SPREAD = 300


class _UnevenBuilder(CalibratedBuilder):
    """Convolutions with a gain for each output, and one for each input."""

    def uneven(
        self, source: Activation, channels: int, kernel: int, gains: np.ndarray, inner: np.ndarray
    ) -> Activation:
        """A convolution without padding whose outputs have the sizes ``gains`` and whose inputs count ``inner``."""
        weight = self._normal((channels, source.values.shape[1], kernel, kernel)) * inner[None, :, None, None]
        sums = convolve(source.values, weight, 1, 0)
        weight = weight / (sums.std(axis=(0, 2, 3)) / gains)[:, None, None, None].astype(np.float32)
        label = f"conv{len(self.nodes)}"
        bias = np.zeros(channels, np.float32)
        inputs = [self._dequantize(source), *self._parameters(label, weight, bias, source.scale)]
        self._append("Conv", inputs, label, kernel_shape=[kernel] * 2)
        return self._finish(label, convolve(source.values, weight, 1, 0), relu=False)


def ruined(path: Path, seed: int = 3) -> Path:
    """Three convolutions, a mean and a dense layer; the output is the int8 result of the dense layer. The second
    convolution amplifies what is small in its input."""
    builder = _UnevenBuilder(seed, SHAPE)
    gains = np.geomspace(1, SPREAD, 8, dtype=np.float32)
    same = np.ones(8, np.float32)
    x = builder.uneven(builder.input, 8, 3, gains, np.ones(3, np.float32))
    x = builder.uneven(x, 8, 1, same, (1 / gains).astype(np.float32))
    x = builder.uneven(x, 8, 1, same, same)
    return builder.save(path, builder.classify(x, 10))


def inexact(path: Path, seed: int = 3) -> Path:
    """Convolutions of so many values that exact requantisation rounds a few of them differently from floats."""
    builder = _UnevenBuilder(seed, (3, 34, 34))
    same = np.ones(16, np.float32)
    x = builder.uneven(builder.input, 16, 3, same, np.ones(3, np.float32))
    for _ in range(3):
        x = builder.uneven(x, 16, 1, same, same)
    return builder.save(path, x)
