"""Outputs behind integers that were rounded from floats: which ones they are, and what is allowed there."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from match_core.float_bounds import FloatBound
from match_core.float_rounding import steps_behind_rounding
from match_core.patterns.topology import Topology
from match_core.verify import compare_output
from numpy.typing import NDArray

NODES = {
    "normalised": "n = LayerNormalization (x, w)  q = QuantizeLinear (n, s, z)",
    "dequantised": "n = Softmax (x)  i = QuantizeLinear (n, s, z)  d = DequantizeLinear (i, s, z)  q = Reshape (d, r)",
    "computed": "n = Softmax (x)  i = QuantizeLinear (n, s, z)  d = DequantizeLinear (i, s, z)  q = Add (d, x)",
    "jumped": "n = Exp (x)  q = Floor (n)",
    "compared": "n = Erf (x)  q = Greater (n, w)",
    "float": "n = MatMul (x, m)  q = Relu (n)",
    "exact": "n = Mul (x, w)  i = Add (n, w)  q = QuantizeLinear (i, s, z)",
    "integer": "i = QuantizeLinear (x, s, z)  q = MatMulInteger (i, k)",
}
TYPES = {"normalised": "int8", "compared": "bool", "exact": "int8", "integer": "int32"}
CONSTANTS: dict[str, NDArray[np.generic]] = {
    "w": np.ones(4, np.float32),
    "s": np.array(0.25, np.float32),
    "z": np.array(0, np.int8),
    "m": np.ones((4, 4), np.float32),
    "k": np.ones((4, 4), np.int8),
    "r": np.array([2, 2]),
}


def steps(kind: str) -> dict[str, float | None]:
    ends = f"g (float[1,4] x) => ({TYPES.get(kind, 'float')} q)"
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {ends} {{ {NODES[kind]} }}')
    proto.graph.initializer.extend(onnx.numpy_helper.from_array(values, name) for name, values in CONSTANTS.items())
    del proto.graph.output[0].type.tensor_type.shape.dim[:]
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    graph = gs.import_onnx(onnx.shape_inference.infer_shapes(proto))
    return dict(steps_behind_rounding(Topology.of(graph).nodes, graph.outputs))


@pytest.mark.parametrize(
    ("kind", "step"),
    [("normalised", 1.0), ("dequantised", 0.25), ("computed", None), ("jumped", None), ("compared", 1.0)],
)
def test_outputs_behind_rounded_floats(kind: str, step: float | None) -> None:
    assert steps(kind) == {"q": step}


@pytest.mark.parametrize("kind", ["float", "exact", "integer"])
def test_other_outputs_keep_their_bounds(kind: str) -> None:
    assert steps(kind) == {}


def within(expected: NDArray[np.generic], bound: FloatBound, *changes: float) -> bool:
    """Whether an output is accepted whose first values differ by so much."""
    got = expected.copy()
    got.reshape(-1)[: len(changes)] += np.array(changes, expected.dtype)
    check = compare_output("y", got, expected, expected, bound)
    assert check.bit_exact is (not changes)
    return check.within_bound


def test_integers_may_lie_one_step_off_in_few_places() -> None:
    bound, values = FloatBound(1e-4, rounded=True, step=1.0), np.arange(300).reshape(1, 300).astype(np.int16)
    assert within(values, bound)
    assert within(values, bound, 1, -1, 1)
    assert not within(values, bound, 1, -1, 1, 1)
    assert not within(values, bound, 2)


def test_integers_of_integers_keep_every_bit() -> None:
    assert not within(np.arange(300).reshape(1, 300).astype(np.int16), FloatBound(1e-4), 1)


def test_floats_may_lie_one_step_off_in_few_places() -> None:
    values = np.linspace(-1, 1, 300, dtype=np.float32).reshape(1, 300)
    assert within(values, FloatBound(1e-4, rounded=True, step=0.25), 0.25, *[5e-5] * 200)
    assert not within(values, FloatBound(1e-4, rounded=True, step=0.25), 0.26)
    assert not within(values, FloatBound(1e-4, rounded=True, step=0.25), *[0.25] * 4)
    assert within(values, FloatBound(1e-4, rounded=True), 1 / 127)
    assert not within(values, FloatBound(1e-4), 0.25)


def test_the_bound_in_words() -> None:
    assert FloatBound(1e-4).of(floating=False) == "bit exact"
    assert FloatBound(1e-4, rounded=True, step=1.0).of(floating=False).startswith("bit exact, one step in at most 1%")
