"""NE16 through the driver functions: outputs against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from ne16_harness import EXACT_PADDING, Layer, random_layer, run, stride2_layers


@pytest.mark.parametrize(("kernel", "depthwise"), [(3, False), (1, False), (3, True)])
def test_eight_bit_outputs_equal_numpy(driver, script, dumped, kernel, depthwise):
    rng = np.random.default_rng(31 + kernel + depthwise)
    layers = [random_layer(rng, kernel=kernel, depthwise=depthwise) for _ in range(60)]
    for got, layer in zip(run(driver, dumped, script, layers), layers, strict=True):
        np.testing.assert_array_equal(got, layer.expected(), err_msg=str(layer.command()))


def test_outputs_are_not_all_clipped():
    """The comparison would be empty if every value were at a limit."""
    layer = Layer(shift=20)
    assert len(np.unique(layer.expected())) > 50


@pytest.mark.parametrize(("kernel", "depthwise"), [(3, False), (1, False), (3, True)])
@pytest.mark.parametrize("scale_bits", [0, 32])
def test_32_bit_outputs_equal_numpy(driver, script, dumped, kernel, depthwise, scale_bits):
    rng = np.random.default_rng(41 + kernel + depthwise)
    layers = [
        random_layer(rng, kernel=kernel, depthwise=depthwise, scale_bits=scale_bits, out_bits=32) for _ in range(20)
    ]
    for got, layer in zip(run(driver, dumped, script, layers), layers, strict=True):
        np.testing.assert_array_equal(got, layer.expected(), err_msg=str(layer.command()))


def test_padding_value_reaches_top_and_left_only_through_set_dims(driver, script, dumped):
    """Padding that the counters take off at the bottom and right is zero in hardware."""
    layers = [
        Layer(pads=(1, 1, 1, 1), pad_value=93, in_y=y, in_x=x, seed=y * x, shift=17, k_in=7, depthwise=False)
        for y in (4, 5, 6) for x in (6, 7, 8)
    ]  # fmt: skip
    for got, layer in zip(run(driver, dumped, script, layers), layers, strict=True):
        np.testing.assert_array_equal(got, layer.expected(below_value=0))
        assert (got != layer.expected()).any()


@pytest.mark.parametrize("depthwise", [False, True])
def test_padding_value_on_all_sides(driver, script, dumped, depthwise):
    """With full counters and a border widened to the 5x5 buffer every padding pixel has the value."""
    rng = np.random.default_rng(51)
    layers = [
        random_layer(rng, kernel=3, depthwise=depthwise, pad_value=int(rng.integers(1, 256)), flags=EXACT_PADDING)
        for _ in range(40)
    ]
    for got, layer in zip(run(driver, dumped, script, layers), layers, strict=True):
        np.testing.assert_array_equal(got, layer.expected(), err_msg=str(layer.command()))


def test_filter_masks_silence_taps(driver, script, dumped):
    rng = np.random.default_rng(52)
    layers = [
        random_layer(rng, kernel=3, masks=tuple(int(v) for v in rng.integers(0, 2, 4)), depthwise=index % 2 == 0)
        for index in range(20)
    ]
    for got, layer in zip(run(driver, dumped, script, layers), layers, strict=True):
        np.testing.assert_array_equal(got, layer.expected())


@pytest.mark.parametrize(("kernel", "depthwise"), [(3, False), (1, False), (3, True)])
@pytest.mark.parametrize("out_bits", [8, 32])
def test_stride_2_equals_numpy(driver, script, dumped, kernel, depthwise, out_bits):
    rng = np.random.default_rng(61 + kernel + depthwise + out_bits)
    fixed = {"scale_bits": 32} if out_bits == 32 else {}
    layers = stride2_layers(rng, 30, kernel=kernel, depthwise=depthwise, out_bits=out_bits, **fixed)
    for got, layer in zip(run(driver, dumped, script, layers), layers, strict=True):
        np.testing.assert_array_equal(got, layer.expected(), err_msg=str(layer.command()))
