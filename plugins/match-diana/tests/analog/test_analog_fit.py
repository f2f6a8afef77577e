"""The numbers that are chosen for a layer: as good as any of their kind, and honest about what they cannot do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from analog_arithmetic import layer
from analog_graphs import Shape, cells_of
from match_diana.analog.arithmetic import Norm
from match_diana.analog.fit import ERROR_MAX, Wanted, fit
from match_diana.analog.limits import INPUT_MAX, OUTPUT_MAX
from numpy.typing import NDArray


def wanted(shape: Shape, *, offset: float = 0.5, low: int = -64, spread: float = 1.0) -> Wanted:
    """A layer whose results have a standard deviation of about 20 steps for inputs of 16."""
    slope = 20 / (16 * np.sqrt(shape.c * 9 / 2)) * spread ** np.linspace(-1, 0, shape.k)
    return Wanted(cells_of(shape, 2), slope, np.full(shape.k, offset), low, positive=False)


def measured(found: Wanted, shape: Shape, gain: int) -> float:
    """Root mean square of the difference on random inputs, with the best shift for a gain."""
    x = np.random.default_rng(8).normal(0, 16, (shape.c, 8, 8)).round().astype(np.int64)
    x = np.clip(x, -INPUT_MAX - 1, INPUT_MAX)
    sums = np.stack([plain(x, cells) for cells in found.cells])
    goal = np.floor(found.slope[:, None, None] * sums + found.offset[:, None, None])
    goal = np.clip(goal, found.low, OUTPUT_MAX)
    errors = []
    for shift in range(8):
        norm = _numbers(found, gain, shift, groups=-(-shape.c // 128))
        difference = layer(x, found.cells, (0, 0, 0, 0), 1, norm) - goal
        errors.append(float(np.sqrt(np.square(difference).mean())))
    return min(errors)


def _numbers(found: Wanted, gain: int, shift: int, groups: int) -> Norm:
    """Slope and offset in steps of the shifted result; a code stands for the middle of its sums."""
    multiplier = np.rint(found.slope * gain * 2**shift)
    addend = np.rint((found.offset + found.slope * groups * (gain - 1) / 2) * 2**shift)
    values = (np.clip(each, -128, 127).astype(np.int64) for each in (multiplier, addend))
    return Norm(gain, *values, shift, relu=found.low == 0)


def plain(x: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of one output channel, window by window."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
    return np.einsum("cyxij,cij->yx", windows, cells)


@pytest.mark.parametrize("c", [32, 64, 128, 256])
def test_no_other_gain_is_much_better(c: int) -> None:
    shape = Shape(c=c, k=16)
    layer_wanted = wanted(shape)
    found = fit(layer_wanted)
    errors = {gain: measured(layer_wanted, shape, gain) for gain in (4, 8, 16, 32, 64, 128)}
    assert errors[found.norm.gain] <= 1.3 * min(errors.values())
    assert found.error == pytest.approx(errors[found.norm.gain], rel=0.5)


def test_numbers_have_8_bits() -> None:
    found = fit(wanted(Shape(), spread=100.0, offset=40.0))
    for values in (found.norm.multiplier, found.norm.addend):
        assert values.min() >= -128 and values.max() <= 127


def test_relu() -> None:
    assert fit(wanted(Shape(), low=0)).norm.relu
    assert not fit(wanted(Shape())).norm.relu


@pytest.mark.parametrize(("offset", "near"), [(0.5, True), (20.0, True), (100.0, False), (-100.0, False)])
def test_large_offsets_leave_few_bits_to_multipliers(offset: float, near: bool) -> None:
    steep = wanted(Shape(), offset=offset)
    steep = replace(steep, slope=4 * steep.slope, offset=steep.offset * np.linspace(-1, 1, 64))
    assert (fit(steep).error <= ERROR_MAX) == near


def test_equal_layers_get_equal_numbers() -> None:
    first = wanted(Shape())
    again = replace(first, cells=first.cells.copy())
    assert fit(first).norm.gain == fit(again).norm.gain
    assert np.array_equal(fit(first).norm.addend, fit(again).norm.addend)
