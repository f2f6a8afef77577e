"""Packed weights and biases, read back element by element from what the sheet says of their place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_diana.digital.pack import pack_conv, pack_dense, pack_depthwise, pack_depthwise_blocks
from numpy.typing import NDArray

SIDES = st.sampled_from([1, 3, 5, 7])


def signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def at(packed: NDArray[np.uint8], place: int) -> int:
    """The byte that has this place in the array's order: words are turned round."""
    return int(packed[place // 4 * 4 + 3 - place % 4])


def conv_weight(packed: NDArray[np.uint8], shape: tuple[int, int, int], k: int, c: int, y: int, x: int) -> int:
    inputs, fy, fx = shape
    block = 16 * inputs * fy * fx + 64
    return signed(at(packed, k // 16 * block + ((c * fy + y) * fx + x) * 16 + k % 16))


def conv_bias(packed: NDArray[np.uint8], shape: tuple[int, int, int], k: int) -> int:
    weights = 16 * shape[0] * shape[1] * shape[2]
    start = k // 16 * (weights + 64) + weights
    return int.from_bytes(bytes(at(packed, start + 16 * plane + k % 16) for plane in range(4)), "little", signed=True)


@given(st.integers(1, 40), st.integers(1, 5), SIDES, SIDES, st.integers(0, 1 << 30))
@settings(max_examples=25, deadline=None)
def test_convolutions(outputs: int, inputs: int, fy: int, fx: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    weight = random.integers(-128, 128, (outputs, inputs, fy, fx)).astype(np.int8)
    bias = random.integers(-(1 << 31), 1 << 31, outputs)
    channels = -(-outputs // 16) * 16
    packed = pack_conv(weight, bias, channels)
    assert packed.size == channels * (inputs * fy * fx + 4)
    for k in range(channels):
        assert conv_bias(packed, (inputs, fy, fx), k) == (bias[k] if k < outputs else 0)
        c, y, x = (int(random.integers(size)) for size in (inputs, fy, fx))
        wanted = weight[k, c, y, x] if k < outputs else 0
        assert conv_weight(packed, (inputs, fy, fx), k, c, y, x) == wanted


@given(st.integers(1, 20), SIDES, SIDES, st.integers(0, 1 << 30))
@settings(max_examples=25, deadline=None)
def test_a_depthwise_channel_begins_four_bytes_behind_the_one_before(
    channels: int, fy: int, fx: int, seed: int
) -> None:
    """Read as the array does: 16 lanes from there on, of which the first is the channel."""
    random = np.random.default_rng(seed)
    weight = random.integers(-128, 128, (channels, 1, fy, fx)).astype(np.int8)
    bias = random.integers(-(1 << 31), 1 << 31, channels)
    size = -(-channels // 4) * 4
    packed = pack_depthwise(weight, bias, size)
    block = 16 * fy * fx + 64
    assert packed.size == size // 4 * block
    for channel in range(size):
        start = channel // 4 * block + channel % 4 * 4
        fetched = np.concatenate([packed, np.zeros(16, np.uint8)])[start : start + block]
        taps = [conv_weight(fetched, (1, fy, fx), 0, 0, y, x) for y in range(fy) for x in range(fx)]
        wanted = weight[channel].reshape(-1).tolist() if channel < channels else [0] * (fy * fx)
        assert taps == wanted
        assert conv_bias(fetched, (1, fy, fx), 0) == (bias[channel] if channel < channels else 0)


@given(st.integers(1, 40), SIDES, SIDES, st.integers(0, 1 << 30))
@settings(max_examples=25, deadline=None)
def test_blocks_have_the_weights_of_a_channel_at_its_own_input(channels: int, fy: int, fx: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    weight = random.integers(-128, 128, (channels, 1, fy, fx)).astype(np.int8)
    bias = random.integers(-(1 << 31), 1 << 31, channels)
    packed = pack_depthwise_blocks(weight, bias, -(-channels // 16) * 16 * (16 * fy * fx + 4))
    y, x = int(random.integers(fy)), int(random.integers(fx))
    for k in range(channels):
        first = k // 16 * 16
        inputs = min(16, channels - first)
        block = packed[first * (16 * fy * fx + 4) :]
        taps = [conv_weight(block, (inputs, fy, fx), k - first, c, y, x) for c in range(inputs)]
        assert taps == [weight[k, 0, y, x] if c == k - first else 0 for c in range(inputs)]
        assert conv_bias(block, (inputs, fy, fx), k - first) == bias[k]


@given(st.integers(1, 70), st.integers(1, 70), st.integers(0, 1 << 30))
@settings(max_examples=25, deadline=None)
def test_dense_layers(inputs: int, outputs: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    weight = random.integers(-128, 128, (inputs, outputs)).astype(np.int8)
    bias = random.integers(-(1 << 31), 1 << 31, outputs)
    packed = pack_dense(weight, bias)
    c, k = -(-inputs // 16) * 16, -(-outputs // 32) * 32
    assert packed.size == k * (c + 16)
    for output in range(k):
        start = output // 16 * 16 * (c + 16)
        for column in range(c):
            place = start + column // 16 * 256 + output % 16 * 16 + column % 16
            inside = column < inputs and output < outputs
            assert signed(at(packed, place)) == (weight[column, output] if inside else 0)
        word = bytes(at(packed, start + 16 * c + output % 16 * 16 + byte) for byte in range(16))
        assert int.from_bytes(word, "little", signed=True) == (bias[output] if output < outputs else 0)


def test_the_first_bytes_of_a_block() -> None:
    """Written out by hand: 16 channels of one tap with the weights 0 to 15 and the biases 0x01020300 and on."""
    weight = np.arange(16, dtype=np.int8).reshape(16, 1, 1, 1)
    packed = pack_conv(weight, 0x01020300 + np.arange(16, dtype=np.int64), 16)
    assert packed[:8].tolist() == [3, 2, 1, 0, 7, 6, 5, 4]
    assert packed[16:20].tolist() == [3, 2, 1, 0]
    assert [packed[start] for start in (32, 48, 64)] == [3, 2, 1]


@pytest.mark.parametrize("channels", [16, 64])
def test_missing_channels_are_zero(channels: int) -> None:
    packed = pack_conv(np.ones((1, 1, 1, 1), np.int8), np.zeros(1, np.int64), channels)
    assert packed.sum() == 1
