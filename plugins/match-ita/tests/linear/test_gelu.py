"""Tables that are a GELU become ITA's polynomial: recognised, close, and absorbed by the layers behind."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import match_ita.passes.gelu_fit as gelu_fit
import numpy as np
import onnx_graphsurgeon as gs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ita_small_models import Ints, context, convolution, finish, linear, random_int8, reshape, results, start, table
from match_core import Model
from match_core.ir.editor import Editor
from match_ita.arithmetic import GeluConstants, RequantStep
from match_ita.arithmetic import gelu as ita_gelu
from match_ita.passes.convolution import run as convolution_pass
from match_ita.passes.gelu import run
from match_ita.passes.gelu_choice import DIFFERENCE_MAX
from match_ita.passes.gelu_fit import fit
from match_ita.passes.gelu_fit import gelu as interpolated
from match_ita.passes.linear import run as linear_pass
from match_ita.passes.linear_requant import as_ita
from match_quant.linear.layers import linear_layers

RANDOM = np.random.default_rng(23)


def gelu_table(scale_x: float, zero_x: int, scale_y: float, zero_y: int) -> Ints:
    x = [(q - zero_x) * scale_x for q in range(-128, 128)]
    values = [0.5 * v * (1 + math.erf(v / math.sqrt(2))) / scale_y + zero_y for v in x]
    return np.clip(np.rint(values), -128, 127).astype(np.int64)


def weights(inputs: int, columns: int) -> Ints:
    return np.clip(np.rint(RANDOM.normal(0, 40, (inputs, columns))), -127, 127).astype(np.int64)


def block(editor: Editor, x: gs.Tensor, entries: Ints, spread: float = 1.0, last: Ints | None = None) -> gs.Variable:
    """Linear layer, table, linear layer, as in a feed-forward block."""
    inputs, rows = int(x.shape[-1]), tuple(x.shape[:-1])
    multiplier = np.rint(30 / (np.sqrt(inputs) * 40 * 74) * spread ** RANDOM.uniform(-1, 0, 192) * 2**31)
    addend = np.rint((RANDOM.normal(-5, 5, (1, 192)) + 0.5) * 2**31).astype(np.int64)
    slopes = multiplier.astype(np.int64) if spread > 1 else np.array(int(multiplier[0]))
    y = linear(editor, x, weights(inputs, 192), slopes, addend, 2**31, name="first")
    bent = reshape(editor, table(editor, reshape(editor, y, (1, *rows, 192), "up"), entries), (*rows, 192), "down")
    behind = weights(192, 64) if last is None else last
    multiplier = np.array(round(30 / (np.sqrt(192) * 40 * 40) * 2**31))
    addend = np.rint(RANDOM.normal(0, 30, (1, 64)) * 2**31).astype(np.int64)
    addend += multiplier * 100 * behind.sum(axis=0)[None, :]
    return linear(editor, bent, behind, multiplier, addend, 2**31, name="second")


def model(entries: Ints, spread: float = 1.0, last: Ints | None = None) -> Model:
    editor, x = start((20, 64))
    return finish(editor, block(editor, x, entries, spread, last))


def operators(model: Model) -> Counter[str]:
    return Counter(str(node.op) for node in model.graph.nodes)


def differences(before: Model, after: Model, shape: tuple[int, ...] = (20, 64)) -> Ints:
    x = {"x": random_int8(shape)}
    return results(after, x) - results(before, x)


ENTRIES = gelu_table(0.0368, -5, 0.0198, -119)


@given(st.floats(0.015, 0.12), st.integers(-30, 30), st.integers(-3, 3))
@example(0.015625, 0, -3)
@settings(max_examples=25, deadline=None)
def test_a_gelu_is_recognised_with_its_scales(scale_x: float, zero_x: int, more: int) -> None:
    scale_y = (127 - zero_x) * scale_x / 250
    entries = gelu_table(scale_x, zero_x, scale_y, -119 + more)
    found = fit(entries.astype(np.int8))
    if np.all(np.diff(entries) >= 0):  # the whole bend saturates at -128: nothing tells it from a ReLU or a Softplus
        assert found is None
        return
    assert found is not None and found.residual < 0.75
    assert abs(found.scale_x / scale_x - 1) < 0.05 and abs(found.scale_y / scale_y - 1) < 0.05
    assert abs(found.zero_x - zero_x) <= 1 and abs(found.zero_y - (-119 + more)) < 1


@given(
    st.floats(0.008, 0.15), st.integers(-128, 127), st.floats(0.005, 0.08), st.integers(-128, 90), st.integers(0, 99)
)
@example(0.0625, -106, 0.0625, 0, 1)  # the best zero point is the least one
@settings(max_examples=15, deadline=None)
def test_all_zero_points_give_no_better_fit(
    scale_x: float, zero_x: int, scale_y: float, zero_y: int, noise: int
) -> None:
    """Tables with and without noise; a step of 1 tries every zero point."""
    entries = gelu_table(scale_x, zero_x, scale_y, zero_y)
    entries += np.random.default_rng(noise).integers(-1, 2, entries.size) * (noise % 2)
    entries = np.clip(entries, -128, 127).astype(np.int8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gelu_fit, "_STRIDE", 1)
        full = fit(entries)
    found = fit(entries)
    assert (found is None) == (full is None)
    assert found is None or full is None or found.rms <= 1.001 * full.rms


@pytest.mark.parametrize("kind", ["relu", "line", "constant", "coarse", "tanh"])
def test_other_tables_are_no_gelus(kind: str) -> None:
    q = np.arange(-128, 128)
    entries = {
        "relu": np.maximum(2 * q, 0) - 128,
        "line": q // 2,
        "constant": np.full(256, 5),
        "coarse": gelu_table(0.4, 0, 0.2, -127),
        "tanh": np.rint(100 * np.tanh(q / 40)),
    }[kind]
    found = fit(np.clip(entries, -128, 127).astype(np.int8))
    assert found is None or found.residual > 2


def test_the_interpolated_gelu() -> None:
    x = np.linspace(-9, 9, 1001)
    exact = np.array([0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in x])
    np.testing.assert_allclose(interpolated(x), exact, atol=2e-7)


@pytest.mark.parametrize("spread", [1.0, 2.0])
def test_table_and_next_layer_become_itas(spread: float) -> None:
    before = model(ENTRIES, spread)
    after = run(before, context())
    assert operators(after)["LutI8"] == 0 and operators(after)["Gelu"] == 1 and not after.notes
    (gelu,) = (node for node in after.graph.nodes if node.op == "Gelu")
    assert gelu.inputs[0].inputs[0].op == "RequantI8"
    difference = differences(before, after)
    assert np.sqrt(np.square(difference).mean()) < 1.25 and np.abs(difference).max() <= 6
    on_ita = [as_ita(layer) is not None for layer in linear_layers(Editor(linear_pass(after, context())))]
    assert on_ita == [True, True]


def test_the_polynomial_is_as_close_to_the_table_as_is_said() -> None:
    """The identity behind the table shows its result: at most DIFFERENCE_MAX, as every sum is tried by the pass."""
    editor, x = start((256, 64))
    first = np.zeros((64, 64), np.int64)
    first[0] = 1
    y = linear(editor, x, first, 2**31 + 7, -5 * 2**31 + 2**30, 2**31, name="first")
    y = table(editor, y, ENTRIES)
    y = linear(editor, y, np.eye(64, dtype=np.int64), 2**31, 2**30, 2**31, name="second")
    before = finish(editor, y)
    after = run(before, context())
    values = np.zeros((256, 64), np.int8)
    values[:, 0] = np.arange(-128, 128)
    difference = results(after, {"x": values}) - results(before, {"x": values})
    assert operators(after)["Gelu"] == 1
    assert 0 < np.abs(difference).max() <= DIFFERENCE_MAX and np.sqrt(np.square(difference).mean()) < 1.25


def test_the_least_input() -> None:
    """-128 has no opposite in int8; ITA's size of it is 128."""
    constants = GeluConstants(-80, -7091, RequantStep(74, 20))
    assert int(ita_gelu(np.array([-128], np.int8), constants)[0]) == 0
    shallow = GeluConstants(-172, -32768, RequantStep(171, 22, 96))
    distance = 128 - 172
    g = -128 * (-(distance**2 - 32768) - 32768)
    assert int(ita_gelu(np.array([-128], np.int8), shallow)[0]) == min(((g * 171 + (1 << 21)) >> 22) + 96, 127)


