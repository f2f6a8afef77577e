"""Copies between L2 and L1, as DORY publishes them."""

from __future__ import annotations

import numpy as np
import pytest
from diana_twin_harness import EMPTY, Driver, Script, clocks, parse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

CHECKED = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
IN, OUT = 0, 1
MARK = 0x11


def _bytes(size: int, seed: int) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, size).astype(np.uint8)


@CHECKED
@given(size=st.integers(1, 3000), word=st.integers(0, 300), far=st.integers(0, 100), seed=st.integers(0, 1 << 30))
def test_copy_and_back(driver: Driver, size: int, word: int, far: int, seed: int) -> None:
    """Lengths are rounded up to 32 bytes, and all of these are moved."""
    data, moved = _bytes(size, seed), -(-size // 32) * 32
    script = Script()
    script.far(4 * far, np.full(moved + 16, MARK, np.uint8))
    script.far(4 * far, data)
    script.far(8192, np.full(moved + 16, MARK, np.uint8))
    script.add("copy", IN, 4 * far, 16 * word, size, 1)
    script.add("sync")
    script.add("copy", OUT, 8192, 16 * word, size, 1)
    script.add("sync")
    script.add("read_near", 16 * word, moved + 16)
    script.add("read_far", 8192, moved + 16)
    near, back = (parse(line) for line in driver.run(script.text()))
    np.testing.assert_array_equal(near[:size], data)
    np.testing.assert_array_equal(back[:size], data)
    assert (near[size:moved] == MARK).all() and (near[moved:] == EMPTY).all()
    assert (back[size:] == MARK).all()


def test_bytes_behind_a_short_piece_are_overwritten(driver: Driver) -> None:
    """What a program has to know of lengths that are not multiples of 32."""
    script = Script()
    script.far(0, np.full(64, MARK, np.uint8))
    script.add("copy", OUT, 0, 0, 16, 1)
    script.add("sync")
    script.add("read_far", 0, 64)
    got = parse(driver.run(script.text())[0])
    assert got.tolist() == [EMPTY] * 32 + [MARK] * 32


@pytest.mark.parametrize("rows", [1, 7, 512])
def test_four_banks_move_the_same_bytes(driver: Driver, rows: int) -> None:
    data = _bytes(64 * rows, rows)
    script = Script()
    script.far(0, data)
    script.add("copy", IN, 0, 256, data.size, 4)
    script.add("sync")
    script.add("copy", OUT, 65536, 256, data.size, 4)
    script.add("sync")
    script.add("read_near", 256, data.size)
    script.add("read_far", 65536, data.size)
    for line in driver.run(script.text()):
        np.testing.assert_array_equal(parse(line), data)


def test_the_host_waits(driver: Driver) -> None:
    """A copy costs 70 cycles and one per 16 bytes, and nothing runs beside it."""
    script = Script()
    script.add("copy", IN, 0, 0, 1024, 1)
    script.add("sync")
    script.add("clocks")
    script.add("copy", OUT, 0, 0, 1000, 1)
    script.add("sync")
    script.add("clocks")
    first, second = (clocks(line) for line in driver.run(script.text()))
    assert first == {"host": (134, 0), "digital": (0, 0), "analog": (0, 0), "dma": (134, 134)}
    assert second["host"] == (268, 0) and second["dma"] == (268, 268)


def test_lazy_mode_holds_poison_until_the_wait(driver: Driver) -> None:
    script = Script()
    script.far(0, np.full(32, MARK, np.uint8))
    script.add("copy", IN, 0, 0, 32, 1)
    script.add("read_near", 0, 32)
    script.add("sync")
    script.add("read_near", 0, 32)
    before, after = driver.run(script.text(), "lazy")
    assert before == "a5" * 32 and after == f"{MARK:02x}" * 32
