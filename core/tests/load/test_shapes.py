"""Sizes that are computed from static sizes are known after loading."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from match_core.load.load import load_model
from match_verify.reference import ReferenceRunner
from onnx import TensorProto, helper

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'


def test_a_reshape_by_computed_sizes(saved):
    """Sizes go through a division and a square root in float, which inference does not follow."""
    text = f"""{HEAD} g (float[1,4,6,6] x) => (float[a,b,c] y) <int64 two = {{2}}, int64[1] minus = {{-1}}> {{
        shape = Shape (x)
        width = Gather <axis = 0> (shape, two)
        real = Cast <to = 1> (width)
        square = Mul (real, real)
        root = Sqrt (square)
        back = Cast <to = 7> (root)
        zero = Constant <value = int64[1] {{0}}> ()
        rows = Unsqueeze (back, zero)
        one = Constant <value = int64[1] {{1}}> ()
        target = Concat <axis = 0> (one, minus, rows)
        r = Reshape (x, target)
        y = Relu (r)
    }}"""
    path = saved(text)
    model = load_model(path)
    assert model.graph.outputs[0].shape == [1, 24, 6]
    assert [node.op for node in model.graph.nodes] == ["Reshape", "Relu"]
    x = np.random.default_rng(0).standard_normal((1, 4, 6, 6)).astype(np.float32)
    expected, got = ReferenceRunner(onnx.load(path)).run({"x": x}), ReferenceRunner(model).run({"x": x})
    assert np.array_equal(expected["y"], got["y"])


def test_every_tensor_of_a_loaded_model_has_type_and_size(saved):
    text = f"""{HEAD} g (float[1,4,6,6] x) => (float[1,2,6,6] y, float[1,2,6,6] z) {{
        y, z = Split <axis = 1> (x) }}"""
    model = load_model(saved(text))
    for tensor in model.graph.tensors().values():
        assert tensor.dtype is not None
        assert all(isinstance(size, int) for size in tensor.shape)


@pytest.mark.parametrize("kind", [TensorProto.INT4, TensorProto.UINT4])
def test_weights_of_four_bits(tmp_path, kind):
    """They load as 8-bit constants with the same values."""
    random = np.random.default_rng(1)
    low, high = (-8, 8) if kind == TensorProto.INT4 else (0, 16)
    values = random.integers(low, high, (8, 6))
    zeros = random.integers(low, high, (6,))
    graph = helper.make_graph(
        [
            helper.make_node("DequantizeLinear", ["w", "s", "z"], ["wf"], axis=1),
            helper.make_node("MatMul", ["x", "wf"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 6])],
        [
            helper.make_tensor("w", kind, (8, 6), values.reshape(-1)),
            helper.make_tensor("z", kind, (6,), zeros),
            helper.make_tensor("s", TensorProto.FLOAT, (6,), random.random(6)),
        ],
    )
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    model = load_model(path)
    weight = model.graph.tensors()["w"]
    assert weight.values.dtype == (np.int8 if kind == TensorProto.INT4 else np.uint8)
    assert np.array_equal(weight.values, values)
    x = random.standard_normal((1, 8)).astype(np.float32)
    expected, got = ReferenceRunner(onnx.load(path)).run({"x": x}), ReferenceRunner(model).run({"x": x})
    assert np.allclose(expected["y"], got["y"], rtol=1e-6)


def test_rows_of_data_are_no_sizes(saved):
    """ONNX's inference takes the rows for sizes, joins four of them, and finds that four and two do not fit."""
    text = f"""{HEAD} g (float[2,2] x) => (float[2,2] y)
        <int64 zero = {{0}}, int64 one = {{1}}, int64[1] axis = {{0}}> {{
        a = Gather <axis = 0> (x, zero)
        b = Gather <axis = 0> (x, one)
        c = Unsqueeze (a, axis)
        d = Unsqueeze (b, axis)
        e = Concat <axis = 0> (d, c)
        y = Add (e, a)
    }}"""
    path = saved(text)
    x = np.random.default_rng(0).standard_normal((2, 2)).astype(np.float32)
    assert np.array_equal(ReferenceRunner(load_model(path)).run({"x": x})["y"], x[::-1] + x[0])
