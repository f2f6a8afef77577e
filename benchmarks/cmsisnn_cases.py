"""Made networks of one pooling or sum, int8, in QDQ form, whose scales CMSIS-NN can follow."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def _pooling(
    op: str, channels: int, size: tuple[int, int], ends: tuple[float, int], **attributes: object
) -> onnx.ModelProto:
    scales = {"x_scale": np.float32(0.02), "y_scale": np.float32(ends[0])}
    zeros = {"x_zero": np.int8(-3), "y_zero": np.int8(ends[1])}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "x_scale", "x_zero"], ["real"]),
        helper.make_node(op, ["real"], ["pooled"], **attributes),
        helper.make_node("QuantizeLinear", ["pooled", "y_scale", "y_zero"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "pooling",
        [helper.make_tensor_value_info("x", TensorProto.INT8, (1, channels, *size))],
        [helper.make_tensor_value_info("y", TensorProto.INT8, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in (scales | zeros).items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return onnx.shape_inference.infer_shapes(model)


def average(channels: int, size: tuple[int, int], scale: float = 0.02, zero: int = -3) -> onnx.ModelProto:
    """The average of an image; with other scales than the input's, the library's rounding is another."""
    return _pooling("AveragePool", channels, size, (scale, zero), kernel_shape=size)


def maximum(
    channels: int, size: tuple[int, int], kernel: tuple[int, int], stride: int, pads: tuple[int, int, int, int]
) -> onnx.ModelProto:
    """Maxima of windows."""
    ends = (0.02, -3)
    return _pooling("MaxPool", channels, size, ends, kernel_shape=kernel, strides=(stride, stride), pads=pads)


def addition(size: tuple[int, ...]) -> onnx.ModelProto:
    """The sum of two tensors."""
    scales = {"a_scale": 0.02, "b_scale": 0.013, "y_scale": 0.0317}
    zeros = {"a_zero": -128, "b_zero": 3, "y_zero": -11}
    nodes = [
        *(
            helper.make_node("DequantizeLinear", [name, f"{name}_scale", f"{name}_zero"], [f"{name}_real"])
            for name in "ab"
        ),
        helper.make_node("Add", ["a_real", "b_real"], ["sum"]),
        helper.make_node("QuantizeLinear", ["sum", "y_scale", "y_zero"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "addition",
        [helper.make_tensor_value_info(name, TensorProto.INT8, size) for name in "ab"],
        [helper.make_tensor_value_info("y", TensorProto.INT8, size)],
        [
            *(numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in scales.items()),
            *(numpy_helper.from_array(np.asarray(value, np.int8), name) for name, value in zeros.items()),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
