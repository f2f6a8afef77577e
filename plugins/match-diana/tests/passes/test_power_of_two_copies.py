"""Dense layers that read their input several times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from diana_forms import layers
from diana_pass_models import (
    POWER_OF_TWO,
    Network,
    Scale,
    context,
    integer_graph,
    operators,
    quantised_graph,
    random_int8,
    results,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st
from match_core import Model
from match_core.ir.reader import Quant, producer
from match_quant.expectation import unknown
from match_quant.powers.copies import finer_weights
from match_quant.powers.weights import rounded_weights

from tests.examples import examples

RELU = Quant(1.0, -128, np.dtype(np.int8), -128, 127)
#: More copies than any layer needs.
MANY = 1 << 30


def classifier(op: str = "Gemm", side: int = 12, quantised_flat: bool = True) -> Model:
    """A convolution, the mean of its channels, and a dense layer of 16 by 10 whose results are 3 LSB for an LSB of an
    input times the largest weight. ``quantised_flat``: whether integers stand behind the Flatten."""
    net = Network(3)
    relu = Scale(0.03, -128)
    net.input("x", (1, 3, side, side), Scale(0.02, -128))
    net.layer("Conv", "x", "a", net.weights(16, 3, 3, 3), 0.004, relu, clamp="Relu", pads=[1] * 4)
    net.apply("AveragePool", "a", "m", relu, kernel_shape=[side, side])
    if quantised_flat:
        flat = net.real(net.apply("Flatten", "m", "f", relu))
    else:
        net._node("Flatten", [net.real("m")], "f_value")
        flat = "f_value"
    weight, scale = net.weights(10, 16), np.array(0.016, np.float32)
    stored = net._constant("w", (weight if op == "Gemm" else weight.T).astype(np.int8), scale)
    if op == "Gemm":
        net._node("Gemm", [flat, stored], "sum", transB=1)
    else:
        net.constants["bias"] = np.linspace(-1, 1, 10).astype(np.float32)
        net._node("MatMul", [flat, stored], "product")
        net._node("Add", ["product", "bias"], "sum")
    return net.model(net.quantised("sum", "y", Scale(0.02, 5)))


def copies(model: Model) -> int:
    """How often the dense layer of an integer graph reads its input."""
    (product,) = [node for node in model.graph.nodes if node.op == "MatMulInteger"]
    maker = producer(product.inputs[0])
    if maker is None or maker.op != "Concat":
        return 1
    assert len({id(tensor) for tensor in maker.inputs}) == 1
    return len(maker.inputs)


@settings(max_examples=examples(30), deadline=None)
@given(
    seed=st.integers(0, 2**16),
    shape=st.tuples(st.integers(1, 20), st.integers(1, 70)),
    largest=st.floats(0.3, 60),
    room=st.integers(0, 8),
)
@example(seed=80, shape=(13, 31), largest=7.98828125, room=3)  # four copies are coarser than two
def test_sums_of_copies_are_as_fine_as_their_number_tells(
    seed: int, shape: tuple[int, int], largest: float, room: int
) -> None:
    ideal = np.random.default_rng(seed).normal(size=(*shape, 1))
    ideal *= largest / np.abs(ideal).max()
    plain = rounded_weights(ideal, unknown(RELU), -128)
    assert plain is not None
    found = finer_weights(plain, ideal, unknown(RELU), -128, room * ideal.size)
    number = found.values.shape[2]
    assert number & (number - 1) == 0 and number - 1 <= room
    assert found.values.shape[:2] == shape and np.abs(found.values).max() <= 127
    if number == 1:
        assert found is plain
        return
    # One bit more for each doubling, and as ever less than a step off, but for what saturates.
    wanted = np.ldexp(ideal[:, :, 0], found.shift)
    inside = np.abs(wanted) < 127.5 * number
    assert found.shift >= plain.shift + number.bit_length() - 1 - 2
    assert np.abs(found.values.sum(axis=2) - wanted)[inside].max() < 1.5
    assert found.expected_rms < plain.expected_rms
    twice = np.repeat(ideal / (2 * number), 2 * number, axis=2)
    more = rounded_weights(twice, replace(unknown(RELU), neighbours=1.0), -128)
    coarser = more is None or more.expected_rms >= found.expected_rms
    assert found.expected_rms <= 0.5 or 2 * number - 1 > room or coarser


def test_the_largest_error_is_that_of_equal_copies() -> None:
    ideal = np.random.default_rng(2).normal(size=(10, 64, 1))
    plain = rounded_weights(ideal, unknown(RELU), -128)
    assert plain is not None and plain.expected_rms > 0.5
    found = finer_weights(plain, ideal, unknown(RELU), -128, MANY)
    error = np.ldexp(found.values.sum(axis=2), -found.shift) - ideal[:, :, 0]
    worst = [np.where(side * error > 0, 255, 0) for side in (1, -1)]
    assert found.largest == pytest.approx(max(np.abs((error * x).sum(axis=1)).max() for x in worst))
    assert found.largest < plain.largest


def test_what_copies_cannot_make_finer_has_none() -> None:
    """Weights of one size stay of one size."""
    ideal = np.random.default_rng(4).integers(-1, 2, (10, 64, 1)) * 2.71
    plain = rounded_weights(ideal, unknown(RELU), -128)
    assert plain is not None and plain.expected_rms > 0.5
    assert finer_weights(plain, ideal, unknown(RELU), -128, MANY) is plain


@pytest.mark.parametrize("op", ["Gemm", "MatMul"])
@pytest.mark.parametrize("quantised_flat", [True, False])
def test_a_coarse_dense_layer_reads_copies(op: str, quantised_flat: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model = classifier(op, quantised_flat=quantised_flat)
    after = integer_graph(model)
    assert copies(after) > 1 and operators(after).count("Concat") == 1
    assert [layer.lacks for layer in layers(after) if layer.kind == "MatMulInteger"] == [""]
    assert any(f"with {copies(after)} copies of its input" in note for note in after.notes)
    monkeypatch.setattr("match_quant.powers.copies._SHARE", 0.0)
    without = integer_graph(model)
    assert copies(without) == 1
    assert _error(model, after) < 0.6 * _error(model, without)


def test_copies_are_few_beside_the_network() -> None:
    """The same layer behind a convolution of a 36th of the products."""
    small = integer_graph(classifier(side=2))
    assert copies(small) == 1 and not any("copies" in note for note in small.notes)


def test_same_input_same_graph() -> None:
    first, second = (POWER_OF_TWO.run(quantised_graph(classifier()), context()) for _ in range(2))
    assert first.to_onnx().SerializeToString() == second.to_onnx().SerializeToString()


def _error(model: Model, after: Model) -> float:
    """The root mean square of the difference of both results, in LSB."""
    given = [random_int8(seed, 1, 3, 12, 12) for seed in range(8)]
    return float(np.sqrt(np.mean([np.square(results(model, x=x) - results(after, x=x)) for x in given])))
