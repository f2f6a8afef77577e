"""Weights in the bit-serial order that NE16 reads (GAP9 sheet 5.2).

Memory order is (Ko, Ki tile of 16, bit, tap, 16 channels as 2 bytes), least significant bit first; in depthwise layers
the channels replace Ki and Ko is 1. The stored value is ``weight - offset`` with offset ``-2**(bits - 1)``,
which is also the task's weight offset. Padding channels of the last tile are zero bits: their inputs are zero.
"""

from __future__ import annotations

import numpy as np
from match_core import Match, Workload
from numpy.typing import NDArray

#: Input channels that one stored word of a tap covers.
TILE_CHANNELS = 16


def weight_offset(bits: int = 8) -> int:
    """The weight offset of ``bits``-bit signed weights, -2**(bits - 1). Raises ValueError outside of 2..8 bits."""
    if not 2 <= bits <= 8:
        raise ValueError(f"NE16 weights have 2 to 8 bits, not {bits}")
    return -(1 << (bits - 1))


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
    filled = np.zeros((outputs, -(-inputs // TILE_CHANNELS) * TILE_CHANNELS, rows * columns), np.uint8)
    filled[:, :inputs] = stored.reshape(outputs, inputs, -1)
    by_tap = filled.reshape(outputs, -1, TILE_CHANNELS, rows * columns).swapaxes(2, 3)
    planes = _transposed_bits(np.ascontiguousarray(by_tap).view("<u8"))[..., np.newaxis].view(np.uint8)[..., :bits]
    # (Ko, tile, tap, byte, bit) to (Ko, tile, bit, tap, byte)
    return np.ascontiguousarray(planes.transpose(0, 1, 4, 2, 3)).reshape(-1)


def _transposed_bits(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Words of 8 bytes as 8 x 8 bits, transposed: byte b of a result has bit b of all bytes. Each step exchanges square
    blocks of bits beside the diagonal: of 1, 2, and 4."""
    for distance, mask in ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0x00000000F0F0F0F0)):
        different = (words ^ (words >> np.uint64(distance))) & np.uint64(mask)
        words = words ^ different ^ (different << np.uint64(distance))
    return words


def packed_weights(match: Match, workload: Workload) -> NDArray[np.uint8]:
    """Those of a layer, in the width that its workload states."""
    weight = match.const("weight").astype(np.int8)
    whole = weight.T[:, :, np.newaxis, np.newaxis] if match.has("dense") else weight
    bits = workload.parameters["weight_bits"]
    return encode_weights(whole, bits, depthwise=workload.kind == "depthwise2d")