def test_a_weight_of_minus_128_costs_little() -> None:
    """128 does not fit: 127 takes its place where that is below half an LSB, with the usual input made up for."""
    last = weights(192, 64)
    last[3, 5] = last[100, 6] = -128
    editor, x = start((20, 64))
    before = finish(editor, block(editor, x, ENTRIES, 1.0, last))
    after = run(before, context())
    assert operators(after)["Gelu"] == 1
    assert np.abs(differences(before, after)).max() <= 6


def test_many_weights_of_minus_128_keep_the_table() -> None:
    after = run(model(ENTRIES, 1.0, np.full((192, 64), -128)), context())
    assert operators(after)["LutI8"] == 1 and "linear layers" in after.notes[0]


def test_a_table_that_others_read_stays() -> None:
    editor, x = start((20, 64))
    y = block(editor, x, ENTRIES)
    bent = y.inputs[0].inputs[0].inputs[0].inputs[0]
    assert isinstance(bent, gs.Variable)
    editor.graph.outputs = [y, bent]
    after = run(editor.finish(), context())
    assert operators(after)["LutI8"] == 1 and "linear layers" in after.notes[0]


def test_integer_networks_keep_their_table() -> None:
    """The layer has ITA's constants already: results must stay as they are."""
    editor, x = start((20, 64))
    y = linear(editor, x, weights(64, 64), 21, 4096, 8192, name="first")
    before = finish(editor, linear(editor, table(editor, y, ENTRIES), weights(64, 64), 21, 4096, 8192, name="second"))
    after = run(before, context())
    np.testing.assert_array_equal(differences(before, after), 0)
    assert operators(after)["LutI8"] == 1 and "no constants that give the same bits" in after.notes[0]


