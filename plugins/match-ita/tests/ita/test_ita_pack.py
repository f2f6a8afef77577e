"""Packed weights and biases hold what the graph has, where ITA reads it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ita_graphs import ItaGraph
from match_ita.ita.interfaces import BIAS_BYTES
from match_ita.ita.kernels import ita_kernels, pack_bias, pack_weight
from match_ita.ita.limits import BLOCK
from match_ita.ita.workloads import attention
from numpy.typing import NDArray

KERNELS = ita_kernels((0, 65280))


def unpacked_bias(packed: NDArray[np.generic]) -> NDArray[np.int64]:
    """24 bits, the lowest byte first."""
    low, middle, high = np.ascontiguousarray(packed).view(np.uint8).reshape(-1, 3).astype(np.int64).T
    value: NDArray[np.int64] = low + (middle << 8) + (high << 16)
    return np.where(value >= 1 << 23, value - (1 << 24), value)


@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 1 << 30))
def test_weights_are_blocks_turned(c1: int, k1: int, seed: int) -> None:
    weight = np.random.default_rng(seed).integers(-128, 128, (c1 * BLOCK, k1 * BLOCK)).astype(np.int8)
    flat = pack_weight(weight).reshape(-1)
    for c, k in ((0, 0), (c1 * BLOCK - 1, 0), (5, k1 * BLOCK - 1), (c1 * BLOCK // 2, k1 * BLOCK // 3)):
        block = (k // BLOCK) * c1 + c // BLOCK
        assert flat[(block * BLOCK + k % BLOCK) * BLOCK + c % BLOCK] == weight[c, k]
    back = flat.reshape(k1, c1, BLOCK, BLOCK).transpose(1, 3, 0, 2).reshape(weight.shape)
    np.testing.assert_array_equal(back, weight)


@given(st.lists(st.integers(-(1 << 23), (1 << 23) - 1), min_size=1, max_size=130))
def test_biases_have_24_bits(values: list[int]) -> None:
    packed = pack_bias(np.array(values, np.int64), len(values))
    assert packed.nbytes == 3 * len(values)
    np.testing.assert_array_equal(unpacked_bias(packed), values)


def test_one_bias_stands_for_all_columns() -> None:
    np.testing.assert_array_equal(unpacked_bias(pack_bias(np.array([-5]), BLOCK)), np.full(BLOCK, -5))


def test_the_mask_takes_columns_beyond_the_keys() -> None:
    g = ItaGraph()
    y = g.attention(g.input(70, 64), g.input(100, 64), g.input(64, 128))
    match = g.matches(y)["ita_attention"]
    mask = KERNELS["ita_attention"].pack(match, attention(match))["mask"]
    assert mask.nbytes == BIAS_BYTES
    np.testing.assert_array_equal(unpacked_bias(mask), [0] * 36 + [-(1 << 23)] * 28)


def test_a_layer_is_packed_with_the_bias_behind_its_addend() -> None:
    g = ItaGraph()
    x = g.input(64, 64)
    bias = g.random.integers(-1000, 1000, 128)
    weight = g.constant(g.random.integers(-128, 128, (64, 128)), np.int8)
    y = g.requant(g.node("MatMulInteger", [x, weight], [64, 128], np.int32), 77, 15, bias, add=-4)
    candidate = next(c for c in g.candidates(y).legal if c.pattern.name == "ita_linear")
    packed = KERNELS["ita_linear"].pack(candidate.match, candidate.workload)
    np.testing.assert_array_equal(unpacked_bias(packed["bias"]), bias)
    numbers = candidate.workload.parameters
    assert (numbers["multiplier"], numbers["shift"], numbers["add"]) == (77, 15, -4)


def test_another_softmax_than_the_chip_has_is_never_packed() -> None:
    g = ItaGraph()
    match = g.matches(g.attention(g.input(64, 64), g.input(64, 64), g.input(64, 64)))["ita_attention"]
    with pytest.raises(ValueError, match="those of ITA are"):
        ita_kernels((5, 65280))["ita_attention"].pack(match, attention(match))
