"""A stack of copies computes what the layer computes, applied again and again; large weights differ in each copy."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from benchmarks.stacked import stack


def _layer(width: int) -> onnx.ModelProto:
    weights = np.random.default_rng(1).integers(-4, 9, (width, width)).astype(np.int8)
    nodes = [
        helper.make_node("DequantizeLinear", ["weights", "scale"], ["dequantised"], "dequantise"),
        helper.make_node("MatMul", ["x", "dequantised"], ["product"], "product"),
        helper.make_node("Relu", ["product"], ["y"], "relu"),
    ]
    constants = [numpy_helper.from_array(weights, "weights"), numpy_helper.from_array(np.float32(0.125), "scale")]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width]) for name in "xy"]
    graph = helper.make_graph(nodes, "layer", ends[:1], ends[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _result(model: onnx.ModelProto, values: np.ndarray) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # else products are of bytes
    result: np.ndarray = onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, {"x": values})[0]
    return result


def test_three_copies_compute_the_layer_three_times() -> None:
    layer, values = _layer(8), np.linspace(0, 1, 8, dtype=np.float32)[None]
    wanted = _result(layer, _result(layer, _result(layer, values)))
    stacked = stack(layer, 3)
    onnx.checker.check_model(stacked, full_check=True)
    assert np.any(wanted)
    np.testing.assert_array_equal(_result(stacked, values), wanted)


def test_copies_have_weights_of_their_own() -> None:
    stored = {constant.name: numpy_helper.to_array(constant) for constant in stack(_layer(40), 2).graph.initializer}
    first, second = stored["weights_0"], stored["weights_1"]
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(np.sort(first, axis=0), np.sort(second, axis=0))
