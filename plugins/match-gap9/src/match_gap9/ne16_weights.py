"""Weights in the bit-serial order that NE16 reads (GAP9 sheet 5.2).

Memory order is (Ko, Ki tile of 16, bit, tap, 16 channels as 2 bytes), least significant bit first; in depthwise layers
the channels take the place of Ki and Ko is 1. What is stored is ``weight - offset`` with offset ``-2**(bits - 1)``,
the value for the task's weight offset. Channels that fill up the last tile are zero bits: their inputs are zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Input channels that one stored word of a tap covers.
TILE_CHANNELS = 16


def weight_offset(bits: int = 8) -> int:
    """The weight offset of ``bits``-bit signed weights, -2**(bits - 1). Raises ValueError outside of 2..8 bits."""
    if not 2 <= bits <= 8:
        raise ValueError(f"NE16 weights have 2 to 8 bits, not {bits}")
    return -(1 << (bits - 1))


def encoded_size_bytes(shape: tuple[int, int, int, int], bits: int = 8, *, depthwise: bool = False) -> int:
    """Bytes that ``encode_weights`` gives for weights of this shape (Ko, Ki, kernel rows, kernel columns)."""
    k_out, k_in, rows, columns = shape
    outputs, inputs = (1, k_out) if depthwise else (k_out, k_in)
    return outputs * -(-inputs // TILE_CHANNELS) * bits * rows * columns * (TILE_CHANNELS // 8)


def encode_weights(weights: NDArray[np.integer], bits: int = 8, *, depthwise: bool = False) -> NDArray[np.uint8]:
    """Bytes of signed weights (Ko, Ki, rows, columns); depthwise: (C, 1, rows, columns).

    Raises ValueError for another kernel than 3x3 and 1x1, for a depthwise 1x1, or for values beyond ``bits`` bits.
    """
    offset = weight_offset(bits)
    if weights.ndim != 4 or weights.shape[2:] not in ((3, 3), (1, 1)):
        raise ValueError(f"NE16 has 3x3 and 1x1 kernels, not weights of shape {weights.shape}")
    if depthwise and weights.shape[1:] != (1, 3, 3):
        raise ValueError(f"NE16 depthwise weights are (C, 1, 3, 3), not {weights.shape}")
    if weights.size and (weights.min() < offset or weights.max() >= -offset):
        raise ValueError(f"weights {weights.min()}..{weights.max()} exceed {bits} bits")
    stored = (weights.astype(np.int16) - offset).astype(np.uint8)
    if depthwise:
        stored = stored.transpose(1, 0, 2, 3)
    outputs, inputs, rows, columns = stored.shape
    filled = np.pad(stored, ((0, 0), (0, -inputs % TILE_CHANNELS), (0, 0), (0, 0)))
    lanes = filled.reshape(outputs, -1, TILE_CHANNELS, rows * columns)
    planes = (lanes[:, :, np.newaxis] >> np.arange(bits, dtype=np.uint8)[:, np.newaxis, np.newaxis]) & 1
    # (Ko, tile, bit, channel, tap) to (Ko, tile, bit, tap, channel)
    return np.packbits(planes.swapaxes(3, 4), axis=-1, bitorder="little").reshape(-1)


def decode_weights(
    encoded: NDArray[np.uint8], shape: tuple[int, int, int, int], bits: int = 8, *, depthwise: bool = False
) -> NDArray[np.int8]:
    """Inverse of ``encode_weights`` for weights of ``shape``. Raises ValueError if the size does not fit."""
    if encoded.size != encoded_size_bytes(shape, bits, depthwise=depthwise):
        raise ValueError(f"{encoded.size} bytes are not {bits}-bit weights of shape {shape}")
    k_out, k_in, rows, columns = shape
    outputs, inputs = (1, k_out) if depthwise else (k_out, k_in)
    packed = encoded.reshape(outputs, -1, bits, rows * columns, TILE_CHANNELS // 8)
    planes = np.unpackbits(packed, axis=-1, bitorder="little").astype(np.int16)
    stored = (planes << np.arange(bits, dtype=np.int16)[:, np.newaxis, np.newaxis]).sum(axis=2)
    # (Ko, tile, tap, channel) to (Ko, Ki, rows, columns)
    lanes = stored.swapaxes(2, 3).reshape(outputs, -1, rows, columns)[:, :inputs]
    weights = (lanes + weight_offset(bits)).astype(np.int8)
    result: NDArray[np.int8] = weights.transpose(1, 0, 2, 3) if depthwise else weights
    return result
