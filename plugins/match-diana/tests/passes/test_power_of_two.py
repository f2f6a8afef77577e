"""The passes on small quantised networks with any scales."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from diana_forms import layers
from diana_pass_models import (
    POWER_OF_TWO,
    SHIFT,
    Network,
    Scale,
    context,
    integer_graph,
    operators,
    quantised_graph,
    random_int8,
    results,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from match_core import Model
from match_core.ir.reader import constant, producer
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray
from power_of_two_models import ASYMMETRIC, RELU, chain, dense, parameters, readers, relative, residual


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 999),
    x=st.tuples(st.floats(1e-4, 10), st.integers(-128, 127)),
    gain=st.floats(0.02, 3.0),
    zero=st.integers(-128, 127),
)
def test_any_scales_become_powers_of_two_within_a_bound(
    seed: int, x: tuple[float, int], gain: float, zero: int
) -> None:
    """Every weight is off by less than one step of 2^-n, the bias by half of one, and results are rounded once."""
    y = Scale(x[0] * gain, zero)
    model = dense(seed, Scale(*x), y)
    after = integer_graph(model)
    (layer,) = layers(after)
    assert layer.lacks == ""
    given_x = random_int8(seed, 1, 40)
    stored = {name: np.asarray(values, np.float64) for name, values in _constants(model).items()}
    weight = stored["y_w"] * stored["y_w_scale"][:, None]
    real = weight @ ((given_x[0].astype(np.float64) - x[1]) * float(np.float32(x[0])))
    real += stored["y_b"] * stored["y_b_scale"]
    exact = np.clip(real / float(np.float32(y.scale)) + zero, -128, 127)
    step = 2.0**-layer.shift
    bound = 0.5 + step * (0.5 + np.abs(given_x.astype(np.int64) - x[1]).sum())
    assert np.abs(results(after, x=given_x)[0] - exact).max() <= bound


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 99),
    scales=st.tuples(*[st.floats(0.01, 0.3)] * 3),
    zeros=st.tuples(*[st.integers(-128, 127)] * 3),
    unsigned=st.booleans(),
    clamp=st.sampled_from([None, "Relu"]),
)
def test_any_scales_in_a_chain_with_a_sum(
    seed: int, scales: tuple[float, ...], zeros: tuple[int, ...], unsigned: bool, clamp: str | None
) -> None:
    """Every layer gets the array's form, or a note says why it runs on the host."""
    net = Network(seed)
    net.input("x", (1, 4, 7, 7), Scale(scales[0], zeros[0]))
    middle = Scale(scales[1], zeros[1] + 128 if unsigned else zeros[1], np.uint8 if unsigned else np.int8)
    net.layer("Conv", "x", "a", net.weights(4, 4, 3, 3), 0.003, middle, clamp=clamp, pads=[1] * 4)
    net.layer("Conv", "a", "b", net.weights(4, 1, 3, 3), 0.003, middle, clamp=clamp, group=4, pads=[1] * 4)
    net.sum("a", "b", "s", middle, clamp=clamp)
    net.layer("Conv", "s", "y", net.weights(4, 4, 1, 1), 0.003, Scale(scales[2], zeros[2]))
    model = net.model("y")
    after = integer_graph(model)
    assert sum(bool(layer.lacks) for layer in layers(after)) == sum("runs on the host" in note for note in after.notes)
    x = random_int8(seed, 1, 4, 7, 7)
    assert results(after, x=x).shape == results(model, x=x).shape


def _constants(model: Model) -> dict[str, NDArray[np.generic]]:
    return {t.name: np.asarray(t.values) for t in model.graph.tensors().values() if constant(t) is not None}


@pytest.mark.parametrize("model", [dense(), chain(), chain(None), chain("Relu", np.uint8, 0), residual()])
def test_every_layer_gets_the_form_of_the_array(model: Model) -> None:
    after = integer_graph(model)
    assert {layer.lacks for layer in layers(after)} == {""}
    assert relative(model, after) < 0.1
    assert len([note for note in after.notes if re.search(r"2\^-\d+.*LSB", note)]) == len(
        [layer for layer in layers(after) if layer.kind != "Add"]
    )


def test_without_the_pass_no_layer_has_that_form() -> None:
    assert all(layer.lacks for layer in layers(integer_graph(residual(), passes=(SHIFT,))))


def test_what_padding_is_read_beside_gets_zero_point_0_and_a_relu() -> None:
    after = POWER_OF_TWO.run(quantised_graph(chain()), context())
    quants = {node.inputs[0].name: parameters(node) for node in readers(after)}
    assert quants["a"][1] == 0 and 0.8 <= quants["a"][0] / (0.03 * 255 / 127) <= 1.0
    # Read without padding: all 8 bits.
    assert quants["b"][1] == -128
    # The graph's own ends keep theirs.
    assert quants["x"] == (pytest.approx(0.02), -128)
    assert operators(after).count("Relu") == 2


