"""Functions of one 8-bit tensor, also with quantisers between their steps, become one table that holds what ONNX
Runtime computes for each of the 256 values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.contract.model import Model
from match_core.contract.passes import PassContext
from match_core.load.load import load_model
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray
from quantised import lower, parameters

from tests.examples import examples

Constants = Mapping[str, NDArray[np.generic]]
ModelOf = Callable[[str, Constants], Model]
EVERY = np.arange(-128, 128).astype(np.int8).reshape(1, 256)
SHARED_MODELS = Path(__file__).resolve().parents[4] / "shared" / "models"


def tables(model: Model) -> list[str]:
    """The operators of a lowered model, without offsets at its ends."""
    return [node.op for node in model.graph.nodes if not node.op.startswith("Offset")]


def same_for_every_value(model: Model, lowered: Model) -> None:
    before, after = ReferenceRunner(model), ReferenceRunner(lowered)
    expected, got = before.run({"x": EVERY}), after.run({"x": EVERY})
    for name, values in expected.items():
        np.testing.assert_array_equal(got[name], values, err_msg=name)


def chain(*steps: tuple[str, float, int]) -> tuple[str, dict[str, NDArray[np.generic]]]:
    """ONNX text of steps with a quantiser behind each, and their parameters. A step is an operator on ``t0`` (the input
    in floats), ``t1``, ...; scale and zero point of its result follow. The last result is the output."""
    lines, constants = ["t0 = DequantizeLinear (x, xs, xz)"], parameters("x", 0.05, -7, np.int8)
    for index, (step, scale, zero) in enumerate(steps, start=1):
        constants |= parameters(f"q{index}", scale, zero, np.int8)
        q = "y" if index == len(steps) else f"q{index}"
        lines.append(f"f{index} = {step} {q} = QuantizeLinear (f{index}, q{index}s, q{index}z)")
        if q != "y":
            lines.append(f"t{index} = DequantizeLinear ({q}, q{index}s, q{index}z)")
    return f"g (int8[1,256] x) => (int8[1,256] y) {{ {' '.join(lines)} }}", constants


NUMBERS = {
    "half": np.array(0.5, np.float32),
    "one": np.array(1.0, np.float32),
    "three": np.array(3.0, np.float32),
    "root": np.array(np.sqrt(2.0), np.float32),
    "cube": np.array(0.044715, np.float32),
    "slope": np.array(0.7978845608, np.float32),
}
FUNCTIONS = {
    "gelu": (
        ("Div (t0, root)", 0.036, -7),
        ("Erf (t1)", 1 / 127, 0),
        ("Add (t2, one)", 2 / 255, -128),
        ("Mul (t0, t3)", 0.052, -120),
        ("Mul (t4, half)", 0.026, -120),
    ),
    "tanh gelu": (
        ("Pow (t0, three)", 2.5, 0),
        ("Mul (t1, cube)", 0.11, 0),
        ("Add (t0, t2)", 0.17, 0),
        ("Mul (t3, slope)", 0.14, 0),
        ("Tanh (t4)", 1 / 128, 0),
        ("Add (t5, one)", 2 / 255, -128),
        ("Mul (t0, t6)", 0.052, -120),
        ("Mul (t7, half)", 0.026, -120),
    ),
    "silu": (("Sigmoid (t0)", 1 / 256, -128), ("Mul (t0, t1)", 0.026, -117)),
    "reciprocal of an exponential": (("Exp (t0)", 2.0, -128), ("Div (one, t1)", 0.01, -128)),
    "square root": (("Relu (t0)", 0.03, -128), ("Sqrt (t1)", 0.011, -128), ("HardSwish (t2)", 0.01, -90)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("units", ["accelerated", "host_only"])
def test_quantisers_between_the_steps(name: str, units: str, model_of: ModelOf, request: pytest.FixtureRequest) -> None:
    text, constants = chain(*FUNCTIONS[name])
    model = model_of(text, {**constants, **NUMBERS})
    lowered = lower(model, request.getfixturevalue(units))
    assert tables(lowered) == ["LutU8" if units == "accelerated" else "LutI8"]
    same_for_every_value(model, lowered)


def test_a_quantised_constant(model_of: ModelOf, accelerated: PassContext) -> None:
    text = """g (int8[1,256] x) => (int8[1,256] y) {
        t = DequantizeLinear (x, xs, xz)  c = DequantizeLinear (k, ks, kz)  f = Mul (c, t)
        q = QuantizeLinear (f, qs, qz)  u = DequantizeLinear (q, qs, qz)  r = Add (u, c)
        y = QuantizeLinear (r, ys, yz) }"""
    constants = {
        "k": np.array(97, np.int8),
        **parameters("k", 0.0071, 3, np.int8),
        **parameters("x", 0.05, -7, np.int8),
        **parameters("q", 0.03, 5, np.int8),
        **parameters("y", 0.04, -9, np.int8),
    }
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert tables(lowered) == ["LutU8"]
    same_for_every_value(model, lowered)


def test_a_table_that_changes_nothing_vanishes(model_of: ModelOf, host_only: PassContext) -> None:
    """A factor that the scale of the result takes back, as in front of a softmax."""
    text, constants = chain(("Mul (t0, half)", 0.025, -7))
    lowered = lower(model_of(text, {**constants, **NUMBERS}), host_only)
    assert tables(lowered) == ["Identity"], "a graph output needs a node"


def test_what_somebody_else_reads_stays(model_of: ModelOf, host_only: PassContext) -> None:
    """Two tables one behind the other, because the first one's result is an output too."""
    text = """g (int8[1,256] x) => (int8[1,256] y, int8[1,256] z) {
        t = DequantizeLinear (x, xs, xz)  s = Sigmoid (t)  z = QuantizeLinear (s, zs, zz)
        u = DequantizeLinear (z, zs, zz)  r = Sqrt (u)  y = QuantizeLinear (r, ys, yz) }"""
    constants = {
        **parameters("x", 0.05, -7, np.int8),
        **parameters("z", 1 / 256, -128, np.int8),
        **parameters("y", 1 / 256, -128, np.int8),
    }
    model = model_of(text, constants)
    lowered = lower(model, host_only)
    assert tables(lowered) == ["LutI8", "LutI8"]
    assert lowered.graph.nodes[1].inputs[0] is lowered.graph.nodes[0].outputs[0]
    same_for_every_value(model, lowered)


