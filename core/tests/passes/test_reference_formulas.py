"""Operators that are computed without ONNX's reference implementation give its bits."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_core.load.static.evaluate import Evaluator
from match_core.passes.fold_constants import evaluate_node
from match_quant.table_region import _FUNCTIONS
from onnx import helper
from onnx.reference import ReferenceEvaluator


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("name", _FUNCTIONS)
def test_functions_of_tables(name: str, dtype: type[np.floating]) -> None:
    random = np.random.default_rng(7)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 6e4, -1e-7, 1.0], dtype)
    x = np.concatenate([special, random.normal(0, 3, 400).astype(dtype)])
    given = [x] if name == "Erf" else [x, np.roll(x, 3)]
    inputs = [gs.Constant(f"x{i}", values) for i, values in enumerate(given)]
    with np.errstate(all="ignore"):
        expected = evaluate_node(gs.Node(name, "n", {}, inputs, [gs.Variable("y", dtype, x.shape)]))
        got = _FUNCTIONS[name](*given).astype(dtype)
    assert expected is not None
    np.testing.assert_array_equal(got, expected[0])
    assert np.array_equal(np.signbit(got), np.signbit(expected[0]))


@pytest.mark.parametrize("real", [np.float32, np.float16])
@pytest.mark.parametrize("stored", [np.int8(-100), np.uint8(200), np.array([1, -2, 3, 4], np.int8), np.int32(40_000)])
@pytest.mark.parametrize("zeros", [0, 1])
def test_dequantised_constants(stored: np.generic, real: type[np.floating], zeros: int) -> None:
    values = np.asarray(stored)
    known = {"x": values, "s": np.array([0.3], real).reshape(()), "z": np.array(5, values.dtype)}
    node = helper.make_node("DequantizeLinear", ["x", "s", "z"][: 2 + zeros], ["y"])
    types = {"y": helper.make_tensor_type_proto(1, values.shape)}
    opset = [helper.make_opsetid("", 21)]
    ends = [[helper.make_value_info(name, types["y"]) for name in names] for names in (node.input, node.output)]
    model = helper.make_model(helper.make_graph([node], "g", *ends), opset_imports=opset)
    (expected,) = ReferenceEvaluator(model).run(None, {name: known[name] for name in node.input})
    found = Evaluator(opset).evaluate(node, known, types)
    assert found is not None and found[0].dtype == expected.dtype == real
    np.testing.assert_array_equal(found[0], expected)
    assert found[0].shape == values.shape


@pytest.mark.parametrize(
    ("scale", "zero"),
    [(np.ones(4, np.float32), np.int8(0)), (np.float32(1), np.zeros(3, np.int8))],
    ids=["scales", "zeros"],
)
def test_other_constants_stay_unknown(scale: np.generic, zero: np.generic) -> None:
    known = {"x": np.arange(4, dtype=np.int8), "s": np.asarray(scale), "z": np.asarray(zero)}
    node = helper.make_node("DequantizeLinear", ["x", "s", "z"], ["y"])
    types = {"y": helper.make_tensor_type_proto(1, [4])}
    assert Evaluator([helper.make_opsetid("", 21)]).evaluate(node, known, types) is None