def test_a_range_that_begins_at_the_zero_point_becomes_a_relu() -> None:
    after = POWER_OF_TWO.run(quantised_graph(chain(None)), context())
    assert operators(chain(None)).count("Relu") == 0 and operators(after).count("Relu") == 1
    assert [layer.lacks for layer in layers(integer_graph(chain(None)))] == ["", "", ""]


def power_of_two_network() -> Model:
    net = Network(6)
    net.input("x", (1, 8, 8, 8), Scale(0.25))
    net.layer("Conv", "x", "a", net.weights(8, 8, 3, 3), 2.0**-9, Scale(0.25), clamp="Relu", pads=[1, 1, 1, 1])
    net.layer("Conv", "a", "b", net.weights(8, 1, 3, 3), 2.0**-7, Scale(0.25), group=8, pads=[1, 1, 1, 1])
    net.sum("a", "b", "s", Scale(0.25))
    net.layer("Conv", "s", "y", net.weights(4, 8, 1, 1), 2.0**-8, Scale(0.5), clamp="Relu")
    return net.model("y")


def test_powers_of_two_pass_unchanged() -> None:
    model = quantised_graph(power_of_two_network())
    assert POWER_OF_TWO.run(model, context()) is model
    before, after = integer_graph(power_of_two_network(), ()), integer_graph(power_of_two_network())
    assert {layer.lacks for layer in layers(after)} == {""}
    assert [layer.shift for layer in layers(after)] == [9, 7, 0, 9]
    shape = (1, 8, 8, 8)
    # The core's own choice differs only in exact ties, which it rounds either way; the array always rounds them up.
    assert np.abs(results(after, x=random_int8(1, *shape)) - results(before, x=random_int8(1, *shape))).max() <= 1