def test_others_may_read_the_dequantised_tensor(model_of: ModelOf, host_only: PassContext) -> None:
    """A Relu beside a shortcut reads what the shortcut reads."""
    text = """g (int8[1,256] x) => (int8[1,256] y, float[1,256] z) {
        t = DequantizeLinear (x, xs, xz)  r = Relu (t)  y = QuantizeLinear (r, ys, yz)  z = Softmax (t) }"""
    constants = {**parameters("x", 0.05, -7, np.int8), **parameters("y", 0.03, -128, np.int8)}
    model = model_of(text, constants)
    lowered = lower(model, host_only)
    assert sorted(tables(lowered)) == ["DequantizeLinear", "LutI8", "Softmax"]
    same_for_every_value(model, lowered)


def test_a_constant_of_equal_numbers_is_a_number(model_of: ModelOf, host_only: PassContext) -> None:
    text, constants = chain(("Sigmoid (t0)", 1 / 256, -128), ("Mul (t1, halves)", 1 / 512, -128))
    model = model_of(text, {**constants, "halves": np.full((1, 256), 0.5, np.float32)})
    lowered = lower(model, host_only)
    assert tables(lowered) == ["LutI8"]
    same_for_every_value(model, lowered)


def test_quantised_tensors_of_constants_are_constants(model_of: ModelOf, host_only: PassContext) -> None:
    """A first state times weights, of a network that is unrolled in time: only a sum with a constant is left."""
    text = """g (int8[1,256] x) => (int8[1,256] y) {
        t = DequantizeLinear (x, xs, xz)  w = DequantizeLinear (weights, xs)  s = DequantizeLinear (state, xs)
        m = MatMul (s, w)  q = QuantizeLinear (m, qs, qz)  u = DequantizeLinear (q, qs, qz)
        a = Add (t, u)  y = QuantizeLinear (a, ys, yz) }"""
    constants = {
        "weights": np.arange(-128, 128).astype(np.int8).reshape(1, 256).repeat(2, 0),
        "state": np.array([[3, 8]], np.int8),
        **parameters("x", 0.05, -7, np.int8),
        **parameters("q", 0.03, 2, np.int8),
        **parameters("y", 0.07, -9, np.int8),
    }
    model = model_of(text, constants)
    lowered = lower(model, host_only)
    assert tables(lowered) == ["RequantI8"]
    same_for_every_value(model, lowered)


