"""Layers on the analog array's twin, bit for bit against a reference in numpy that was written apart from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from diana_analog_harness import Driver, Job, Script, dump, numbers, output_bytes, place, result, start
from diana_analog_reference import (
    Cells,
    Ints,
    Scaling,
    Shape,
    adc,
    encode,
    encode_norm,
    layer,
    post,
    store,
    sums,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples

RELAXED = settings(
    max_examples=examples(60),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def make_inputs(rng: np.random.Generator, shape: Shape) -> Ints:
    """All 8 bits, so that the DACs clip some."""
    return rng.integers(-128, 128, (shape.c, shape.cy, shape.cx))


def make_weights(rng: np.random.Generator, shape: Shape) -> Cells:
    return rng.integers(-1, 2, (shape.k, shape.c, shape.fy, shape.fx)).astype(np.int8)


def make_norm(rng: np.random.Generator, k: int, gain: int, shift: int = 5, relu: bool = False) -> Scaling:
    return Scaling(gain, rng.integers(-128, 128, k), rng.integers(-128, 128, k), shift, relu)


def run_layer(driver: Driver, shape: Shape, x: Ints, weights: Cells, scaling: Scaling, mode: str = "eager") -> Ints:
    script = Script()
    job = place(script, shape, x, weights, scaling)
    start(script, job)
    dump(script, job)
    return result(driver.run(script.text(), mode)[0], shape)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Sizes that the array and a small part of L1 hold."""
    fy, fx = draw(st.sampled_from([(1, 1), (3, 3), (5, 5), (7, 7), (3, 1), (1, 5), (2, 4)]))
    stride = draw(st.sampled_from([1, 2]))
    unroll = draw(st.sampled_from([1, 1, 2, 4, 8]))
    window = (unroll - 1) * stride + fx
    if unroll > 1 and window * 64 * fy > 1152:
        unroll, window = 1, fx
    most = 1152 // (window * fy)
    c = draw(st.integers(1, most) | st.sampled_from([n for n in (1, 3, 63, 64, 65, 128, most) if n <= most]))
    k = draw(st.integers(1, 512 // unroll) | st.sampled_from([n for n in (1, 31, 32, 33, 64, 65) if n * unroll <= 512]))
    sides = st.integers(0, 3)
    pads = (draw(sides), draw(sides), draw(sides), draw(sides))
    cy = max(fy - pads[0] - pads[1], 1) + draw(st.integers(0, 5))
    cx = max(window - pads[2] - pads[3], 1) + draw(st.integers(0, 5))
    return Shape(c, k, cy, cx, fy, fx, stride, pads, unroll)


@RELAXED
@given(
    shape=shapes(),
    gain=st.integers(0, 9),
    shift=st.integers(0, 15),
    relu=st.booleans(),
    mode=st.sampled_from(["eager", "lazy"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_random_layers(driver: Driver, shape: Shape, gain: int, shift: int, relu: bool, mode: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, weights = make_inputs(rng, shape), make_weights(rng, shape)
    scaling = make_norm(rng, shape.k, gain, shift, relu)
    np.testing.assert_array_equal(
        run_layer(driver, shape, x, weights, scaling, mode), layer(shape, x, weights, scaling)
    )


@pytest.mark.parametrize(
    "shape",
    [
        Shape(128, 512, 3, 3),
        Shape(1152, 512, 1, 2, fy=1, fx=1),
        Shape(64, 64, 8, 8, pads=(1, 1, 1, 1), unroll=4),
        Shape(23, 10, 7, 9, fy=7, fx=7, stride=2, pads=(3, 3, 3, 3)),
        Shape(19, 512, 9, 4, fy=15, fx=4, pads=(3, 3, 1, 1)),
    ],
)
def test_corners_of_the_array(driver: Driver, shape: Shape) -> None:
    rng = np.random.default_rng(1)
    x, weights = make_inputs(rng, shape), make_weights(rng, shape)
    scaling = make_norm(rng, shape.k, 5)
    np.testing.assert_array_equal(run_layer(driver, shape, x, weights, scaling), layer(shape, x, weights, scaling))


def test_largest_sums(driver: Driver) -> None:
    """All cells and inputs at their ends: 128 * 9 * 64 on each column."""
    shape = Shape(128, 4, 3, 3)
    weights = np.ones((4, 128, 3, 3), np.int8)
    weights[1::2] = -1
    for value, clipped in ((-128, -64), (127, 63)):
        x = np.full((128, 3, 3), value)
        found = run_layer(driver, shape, x, weights, Scaling(gain=12))
        total = clipped * 1152
        expected = [max(min(s // 4096, 31), -32) for s in (total, -total, total, -total)]
        assert found.ravel().tolist() == expected


def test_division_rounds_down(driver: Driver) -> None:
    """ADC and shift: -1 stays -1 however far it is divided."""
    shape = Shape(1, 1, 1, 8, fy=1, fx=1)
    x = np.array([[[-64, -17, -16, -1, 0, 1, 16, 63]]])
    weights = np.ones((1, 1, 1, 1), np.int8)
    assert run_layer(driver, shape, x, weights, Scaling(gain=4)).ravel().tolist() == [-4, -2, -1, -1, 0, 0, 1, 3]
    scaling = Scaling(4, np.array([3]), np.array([0]), 2)
    assert run_layer(driver, shape, x, weights, scaling).ravel().tolist() == [-3, -2, -1, -1, 0, 0, 0, 2]


@pytest.mark.parametrize("value, before", [(-1, -96), (1, 96)])
@pytest.mark.parametrize("mul, add", [(-128, 127), (127, -128), (-128, -128), (127, 127)])
def test_ends_of_the_batch_norm(driver: Driver, value: int, before: int, mul: int, add: int) -> None:
    """The largest sums that 8 bits hold, with the largest numbers."""
    shape = Shape(64, 1, 1, 1, fy=1, fx=1)
    scaling = Scaling(0, np.array([mul]), np.array([add]), 9)
    script = Script()
    job = place(script, shape, np.full((64, 1, 1), value), np.ones((1, 64, 1, 1), np.int8), scaling)
    start(script, replace(job, partial=script.near(store(np.full((1, 1, 1), before)))))
    dump(script, job)
    total = max(min(64 * value, 31), -32) + before
    expected = max(min((total * mul + add) // 512, 63), -64)
    assert result(driver.run(script.text())[0], shape).ravel().tolist() == [expected]


def test_published_function(driver: Driver) -> None:
    """analog_conv_2d leaves all behind the ADC out, and its gain is 1."""
    rng = np.random.default_rng(5)
    shape = Shape(3, 40, 5, 6, pads=(1, 1, 1, 1))
    x, weights = rng.integers(-8, 9, (3, 5, 6)), make_weights(rng, shape)
    script = Script()
    cells, source = script.far(encode(weights)), script.near(store(x))
    output = script.reserve(output_bytes(shape))
    script.add("conv", source, output, cells, -1, *numbers(shape))
    script.add("sync")
    script.add("dump_near", output, output_bytes(shape))
    found = result(driver.run(script.text())[0], shape)
    np.testing.assert_array_equal(found, adc(sums(shape, x, weights), 0))
    assert found.min() == -32 and found.max() == 31


def test_unused_output_channels_are_not_defined(driver: Driver) -> None:
    """The twin writes its poison there, so that nobody reads them for 0."""
    rng = np.random.default_rng(6)
    shape = Shape(4, 70, 3, 3)
    script = Script()
    job = place(script, shape, make_inputs(rng, shape), make_weights(rng, shape), Scaling(gain=3))
    start(script, job)
    dump(script, job)
    stored = bytes.fromhex(driver.run(script.text())[0])
    reversed_group = np.frombuffer(stored, np.uint8).reshape(-1, 4)[:, ::-1].ravel()
    assert np.all(reversed_group[70:] == 0xA5)


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("mode", ["eager", "lazy"])
def test_groups_of_input_channels(driver: Driver, in_place: bool, mode: str) -> None:
    """Four jobs of 128, 128, 128 and 40 channels: each group goes through the ADC, then the sums are added."""
    rng = np.random.default_rng(7)
    shape = Shape(424, 50, 4, 4, pads=(1, 1, 1, 1))
    x, weights = make_inputs(rng, shape), make_weights(rng, shape)
    scaling = make_norm(rng, shape.k, 6, 6)
    script = Script()
    source = script.near(store(x))
    places = [script.reserve(output_bytes(shape)) for _ in range(2)]
    norm = script.far(encode_norm(scaling))
    total = np.zeros((50, 4, 4), np.int64)
    for index, first in enumerate(range(0, 424, 128)):
        part = slice(first, min(first + 128, 424))
        group = Shape(part.stop - first, 50, 4, 4, pads=shape.pads)
        is_last = part.stop == 424
        output, before = (places[0],) * 2 if in_place else (places[index % 2], places[1 - index % 2])
        job = Job(
            shape=group,
            scaling=scaling if is_last else Scaling(scaling.gain),
            input=source + first // 64 * 16 * 64,
            output=output,
            cells=script.far(encode(weights[:, part])),
            norm=norm if is_last else -1,
            partial=None if index == 0 else before,
        )
        start(script, job)
        total += adc(sums(group, x[part], weights[:, part]), scaling.gain)
    dump(script, job)
    found = result(driver.run(script.text(), mode)[0], shape)
    np.testing.assert_array_equal(found, post(total, scaling))
    assert not np.array_equal(found, layer(shape, x, weights, scaling))


def test_copies_of_both_kinds(driver: Driver) -> None:
    """Over one bank and over four the same bytes move."""
    rng = np.random.default_rng(8)
    data = rng.integers(0, 256, 320, np.uint8).tobytes()
    script = Script()
    far = script.far(data)
    script.far(bytes(640))
    for near, size, banks in ((0, 320, 4), (640, 288, 1)):
        script.add("copy", far, near, size, 0, banks)
        script.add("sync")
        script.add("copy", far + 320 + near // 2, near, size, 1, banks)
        script.add("sync")
        script.add("dump_near", near, size)
        script.add("dump_far", far + 320 + near // 2, size)
    lines = driver.run(script.text(), "lazy")
    assert lines == [data.hex(), data.hex(), data[:288].hex(), data[:288].hex()]
