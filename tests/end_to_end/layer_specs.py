"""Single layers as networks of their own, made from a few numbers with a fixed seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from numpy.typing import NDArray

NODE = "layer"


@dataclass(frozen=True)
class LayerSpec:
    """A convolution of an image, or with ``rows`` 0 a dense layer; quantised (QDQ) unless ``elements`` are floats."""

    in_channels: int
    out_channels: int
    rows: int = 0
    columns: int = 0
    kernel: int = 1
    stride: int = 1
    pads: tuple[int, int, int, int] | None = None
    depthwise: bool = False
    activations: str = "int8"
    per_channel: bool = True
    ternary: bool = False
    elements: str = ""

    def changed(self, parameter: str, after: str) -> LayerSpec:
        """The layer with one of the changes that ``match explain`` tells."""
        sizes = [int(size) for size in after.replace("x", ",").split(",")] if after[0].isdigit() else []
        match parameter:
            case "input channels":
                return replace(self, in_channels=sizes[0])
            case "output channels":
                return replace(self, out_channels=sizes[0])
            case "channels":
                return replace(self, in_channels=sizes[0], out_channels=sizes[0])
            case "height and width":
                return replace(self, rows=sizes[0], columns=sizes[1])
            case "kernel":
                more = (sizes[0] - self.kernel) // 2
                return replace(self, kernel=sizes[0], pads=tuple(max(0, pad + more) for pad in self.padding))
            case "stride":
                return replace(self, stride=sizes[0])
            case "padding":
                return replace(self, pads=tuple(sizes))
            case "groups":
                return replace(self, depthwise=False)
            case "activations":
                return replace(self, activations=after)
            case "weight scales":
                return replace(self, per_channel=False)
            case "weights":
                return replace(self, ternary=True)
            case "elements":
                return replace(self, elements=after)
        raise ValueError(parameter)

    @property
    def padding(self) -> tuple[int, int, int, int]:
        """Top, left, bottom, right."""
        around = self.kernel // 2
        return self.pads if self.pads is not None else (around, around, around, around)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """NCHW, or a row."""
        return (1, self.in_channels, self.rows, self.columns) if self.rows else (1, self.in_channels)

    @property
    def weight_shape(self) -> tuple[int, ...]:
        """Output channels first."""
        inner = 1 if self.depthwise else self.in_channels
        return (self.out_channels, inner, self.kernel, self.kernel) if self.rows else (self.out_channels, inner)

    def operator(self, inputs: list[str], output: str) -> onnx.NodeProto:
        """The node that computes."""
        if not self.rows:
            return helper.make_node("Gemm", inputs, [output], name=NODE, transB=1)
        return helper.make_node(
            "Conv",
            inputs,
            [output],
            name=NODE,
            kernel_shape=[self.kernel] * 2,
            strides=[self.stride] * 2,
            pads=list(self.padding),
            group=self.in_channels if self.depthwise else 1,
        )


def layer_model(spec: LayerSpec) -> onnx.ModelProto:
    """The network."""
    return _float_model(spec) if spec.elements else _quantised_model(spec)


def _float_model(spec: LayerSpec) -> onnx.ModelProto:
    rng = np.random.default_rng(7)
    weights = (rng.standard_normal(spec.weight_shape) * 0.1).astype(spec.elements)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(spec.elements))
    return _model(
        [spec.operator(["x", "w"], "y")],
        [numpy_helper.from_array(weights, "w")],
        helper.make_tensor_value_info("x", kind, spec.input_shape),
        helper.make_tensor_value_info("y", kind, None),
    )


def _quantised_model(spec: LayerSpec) -> onnx.ModelProto:
    rng = np.random.default_rng(7)
    point = np.array(128 if spec.activations == "uint8" else 0, dtype=spec.activations)
    weights = rng.integers(-1, 2, spec.weight_shape) if spec.ternary else rng.integers(-127, 128, spec.weight_shape)
    scale = 0.04 if spec.ternary else 0.002
    scales = scale * rng.uniform(0.8, 1.0, spec.out_channels) if spec.per_channel else np.array(scale)
    count = (spec.out_channels,) if spec.per_channel else ()
    constants: dict[str, NDArray[np.generic]] = {
        "x_scale": np.array(0.05, np.float32),
        "x_zero": point,
        "w": weights.astype(np.int8),
        "w_scale": scales.astype(np.float32),
        "w_zero": np.zeros(count, np.int8),
        "b": rng.integers(-500, 500, spec.out_channels).astype(np.int32),
        "b_scale": (scales * 0.05).astype(np.float32),
        "b_zero": np.zeros(count, np.int32),
        "y_scale": np.array(0.4, np.float32),
        "y_zero": point,
    }
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "x_scale", "x_zero"], ["x_real"], name="x_dq"),
        helper.make_node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["w_real"], name="w_dq", axis=0),
        helper.make_node("DequantizeLinear", ["b", "b_scale", "b_zero"], ["b_real"], name="b_dq", axis=0),
        spec.operator(["x_real", "w_real", "b_real"], "y_real"),
        helper.make_node("QuantizeLinear", ["y_real", "y_scale", "y_zero"], ["y"], name="y_q"),
    ]
    kind = TensorProto.UINT8 if spec.activations == "uint8" else TensorProto.INT8
    return _model(
        nodes,
        [numpy_helper.from_array(values, name) for name, values in constants.items()],
        helper.make_tensor_value_info("x", kind, spec.input_shape),
        helper.make_tensor_value_info("y", kind, None),
    )


def _model(
    nodes: list[onnx.NodeProto],
    constants: list[onnx.TensorProto],
    source: onnx.ValueInfoProto,
    result: onnx.ValueInfoProto,
) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "layer", [source], [result], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model)
