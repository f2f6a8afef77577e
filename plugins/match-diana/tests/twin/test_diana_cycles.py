"""Cycles on the twin's clocks against formulas worked by hand (sheet 3.1)."""

from __future__ import annotations

import numpy as np
import pytest
from diana_twin_harness import LANES, Driver, Layer, Script, clocks, fetch_cycles
from match_diana.constants import values

V = values()
# What the library does for a job: accesses to registers and the encoding of the instructions; the look that finds its
# end comes on top.
CONV_ACCESSES, SUM_ACCESSES = 10, 8


def _times(driver: Driver, kind: str, layer: Layer, at: tuple[int, int, int]) -> dict[str, tuple[int, int]]:
    script = Script()
    script.far(0, np.zeros(100_000, np.int8))
    script.add(kind, *at, *layer.numbers)
    script.add("sync")
    script.add("clocks")
    return clocks(driver.run(script.text())[0])


def _host(accesses: int) -> int:
    return accesses * V["register_cycles"] + V["encode_cycles"]


@pytest.mark.parametrize(
    "layer, tiles",
    [
        # One row of windows, all filter rows inside.
        (Layer(5, 16, 16, 3, 1, 3), 5 * 3 + 2 * 5 * 3 + 23),
        # Two blocks of columns, three of channels.
        (Layer(4, 48, 20, 1), 6 * (4 + 8 + 23)),
        # Padding: the first and the last of five rows have two filter rows each.
        (Layer(2, 16, 16, 5, 3, 3, 1, 1, 1, 1), 3 * (2 * 9 + 2 * 2 * 3 + 23) + 2 * (2 * 6 + 2 * 2 * 2 + 23)),
        # Padding at the top only, as in the first of several tiles.
        (Layer(2, 16, 16, 4, 3, 3, 1, 1, 1, 0), 2 * (2 * 9 + 12 + 23) + (2 * 6 + 8 + 23)),
        # Stride 2: rows -1, 1 and 3 are the first ones of the windows; 7 rows by padding 1 and 1 leave the last whole.
        (Layer(1, 16, 32, 6, 3, 3, 2, 1, 1, 1), 2 * (9 + 6 + 23) + (6 + 4 + 23)),
        # Padding of two rows: 3, 4, 5, 5, 4, 3 filter rows.
        (Layer(1, 16, 16, 6, 5, 5, 1, 2, 2, 2), 2 * sum(r * 5 + 2 * r + 23 for r in (3, 4, 5))),
    ],
)
def test_convolution(driver: Driver, layer: Layer, tiles: int) -> None:
    weights = layer.k * (layer.c * layer.fx * layer.fy + 4)
    times = _times(driver, "conv", layer, (0, 0, 65536))
    array = V["job_load_cycles"] + fetch_cycles(weights) + tiles
    assert times["digital"] == (_host(CONV_ACCESSES) + array, array)
    assert times["host"] == (times["digital"][0] + V["register_cycles"], _host(CONV_ACCESSES + 1))
    assert times["dma"] == (0, 0)


def test_depthwise_convolution(driver: Driver) -> None:
    """One job per channel, one after another; a configuration once."""
    layer = Layer(6, 6, 16, 4, 3, 3, 1, 1, 1, 1)
    tiles = 2 * (9 + 6 + 23) + 2 * (6 + 4 + 23)
    times = _times(driver, "depthwise", layer, (0, 0, 65536))
    array = 6 * (V["job_load_cycles"] + fetch_cycles(16 * 9 + 64) + tiles)
    # 10 accesses and a look at the state for each, two for the configuration, and the idle look behind.
    host = 6 * (11 * V["register_cycles"] + V["encode_cycles"]) + 3 * V["register_cycles"]
    assert times["digital"][1] == array and times["host"] == (array + host, host)


def test_fully_connected(driver: Driver) -> None:
    """The published model of a layer of one pixel, 16 outputs at a time."""
    layer = Layer(64, 48, LANES, 1)
    times = _times(driver, "dense", layer, (0, 0, 4096))
    assert times["digital"][1] == V["job_load_cycles"] + fetch_cycles(48 * 64 + 48 * 16) + 3 * (64 + 2 * 64 + 23)


def test_sum(driver: Driver) -> None:
    layer = Layer(3, 0, 48, 5)
    times = _times(driver, "sum", layer, (0, 4096, 8192))
    assert times["digital"][1] == V["job_load_cycles"] + 3 * (1 + 2 + 23)
    assert times["host"][1] == _host(SUM_ACCESSES + 1)


def test_published_layer(driver: Driver) -> None:
    """64 to 64 channels, 32 by 32 pixels, 3 by 3 taps, with its copies: 146.12 MAC/cycle are published, 95 % of what
    the published model gives."""
    layer = Layer(64, 64, 32, 32, 3, 3, 1, 1, 1, 1, shift=8)
    size_bytes = 64 * 32 * 32
    script = Script()
    script.add("copy", 0, 0, 0, size_bytes, 1)
    script.add("sync")
    script.far(131072, np.zeros(37120, np.int8))
    script.add("conv", 0, 131072, size_bytes, *layer.numbers)
    script.add("sync")
    script.add("copy", 1, 0, size_bytes, size_bytes, 1)
    script.add("sync")
    script.add("clocks")
    times = clocks(driver.run(script.text())[0])
    tiles = 8 * (30 * (64 * 9 + 128 * 3 + 23) + 2 * (64 * 6 + 128 * 2 + 23))
    assert times["digital"][1] == V["job_load_cycles"] + fetch_cycles(37120) + tiles
    assert times["dma"][1] == 2 * fetch_cycles(size_bytes)
    total = times["host"][0]
    assert total == times["digital"][1] + times["dma"][1] + times["host"][1], "nothing overlaps"
    assert 64 * 64 * 9 * 1024 / total == pytest.approx(146.12, rel=0.01)
