"""Quantised layer normalisation becomes an integer operator where a unit has no floating point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.contract.hardware import RequantSpec, Unit
from match_core.contract.model import Model
from match_core.contract.passes import PassContext
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray
from quantised import count, lower, parameters

ModelOf = Callable[[str, Mapping[str, NDArray[np.generic]]], Model]
Shared = Callable[[str], tuple[Model, list[dict[str, NDArray[np.generic]]]]]
SIGNED = RequantSpec(32, True, 63, shift_max=62, activation_type="int8")
TEXT = """g (int8[1,{rows},{size}] x) => (int8[1,{rows},{size}] y) {{
    f = DequantizeLinear (x, xs, xz)  n = LayerNormalization <axis = {axis}, epsilon = {epsilon}> (f, gamma{bias})
    y = QuantizeLinear (n, ys, yz) }}"""


@pytest.fixture
def integers(soc_of: Callable[..., PassContext]) -> PassContext:
    """A unit without floating point that wants int8."""
    return soc_of(Unit("cores", "integer cores", "L2", requant=SIGNED, integer_only=True))


def norm(
    model_of: ModelOf, size: int, *, rows: int = 16, axis: int = -1, epsilon: float = 1e-5, x_scale: float = 0.05,
    y_scale: float = 0.04, gamma: NDArray[np.float32] | None = None, beta: NDArray[np.float32] | None = None,
) -> Model:  # fmt: skip
    """Layer normalisation between quantisers; without ``beta`` it has no bias."""
    constants = {
        **parameters("x", x_scale, 9, np.int8),
        **parameters("y", y_scale, -5, np.int8),
        "gamma": np.ones(size, np.float32) if gamma is None else gamma,
        **({} if beta is None else {"beta": beta}),
    }
    bias = "" if beta is None else ", beta"
    return model_of(TEXT.format(size=size, rows=rows, axis=axis, epsilon=epsilon, bias=bias), constants)


def off_by_one(model: Model, lowered: Model, x: NDArray[np.int8]) -> float:
    """Share of results that differ; none may by more than 1."""
    (want,) = ReferenceRunner(model).run({"x": x}).values()
    (got,) = ReferenceRunner(lowered).run({"x": x}).values()
    distance = np.abs(want.astype(np.int64) - got.astype(np.int64))
    assert distance.max() <= 1
    return float(np.mean(distance != 0))


@pytest.mark.parametrize("size", [16, 17, 64, 384, 1024, 4096])
@pytest.mark.parametrize("spread", [1, 6, 128])
def test_lengths_and_spreads(size: int, spread: int, model_of: ModelOf, integers: PassContext) -> None:
    generator = np.random.default_rng(size + spread)
    gamma = generator.normal(1, 0.7, size).astype(np.float32)
    beta = generator.normal(0, 0.5, size).astype(np.float32)
    model = norm(model_of, size, gamma=gamma, beta=beta)
    lowered = lower(model, integers)
    assert [node.op for node in lowered.graph.nodes] == ["LayerNormRequantI8"]
    x = generator.integers(-spread, spread, (1, 16, size)).astype(np.int8)
    # Values of two neighbours: the rounding of epsilon shows on short axes.
    assert off_by_one(model, lowered, x) <= (2e-3 if spread > 1 else 1e-2)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    size=st.integers(16, 60),
    epsilon=st.sampled_from([0.0, 1e-12, 1e-5, 1e-2]),
    scales=st.tuples(st.floats(1e-3, 1.0), st.floats(5e-3, 0.2)),
    seed=st.integers(0, 999),
)
def test_any_parameters(
    size: int, epsilon: float, scales: tuple[float, float], seed: int, model_of: ModelOf, integers: PassContext
) -> None:
    """Results differ where the float operator itself lies within its rounding of a tie."""
    generator = np.random.default_rng(seed)
    model = norm(model_of, size, epsilon=epsilon, x_scale=scales[0], y_scale=scales[1])
    lowered = lower(model, integers)
    assert count(lowered, "LayerNormRequantI8") == 1
    x = generator.integers(-128, 128, (1, 16, size)).astype(np.int8)
    assert off_by_one(model, lowered, x) <= 0.02


def test_equal_values_give_the_bias(model_of: ModelOf, integers: PassContext) -> None:
    beta = np.linspace(-4, 4, 16, dtype=np.float32)
    model = norm(model_of, 16, rows=2, beta=beta, epsilon=1e-5)
    x = np.full((1, 2, 16), 77, np.int8)
    assert off_by_one(model, lower(model, integers), x) == 0.0


def test_uint8_activations(model_of: ModelOf, accelerated: PassContext) -> None:
    context = replace(accelerated, units=(*accelerated.units, Unit("cores", "integer cores", integer_only=True)))
    model = norm(model_of, 32)
    lowered = lower(model, context)
    assert count(lowered, "LayerNormRequantU8") == 1
    x = np.random.default_rng(0).integers(-128, 128, (1, 16, 32)).astype(np.int8)
    assert off_by_one(model, lowered, x) <= 2e-3


def test_what_stays_float(model_of: ModelOf, integers: PassContext, accelerated: PassContext) -> None:
    fast = replace(accelerated, precision="fast")
    assert count(lower(norm(model_of, 32), fast), "LayerNormalization") == 1, "all units have floating point"
    assert count(lower(norm(model_of, 32), accelerated), "LayerNormalization") == 0, "precision exact"
    gamma = np.ones((16, 32), np.float32)
    assert count(lower(norm(model_of, 32, axis=1, gamma=gamma), integers), "LayerNormalization") == 1, "two axes"
    long = norm(model_of, 5000, rows=1)
    assert count(lower(long, integers), "LayerNormalization") == 1, "sums of squares may leave 52 bits"
    short = norm(model_of, 15)
    assert count(lower(short, integers), "LayerNormalization") == 1, "epsilon would be rounded too much"
    huge = norm(model_of, 32, y_scale=1e-9)
    assert count(lower(huge, integers), "LayerNormalization") == 1, "no multiplier of 32 bits"


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("ita_mobilebert_l1_int8_qdq", 2),
        ("ita_mobilebert_l1_int8_pc_qdq", 2),
        ("ita_dinov2_l1_int8_qdq", 2),
        ("ita_whisper_l1_int8_qdq", 2),
        ("dinov2_small_l1_int8_qdq", 3),
        ("whisper_tiny_l1_int8_qdq", 3),
    ],
)
def test_real_networks(name: str, number: int, shared: Shared, integers: PassContext) -> None:
    """Each operator on its own real input against the float operator between the same quantisers."""
    source, samples = shared(name)
    lowered = lower(source, integers)
    norms = [node for node in lowered.graph.nodes if node.op == "LayerNormRequantI8"]
    assert len(norms) == number
    fetched = [tensor.name for node in norms for tensor in (node.inputs[0], node.outputs[0])]
    runner = ReferenceRunner(lowered, fetched)
    originals = [original(source, node) for node in norms]
    different = total = 0
    for sample in samples:
        values = runner.run(sample)
        for node, reference in zip(norms, originals, strict=True):
            (want,) = reference.run({"x": values[node.inputs[0].name]}).values()
            distance = np.abs(want.astype(np.int64) - values[node.outputs[0].name].astype(np.int64))
            assert distance.max() <= 1
            different += int(np.count_nonzero(distance))
            total += distance.size
    assert different <= 1e-5 * total


def original(source: Model, node: gs.Node) -> ReferenceRunner:
    """What the source has between the two quantised tensors of the operator, with ``x`` as its input."""
    graph = source.copy().graph
    tensors = graph.tensors()
    end = tensors[node.outputs[0].name.removesuffix("_stored")]
    found, waiting = set(), [end]
    while waiting:
        tensor = waiting.pop()
        for maker in tensor.inputs:
            if maker.op == "DequantizeLinear" and not isinstance(maker.inputs[0], gs.Constant):
                found.add(maker.inputs[0].name)
            else:
                waiting.extend(maker.inputs)
    (start,) = (tensors[name] for name in sorted(found))
    start.inputs.clear()
    start.name = "x"
    graph.inputs, graph.outputs = [start], [end]
    graph.cleanup()
    return ReferenceRunner(Model("part", graph))
