"""The kernel library's functions for the digital array against numpy, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from diana_twin_harness import (
    EMPTY,
    GROUP,
    LANES,
    Bytes,
    Driver,
    Ints,
    Layer,
    Script,
    conv_weights,
    convolve,
    dense_weights,
    depthwise_weights,
    from_channels,
    from_rows,
    parse,
    requantise,
    reverse,
    rows,
    up,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples

CHECKED = settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
WEIGHTS = 128 * 1024
SIDES = st.sampled_from((1, 3, 5, 7))


@st.composite
def layers(draw: st.DrawFn, channels: int = 24, blocks: int = 3) -> Layer:
    """Layers of any size that L1 and the weight memory hold."""
    fx, fy = draw(SIDES), draw(SIDES)
    side = draw(st.integers(0, fx - 1))
    top, bottom = draw(st.integers(0, fy - 1)), draw(st.integers(0, fy - 1))
    w = draw(st.integers(max(1, fx - 2 * side), 40))
    h = draw(st.integers(max(1, fy - top - bottom), 12))
    return Layer(
        draw(st.integers(1, channels)), LANES * draw(st.integers(1, blocks)), w, h, fx, fy, draw(st.integers(1, 2)),
        side, top, bottom, draw(st.booleans()), draw(st.integers(0, 14)),
    )  # fmt: skip


def _data(layer: Layer, shape: tuple[int, ...], seed: int) -> tuple[Bytes, Bytes, Ints]:
    """Input, weights, biases of all sizes."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-128, 128, (layer.c, layer.h, layer.w)).astype(np.int8)
    w = rng.integers(-128, 128, shape).astype(np.int8)
    return x, w, rng.integers(-(1 << 20), 1 << 20, shape[0])


def _output(layer: Layer) -> int:
    return up(layer.c * layer.h * up(layer.w, LANES), LANES)


def _run_conv(driver: Driver, layer: Layer, x: Bytes, packed: Ints, mode: str = "eager") -> Ints:
    """Raw bytes of the output, and 16 more."""
    script = Script()
    script.near(0, rows(x))
    script.far(WEIGHTS, packed)
    script.add("conv", 0, WEIGHTS, _output(layer), *layer.numbers)
    script.add("sync")
    script.read_near(_output(layer), layer.output_bytes + LANES)
    return parse(driver.run(script.text(), mode)[0])


@CHECKED
@given(layer=layers(), seed=st.integers(0, 1 << 30))
def test_convolution(driver: Driver, layer: Layer, seed: int) -> None:
    x, w, bias = _data(layer, (layer.k, layer.c, layer.fy, layer.fx), seed)
    raw = _run_conv(driver, layer, x, conv_weights(w, bias))
    got = from_rows(raw[:-LANES], layer.k, layer.oy, layer.ox)
    np.testing.assert_array_equal(got[:, :, : layer.ox], convolve(x, w, bias, layer))
    assert (got[:, :, layer.ox :] >= 0x40).all(), "columns without a window hold junk that is not 0"
    assert (raw[-LANES:] == EMPTY).all(), "nothing is written behind the output"


@CHECKED
@given(layer=layers(), seed=st.integers(0, 1 << 30))
def test_depthwise_convolution(driver: Driver, layer: Layer, seed: int) -> None:
    """Every instruction writes 16 channels; of those behind the last one nothing is said, but that they are written."""
    x, w, bias = _data(layer, (layer.c, layer.fy, layer.fx), seed)
    script = Script()
    script.near(0, rows(x))
    script.far(WEIGHTS, depthwise_weights(w, bias))
    script.add("depthwise", 0, WEIGHTS, _output(layer), *layer.numbers)
    plane = layer.oy * up(layer.ox, LANES)
    script.read_near(_output(layer), (layer.c + 15) * plane + LANES)
    raw = parse(driver.run(script.text())[0])
    got = from_rows(raw[: layer.c * plane], layer.c, layer.oy, layer.ox)
    for channel in range(layer.c):
        one = convolve(x[channel : channel + 1], w[channel][None, None], bias[channel : channel + 1], layer)
        np.testing.assert_array_equal(got[channel, :, : layer.ox], one[0])
    behind = raw[layer.c * plane : -LANES].reshape(15, plane)
    assert all((channel != EMPTY).any() for channel in behind) and (raw[-LANES:] == EMPTY).all()


@CHECKED
@given(
    c=st.integers(1, 20),
    k=st.integers(1, 8),
    shift=st.integers(0, 16),
    relu=st.booleans(),
    seed=st.integers(0, 1 << 30),
)
def test_fully_connected(driver: Driver, c: int, k: int, shift: int, relu: bool, seed: int) -> None:
    layer = Layer(c * LANES, k * LANES, LANES, 1, relu=relu, shift=shift)
    rng = np.random.default_rng(seed)
    x = rng.integers(-128, 128, layer.c).astype(np.int8)
    w = rng.integers(-128, 128, (layer.k, layer.c)).astype(np.int8)
    bias = rng.integers(-(1 << 31), 1 << 31, layer.k) >> rng.integers(0, 24)
    script = Script()
    script.near(64, reverse(x))
    script.far(0, dense_weights(w, bias))
    script.add("dense", 64, 0, 4096, *layer.numbers)
    script.add("sync")
    script.read_near(4096, layer.k + LANES)
    raw = parse(driver.run(script.text())[0])
    expected = requantise(w.astype(np.int64) @ x.astype(np.int64) + bias, layer)
    np.testing.assert_array_equal(reverse(raw[: layer.k]).view(np.int8), expected)
    assert (raw[layer.k :] == EMPTY).all()


