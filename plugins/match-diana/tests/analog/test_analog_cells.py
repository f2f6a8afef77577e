"""Cells and numbers as they lie in L2, read back by a decoder that shares nothing with the encoder (sheet 5.3)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_diana.analog.arithmetic import Norm
from match_diana.analog.cells import pack_cells, pack_norm
from match_diana.analog.limits import cell_bytes, norm_bytes
from numpy.typing import NDArray


def decoded(data: NDArray[np.uint8], shape: tuple[int, int, int, int]) -> NDArray[np.int64]:
    """Cells [K, C, FY, FX] of an image, bit by bit, as the array is wired."""
    k, c, fy, fx = shape
    rows = -(-c * fy * fx // 288) * 288
    words_per_plane = -(-k // 128) * 4
    words = [int.from_bytes(bytes(data[4 * i : 4 * i + 4]), "little") for i in range(len(data) // 4)]
    assert len(words) == rows * 2 * words_per_plane
    cells = np.zeros(shape, np.int64)
    for row in range(rows):
        stored = rows - 1 - row
        for column in range(words_per_plane * 32):
            word, bit = column // 32, 31 - column % 32
            plus = words[stored * 2 * words_per_plane + word] >> bit & 1
            minus = words[(stored * 2 + 1) * words_per_plane + word] >> bit & 1
            assert not (plus and minus)
            negated = stored // 64 <= 8 if column % 2 else stored // 64 not in (6, 7, 8, 9, 10, 11)
            value = (minus - plus) if negated else (plus - minus)
            channel, tap = divmod(row, fy * fx)
            if channel < c and column < k:
                cells[column, channel, tap // fx, tap % fx] = value
            else:
                assert value == 0
    return cells


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 140), st.sampled_from([1, 7, 64, 100, 128]), st.sampled_from([(1, 1), (3, 3), (1, 3)]), st.data())
def test_round_trip(k: int, c: int, kernel: tuple[int, int], data: st.DataObject) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    cells = random.integers(-1, 2, (k, c, *kernel))
    image = pack_cells(cells)
    assert image.dtype == np.uint8
    assert image.size == cell_bytes(c, k, kernel[0] * kernel[1])
    assert np.array_equal(decoded(image, (k, c, *kernel)), cells)


def test_first_row_is_the_last_one_stored() -> None:
    cells = np.zeros((1, 1, 1, 1), np.int64)
    cells[0, 0, 0, 0] = 1
    words = pack_cells(cells).view("<u4").reshape(288, 2, 4)
    # Stored row 287 is in block 4: even columns are stored negated, so the cell's bit is in the second plane.
    assert words[287, 1, 0] == 1 << 31
    assert np.count_nonzero(words) == 1


@pytest.mark.parametrize(("c", "k", "taps", "size"), [(128, 512, 9, 147_456), (64, 64, 9, 18_432), (1, 1, 1, 9_216)])
def test_sizes(c: int, k: int, taps: int, size: int) -> None:
    assert cell_bytes(c, k, taps) == size


def test_numbers_are_words_of_32_bits() -> None:
    norm = Norm(16, np.array([3, -4]), np.array([-128, 127]), 3, relu=False)
    data = pack_norm(norm)
    assert data.size == norm_bytes(2)
    assert np.frombuffer(data.tobytes(), "<i4").tolist() == [3, -4, -128, 127]
