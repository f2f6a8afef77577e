"""Modelled cycles worked by hand (sheet 3.2)."""

from __future__ import annotations

import numpy as np
import pytest
from analog_graphs import Shape, analog, cells_of, only_match
from match_core import TransferShape
from match_diana.analog.cost import AnalogCost
from match_diana.analog.limits import Window
from match_diana.analog.workloads import conv
from match_diana.passes.analog_estimate import analog_cycles, digital_cycles

COST = AnalogCost("analog_conv")


def tile(**sizes: int) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    return {name: np.array([size]) for name, size in sizes.items()}


def test_one_group() -> None:
    shape = Shape(c=64, k=64, size=(16, 16))
    workload = conv(only_match(analog(shape, cells_of(shape, 1))))
    # load 20; 576 rows of 128 columns, 2 bits: 18,432 bytes in 70 + 1,152; 576 * 8; 64 groups of 4 pixels: 1164.8;
    # multipliers and addends: 512 bytes
    kernel = 20 + (70 + 1152) + 576 * 8 + 1165 + (70 + 32)
    assert COST.kernel_cycles(workload, tile(OY=16, FY=3, G=1, B=1)).tolist() == [kernel]
    assert COST.launch_cycles(workload, tile(OY=16, FY=3, G=1, B=1)).tolist() == [60 + 11 * 5]


def test_groups() -> None:
    shape = Shape(c=144, k=64, size=(8, 8))
    workload = conv(only_match(analog(shape, cells_of(shape, 1))))
    # 128 channels: 1152 rows, no unrolling; 16 channels: 144 rows, padded to 288 in L2; 64 activations each
    first = 20 + (70 + 36_864 // 16) + 1152 * 8 + 1165
    last = 20 + (70 + 9_216 // 16) + 144 * 8 + 1165
    norm = 70 + 512 // 16
    whole = tile(OY=8, FY=3, G=2, B=2)
    assert COST.kernel_cycles(workload, whole).tolist() == [first + last + norm]
    assert COST.launch_cycles(workload, whole).tolist() == [2 * 115]
    assert COST.kernel_cycles(workload, tile(OY=8, FY=3, G=1, B=2)).tolist() == [(first + last + norm) // 2]


@pytest.mark.parametrize(("near", "cycles"), [("l1", 3 * (70 + 64)), ("analog_cells", 0), ("analog_norm", 0)])
def test_copies(near: str, cycles: int) -> None:
    shape = Shape()
    workload = conv(only_match(analog(shape, cells_of(shape, 1))))
    one, rows, size = (np.array([value]) for value in (1, 3, 1024))
    found = COST.transfer_cycles(workload, TransferShape("in", size, rows, one, far="l2", near=near))
    assert (found.issue.tolist(), found.data.tolist(), found.wait.tolist()) == ([0], [cycles], [0])


def test_estimates_before_scheduling() -> None:
    window = Window(64, 64, 3, 3, 1, 16, 16, 16, 16)
    kernel = 20 + (70 + 1152) + 576 * 8 + 1165 + (70 + 32)
    assert analog_cycles(window) == kernel + 115 + 2 * (70 + 16_384 // 16)
    # 14 rows of 16 pixels and 64 channels with 3 filter rows, 2 rows with 2
    rows = 4 * (14 * (64 * 9 + 2 * 64 * 3 + 23) + 2 * (64 * 6 + 2 * 64 * 2 + 23))
    weights = 70 + (64 * (64 * 9 + 4)) // 16
    assert digital_cycles(window, top=1) == rows + weights + 60 + 20 + 11 * 5 + 2 * (70 + 16_384 // 16)