def test_powers_of_two_are_rounded_as_the_array_does() -> None:
    """One layer against integers: floor((acc + bias) / 2^n) with half a step in the bias."""
    net = Network(8)
    net.input("x", (1, 32), Scale(0.5, 3))
    weight, bias = net.weights(16, 32), net.random.integers(-4000, 4000, 16)
    after = integer_graph(net.model(net.layer("Gemm", "x", "y", weight, 2.0**-7, Scale(2.0, -5), bias=bias)))
    x = random_int8(2, 1, 32).astype(np.int64)
    acc = (x - 3) @ weight.T + bias
    expected = np.clip((acc + (1 << 8)) // (1 << 9) - 5, -128, 127)
    np.testing.assert_array_equal(results(after, x=x.astype(np.int8)), expected)


def test_integer_networks_keep_every_value() -> None:
    model = replace(quantised_graph(dense()), integer_source=True)
    assert POWER_OF_TWO.run(model, context()) is model


@pytest.mark.parametrize("kernel", [(10, 4), (9, 9)])  # with stride 1
def test_windows_beyond_the_array_stay_as_they_are_beside_changed_neighbours(kernel: tuple[int, int]) -> None:
    net = Network(9)
    net.input("x", (1, 2, 20, 20), Scale(0.02, -128))
    net.layer("Conv", "x", "a", net.weights(8, 2, *kernel), net.random.uniform(0.001, 0.004, 8), RELU, clamp="Relu")
    net.layer("Conv", "a", "y", net.weights(8, 1, 3, 3), 0.01, Scale(0.05, 3), group=8, pads=[1, 1, 1, 1])
    model = net.model("y")
    after = integer_graph(model)
    assert [bool(layer.lacks) for layer in layers(after)] == [True, False]
    assert relative(model, after) < 0.1
    assert results(after, x=random_int8(1, 1, 2, 20, 20)).shape == results(model, x=random_int8(1, 1, 2, 20, 20)).shape


def test_pooling_softmax_and_moves_follow_their_neighbours() -> None:
    net = Network(10)
    net.input("x", (1, 3, 9, 9), Scale(0.02, -128))
    net.layer("Conv", "x", "a", net.weights(8, 3, 3, 3), 0.004, RELU, clamp="Relu")
    net.apply("MaxPool", "a", "m", RELU, kernel_shape=[2, 2], strides=[1, 1])
    net.layer("Conv", "m", "b", net.weights(8, 8, 3, 3), 0.003, RELU, clamp="Relu", pads=[1, 1, 1, 1])
    net.apply("AveragePool", "b", "p", RELU, kernel_shape=[6, 6])
    net.apply("Flatten", "p", "f", RELU)
    net.layer("Gemm", "f", "g", net.weights(5, 8), 0.02, Scale(0.1, 24))
    model = net.model(net.apply("Softmax", "g", "y", Scale(1 / 256, -128)))
    after = integer_graph(model)
    shared = operators(after)
    assert shared.count("MaxPool") == 1 and "LutI8" not in shared and "SoftmaxI8" in shared
    lacks = [layer.lacks for layer in layers(after)]
    assert [bool(lack) for lack in lacks] == [False, False, True, False]  # the pooling is a convolution of 6x6
    assert relative(model, after) < 0.2


def test_a_tensor_of_nothing_but_zeros() -> None:
    """A ReLU whose zero point is the type's largest value."""
    net = Network(0)
    net.input("x", (1, 4, 7, 7), Scale(0.25))
    zeros = Scale(0.25, 127)
    net.layer("Conv", "x", "a", net.weights(4, 4, 3, 3), 0.003, zeros, clamp="Relu", pads=[1] * 4)
    net.layer("Conv", "a", "y", net.weights(4, 4, 3, 3), 0.003, Scale(0.25), pads=[1] * 4)
    model = net.model("y")
    x = random_int8(0, 1, 4, 7, 7)
    assert np.abs(results(model, x=x) - results(integer_graph(model), x=x)).max() <= 1


@pytest.mark.parametrize("clamp", [(0.0, 6.0), None])
def test_what_the_network_cuts_off_at_the_upper_end_ends_at_127(clamp: tuple[float, float] | None) -> None:
    """A Clip, or the range of a ReLU6 whose Clip was left out."""
    net = Network(11)
    net.input("x", (1, 4, 6, 6), Scale(0.05))
    net.layer("Conv", "x", "a", net.weights(4, 4, 1, 1), 0.02, Scale(0.06 if clamp else 6 / 255, -128), clamp=clamp)
    net.layer("Conv", "a", "y", net.weights(4, 4, 3, 3), 0.01, Scale(0.1), pads=[1, 1, 1, 1])
    model = net.model("y")
    after = integer_graph(model)
    assert {layer.lacks for layer in layers(after)} == {""}
    quants = {
        node.inputs[0].name: parameters(node) for node in readers(POWER_OF_TWO.run(quantised_graph(model), context()))
    }
    assert quants["a"] == (pytest.approx(6 / 127), 0)


def test_a_tensor_that_somebody_reads_as_integers_stays() -> None:
    """A graph output in the middle keeps its scale, and so the padded layer behind it its zero point."""
    net = Network(12)
    net.input("x", (1, 4, 6, 6), Scale(0.05))
    net.layer("Conv", "x", "a", net.weights(4, 4, 1, 1), 0.02, RELU, clamp="Relu")
    net.layer("Conv", "a", "y", net.weights(4, 4, 3, 3), 0.01, Scale(0.1), pads=[1, 1, 1, 1])
    model = net.model("a", "y")
    after = integer_graph(model)
    x = random_int8(3, 1, 4, 6, 6)
    first, changed = (ReferenceRunner(each).run({"x": x})["a"].astype(np.int64) for each in (model, after))
    assert np.abs(first - changed).mean() <= 1
    assert [layer.lacks for layer in layers(after)] == ["", ""]  # the host pads


def test_factors_too_large_are_noted_and_left_to_the_host() -> None:
    model = dense(3, Scale(10.0), Scale(1e-4))
    after = integer_graph(model)
    assert any("too large" in note for note in after.notes)
    assert layers(after)[0].lacks


def test_matrix_products_with_a_bias_behind_them() -> None:
    net = Network(13)
    net.input("x", (1, 20), ASYMMETRIC)
    net.constants["w"], net.constants["w_scale"] = net.weights(20, 7).astype(np.int8), np.array(0.01, np.float32)
    net.constants["bias"] = net.random.normal(0, 1, 7).astype(np.float32)
    net._node("DequantizeLinear", ["w", "w_scale"], "w_real")
    net._node("MatMul", [net.real("x"), "w_real"], "product")
    net._node("Add", ["bias", "product"], "sum")
    model = net.model(net.quantised("sum", "y", Scale(0.1, 4)))
    after = integer_graph(model)
    assert [layer.lacks for layer in layers(after)] == [""]
    assert relative(model, after) < 0.05


def test_ternary_layers_get_inputs_with_zero_point_0() -> None:
    net = Network(14)
    net.input("x", (1, 8, 6, 6), Scale(0.05))
    net.layer("Conv", "x", "a", net.weights(8, 8, 1, 1), 0.02, RELU, clamp="Relu")
    ternary = net.random.integers(-1, 2, (8, 8, 1, 1)) * 5
    net.layer("Conv", "a", "y", ternary, 0.05, Scale(0.3))
    after = POWER_OF_TWO.run(quantised_graph(net.model("y")), context())
    assert {node.inputs[0].name: parameters(node)[1] for node in readers(after)}["a"] == 0
    integers = integer_graph(net.model("y"))
    last = producer(integers.graph.outputs[0].inputs[0].inputs[0])
    assert last is not None and len(np.unique(np.abs(np.asarray(constant(last.inputs[1]))))) == 2


def test_same_input_same_graph() -> None:
    first, second = (POWER_OF_TWO.run(quantised_graph(residual()), context()) for _ in range(2))
    assert first.to_onnx().SerializeToString() == second.to_onnx().SerializeToString()
    assert first.notes == second.notes and POWER_OF_TWO.optional and POWER_OF_TWO.exact is None
