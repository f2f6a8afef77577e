"""Layers with more than 512 inputs: partial layers, their sum on the cores, and no copy of the inputs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from ita_small_models import Ints, context, finish, linear, random_int8, results, start, table
from match_core import Model
from match_core.ir.editor import Editor
from match_ita.passes.linear import run as linear_pass
from match_ita.passes.linear_requant import as_ita
from match_ita.passes.split import run
from match_quant.linear.layers import linear_layers

RANDOM = np.random.default_rng(11)


def weights(inputs: int, columns: int) -> Ints:
    return np.clip(np.rint(RANDOM.normal(0, 40, (inputs, columns))), -127, 127).astype(np.int64)


def constants(inputs: int, columns: int, target: float, input_sd: float, spread: float = 1.0) -> tuple[Ints, Ints]:
    """M and B over 2^31 with results of standard deviation ``target``."""
    slope = target / (np.sqrt(inputs) * 40 * input_sd) * spread ** RANDOM.uniform(-1, 0, columns)
    offset = RANDOM.normal(0, 10, columns)
    addend = np.rint((offset + 0.5) * 2**31).astype(np.int64)
    return np.rint(slope * 2**31).astype(np.int64).reshape(1, -1), addend.reshape(1, -1)


def long_layer(editor: Editor, x: gs.Tensor, columns: int, input_sd: float, spread: float = 1.0) -> gs.Variable:
    inputs = int(x.shape[-1])
    multiplier, addend = constants(inputs, columns, 30, input_sd, spread)
    given = multiplier if spread > 1 else multiplier[0, 0]
    return linear(editor, x, weights(inputs, columns), given, addend, 2**31, name="long")


def operators(model: Model) -> Counter[str]:
    return Counter(str(node.op) for node in model.graph.nodes)


def differences(before: Model, after: Model, shape: tuple[int, ...]) -> Ints:
    x = {"x": random_int8(shape)}
    return results(after, x) - results(before, x)


def all_on_ita(model: Model) -> list[bool]:
    return [as_ita(layer) is not None for layer in linear_layers(Editor(model))]


@pytest.mark.parametrize(("inputs", "spread", "parts"), [(1536, 1.0, 3), (576, 1.0, 2), (700, 1.0, 2), (1024, 2.0, 2)])
def test_inputs_of_the_graph_are_sliced(inputs: int, spread: float, parts: int) -> None:
    editor, x = start((1, 40, inputs))
    before = finish(editor, long_layer(editor, x, 64, 74, spread))
    after = run(before, context())
    count = operators(after)
    assert (count["Slice"], count["MatMulInteger"], count["Concat"], count["ReduceSum"]) == (parts, parts, 1, 1)
    difference = differences(before, after, (1, 40, inputs))
    assert np.sqrt(np.square(difference).mean()) < 1.0 and np.abs(difference).max() <= 4
    assert all_on_ita(after) == [spread == 1.0] * parts
    assert all_on_ita(linear_pass(after, context())) == [True] * parts


def test_the_layer_before_is_divided_instead() -> None:
    """Linear, table, linear, as in a feed-forward block: what is divided are weights."""
    editor, x = start((1, 40, 64))
    multiplier, addend = constants(64, 1536, 40, 74)
    wide = linear(editor, x, weights(64, 1536), multiplier[0, 0], addend, 2**31, name="first")
    bent = table(editor, wide, np.maximum(np.arange(-128, 128), -30))
    before = finish(editor, long_layer(editor, bent, 64, 40))
    after = run(before, context())
    assert operators(after) == Counter(MatMulInteger=6, RequantI8=7, LutI8=3, Reshape=1, Concat=1, Cast=1, ReduceSum=1)
    difference = differences(before, after, (1, 40, 64))
    assert np.sqrt(np.square(difference).mean()) < 1.0 and np.abs(difference).max() <= 4


def test_gathered_rows_are_divided_by_rows() -> None:
    """Patches of 42 pieces of 14 bytes: 2 times 21 pieces, no Slice."""
    editor, x = start((300, 14))
    index = editor.constant("index", RANDOM.integers(0, 300, (30, 42)))
    rows = editor.node("Gather", [x, index], np.int8, (30, 42, 14), name="g", origin=("g",), attrs={"axis": 0})
    target = editor.constant("to", np.array([30, 588], np.int64))
    patches = editor.node("Reshape", [rows, target], np.int8, (30, 588), name="r", origin=("r",))
    before = finish(editor, long_layer(editor, patches, 64, 74))
    after = run(before, context())
    assert operators(after)["Gather"] == 2 and "Slice" not in operators(after)
    assert [layer.weight.shape for layer in linear_layers(Editor(after))] == [(294, 64)] * 2
    assert np.abs(differences(before, after, (300, 14))).max() <= 4


def test_windows_are_divided_into_rows_with_a_step() -> None:
    """A convolution with three taps and a step of two: a Slice for each tap."""
    editor, x = start((61, 384))
    index = editor.constant("index", np.arange(30)[:, None] * 2 + np.arange(3))
    rows = editor.node("Gather", [x, index], np.int8, (30, 3, 384), name="g", origin=("g",), attrs={"axis": 0})
    target = editor.constant("to", np.array([30, 1152], np.int64))
    windows = editor.node("Reshape", [rows, target], np.int8, (30, 1152), name="r", origin=("r",))
    before = finish(editor, long_layer(editor, windows, 64, 74))
    after = run(before, context())
    assert operators(after)["Slice"] == 3 and "Gather" not in operators(after)
    assert np.abs(differences(before, after, (61, 384))).max() <= 4


def test_what_others_read_is_sliced() -> None:
    editor, x = start((10, 64))
    multiplier, addend = constants(64, 1024, 40, 74)
    wide = linear(editor, x, weights(64, 1024), multiplier[0, 0], addend, 2**31, name="first")
    y = long_layer(editor, wide, 64, 40)
    editor.graph.outputs = [y, wide]
    after = run(editor.finish(), context())
    assert operators(after)["Slice"] == 2 and operators(after)["MatMulInteger"] == 3


def test_bounds_stay() -> None:
    """A ReLU is applied to the sum, not to the shares."""
    editor, x = start((10, 1024))
    multiplier, addend = constants(1024, 64, 30, 74)
    y = linear(editor, x, weights(1024, 64), multiplier[0, 0], addend, 2**31, (0, 127), name="long")
    before = finish(editor, y)
    after = run(before, context())
    assert np.abs(differences(before, after, (10, 1024))).max() <= 4
    assert results(after, {"x": random_int8((10, 1024))}).min() == 0


def test_shares_that_would_be_too_coarse_are_refused() -> None:
    """Results of large layers that mostly saturate: steps of shares would be several LSB."""
    editor, x = start((4, 2048))
    multiplier, addend = constants(2048, 64, 300, 74)
    before = finish(editor, linear(editor, x, weights(2048, 64), multiplier[0, 0], addend, 2**31))
    after = run(before, context())
    assert operators(after) == operators(before) and "expected error" in after.notes[0]


def test_short_layers_stay() -> None:
    editor, x = start((4, 512))
    before = finish(editor, long_layer(editor, x, 64, 74))
    assert operators(run(before, context())) == operators(before)
