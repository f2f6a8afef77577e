"""The pass on linear layers: graphs before and after it in ONNX Runtime."""

from __future__ import annotations

import re

import numpy as np
import pytest
from ita_small_models import Ints, context, finish, linear, random_int8, results, start, table
from match_core import Model
from match_core.ir.editor import Editor
from match_ita.passes.linear import run
from match_ita.passes.linear_requant import as_ita
from match_ita.passes.nodes import sliced
from match_quant.linear.layers import linear_layers

RANDOM = np.random.default_rng(7)


def weights(inputs: int, columns: int) -> Ints:
    return RANDOM.integers(-127, 128, (inputs, columns))


def wide_constants(inputs: int, columns: int, spread: float = 1.0) -> tuple[Ints, Ints]:
    """31-bit constants as the core makes them: results use most of int8; ``spread`` of the columns' slopes."""
    slope = 40 / (np.sqrt(inputs) * 74 * 74) * spread ** RANDOM.uniform(-1, 0, columns if spread > 1 else 1)
    offset = RANDOM.normal(0, 10, columns)
    rank = (1, columns)
    return (
        np.broadcast_to(np.rint(slope * 2**31), rank).astype(np.int64),
        np.rint((offset + 0.5) * 2**31).astype(np.int64).reshape(rank),
    )


def model(inputs: int, columns: int, rows: int = 9, spread: float = 1.0) -> Model:
    editor, x = start((1, rows, inputs))
    multiplier, addend = wide_constants(inputs, columns, spread)
    m = multiplier if spread > 1 else multiplier[0, :1].reshape(())
    return finish(editor, linear(editor, x, weights(inputs, columns), m, addend, 2**31))


def layers_of(model: Model) -> list[bool]:
    """For each linear layer whether ITA can do it."""
    return [
        as_ita(layer) is not None and all(size % 64 == 0 for size in layer.weight.shape)
        for layer in linear_layers(Editor(model))
    ]


@pytest.mark.parametrize(("inputs", "columns"), [(64, 64), (512, 128), (240, 100), (5, 3)])
def test_results_are_within_1(inputs: int, columns: int) -> None:
    before = model(inputs, columns)
    after = run(before, context())
    assert layers_of(after) == [True] and not after.notes
    x = {"x": random_int8((1, 9, inputs))}
    difference = np.abs(results(after, x) - results(before, x))
    assert difference.max() <= 1 and difference.mean() < 0.2
    assert [node.op for node in after.graph.nodes] == [
        *(["Pad"] if inputs % 64 else []),
        "MatMulInteger",
        "RequantI8",
        *(["Slice"] if columns % 64 else []),
    ]


@pytest.mark.parametrize(("first", "end"), [(0, 70), (30, 100), (130, 200), (100, 170)])
def test_a_slice_takes_more_columns_where_there_are_some(first: int, end: int) -> None:
    """What they hold does not matter, for their weights are 0."""
    editor, x = start((9, 200))
    part = sliced(editor, x, first, end, "part", ("part",))
    multiplier, addend = wide_constants(70, 64)
    before = finish(editor, linear(editor, part, weights(70, 64), multiplier[0, 0], addend, 2**31))
    after = run(before, context())
    assert [node.op for node in after.graph.nodes] == ["Slice", "MatMulInteger", "RequantI8"]
    assert layers_of(after) == [True] and after.graph.nodes[0].outputs[0].shape == [9, 128]
    given = {"x": random_int8((9, 200))}
    assert np.abs(results(after, given) - results(before, given)).max() <= 1


def test_constants_of_ita_stay() -> None:
    editor, x = start((4, 64))
    bias = RANDOM.integers(-9000, 9000, (1, 64))
    y = linear(editor, x, weights(64, 64), 29, 29 * bias + 4096 - 3 * 8192, 8192)
    before = finish(editor, y)
    after = run(before, context())
    given = {"x": random_int8((4, 64))}
    np.testing.assert_array_equal(results(after, given), results(before, given))
    assert layers_of(after) == [True]