def test_a_gelu_of_results_that_are_bounded_stays() -> None:
    editor, x = start((20, 64))
    y = linear(editor, x, weights(64, 64), 5 << 20, 1 << 30, 1 << 31, (0, 127), name="first")
    y = linear(editor, table(editor, y, ENTRIES), weights(64, 64), 5 << 20, 1 << 30, 1 << 31, name="second")
    after = run(finish(editor, y), context())
    assert operators(after)["LutI8"] == 1 and "the layer before it saturates at 0 and 127" in after.notes[0]


def quantlib_table(b: int, one: int, multiplier: int, divisor: int) -> Ints:
    """The GELU of QuantLib's networks and its requantisation."""
    x = np.arange(-128, 128)
    distance = np.minimum(np.abs(x), -b) + b
    product = x * ((one + np.sign(x) * (one - distance * distance)) // 2)
    return np.clip((product * multiplier + divisor // 2) // divisor, -128, 127)


def test_integer_networks_get_the_same_bits() -> None:
    """Constants of ITA's that give the table exactly are found where there are any."""
    editor, x = start((20, 64))
    y = linear(editor, x, weights(64, 64), 21, 4096, 8192, name="first")
    y = table(editor, y, quantlib_table(-40, 1743, 110, 1 << 17))
    before = finish(editor, linear(editor, y, weights(64, 64), 21, 4096, 8192, name="second"))
    after = run(before, context())
    assert operators(after)["Gelu"] == 1
    np.testing.assert_array_equal(differences(before, after), 0)
    assert [as_ita(layer) is not None for layer in linear_layers(Editor(after))] == [True, True]


def test_padding_between_convolutions_is_inverted() -> None:
    """As speech encoders begin: convolution, GELU, padded convolution."""
    shape = (1, 16, 1, 24)
    editor, x = start(shape)
    kernel = weights(16 * 3, 64).T.reshape(64, 16, 1, 3)
    first = convolution(editor, x, kernel, pads=(0, 1, 0, 1), pad_value=3, name="first")
    bent = table(editor, first, ENTRIES)
    kernel = weights(64 * 3, 32).T.reshape(32, 64, 1, 3)
    y = convolution(editor, bent, kernel, strides=(1, 2), pads=(0, 1, 0, 1), pad_value=-119, name="second")
    before = convolution_pass(finish(editor, y), context())
    after = run(before, context())
    assert operators(after)["Gelu"] == 1
    difference = differences(before, after, shape)
    assert np.abs(difference).max() <= 6
    pads = [node for node in after.graph.nodes if node.op == "Pad"]
    assert sorted(int(node.inputs[2].values) for node in pads) == [3, 118]


def test_a_gelu_that_a_network_of_integers_has_behind_other_constants_stays() -> None:
    """ITA's constants of the layer would change values."""
    after = run(replace(model(ENTRIES), integer_source=True), context())
    assert operators(after)["LutI8"] == 1
    assert "values of an integer network must not change" in after.notes[0]
