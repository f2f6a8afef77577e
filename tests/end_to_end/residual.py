"""ResNet-18 in int8 with seeded weights, normalised and calibrated on seeded samples.

Random weights alone let activations die or saturate after a few layers. So every convolution is scaled and shifted per
channel as a batch normalisation of the samples would do it, and every activation's scale covers what the samples reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Floats = NDArray[np.float32]
CALIBRATION_SAMPLES = 4


@dataclass(frozen=True)
class Activation:
    """An int8 tensor of the model and the float values that the samples give it, [samples, channels, height, width]."""

    name: str
    scale: np.float32
    zero_point: int
    values: Floats


class CalibratedBuilder:
    """Builds an int8 QDQ model layer by layer while computing the float network on samples."""

    def __init__(self, seed: int, shape: tuple[int, int, int]) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.shape = shape
        samples = self.random.standard_normal((CALIBRATION_SAMPLES, *shape), dtype=np.float32)
        self.input = Activation("input", np.float32(3 / 127), 0, samples)

    def conv(self, source: Activation, channels: int, kernel: int, stride: int = 1, relu: bool = False) -> Activation:
        """Convolution with padding kernel // 2, normalised to mean 0 and variance 1 per channel."""
        fan_in = source.values.shape[1] * kernel * kernel
        weight = self._normal((channels, source.values.shape[1], kernel, kernel)) / np.float32(np.sqrt(fan_in))
        sums = convolve(source.values, weight, stride, kernel // 2)
        deviation = _rounded(sums.astype(np.float64).std(axis=(0, 2, 3))) + np.float32(1e-3)
        weight = weight / deviation[:, None, None, None]
        bias = -_rounded(sums.astype(np.float64).mean(axis=(0, 2, 3))) / deviation
        label = f"conv{len(self.nodes)}"
        inputs = [self._dequantize(source), *self._parameters(label, weight, bias, source.scale)]
        self._append("Conv", inputs, label, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4)
        return self._finish(label, sums / deviation[:, None, None] + bias[:, None, None], relu)

    def add(self, left: Activation, right: Activation) -> Activation:
        """Sum and ReLU."""
        label = f"add{len(self.nodes)}"
        inputs = [self._dequantize(left), self._dequantize(right)]
        self._append("Add", inputs, label)
        return self._finish(label, left.values + right.values, relu=True)

    def classify(self, source: Activation, classes: int) -> Activation:
        """Mean over all pixels and a dense layer."""
        label = f"pool{len(self.nodes)}"
        side = source.values.shape[2]
        self._append("AveragePool", [self._dequantize(source)], label, kernel_shape=[side] * 2, strides=[side] * 2)
        pooled = self._quantize(label, _rounded(source.values.astype(np.float64).mean(axis=(2, 3), keepdims=True)))
        label = f"dense{len(self.nodes)}"
        flat = f"{label}_flat"
        self._append("Flatten", [self._dequantize(pooled)], flat)
        again = self._quantize(flat, pooled.values)
        weight = self._normal((classes, again.values.shape[1], 1, 1))
        logits = convolve(again.values, weight, 1, 0)
        bias = -_rounded(logits.astype(np.float64).mean(axis=(0, 2, 3)))
        inputs = [self._dequantize(again), *self._parameters(label, weight[:, :, 0, 0], bias, again.scale)]
        self._append("Gemm", inputs, label, transB=1)
        return self._quantize(label, logits + bias[:, None, None])

    def save(self, path: Path, output: Activation) -> Path:
        """Write the model and return its path."""
        shape = [1, *output.values.shape[1:]] if output.values.shape[2] > 1 else [1, output.values.shape[1]]
        graph = helper.make_graph(
            self.nodes,
            path.stem,
            [helper.make_tensor_value_info("input", TensorProto.INT8, [1, *self.shape])],
            [helper.make_tensor_value_info(output.name, TensorProto.INT8, shape)],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)
        return path

    def _append(self, operator: str, inputs: Sequence[str], output: str, **attributes: list[int] | int) -> None:
        """A node named as its output."""
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))  # type: ignore[arg-type]

    def _normal(self, shape: tuple[int, ...]) -> Floats:
        return self.random.standard_normal(shape, dtype=np.float32)

    def _const(self, name: str, values: NDArray[np.generic] | np.generic) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def _parameters(self, label: str, weight: Floats, bias: Floats, scale: np.float32) -> tuple[str, str]:
        """Dequantised weight (int8, one scale per output channel) and bias (int32)."""
        weight_scale = (np.abs(weight).reshape(len(weight), -1).max(axis=1) / 127).astype(np.float32)
        steps = weight_scale.reshape(-1, *[1] * (weight.ndim - 1))
        bias_scale = weight_scale * scale
        tensors = (
            (f"{label}_w", np.rint(weight / steps).astype(np.int8), weight_scale, np.int8),
            (f"{label}_b", np.rint(bias / bias_scale).astype(np.int32), bias_scale, np.int32),
        )
        for name, values, scales, dtype in tensors:
            zeros = self._const(f"{name}_z", np.zeros(len(scales), dtype))
            inputs = [self._const(name, values), self._const(f"{name}_s", scales), zeros]
            node = helper.make_node("DequantizeLinear", inputs, [f"{name}_f"], axis=0, name=f"n_{name}")
            self.nodes.append(node)
        return f"{label}_w_f", f"{label}_b_f"

    def _dequantize(self, source: Activation) -> str:
        out = f"{source.name}_dq{len(self.nodes)}"
        scale = self._const(f"{out}_s", source.scale)
        zero_point = self._const(f"{out}_z", np.int8(source.zero_point))
        self.nodes.append(
            helper.make_node("DequantizeLinear", [source.name, scale, zero_point], [out], name=f"n_{out}")
        )
        return out

    def _finish(self, label: str, values: Floats, relu: bool) -> Activation:
        if not relu:
            return self._quantize(label, values)
        self._append("Relu", [label], f"{label}_relu")
        return self._quantize(f"{label}_relu", np.maximum(values, 0))

    def _quantize(self, tensor: str, values: Floats) -> Activation:
        """Quantise so that least and largest value of the samples are the ends of int8."""
        low, high = min(float(values.min()), 0.0), float(values.max())
        scale = np.float32((high - low) / 255)
        zero_point = int(np.rint(-128 - low / scale))
        out = f"{tensor}_q"
        inputs = [tensor, self._const(f"{out}_s", scale), self._const(f"{out}_z", np.int8(zero_point))]
        self.nodes.append(helper.make_node("QuantizeLinear", inputs, [out], name=f"n_{out}"))
        return Activation(out, scale, zero_point, values)


