"""ITA's requantisation of a linear layer: exact where it can be, else close to the wider one."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ita_small_models import finish, linear, random_int8, start
from match_ita.ita.requantisation import ItaRequant
from match_ita.passes.linear_requant import as_ita, largest_difference, nearest
from match_quant.linear.layers import LinearLayer, linear_layers, sum_ranges
from numpy.typing import NDArray

from tests.examples import examples

Ints = NDArray[np.int64]


def layer(weight: Ints, multiplier: int | Ints, addend: int | Ints, divisor: int, lo: int = -128) -> LinearLayer:
    editor, x = start((4, weight.shape[0]))
    y = linear(editor, x, weight, multiplier, addend, divisor, (lo, 127))
    finish(editor, y)
    (found,) = linear_layers(editor)
    return found


def ita_result(acc: Ints, ita: ItaRequant, lo: int) -> Ints:
    """As the hardware's description says: product, rounding by the last bit that is shifted out, sum, saturation."""
    product = ita.multiplier * (acc + ita.bias)
    rounded = (product >> ita.shift) + ((product >> (ita.shift - 1)) & 1 if ita.shift else 0)
    result: Ints = np.maximum(np.clip(rounded + ita.add, -128, 127), lo)
    return result


@pytest.mark.parametrize(
    ("multiplier", "shift", "add"), [(21, 13, 0), (1, 5, -7), (255, 33, 127), (3, 0, 2), (128, 7, -128)]
)
def test_constants_of_ita_are_found_again(multiplier: int, shift: int, add: int) -> None:
    bias = np.array([0, -5, 70000, 8388607 if multiplier == 255 else 12], np.int64)
    addend = multiplier * bias + ((1 << shift) >> 1) + (add << shift)
    found = as_ita(layer(np.ones((3, 4), np.int64), multiplier, addend.reshape(1, 4), 1 << shift))
    assert found is not None
    np.testing.assert_array_equal(found.addend, addend)
    acc = np.arange(-3000, 3000)[:, None] * np.ones(4, np.int64)
    expected = np.clip((acc * multiplier + addend) >> shift, -128, 127)
    np.testing.assert_array_equal(ita_result(acc, found, -128), expected)


@pytest.mark.parametrize(
    ("multiplier", "addend", "divisor"),
    [(256, 0, 1 << 12), (6, 2049, 1 << 12), (7, 1 << 40, 1 << 12), (5, 0, 1 << 34), (0, 1 << 11, 1 << 12)],
)
def test_other_constants_are_not_itas(multiplier: int, addend: int, divisor: int) -> None:
    assert as_ita(layer(np.ones((3, 4), np.int64), multiplier, addend, divisor)) is None


@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_nearest_constants_are_judged_right(data: st.DataObject) -> None:
    """The bound is the largest difference over every reachable accumulator, found one by one."""
    random = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    weight = random.integers(-3, 4, (data.draw(st.integers(1, 12)), 3))
    shift = data.draw(st.integers(8, 31))
    slope = 2.0 ** data.draw(st.floats(-8, 0.5))
    multiplier = max(int(slope * 2**shift), 1)
    addend = random.integers(-200, 200, 3) * (1 << shift) // 3
    item = layer(weight, multiplier, addend.reshape(1, 3), 1 << shift, data.draw(st.sampled_from((-128, 0))))
    low, high = sum_ranges(item.weight, -128, 127)
    ita = nearest(item, low, high)
    if ita is None:
        return
    worst = 0
    for column in range(3):
        acc = np.arange(low[column], high[column] + 1)
        wide = np.clip((acc * multiplier + addend[column]) >> shift, item.lo, 127)
        one = ItaRequant(ita.multiplier, ita.shift, ita.bias[column : column + 1], ita.add)
        worst = max(worst, int(np.abs(ita_result(acc, one, item.lo) - wide).max()))
    assert largest_difference(item, ita, low, high) == worst
    if slope < 0.9:
        assert worst <= 1


def test_a_bias_beyond_24_bits_goes_into_the_addend() -> None:
    """Offset 100 at slope 2^-20 is a bias of 2^26.6; as ITA's addend it costs nothing."""
    item = layer(random_int8((64, 2)).astype(np.int64), 1 << 11, 100 << 31, 1 << 31)
    ita = nearest(item, *sum_ranges(item.weight, -128, 127))
    assert ita is not None and ita.add == 100 and int(np.abs(ita.bias).max()) <= 1 << 19


def test_sums_that_wrap_are_refused() -> None:
    """The bias fits 24 bits, but not together with 512 products the accumulator of 26."""
    weight = np.full((2048, 1), 127, np.int64)
    assert nearest(layer(weight, 1000, 0, 1 << 31), *sum_ranges(weight, -128, 127)) is None


def test_weights_from_nodes_and_shared_sums_are_no_layers() -> None:
    editor, x = start((4, 8))
    y = linear(editor, x, np.ones((8, 8), np.int64), 1, 0, 4)
    acc = y.inputs[0].inputs[0]
    assert isinstance(acc, gs.Variable)
    editor.graph.outputs = [y, acc]
    assert linear_layers(editor) == []