def test_relu_with_zero_point_0_stays_a_bound() -> None:
    editor, x = start((4, 64))
    multiplier, addend = wide_constants(64, 64)
    before = finish(editor, linear(editor, x, weights(64, 64), multiplier[0, 0], addend, 2**31, (0, 127)))
    after = run(before, context())
    given = {"x": random_int8((4, 64))}
    assert np.abs(results(after, given) - results(before, given)).max() <= 1
    assert layers_of(after) == [True] and results(after, given).min() == 0


@pytest.mark.parametrize(
    ("inputs", "multiplier", "bounds", "reason"),
    [
        (576, 5 << 20, (-128, 127), "exceed 512"),
        (64, 5 << 20, (-5, 127), "saturate at -5"),
        (64, 300 << 31, (-128, 127), "the error of results would be|are close enough"),
    ],
)
def test_what_ita_cannot_do_is_noted_and_stays(
    inputs: int, multiplier: int, bounds: tuple[int, int], reason: str
) -> None:
    editor, x = start((2, inputs))
    before = finish(editor, linear(editor, x, weights(inputs, 64), multiplier, 1 << 30, 2**31, bounds))
    after = run(before, context())
    assert len(after.notes) == 1
    assert re.search(reason, after.notes[0])
    given = {"x": random_int8((2, inputs))}
    np.testing.assert_array_equal(results(after, given), results(before, given))


def test_columns_without_slope_are_constants() -> None:
    editor, x = start((4, 64))
    multiplier, addend = wide_constants(64, 64)
    multiplier[0, 5], addend[0, 5] = 0, (17 << 31) + 1
    before = finish(editor, linear(editor, x, weights(64, 64), multiplier, addend, 2**31))
    after = run(before, context())
    got = results(after, {"x": random_int8((4, 64))})
    assert layers_of(after) == [True] and np.all(got[:, 5] == 17)


def test_columns_with_slopes_of_their_own_share_one() -> None:
    """Inputs of a layer whose results are known to have a spread of about 20: the expected error is that measured."""
    before = two_layers(spread=2.0)
    after = run(before, context())
    assert layers_of(after) == [True, True]
    x = {"x": random_int8((1, 50, 64))}
    difference = results(after, x) - results(before, x)
    assert 0.05 < np.sqrt(np.square(difference).mean()) < 0.75


def test_too_large_an_expected_error_is_refused() -> None:
    """Small weights with one large one in each column: rounding them again costs much."""
    weight = np.rint(RANDOM.normal(0, 3, (64, 64))).astype(np.int64)
    weight[0] = 127
    editor, x = start((2, 64))
    multiplier, addend = wide_constants(64, 64, 2.0)
    before = finish(editor, linear(editor, x, weight, 10 * multiplier, addend, 2**31))
    after = run(before, context())
    assert layers_of(after) == [False] and "expected error" in after.notes[0]


def two_layers(spread: float, middle: int = 64) -> Model:
    editor, x = start((1, 50, 64))
    multiplier, addend = wide_constants(64, middle)
    y = linear(editor, x, weights(64, middle), multiplier[0, 0] // 2, addend, 2**31, name="first")
    multiplier, addend = wide_constants(middle, 64, spread)
    return finish(editor, linear(editor, y, weights(middle, 64), multiplier, addend, 2**31, name="second"))


def test_padded_columns_go_to_the_next_layer_as_they_are() -> None:
    before = two_layers(1.0, middle=40)
    after = run(before, context())
    assert [node.op for node in after.graph.nodes] == ["MatMulInteger", "RequantI8"] * 2
    assert layers_of(after) == [True, True]


def test_a_table_between_layers() -> None:
    editor, x = start((3, 64))
    multiplier, addend = wide_constants(64, 64)
    y = linear(editor, x, weights(64, 64), multiplier[0, 0], addend, 2**31, name="first")
    y = table(editor, y, np.maximum(np.arange(-128, 128), -20), "clamp")
    before = finish(editor, linear(editor, y, weights(64, 64), multiplier[0, 0], addend, 2**31, name="second"))
    after = run(before, context())
    assert layers_of(after) == [True, True]
