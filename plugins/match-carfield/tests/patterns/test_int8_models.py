"""An 8-bit model through the whole compiler: bit for bit the integer graph, cycles as modelled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model
from onnx import TensorProto, helper, numpy_helper


class Quantised:
    """A chain of QDQ layers with int8 weights and activations."""

    def __init__(self, seed: int, *shape: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.shape, self.input_shape = list(shape), list(shape)
        self.current, self.scale, self.zero = "input", 0.05, -128

    def node(self, op: str, *inputs: Any, **attributes: Any) -> str:
        names = []
        for value in inputs:
            if not isinstance(value, str):
                self.constants.append(numpy_helper.from_array(np.asarray(value), f"c{len(self.constants)}"))
            names.append(value if isinstance(value, str) else f"c{len(self.constants) - 1}")
        result = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, names, [result], name=f"n{len(self.nodes)}", **attributes))
        return result

    def real(self) -> str:
        return self.node("DequantizeLinear", self.current, np.float32(self.scale), np.int8(self.zero))

    def kept(self, tensor: str, scale: float) -> None:
        self.scale, self.zero = float(np.float32(scale)), int(self.random.integers(-128, 100))
        self.current = self.node("QuantizeLinear", tensor, np.float32(self.scale), np.int8(self.zero))

    def weighted(self, op: str, shape: tuple[int, ...], axis: int, **attributes: Any) -> None:
        source = self.real()
        values = self.random.integers(-127, 128, shape).astype(np.int8)
        scales = (self.random.uniform(0.5, 1.5, shape[axis]) * 0.01).astype(np.float32)
        weight = self.node("DequantizeLinear", values, scales, np.zeros(shape[axis], np.int8), axis=axis)
        taps = values.size // shape[axis]
        self.kept(self.node(op, source, weight, **attributes), self.scale * 0.9 * taps**0.5)

    def conv(self, channels: int, kernel: int, group: int = 1) -> None:
        sizes = {"kernel_shape": [kernel] * 2, "pads": [kernel // 2] * 4, "strides": [1, 1], "group": group}
        self.weighted("Conv", (channels, self.shape[1] // group, kernel, kernel), 0, **sizes)
        self.shape[1] = channels

    def dense(self, features: int) -> None:
        self.current = self.node("Flatten", self.current, axis=1)
        self.weighted("MatMul", (int(np.prod(self.shape)), features), 1)
        self.shape = [1, features]

    def save(self, path: Path) -> Path:
        source = helper.make_tensor_value_info("input", TensorProto.INT8, self.input_shape)
        result = helper.make_tensor_value_info(self.current, TensorProto.INT8, self.shape)
        graph = helper.make_graph(self.nodes, "net", [source], [result], self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        return path


def test_layers_of_every_kind(tmp_path: Path) -> None:
    model = Quantised(5, 1, 3, 12, 10)
    model.conv(12, 3)
    model.conv(12, 3, group=12)
    model.conv(10, 1)
    model.dense(64)
    path = model.save(tmp_path / "quantised.onnx")
    request = VerifyRequest(path, "carfield", execution="sequential", cache=False)
    result = verify_model(request, Plugins.load())
    assert result.bit_exact
    used = {a.candidate.pattern.name for a in result.compilation.mapping.assignments if a.candidate.unit == "pulp"}
    assert used >= {"int8_conv2d", "int8_depthwise2d", "int8_linear", "int8_transpose"}
    assert result.run.cycles_total == result.compilation.program.predicted_cycles
