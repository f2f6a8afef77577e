"""Small quantised models made here with a fixed seed, so that the main tests need no other file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class QdqBuilder:
    """Builds an int8 QDQ model layer by layer; scales are chosen so that values use their range."""

    def __init__(
        self, seed: int, channels: int, height: int, width: int, zero_point: int = -128, weight_bits: int = 8
    ) -> None:
        self.weight_limit = 2 ** (weight_bits - 1) - 1
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.input_shape = [1, channels, height, width]
        self.current = "input"
        self.shape = list(self.input_shape)
        self.scale, self.zero_point = 0.05, zero_point
        self.count = 0

    def _const(self, name: str, values: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def _dequantize(self, tensor: str, scale: float, zero_point: int) -> str:
        out = f"{tensor}_dq{self.count}"
        self.count += 1
        s = self._const(f"{out}_s", np.float32(scale))
        z = self._const(f"{out}_z", np.int8(zero_point))
        self.nodes.append(helper.make_node("DequantizeLinear", [tensor, s, z], [out], name=f"n_{out}"))
        return out

    def _quantize(self, tensor: str, scale: float, zero_point: int) -> None:
        out = f"q{self.count}"
        self.count += 1
        s = self._const(f"{out}_s", np.float32(scale))
        z = self._const(f"{out}_z", np.int8(zero_point))
        self.nodes.append(helper.make_node("QuantizeLinear", [tensor, s, z], [out], name=f"n_{out}"))
        self.current, self.scale, self.zero_point = out, scale, zero_point

    def conv(
        self,
        out_channels: int,
        kernel: int,
        stride: int = 1,
        group: int = 1,
        relu: bool = True,
        pad: int | None = None,
        zero: int | None = None,
    ) -> QdqBuilder:
        """Convolution with bias, per-channel weights, optional ReLU."""
        label = f"conv{self.count}"
        per_group = self.shape[1] // group
        limit = self.weight_limit
        weight = self.random.integers(-limit, limit + 1, (out_channels, per_group, kernel, kernel)).astype(np.int8)
        weight_scale = self.random.uniform(0.5, 1.5, out_channels).astype(np.float32) * np.float32(0.01)
        fan_in = per_group * kernel * kernel
        out_scale = float(np.float32(0.01 * 0.05 * 73 * 73 * np.sqrt(fan_in) / 60))
        bias = self.random.integers(-3000, 3000, out_channels).astype(np.int32)
        x = self._dequantize(self.current, self.scale, self.zero_point)
        w, s = self._const(f"{label}_w", weight), self._const(f"{label}_ws", weight_scale)
        wz = self._const(f"{label}_wz", np.zeros(out_channels, np.int8))
        b = self._const(f"{label}_b", bias)
        bs = self._const(f"{label}_bs", (weight_scale * np.float32(self.scale)).astype(np.float32))
        bz = self._const(f"{label}_bz", np.zeros(out_channels, np.int32))
        self.nodes.append(helper.make_node("DequantizeLinear", [w, s, wz], [f"{w}_f"], axis=0, name=f"n_{w}"))
        self.nodes.append(helper.make_node("DequantizeLinear", [b, bs, bz], [f"{b}_f"], axis=0, name=f"n_{b}"))
        pads = [kernel // 2 if pad is None else pad] * 4
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": pads, "group": group}
        self.nodes.append(helper.make_node("Conv", [x, f"{w}_f", f"{b}_f"], [label], name=label, **attributes))
        self.shape = [
            1,
            out_channels,
            (self.shape[2] + 2 * pads[0] - kernel) // stride + 1,
            (self.shape[3] + 2 * pads[0] - kernel) // stride + 1,
        ]
        result = label
        if relu:
            self.nodes.append(helper.make_node("Relu", [label], [f"{label}_relu"], name=f"{label}_relu"))
            result = f"{label}_relu"
        chosen = -128 if relu else int(self.random.integers(-20, 20))
        self._quantize(result, out_scale, chosen if zero is None else zero)
        return self

    def max_pool(self, kernel: int, stride: int) -> QdqBuilder:
        """Maximum pooling between dequantisation and quantisation."""
        x = self._dequantize(self.current, self.scale, self.zero_point)
        label = f"pool{self.count}"
        self.nodes.append(
            helper.make_node("MaxPool", [x], [label], name=label, kernel_shape=[kernel] * 2, strides=[stride] * 2)
        )
        self.shape = [*self.shape[:2], *((size - kernel) // stride + 1 for size in self.shape[2:])]
        self._quantize(label, self.scale, self.zero_point)
        return self

    def save(self, path: Path) -> Path:
        """Write the model and return its path."""
        graph = helper.make_graph(
            self.nodes,
            "small",
            [helper.make_tensor_value_info("input", TensorProto.INT8, self.input_shape)],
            [helper.make_tensor_value_info(self.current, TensorProto.INT8, self.shape)],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)
        return path
