"""How encoded weights reach the cells: rows last one first, signs by column and block of rows, bit planes, padding."""

from __future__ import annotations

import numpy as np
import pytest
from diana_analog_harness import Driver, Job, Script, dump, output_bytes, result, start
from diana_analog_reference import Scaling, Shape, store


def _words(rows: int, columns: int) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint32]]:
    """Cells of zero: a word per row, plane and 32 columns."""
    return np.zeros((-(-rows // 288) * 288, 2, -(-columns // 128) * 4), np.uint32)


def _job(script: Script, shape: Shape, x: np.ndarray[tuple[int, ...], np.dtype[np.int64]], words: bytes) -> Job:
    source = script.near(store(x))
    return Job(shape, Scaling(), source, script.reserve(output_bytes(shape)), script.far(words), -1)


# Stored row, column, and whether the wiring turns the sign there (sheet 5.3): even columns but in blocks 6 to 11, odd
# ones in blocks 0 to 8.
EDGES = [
    (0, 0, True), (0, 1, True), (383, 0, True), (383, 1, True), (384, 0, False), (384, 1, True), (575, 2, False),
    (575, 3, True), (576, 0, False), (576, 1, False), (639, 510, False), (640, 511, False), (767, 30, False),
    (767, 31, False), (768, 32, True), (768, 33, False), (1151, 510, True), (1151, 511, False),
]  # fmt: skip


@pytest.mark.parametrize("row, column, turned", EDGES)
@pytest.mark.parametrize("plane", [0, 1])
def test_one_cell(driver: Driver, row: int, column: int, turned: bool, plane: int) -> None:
    """A single bit in a whole array acts on one channel, for the input of the mirrored row, with the wiring's sign."""
    if row // 64 > 8 and column % 2 == 1:
        assert not turned
    shape = Shape(1152, 512, 1, 1, fy=1, fx=1)
    words = _words(1152, 512)
    words[row, plane, column // 32] = 1 << (31 - column % 32)
    x = np.zeros((1152, 1, 1), np.int64)
    x[1151 - row] = 9
    script = Script()
    job = _job(script, shape, x, words.astype("<u4").tobytes())
    start(script, job)
    dump(script, job)
    expected = np.zeros(512, np.int64)
    expected[column] = (9 if plane == 0 else -9) * (-1 if turned else 1)
    np.testing.assert_array_equal(result(driver.run(script.text())[0], shape).ravel(), expected)


@pytest.mark.parametrize("channels", [1, 287, 288, 289, 1151, 1152])
def test_first_and_last_row(driver: Driver, channels: int) -> None:
    """Padding comes first: the first input drives the last stored row."""
    shape = Shape(channels, 2, 1, 1, fy=1, fx=1)
    words = _words(channels, 2)
    stored = len(words)
    for row in (stored - 1, stored - channels):
        words[row, 0, 0] |= 1 << 30  # column 1: turned in blocks 0 to 8
    x = np.zeros((channels, 1, 1), np.int64)
    x[0], x[-1] = 5, 11 if channels > 1 else 5
    script = Script()
    job = _job(script, shape, x, words.astype("<u4").tobytes())
    start(script, job)
    dump(script, job)
    signs = [-1 if row // 64 <= 8 else 1 for row in (stored - 1, stored - channels)]
    expected = signs[0] * 5 + (signs[1] * 11 if channels > 1 else 0)
    assert result(driver.run(script.text())[0], shape).ravel().tolist() == [0, expected]


def test_order_of_rows(driver: Driver) -> None:
    """Row (c * fy + y) * fx + x, from the end."""
    shape = Shape(3, 1, 2, 4, fy=2, fx=4)
    weight_at = {(0, 0, 0): 0, (0, 0, 3): 3, (0, 1, 0): 4, (1, 0, 0): 8, (2, 1, 3): 23}
    for (c, y, x), row in weight_at.items():
        words = _words(24, 1)
        words[287 - row, 1, 0] = 1 << 31  # column 0: turned in blocks 0 to 5
        values = np.zeros((3, 2, 4), np.int64)
        values[c, y, x] = 7
        script = Script()
        job = _job(script, shape, values, words.astype("<u4").tobytes())
        start(script, job)
        dump(script, job)
        assert result(driver.run(script.text())[0], shape).ravel().tolist() == [7]


def test_cells_that_are_not_ternary(driver: Driver) -> None:
    shape = Shape(1, 1, 1, 1, fy=1, fx=1)
    words = _words(1, 1)
    words[287, :, 0] = 1 << 31
    script = Script()
    start(script, _job(script, shape, np.zeros((1, 1, 1), np.int64), words.astype("<u4").tobytes()))
    assert "the cell of stored row 287, column 0 is +1 and -1" in driver.fault(script.text())


@pytest.mark.parametrize("row, column", [(0, 0), (286, 0), (287, 1), (287, 127)])
def test_padding_that_is_not_zero(driver: Driver, row: int, column: int) -> None:
    shape = Shape(1, 1, 1, 1, fy=1, fx=1)
    words = _words(1, 1)
    words[row, 0, column // 32] = 1 << (31 - column % 32)
    script = Script()
    start(script, _job(script, shape, np.zeros((1, 1, 1), np.int64), words.astype("<u4").tobytes()))
    assert f"stored row {row}, column {column} is padding" in driver.fault(script.text())