@pytest.mark.parametrize("output", [8192, 0, 4096], ids=["apart", "on the first", "on the second"])
@pytest.mark.parametrize("shift", [0, 1, 5])
def test_sum(driver: Driver, output: int, shift: int) -> None:
    rng = np.random.default_rng(shift)
    a, b = rng.integers(-128, 128, (2, 5, 3, 16)).astype(np.int8)
    layer = Layer(5, 0, 16, 3, shift=shift)
    script = Script()
    script.near(0, a)
    script.near(4096, b)
    script.add("sum", 0, 4096, output, *layer.numbers)
    script.add("sync")
    script.read_near(output, a.size + LANES)
    raw = parse(driver.run(script.text())[0])
    expected = requantise(a.astype(np.int64) + b, layer)
    np.testing.assert_array_equal(raw[: a.size].view(np.int8).reshape(a.shape), expected)
    assert (raw[a.size :] == EMPTY).all()


@CHECKED
@given(layer=layers(channels=6, blocks=5), seed=st.integers(0, 1 << 30))
def test_convolution_for_the_analog_array(driver: Driver, layer: Layer, seed: int) -> None:
    """Channels side by side: only the blocks of 16 that exist are written."""
    x, w, bias = _data(layer, (layer.k, layer.c, layer.fy, layer.fx), seed)
    packed, width = conv_weights(w, bias), up(layer.ox, LANES)
    size_bytes = up(layer.k, GROUP) * layer.oy * width
    script = Script()
    script.near(0, rows(x))
    script.far(WEIGHTS, packed)
    script.add("encode", 1, 0, 0, _output(layer), *layer.numbers)
    script.add("word", 15, 1)
    script.add("start", WEIGHTS, 0, packed.size // 4)
    script.add("sync")
    script.read_near(_output(layer), size_bytes + LANES)
    raw = parse(driver.run(script.text())[0])
    got = from_channels(raw[:-LANES], layer.k, layer.oy, width)
    np.testing.assert_array_equal(got[: layer.k, :, : layer.ox], convolve(x, w, bias, layer))
    assert (got[layer.k :] == EMPTY).all() and (raw[-LANES:] == EMPTY).all()


def test_sums_wrap(driver: Driver) -> None:
    """The bias and the products together leave 32 bits."""
    layer = Layer(8, 16, 16, 2, shift=24)
    x = np.full((8, 2, 16), -128, np.int8)
    w = np.full((16, 8, 1, 1), -128, np.int8)
    bias = np.full(16, (1 << 31) - 1)
    raw = _run_conv(driver, layer, x, conv_weights(w, bias))
    expected = convolve(x, w, bias, layer)
    assert (expected == -128).all()
    np.testing.assert_array_equal(from_rows(raw[:-LANES], 16, 2, 16), expected)


def test_fewer_rows_than_there_could_be(driver: Driver) -> None:
    layer = Layer(3, 16, 20, 9, 3, 3, 1, 1, 1, 1, shift=8)
    x, w, bias = _data(layer, (16, 3, 3, 3), 7)
    numbers = list(layer.numbers)
    numbers[7] = 4
    script = Script()
    script.near(0, rows(x))
    script.far(0, conv_weights(w, bias))
    script.add("conv", 0, 0, 8192, *numbers)
    script.add("sync")
    script.read_near(8192, 16 * 4 * 32)
    got = from_rows(parse(driver.run(script.text())[0]), 16, 4, 20)
    np.testing.assert_array_equal(got[:, :, :20], convolve(x, w, bias, layer)[:, :4])


def test_weights_stay_when_none_are_fetched(driver: Driver) -> None:
    """A count of 0: the weights of the job before."""
    layer = Layer(4, 16, 16, 3, 1, 1, shift=6)
    x, w, bias = _data(layer, (16, 4, 1, 1), 3)
    script = Script()
    script.near(0, rows(x))
    script.far(0, conv_weights(w, bias))
    script.add("conv", 0, 0, 1024, *layer.numbers)
    script.add("sync")
    script.add("encode", 1, 0, 0, 4096, *layer.numbers)
    script.add("start", 0, 0, 0)
    script.add("sync")
    script.read_near(1024, layer.output_bytes)
    script.read_near(4096, layer.output_bytes)
    first, second = driver.run(script.text())
    assert first == second


def test_lazy_mode_shows_a_missing_wait(driver: Driver) -> None:
    """Until the host has waited, the output is poison."""
    layer = Layer(2, 16, 16, 2, shift=4)
    x, w, bias = _data(layer, (16, 2, 1, 1), 5)
    script = Script()
    script.near(0, rows(x))
    script.far(0, conv_weights(w, bias))
    script.add("conv", 0, 0, 1024, *layer.numbers)
    script.read_near(1024, layer.output_bytes)
    script.add("sync")
    script.read_near(1024, layer.output_bytes)
    before, after = driver.run(script.text(), "lazy")
    assert set(parse(before).tolist()) == {0xA5}
    np.testing.assert_array_equal(from_rows(parse(after), 16, 2, 16), convolve(x, w, bias, layer))
