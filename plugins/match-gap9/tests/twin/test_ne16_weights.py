"""The NE16 weight encoder: round trips, and the address rule of the sheet bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_gap9.ne16.weights import TILE_CHANNELS, encode_weights, weight_offset
from numpy.typing import NDArray

from tests.examples import examples


def encoded_size_bytes(shape: tuple[int, int, int, int], bits: int = 8, *, depthwise: bool = False) -> int:
    """Bytes that ``encode_weights`` gives for weights of this shape (Ko, Ki, kernel rows, kernel columns)."""
    k_out, k_in, rows, columns = shape
    outputs, inputs = (1, k_out) if depthwise else (k_out, k_in)
    return outputs * -(-inputs // TILE_CHANNELS) * bits * rows * columns * (TILE_CHANNELS // 8)


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


def random_weights(seed, shape, bits):
    low = -(1 << (bits - 1))
    return np.random.default_rng(seed).integers(low, -low, shape).astype(np.int8)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from([1, 3]),
    st.integers(2, 8),
    st.booleans(),
    st.integers(0, 99),
)
def test_round_trip(k_out, k_in, kernel, bits, depthwise, seed):
    depthwise = depthwise and kernel == 3
    shape = (k_out, 1 if depthwise else k_in, kernel, kernel)
    weights = random_weights(seed, shape, bits)
    encoded = encode_weights(weights, bits, depthwise=depthwise)
    assert encoded.size == encoded_size_bytes(shape, bits, depthwise=depthwise)
    np.testing.assert_array_equal(decode_weights(encoded, shape, bits, depthwise=depthwise), weights)


@pytest.mark.parametrize("bits", [2, 3, 5, 8])
@pytest.mark.parametrize(("kernel", "depthwise"), [(3, False), (1, False), (3, True)])
def test_every_bit_lies_where_the_sheet_says(bits, kernel, depthwise):
    k_out, k_in = 5, 19
    shape = (k_in, 1, 3, 3) if depthwise else (k_out, k_in, kernel, kernel)
    weights = random_weights(1, shape, bits)
    encoded = encode_weights(weights, bits, depthwise=depthwise)
    size, tiles, offset = kernel * kernel, -(-k_in // 16), weight_offset(bits)
    for k in range(1 if depthwise else k_out):
        for c in range(k_in):
            for position in range(size):
                row, column = divmod(position, kernel)
                stored = int(weights[(c, 0, row, column) if depthwise else (k, c, row, column)]) - offset
                for bit in range(bits):
                    byte = ((k * tiles + c // 16) * bits + bit) * size * 2 + position * 2 + (c % 16) // 8
                    assert (encoded[byte] >> (c % 8)) & 1 == (stored >> bit) & 1


def test_tail_channels_are_zero_bits():
    encoded = encode_weights(np.zeros((1, 1, 1, 1), np.int8))
    # offset -128: the stored value is 128, bit 7 of lane 0; all other lanes are empty
    assert encoded.tolist() == [0] * 14 + [1, 0]


@pytest.mark.parametrize(
    ("weights", "bits", "depthwise", "message"),
    [
        (np.zeros((1, 1, 5, 5), np.int8), 8, False, "3x3 and 1x1"),
        (np.zeros((4, 1, 1, 1), np.int8), 8, True, "depthwise"),
        (np.zeros((4, 2, 3, 3), np.int8), 8, True, "depthwise"),
        (np.full((1, 1, 1, 1), 4, np.int8), 3, False, "exceed 3 bits"),
        (np.full((1, 1, 1, 1), -5, np.int8), 3, False, "exceed 3 bits"),
        (np.zeros((1, 1, 1, 1), np.int8), 1, False, "2 to 8 bits"),
    ],
)
def test_refusals(weights, bits, depthwise, message):
    with pytest.raises(ValueError, match=message):
        encode_weights(weights, bits, depthwise=depthwise)