def test_two_tensors_are_no_table(model_of: ModelOf, host_only: PassContext) -> None:
    text = """g (int8[1,256] x, int8[1,256] w) => (int8[1,256] y) {
        t = DequantizeLinear (x, xs, xz)  s = Sigmoid (t)  q = QuantizeLinear (s, qs, qz)
        u = DequantizeLinear (q, qs, qz)  v = DequantizeLinear (w, xs, xz)  m = Mul (u, v)
        y = QuantizeLinear (m, xs, xz) }"""
    constants = {**parameters("x", 0.05, -7, np.int8), **parameters("q", 1 / 256, -128, np.int8)}
    lowered = lower(model_of(text, constants), host_only)
    assert "Mul" in tables(lowered), "nothing but the sigmoid is a function of one tensor"
    assert tables(lowered).count("LutI8") == 1


def test_infinities_saturate(model_of: ModelOf, host_only: PassContext) -> None:
    text, constants = chain(("Sub (t0, t0)", 0.1, 3), ("Reciprocal (t1)", 0.5, -4))
    model = model_of(text, constants)
    lowered = lower(model, host_only)
    assert tables(lowered) == ["LutI8"]
    same_for_every_value(model, lowered)
    assert set(np.asarray(lowered.graph.nodes[0].inputs[1].values).tolist()) == {127}


def test_what_is_no_number_stays_float(model_of: ModelOf, host_only: PassContext) -> None:
    text, constants = chain(("Log (t0)", 0.1, 3))
    lowered = lower(model_of(text, constants), host_only)
    assert tables(lowered) == ["DequantizeLinear", "Log", "QuantizeLinear"]


#: Operators whose results ONNX Runtime and the compiler round alike; two operands: a step before, a constant.
STEPS = ("Relu ({a})", "Neg ({a})", "Abs ({a})", "Add ({a}, {b})", "Mul ({a}, {b})", "Sub ({a}, {b})", "Max ({a}, {b})")


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_network_of_steps(data: st.DataObject, model_of: ModelOf, host_only: PassContext) -> None:
    steps = []
    for index in range(data.draw(st.integers(1, 6))):
        operands = [f"t{i}" for i in range(index + 1)]
        form = data.draw(st.sampled_from(STEPS))
        a, b = data.draw(st.sampled_from(operands)), data.draw(st.sampled_from([*operands, "half", "three"]))
        scale = data.draw(st.sampled_from([0.5, 0.25, 0.0625, 0.03, 0.11]))
        steps.append((form.format(a=a, b=b), scale, data.draw(st.integers(-128, 127))))
    text, constants = chain(*steps)
    model = model_of(text, {**constants, **NUMBERS})
    lowered = lower(model, host_only)
    assert tables(lowered) in (["LutI8"], ["Identity"])
    same_for_every_value(model, lowered)


@pytest.mark.parametrize(
    "name",
    ["ita_mobilebert_l1_int8_qdq", "ita_dinov2_l1_int8_qdq", "ita_whisper_l1_int8_qdq", "dinov2_small_l1_int8_qdq"],
)
def test_gelu_of_real_networks(name: str, host_only: PassContext) -> None:
    """One table, and each of its 256 entries is what ONNX Runtime computes with the original's operators."""
    path = SHARED_MODELS / name / "model.onnx"
    if not path.is_file():
        pytest.skip(f"../shared/models/{name} is not on this machine")
    source = load_model(path)
    lowered = lower(source, host_only)
    found = [node for node in lowered.graph.nodes if node.op.startswith("Lut")]
    assert len(found) == 1
    assert not {"Erf", "Gelu"} & {node.op for node in lowered.graph.nodes}
    (lut,) = found
    names = set(source.graph.tensors())
    x, y = (tensor.name.removesuffix("_stored") for tensor in (lut.inputs[0], lut.outputs[0]))
    assert {x, y} <= names
    np.testing.assert_array_equal(lut.inputs[1].values, between(source, x, y))


def between(source: Model, x: str, y: str) -> NDArray[np.generic]:
    """Tensor ``y`` of the network for all values of tensor ``x``, which is given instead of computed."""
    graph = source.copy().graph
    start, end = graph.tensors()[x], graph.tensors()[y]
    start.inputs.clear()
    graph.inputs, graph.outputs = [start], [end]
    graph.cleanup()
    for tensor in graph.tensors().values():
        if isinstance(tensor, gs.Variable):
            tensor.shape = [256]
    values = np.arange(-128, 128).astype(start.dtype)
    return ReferenceRunner(Model("part", graph)).run({x: values})[y]
