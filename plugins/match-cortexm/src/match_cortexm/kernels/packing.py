"""The stored order of weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Outputs of a block.
OUTPUTS = 4


def _blocks(weight: NDArray[np.int8], values: int) -> NDArray[np.int8]:
    """Weights [outputs, rows, columns, inputs] as [outputs, rows, values of a row], with zeros for missing ones."""
    outputs, rows, columns, inputs = weight.shape
    run = columns * inputs
    padded = np.zeros((-(-outputs // OUTPUTS) * OUTPUTS, rows, -(-run // values) * values), np.int8)
    padded[:outputs, :, :run] = weight.reshape(outputs, rows, run)
    return padded


def pack_dsp(weight: NDArray[np.int8], size: int = 1) -> NDArray[np.int32]:
    """Words [blocks of outputs, rows, steps of 4 values, 4], in the order of match_cortexm_dsp.h, or of
    match_cortexm_int16.h for values of two bytes."""
    padded = _blocks(weight, 4)
    # [block, pair of outputs, output, row, step, high, odd] -> [block, row, step, odd, pair, high, output]
    split = padded.reshape(-1, 2, 2, weight.shape[1], padded.shape[2] // 4, 2, 2)
    ordered = np.ascontiguousarray(np.transpose(split, (0, 3, 4, 6, 1, 5, 2) if size == 1 else (0, 3, 4, 5, 1, 6, 2)))
    return ordered.reshape(-1).view("<i4").astype(np.int32)


def pack_mve(weight: NDArray[np.int8], values: int = 16) -> NDArray[np.int8]:
    """Bytes [blocks of outputs, rows, steps of so many values, 4 outputs, values]."""
    padded = _blocks(weight, values)
    split = padded.reshape(-1, OUTPUTS, weight.shape[1], padded.shape[2] // values, values)
    return np.ascontiguousarray(np.transpose(split, (0, 2, 3, 1, 4))).reshape(-1)


def pack_depthwise_dsp(weight: NDArray[np.generic], size: int = 1) -> NDArray[np.int32]:
    """Weights [taps, channels] as words [blocks of 4 channels, taps, 2]: 16 bits of channels 0 and 2, of 1 and 3; of
    neighbours for values of two bytes."""
    taps, channels = weight.shape
    split = weight.astype("<i2").reshape(taps, channels // 4, 2, 2)
    ordered = np.ascontiguousarray(np.transpose(split, (1, 0, 3, 2) if size == 1 else (1, 0, 2, 3)))
    return ordered.reshape(-1).view("<i4").astype(np.int32)


def pack_depthwise_mve(weight: NDArray[np.generic]) -> NDArray[np.int8]:
    """Weights [taps, channels] as bytes [blocks of 4 channels, taps, 4]."""
    taps, channels = weight.shape
    split = weight.astype(np.int8).reshape(taps, channels // 4, 4)
    return np.ascontiguousarray(np.transpose(split, (1, 0, 2))).reshape(-1)
