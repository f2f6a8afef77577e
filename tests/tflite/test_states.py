"""Variables: the state of one inference is the input of the next, in the reference and in the C program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from match_core.contract.errors import ModelError
from match_core.load.load import model_from_proto
from match_core.plugin.facade import Plugins
from match_tflite.convert import tflite_to_onnx
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from tests.tflite_files import integer_kernels as kernels
from tests.tflite_files.builder import TfliteBuilder, saved
from tests.tflite_files.numpy_operators import Array

RANDOM = np.random.default_rng(21)
SAMPLES = 5


def verified(path: Path, content: bytes, target: str, **arrays: Array) -> VerifyResult:
    request = VerifyRequest(saved(path / "net.tflite", content), target, arrays=arrays, sanitize=True)
    result = verify_model(request, Plugins.load())
    assert result.ok
    return result


def test_states_are_inputs_and_outputs() -> None:
    model = model_from_proto(tflite_to_onnx(svdf_int8()[0], "net.tflite"), "net", "net.tflite")
    assert [tensor.name for tensor in model.graph.inputs] == ["x", "state"]
    assert [tensor.name for tensor in model.graph.outputs] == ["y", "state_next"]
    assert [(state.input, state.output, state.initial) for state in model.states] == [("state", "state_next", 0)]


FILTERS, RANK, FEATURES, STEPS = 6, 2, 7, 4


def svdf_int8() -> tuple[bytes, dict[str, Array]]:
    held = {
        "features": RANDOM.integers(-127, 128, (FILTERS, FEATURES)).astype(np.int8),
        "time": RANDOM.integers(-32767, 32768, (FILTERS, STEPS)).astype(np.int16),
        "bias": RANDOM.integers(-90000, 90000, FILTERS // RANK).astype(np.int32),
    }
    b = TfliteBuilder()
    x = b.tensor("x", (1, FEATURES), "int8", scale=0.05, zero=-3)
    constants = [
        b.constant(name, values, scale=scale)
        for (name, values), scale in zip(held.items(), (0.01, 1e-4, 1e-7), strict=True)
    ]
    state = b.tensor("state", (1, FILTERS * STEPS), "int16", scale=0.001, variable=True)
    y = b.tensor("y", (1, FILTERS // RANK), "int8", scale=0.2, zero=-10)
    b.operator("SVDF", [x, *constants, state], [y], ("SVDFOptions", {"Rank": RANK, "FusedActivationFunction": 1}))
    return b.content([x], [y]), held


@pytest.mark.parametrize("target", ["host", "gap9"])
def test_svdf_on_integers(target: str, tmp_path: Path) -> None:
    content, held = svdf_int8()
    x = RANDOM.integers(-128, 128, (SAMPLES, 1, FEATURES)).astype(np.int8)
    result = verified(tmp_path, content, target, x=x)
    state, scales = (
        np.zeros((FILTERS, STEPS), np.int16),
        {"x": 0.05, "features": 0.01, "time": 1e-4, "state": 0.001, "y": 0.2},
    )
    for sample in range(SAMPLES):
        y, state = kernels.svdf8(x[sample, 0], **held, state=state, scales=scales, zeros=(-3, -10))
        np.testing.assert_array_equal(result.run.outputs["y"][sample, 0], y)
        np.testing.assert_array_equal(result.run.outputs["state_next"][sample, 0], state.reshape(-1))
    assert result.bit_exact and len(np.unique(result.run.outputs["y"])) > 6


def test_svdf_on_reals(tmp_path: Path) -> None:
    """Features are quantised weights, as hybrid models have them."""
    b = TfliteBuilder()
    features, time = RANDOM.normal(size=(FILTERS, FEATURES)), RANDOM.normal(size=(FILTERS, STEPS)).astype(np.float32)
    small, bias = np.rint(features * 40).astype(np.int8), np.array([0.5, -1, 2], np.float32)
    x, y = b.tensor("x", (2, FEATURES)), b.tensor("y", (2, FILTERS // RANK))
    state = b.tensor("memory", (2, FILTERS * STEPS), variable=True)
    operands = [
        x,
        b.constant("features", small, scale=1 / 40),
        b.constant("time", time),
        b.constant("bias", bias),
        state,
    ]
    b.operator("SVDF", operands, [y], ("SVDFOptions", {"Rank": RANK, "FusedActivationFunction": 1}))
    inputs = RANDOM.normal(size=(SAMPLES, 2, FEATURES)).astype(np.float32)
    result = verified(tmp_path, b.content([x], [y]), "host", x=inputs)
    memory = np.zeros((2, FILTERS, STEPS))
    for sample in range(SAMPLES):
        memory = np.concatenate([memory[:, :, 1:], (inputs[sample] @ (small.T / 40))[:, :, np.newaxis]], axis=2)
        sums = (memory * time).sum(2).reshape(2, FILTERS // RANK, RANK).sum(2) + bias
        np.testing.assert_allclose(result.run.outputs["y"][sample], np.maximum(sums, 0), rtol=1e-4, atol=1e-4)


TIME, INPUTS, UNITS = 3, 5, 4


def lstm(dtype: str, time_first: bool, clip: float = 0.0) -> tuple[bytes, dict[str, Any]]:
    b = TfliteBuilder()
    integers = dtype == "int8"
    held: dict[str, Any] = {"x": 0.05, "h": 0.008, "c": 2.0**-11, "x_zero": 3, "h_zero": -5, "clip": clip}
    held |= {"weights": [0.01, 0.012, 0.009, 0.011], "recurrent": [0.013, 0.01, 0.012, 0.014]}

    def weights(name: str, columns: int, scales: list[float]) -> tuple[list[int], list[Array]]:
        arrays = [RANDOM.integers(-127, 128, (UNITS, columns)).astype(np.int8) for _ in range(4)]
        if not integers:
            arrays = [array.astype(np.float32) / 100 for array in arrays]
        kept = [{"scale": scale} if integers else {} for scale in scales]
        return [b.constant(f"{name}{i}", array, **kept[i]) for i, array in enumerate(arrays)], arrays

    def quantised(scale: float, zero: int) -> dict[str, Any]:
        return {"dtype": "int8", "scale": scale, "zero": zero} if integers else {}

    shape = (TIME, 1) if time_first else (1, TIME)
    x = b.tensor("x", (*shape, INPUTS), **quantised(0.05, 3))
    outer, w = weights("w", INPUTS, held["weights"])
    inner, r = weights("r", UNITS, held["recurrent"])
    biases = [RANDOM.integers(-3000, 3000, UNITS).astype(np.int32) for _ in range(4)]
    biases = biases if integers else [bias.astype(np.float32) / 3000 for bias in biases]
    bias = [b.constant(f"b{i}", array) for i, array in enumerate(biases)]
    h = b.tensor("hidden", (1, UNITS), variable=True, **quantised(0.008, -5))
    c = b.tensor("cell", (1, UNITS), variable=True, **({"dtype": "int16", "scale": 2.0**-11} if integers else {}))
    y = b.tensor("y", (*shape, UNITS), **quantised(0.008, -5))
    inputs = [x, *outer, *inner, -1, -1, -1, *bias, -1, -1, h, c, -1, -1, -1, -1]
    options = {"FusedActivationFunction": 4, "TimeMajor": time_first, "CellClip": clip}
    b.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [y], ("UnidirectionalSequenceLSTMOptions", options))
    return b.content([x], [y]), {"arrays": (w, r, biases), "held": held}


@pytest.mark.parametrize(
    ("target", "time_first", "clip"), [("host", True, 0.0), ("gap9", False, 0.0), ("host", False, 1.0)]
)
def test_lstm_on_integers(target: str, time_first: bool, clip: float, tmp_path: Path) -> None:
    content, known = lstm("int8", time_first, clip)
    shape = (TIME, 1) if time_first else (1, TIME)
    x = RANDOM.integers(-128, 128, (SAMPLES, *shape, INPUTS)).astype(np.int8)
    result = verified(tmp_path, content, target, x=x)
    h, c = np.full(UNITS, -5, np.int8), np.zeros(UNITS, np.int16)
    for sample in range(SAMPLES):
        for step in range(TIME):
            h, c = kernels.lstm8(x[sample].reshape(TIME, INPUTS)[step], *known["arrays"], h, c, known["held"])
            np.testing.assert_array_equal(result.run.outputs["y"][sample].reshape(TIME, UNITS)[step], h)
        np.testing.assert_array_equal(result.run.outputs["cell_next"][sample, 0], c)
    assert result.bit_exact and len(np.unique(result.run.outputs["y"])) > 15


@pytest.mark.parametrize("time_first", [True, False])
def test_lstm_on_reals(time_first: bool, tmp_path: Path) -> None:
    content, known = lstm("float32", time_first)
    shape = (TIME, 1) if time_first else (1, TIME)
    x = RANDOM.normal(size=(SAMPLES, *shape, INPUTS)).astype(np.float32)
    result = verified(tmp_path, content, "host", x=x)
    (w, r, biases), h, c = known["arrays"], np.zeros(UNITS), np.zeros(UNITS)
    for sample in range(SAMPLES):
        for step in range(TIME):
            i, f, g, o = (w[k] @ x[sample].reshape(TIME, INPUTS)[step] + r[k] @ h + biases[k] for k in range(4))
            c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
            h = np.tanh(c) / (1 + np.exp(-o))
            np.testing.assert_allclose(
                result.run.outputs["y"][sample].reshape(TIME, UNITS)[step], h, rtol=1e-4, atol=1e-5
            )


def test_rnn(tmp_path: Path) -> None:
    b = TfliteBuilder()
    w, r, bias = (
        RANDOM.normal(size=shape).astype(np.float32) / 3 for shape in ((UNITS, INPUTS), (UNITS, UNITS), (UNITS,))
    )
    x, y = b.tensor("x", (1, TIME, INPUTS)), b.tensor("y", (1, TIME, UNITS))
    state = b.tensor("state", (1, UNITS), variable=True)
    operands = [x, b.constant("w", w), b.constant("r", r), b.constant("b", bias), state]
    options = {"FusedActivationFunction": 4, "TimeMajor": False}
    b.operator("UNIDIRECTIONAL_SEQUENCE_RNN", operands, [y], ("SequenceRNNOptions", options))
    inputs = RANDOM.normal(size=(SAMPLES, 1, TIME, INPUTS)).astype(np.float32)
    result = verified(tmp_path, b.content([x], [y]), "host", x=inputs)
    h = np.zeros(UNITS)
    for sample in range(SAMPLES):
        for step in range(TIME):
            h = np.tanh(w @ inputs[sample, 0, step] + r @ h + bias)
            np.testing.assert_allclose(result.run.outputs["y"][sample, 0, step], h, rtol=1e-4, atol=1e-5)


def streaming(dtype: str = "int8", initial: Array | None = None, assigned: bool = True) -> bytes:
    """A first-in, first-out buffer of frames in a variable, as streaming keyword spotters have it."""
    b = TfliteBuilder()
    quantised: dict[str, Any] = {"dtype": dtype, "scale": 0.1, "zero": 2} if dtype == "int8" else {}
    x, y = b.tensor("frame", (1, 1, 4), **quantised), b.tensor("y", (1, 4), **quantised)
    handle = b.tensor("handle", (), "resource")
    old, kept, joined = (
        b.tensor("old", (1, 3, 4), **quantised),
        b.tensor("kept", (1, 2, 4), **quantised),
        b.tensor("joined", (1, 3, 4), **quantised),
    )
    name = {"SharedName": "frames", "Container": ""}
    if initial is not None:
        inner = TfliteBuilder(b)
        target = inner.tensor("handle", (), "resource")
        inner.operator("VAR_HANDLE", [], [target], ("VarHandleOptions", name))
        inner.operator("ASSIGN_VARIABLE", [target, inner.constant("first", initial)], [])
        b.operator("CALL_ONCE", [], [], ("CallOnceOptions", {"InitSubgraphIndex": 1}))
    b.operator("VAR_HANDLE", [], [handle], ("VarHandleOptions", name))
    b.operator("READ_VARIABLE", [handle], [old])
    begin, size = (b.constant(n, np.array(v, np.int32)) for n, v in (("begin", [0, 1, 0]), ("size", [1, 2, 4])))
    b.operator("SLICE", [old, begin, size], [kept])
    b.operator("CONCATENATION", [kept, x], [joined], ("ConcatenationOptions", {"Axis": 1}))
    if assigned:
        b.operator("ASSIGN_VARIABLE", [handle, joined], [])
    axes = b.constant("axes", np.array([1], np.int32))
    b.operator("REDUCE_MAX", [joined, axes], [y], ("ReducerOptions", {"KeepDims": False}))
    return b.content([x], [y])


@pytest.mark.parametrize("target", ["host", "gap9"])
@pytest.mark.parametrize("initial", [None, -7])
def test_a_variable_of_a_handle(initial: int | None, target: str, tmp_path: Path) -> None:
    first = None if initial is None else np.full((1, 3, 4), initial, np.int8)
    x = RANDOM.integers(-128, 128, (SAMPLES, 1, 1, 4)).astype(np.int8)
    result = verified(tmp_path, streaming(initial=first), target, frame=x)
    frames = np.zeros((3, 4), np.int8) if first is None else first[0]
    for sample in range(SAMPLES):
        frames = np.concatenate([frames[1:], x[sample, 0]])
        np.testing.assert_array_equal(result.run.outputs["y"][sample, 0], frames.max(0))
    (state,) = result.compilation.model.states
    assert (state.input, state.output, state.initial) == ("frames", "frames_next", initial or 0)


def test_a_variable_that_never_changes_is_a_constant(tmp_path: Path) -> None:
    first = RANDOM.normal(size=(1, 3, 4)).astype(np.float32)
    x = RANDOM.normal(size=(SAMPLES, 1, 1, 4)).astype(np.float32)
    result = verified(tmp_path, streaming("float32", first, assigned=False), "host", frame=x)
    assert not result.compilation.model.states
    for sample in range(SAMPLES):
        expected = np.concatenate([first[0, 1:], x[sample, 0]]).max(0)
        np.testing.assert_array_equal(result.run.outputs["y"][sample, 0], expected)


@pytest.mark.parametrize(
    ("content", "code", "told"),
    [
        (lambda: streaming("float32", RANDOM.normal(size=(1, 3, 4)).astype(np.float32)), "MATCH-F022", "differ"),
        (lambda: streaming("float32", np.zeros((1, 2, 4), np.float32)), "MATCH-F021", "another"),
        (lambda: streaming("float32", np.zeros((1, 3, 4), np.int32)), "MATCH-F021", "another"),
    ],
)
def test_first_values_that_do_not_fit(content: Any, code: str, told: str) -> None:
    with pytest.raises(ModelError) as caught:
        tflite_to_onnx(content(), "net.tflite")
    assert caught.value.code == code and told in str(caught.value)
