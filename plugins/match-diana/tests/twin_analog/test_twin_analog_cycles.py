"""Modelled cycles of jobs and copies of the analog array, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from diana_analog_harness import Driver, Job, Script, place, start
from diana_analog_reference import Scaling, Shape

REGISTER, ENCODE, JOB_LOAD = 5, 60, 20  # estimates (match_diana.constants)
#: Ten writes and the look that finds the array idle.
PROGRAM = 11 * REGISTER + ENCODE


def _clocks(lines: list[str]) -> dict[str, tuple[int, int]]:
    """Name to time and busy cycles."""
    words = lines[-1].split()
    return {words[i]: (int(words[i + 1]), int(words[i + 2])) for i in range(0, len(words), 3)}


def _job(script: Script, shape: Shape, scaling: Scaling) -> Job:
    x = np.zeros((shape.c, shape.cy, shape.cx), np.int64)
    return place(script, shape, x, np.zeros((shape.k, shape.c, shape.fy, shape.fx), np.int8), scaling)


def _norm(k: int) -> Scaling:
    return Scaling(3, np.ones(k, np.int64), np.ones(k, np.int64), 1)


@pytest.mark.parametrize(
    "shape, scaling, fetches, load, compute",
    [
        # 288 rows of 128 columns are 9216 bytes, 64 numbers of batch-norm 256; 10 * 10 pixels at 18.2 cycles
        (Shape(16, 32, 10, 10, pads=(1, 1, 1, 1)), _norm(32), (70 + 576) + (70 + 16), 8 * 144, 1820),
        # the same without batch-norm
        (Shape(16, 32, 10, 10, pads=(1, 1, 1, 1)), Scaling(), 70 + 576, 8 * 144, 1820),
        # two columns at once; 5 rows of 3 pairs: 273
        (Shape(16, 32, 5, 6, pads=(1, 1, 1, 1), unroll=2), Scaling(), 70 + 576, 8 * 144, 273),
        # the whole array: 1152 * 512 / 4 = 147456 bytes, 512 channels of batch-norm: 4096; 1 pixel: 18.2
        (Shape(128, 512, 3, 3), _norm(512), (70 + 9216) + (70 + 256), 8 * 1152, 19),
        # batch-norm of 3 channels: 24 bytes are two words of 16
        (Shape(1, 3, 1, 4, fy=1, fx=1), _norm(3), (70 + 576) + (70 + 2), 8, 73),
    ],
)
def test_jobs(driver: Driver, shape: Shape, scaling: Scaling, fetches: int, load: int, compute: int) -> None:
    script = Script()
    start(script, _job(script, shape, scaling))
    script.add("clocks")
    clocks = _clocks(driver.run(script.text()))
    busy = JOB_LOAD + fetches + load + compute
    assert clocks["analog"][1] == busy
    assert clocks["host"] == (busy + PROGRAM, PROGRAM)
    assert clocks["dma"][1] == 0


def test_jobs_follow_each_other(driver: Driver) -> None:
    """The host waits; nothing overlaps, and cells are loaded each time."""
    shape = Shape(16, 32, 10, 10, pads=(1, 1, 1, 1))
    script = Script()
    for _ in range(2):
        start(script, _job(script, shape, Scaling()))
    script.add("clocks")
    clocks = _clocks(driver.run(script.text(), "lazy"))
    busy = JOB_LOAD + 646 + 1152 + 1820
    assert clocks["analog"][1] == 2 * busy
    assert clocks["host"][0] == 2 * (busy + PROGRAM)


@pytest.mark.parametrize("size, banks, cycles", [(64, 1, 74), (96, 1, 76), (100, 1, 78), (32768, 4, 2118)])
def test_copies(driver: Driver, size: int, banks: int, cycles: int) -> None:
    """70 cycles per contiguous piece, 16 bytes per cycle, in whole 32 bytes."""
    script = Script()
    script.add("copy", 0, 0, size, 0, banks)
    script.add("sync")
    script.add("clocks")
    clocks = _clocks(driver.run(script.text()))
    assert clocks["dma"][1] == cycles
    assert clocks["host"][0] == cycles
