"""The external RAM: reads, their time, faults."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from clock_names import CONTROL, L3, clocks
from match_gap9 import formulas_dma
from match_gap9.constants import values
from numpy.typing import NDArray

from .conftest import Driver, Script

Dumped = Callable[..., NDArray[np.generic]]


def fill(script: Script, offset: int, size: int, seed: int) -> NDArray[np.uint8]:
    data = np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)
    script.add("write l2", offset, data.tobytes().hex())
    return data


@pytest.mark.parametrize("mode", ["eager", "lazy"])
def test_reads_and_their_time(driver: Driver, script: Script, dumped: Dumped, mode: str) -> None:
    timing = values("as-published")
    script.add("mode", mode)
    source = fill(script, 0, 3000, 5)
    script.add("l3 open")
    script.add("l3 load 0 1000")
    script.add("l3 load 1000 2000")
    script.add("clocks")
    script.add("l3 read 0 0 10000 1000")
    script.add("l3 read 1 1008 11000 2000")
    script.add("l3 wait 1")
    script.add("l3 wait 0")
    script.add("clocks")
    script.add("dump l2 10000 3000")
    first, second, before, after, data = driver.run(script.text())
    assert (first, second) == ("0", "1008")
    np.testing.assert_array_equal(dumped(data), source)
    issue, link, wait = (int(part) for part in formulas_dma.l3_copy(timing, commands=1, size_bytes=1000))
    assert clocks(after)[L3] == clocks(before)[CONTROL] + issue + link + 1000 + link
    assert clocks(after)[CONTROL] == clocks(after)[L3] + wait


def test_lazy_mode_shows_a_missing_wait(driver: Driver, script: Script, dumped: Dumped) -> None:
    fill(script, 0, 16, 6)
    script.add("l3 open")
    script.add("l3 load 0 16")
    script.add("l3 read 0 0 64 16")
    script.add("dump l2 64 16")
    script.add("l3 wait 0")
    lines = driver.run("mode lazy\n" + script.text())
    assert set(dumped(lines[1]).tolist()) == {0xA5}


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        ("l3 load 0 16", "before pi_ram_open"),
        ("l3 open\nl3 load 0 16\nl3 read 0 8 0 16", "16 bytes at 8; 16 are allocated"),
        ("l3 open\nl3 load 0 16\nl3 read 0 0 -1 16", "into L1"),
        ("l3 open\nl3 load 0 16\nl3 wait 0", "was not issued"),
    ],
)
def test_faults(driver: Driver, commands: str, message: str) -> None:
    assert message in driver.fault(commands + "\n")


def test_it_is_finite(driver: Driver) -> None:
    """As many blocks of 200 000 bytes as it holds, and no more."""
    fit = values()["l3_bytes"] // 200_000
    lines = driver.run("l3 open\n" + "l3 load 0 200000\n" * (fit + 1))
    assert lines[fit - 1] == str((fit - 1) * 200_000)
    assert lines[fit] == "-1"
