"""The library's integers give the graph's results for every sum, or the layer is refused."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_cmsisnn.kernels.add import LEFT, sum_of
from match_cmsisnn.rounding import Requant, Scale, scale_of


def reference(requant: Requant, sums: np.ndarray) -> np.ndarray:
    """The graph's results, in Python's integers."""
    m, b = requant.multiplier.astype(object), requant.addend.astype(object)
    values = (sums.astype(object) * m + b) // 2**requant.exponent
    return np.clip(values, requant.low, requant.high).astype(np.int64)


def made(rng: np.random.Generator, channels: int, exponent: int, offset: int, low: int) -> tuple[Requant, np.ndarray]:
    """A requantisation as quantisers state it, and how far the sums reach."""
    m = rng.integers(1 << 29, 1 << 31, channels)
    bias = rng.integers(-20_000, 20_000, channels)
    most = rng.integers(1_000, 40_000, channels)
    b = bias * m + (offset << exponent) + (1 << exponent - 1)
    return Requant(m, b, exponent, low, 127), most


@pytest.mark.parametrize("seed", range(4))
def test_every_sum_gives_the_graphs_result(seed):
    rng = np.random.default_rng(seed)
    requant, most = made(rng, 5, int(rng.integers(38, 44)), int(rng.integers(-128, 128)), -128)
    requant.multiplier[2], most[2] = 0, 0
    found = scale_of(requant, -most, most)
    assert isinstance(found, Scale)
    sums = np.clip(np.arange(-most.max(), most.max() + 1)[:, None], -most, most)
    assert np.array_equal(found.of(sums, requant.low, requant.high), reference(requant, sums))
    assert (found.multiplier > 0).all()


def test_a_bias_between_two_steps_is_refused():
    requant, _ = made(np.random.default_rng(0), 4, 40, -128, -128)
    most = np.full(4, 200_000)
    requant.addend[1] += requant.multiplier[1] // 2
    requant.addend[2] += requant.multiplier[2] // 3
    found = scale_of(requant, -most, most)
    assert isinstance(found, str)
    assert found.startswith("single rounding gives other results in ")


def add(first: int, second: int, addend: int, divisor: int) -> gs.Node:
    """An AddRequant."""
    a, b = (gs.Variable(name, np.int8, (1, 4)) for name in "ab")
    numbers = (first, second, addend, divisor, -128, 127)
    inputs = [a, b, *(gs.Constant(f"c{k}", np.array(number, np.int64)) for k, number in enumerate(numbers))]
    return gs.Node("AddRequantI8", "add", inputs=inputs, outputs=[gs.Variable("y", np.int8, (1, 4))])


@pytest.mark.parametrize(
    ("first", "second", "addend", "divisor"),
    [
        (1098017566, 415133430, -19706023370, 536870912),
        (708607646, 1835721671, -160157729766, 1073741824),
        (1 << 30, 1 << 30, 0, 1 << 31),
    ],
    ids=("larger first", "larger second", "halves"),
)
def test_sums_equal_for_all_pairs(first, second, addend, divisor):
    found = sum_of(add(first, second, addend, divisor))
    assert not isinstance(found, str), found
    numbers, low, high = found
    a, b = np.arange(-128, 128, dtype=np.int64)[:, None], np.arange(-128, 128, dtype=np.int64)[None, :]

    def scaled(value: np.ndarray, multiplier: int, total: int) -> np.ndarray:
        return ((value * multiplier >> (total - 1)) + 1) >> 1

    (f1, f2), (o1, o2) = numbers.factors, numbers.offsets
    both = scaled((a + o1) << LEFT, f1 << 11, 31) + scaled((b + o2) << LEFT, f2 << 11, 31)
    value = scaled(both, numbers.multiplier, numbers.total) + numbers.offset
    exact = (a.astype(object) * first + b.astype(object) * second + addend) // divisor
    assert np.array_equal(np.clip(value, low, high), np.clip(exact.astype(np.int64), low, high))
    assert int(np.abs(both).max()) < 1 << 30


def test_ties_that_both_round_differently_are_refused():
    assert isinstance(sum_of(add(1431655765, 930576287, -93343956061, 1 << 31)), str)
