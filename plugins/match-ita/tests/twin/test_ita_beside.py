"""Both loops side by side (beside_driver.c): every mode of the twin gives the bytes that numpy gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from ita_twin_harness import SANITIZE, THREADS, Driver
from match_ita.arithmetic import RequantStep

from tests.ita_arithmetic import linear

Build = Callable[..., Driver]
MAIN = "beside_driver.c"
TASKS, ROWS, WIDTH = 6, 96, 128


def _filled(size: int, seed: int) -> np.ndarray:
    values = np.zeros(size, np.uint8)
    for i in range(size):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        values[i] = seed >> 24
    return values.view(np.int8)


@pytest.fixture(scope="module")
def expected() -> str:
    """The checksum of all sums of the driver."""
    x = _filled(ROWS * WIDTH, 1).reshape(ROWS, WIDTH)
    weight = _filled(WIDTH * WIDTH, 2).reshape(2, 2, 64, 64).transpose(1, 3, 0, 2).reshape(WIDTH, WIDTH)
    checksum = 0
    for _ in range(TASKS):
        x = linear(x, weight, np.zeros(WIDTH, np.int64), RequantStep(9, 12)) + np.int8(1)
        for byte in x.tobytes():
            checksum = (checksum * 31 + byte) & 0xFFFFFFFF
    return f"{checksum:08x}"


def _checksum(driver: Driver, mode: str, *arguments: str) -> str:
    done = driver.attempt("", mode, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split()[0]


@pytest.mark.parametrize("mode", ["eager", "lazy", "lazy:ita", "lazy:snitch"])
def test_timeline(build: Build, expected: str, mode: str) -> None:
    assert _checksum(build("rtl", SANITIZE, MAIN), mode) == expected


@pytest.mark.parametrize("seed", range(3))
def test_threads(build: Build, expected: str, seed: int) -> None:
    """Nothing but the counters orders what the cores do."""
    assert _checksum(build("rtl", THREADS, MAIN), f"threads:{seed}") == expected


def test_time_is_the_same_each_time(build: Build) -> None:
    driver = build("rtl", SANITIZE, MAIN)
    assert driver.attempt("").stdout == driver.attempt("").stdout


@pytest.mark.parametrize("mode", ["eager", "lazy"])
@pytest.mark.parametrize("tasks", ["0", "1", "3"])
def test_session_behind_a_cancelled_one(build: Build, expected: str, mode: str, tasks: str) -> None:
    assert _checksum(build("rtl", SANITIZE, MAIN), mode, tasks) == expected


@pytest.mark.parametrize("mode", ["hang:ita", "hang:snitch"])
def test_a_core_that_hangs_does_not_hang_the_host(build: Build, mode: str) -> None:
    assert build("rtl", SANITIZE, MAIN).attempt("", mode).stdout == "status 3\n"


def test_a_missing_wait_for_the_ring_is_a_fault(build: Build) -> None:
    """Also where whoever reads what is copied waits for the same DMA, which copies in order."""
    driver = build("rtl", (*SANITIZE, "-DWITHOUT_COPY_WAIT"), MAIN)
    for mode in ("eager", "lazy"):
        done = driver.attempt("", mode)
        assert done.returncode != 0
        assert "snitch says that a task is done before it has waited for the work" in done.stderr