def convolve(values: Floats, weight: Floats, stride: int, pad: int) -> Floats:
    """Float convolution of [samples, channels, height, width] with [outputs, channels, kernel, kernel]."""
    padded = np.pad(values, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], axis=(2, 3))
    picked = windows[:, :, ::stride, ::stride]
    sums: Floats = np.einsum(
        "nchwij,kcij->nkhw", picked.astype(np.float64), weight.astype(np.float64), optimize=True
    ).astype(np.float32)
    return sums


def resnet18(path: Path, width: int = 64, seed: int = 18, stages: int = 4, size: int = 32) -> Path:
    """ResNet-18 for 3 x size x size pictures and 10 classes; ``width`` 64 is the network of the literature (11.2 M
    parameters, 0.56 G multiply-accumulates at 32 x 32). Fewer ``stages`` leave out the deepest ones."""
    builder = CalibratedBuilder(seed, (3, size, size))
    x = builder.conv(builder.input, width, 3, relu=True)
    for stage in range(stages):
        for block in range(2):
            stride = 2 if stage and not block else 1
            channels = width << stage
            inner = builder.conv(x, channels, 3, stride, relu=True)
            inner = builder.conv(inner, channels, 3)
            shortcut = builder.conv(x, channels, 1, stride) if stride != 1 else x
            x = builder.add(inner, shortcut)
    return builder.save(path, builder.classify(x, 10))


def _rounded(values: NDArray[np.float64]) -> Floats:
    """Sums of many numbers are made in float64: in float32 their last bits differ from machine to machine."""
    return np.asarray(values, np.float32)
