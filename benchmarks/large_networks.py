"""Large networks in int8 with seeded weights: MobileNetV2, ResNet-50 and a U-Net, written as ONNX by this file alone.

``python -m benchmarks.large_networks FOLDER`` writes them. Weights are random, so nothing is classified; sizes, layers
and dataflow are those of the literature. Weights of each layer are scaled by the second moment of what it reads, so
that values neither die nor saturate; no samples are run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

#: Values beyond this many standard deviations saturate.
REACH = 4.0
#: The upper end of ReLU6.
SIX = 6.0


@dataclass(frozen=True)
class Activation:
    """An int8 tensor: name, [channels, height, width], scale, zero point, and the mean of the squares of its values."""

    name: str
    shape: tuple[int, int, int]
    scale: float
    zero_point: int
    power: float


class NetworkBuilder:
    """Builds an int8 QDQ model layer by layer."""

    def __init__(self, seed: int, shape: tuple[int, int, int]) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.input = Activation("input", shape, REACH / 127, 0, 1.0)

    def conv(
        self, source: Activation, channels: int, kernel: int, stride: int = 1, groups: int = 1, relu: str = "relu"
    ) -> Activation:
        """Convolution with padding kernel // 2; ``relu``: "relu", "relu6" or "" for none."""
        inputs, height, width = source.shape
        weight = self._normal((channels, inputs // groups, kernel, kernel))
        weight /= np.sqrt(inputs // groups * kernel * kernel * source.power)
        bias = 0.1 * self._normal((channels,))
        label = f"conv{len(self.nodes)}"
        names = [self._dequantize(source), *self._parameters(label, weight, bias, source.scale)]
        pads = [kernel // 2] * 4
        self._append("Conv", names, label, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads, group=groups)
        return self._finish(label, (channels, -(-height // stride), -(-width // stride)), 1.0, relu)

    def add(self, left: Activation, right: Activation, relu: str = "") -> Activation:
        """Sum of two tensors."""
        label = f"add{len(self.nodes)}"
        self._append("Add", [self._dequantize(left), self._dequantize(right)], label)
        return self._finish(label, left.shape, left.power + right.power, relu)

    def max_pool(self, source: Activation, kernel: int, stride: int) -> Activation:
        """Largest value of windows, padded by kernel // 2 where they overlap."""
        label, pad = f"pool{len(self.nodes)}", kernel // 2 if kernel > stride else 0
        names = [self._dequantize(source)]
        self._append("MaxPool", names, label, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)
        channels, height, width = source.shape
        return self._quantize(label, (channels, height // stride, width // stride), source)

    def upsample(self, source: Activation) -> Activation:
        """Every pixel twice in both directions."""
        label, (channels, height, width) = f"up{len(self.nodes)}", source.shape
        scales = self._const(f"{label}_scales", np.asarray([1, 1, 2, 2], np.float32))
        names = [self._dequantize(source), "", scales]
        attributes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        self._append("Resize", names, label, **attributes)
        return self._quantize(label, (channels, 2 * height, 2 * width), source)

    def concat(self, left: Activation, right: Activation) -> Activation:
        """Channels of both, which have the same scale."""
        label = f"concat{len(self.nodes)}"
        self._append("Concat", [self._dequantize(left), self._dequantize(right)], label, axis=1)
        channels, height, width = left.shape
        return self._quantize(label, (channels + right.shape[0], height, width), left)

    def classify(self, source: Activation, classes: int) -> Activation:
        """Mean over all pixels and a dense layer."""
        label, (channels, height, width) = f"pool{len(self.nodes)}", source.shape
        self._append("GlobalAveragePool", [self._dequantize(source)], label)
        pooled = self._quantize(label, (channels, 1, 1), source)
        label = f"dense{len(self.nodes)}"
        self._append("Flatten", [self._dequantize(pooled)], f"{label}_flat")
        flat = self._quantize(f"{label}_flat", pooled.shape, pooled)
        weight = self._normal((classes, channels)) / np.sqrt(channels * source.power / (height * width))
        names = [self._dequantize(flat), *self._parameters(label, weight, self._normal((classes,)), flat.scale)]
        self._append("Gemm", names, label, transB=1)
        return self._finish(label, (classes, 1, 1), 1.0, "")

    def save(self, path: Path, output: Activation) -> Path:
        """Write the model and return its path."""
        shape = [1, *output.shape] if output.shape[1] > 1 else [1, output.shape[0]]
        graph = helper.make_graph(
            self.nodes,
            path.stem,
            [helper.make_tensor_value_info("input", TensorProto.INT8, [1, *self.input.shape])],
            [helper.make_tensor_value_info(output.name, TensorProto.INT8, shape)],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)
        return path

    def _append(self, operator: str, inputs: list[str], output: str, **attributes: list[int] | int | str) -> None:
        """A node named as its output."""
        # attributes hold whatever ONNX takes
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))  # type: ignore[arg-type]

    def _normal(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        return self.random.standard_normal(shape)

    def _const(self, name: str, values: NDArray[np.generic] | np.generic) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def _parameters(
        self, label: str, weight: NDArray[np.float64], bias: NDArray[np.float64], scale: float
    ) -> tuple[str, str]:
        """Dequantised weight (int8, one scale per output channel) and bias (int32)."""
        weight_scale = (np.abs(weight).reshape(len(weight), -1).max(axis=1) / 127).astype(np.float32)
        steps = weight_scale.reshape(-1, *[1] * (weight.ndim - 1))
        bias_scale = weight_scale * np.float32(scale)
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
        inputs = [source.name, *self._ends(out, source.scale, source.zero_point)]
        self.nodes.append(helper.make_node("DequantizeLinear", inputs, [out], name=f"n_{out}"))
        return out

    def _ends(self, name: str, scale: float, zero_point: int) -> tuple[str, str]:
        return self._const(f"{name}_s", np.float32(scale)), self._const(f"{name}_z", np.int8(zero_point))

    def _finish(self, label: str, shape: tuple[int, int, int], power: float, relu: str) -> Activation:
        reach = REACH * np.sqrt(power)
        if relu == "relu6":
            ends = [self._const(f"{label}_{end}", np.float32(end)) for end in (0, SIX)]
            self._append("Clip", [label, *ends], f"{label}_clip")
            return self._quantize(f"{label}_clip", shape, Activation("", shape, SIX / 255, -128, power / 2))
        if relu:
            self._append("Relu", [label], f"{label}_relu")
            return self._quantize(f"{label}_relu", shape, Activation("", shape, reach / 255, -128, power / 2))
        return self._quantize(label, shape, Activation("", shape, reach / 127, 0, power))

    def _quantize(self, tensor: str, shape: tuple[int, int, int], like: Activation) -> Activation:
        """The tensor in int8 with the scale of another one."""
        out = f"{tensor}_q"
        inputs = [tensor, *self._ends(out, like.scale, like.zero_point)]
        self.nodes.append(helper.make_node("QuantizeLinear", inputs, [out], name=f"n_{out}"))
        return Activation(out, shape, like.scale, like.zero_point, like.power)


def mobilenet_v2(path: Path, size: int = 224, classes: int = 1000, seed: int = 2018, stages: int = 7) -> Path:
    """MobileNetV2 1.0 (Sandler et al., 2018): 3.5 M parameters, 0.30 G multiply-accumulates at 224. Fewer ``stages``
    leave out the deepest ones."""
    builder = NetworkBuilder(seed, (3, size, size))
    x = builder.conv(builder.input, 32, 3, 2, relu="relu6")
    blocks = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for factor, channels, repeats, first_stride in blocks[:stages]:
        for number in range(repeats):
            stride = 1 if number else first_stride
            inner = x if factor == 1 else builder.conv(x, factor * x.shape[0], 1, relu="relu6")
            inner = builder.conv(inner, inner.shape[0], 3, stride, inner.shape[0], relu="relu6")
            inner = builder.conv(inner, channels, 1, relu="")
            x = builder.add(inner, x) if number else inner
    last = builder.conv(x, 1280, 1, relu="relu6") if stages == len(blocks) else x
    return builder.save(path, builder.classify(last, classes))


def resnet50(path: Path, size: int = 224, classes: int = 1000, seed: int = 2015, width: int = 64) -> Path:
    """ResNet-50 (He et al., 2015) with the stride in the 3x3 convolution: 25.5 M parameters, 4.1 G at 224, if it begins
    with ``width`` 64."""
    builder = NetworkBuilder(seed, (3, size, size))
    x = builder.max_pool(builder.conv(builder.input, width, 7, 2), 3, 2)
    for stage, repeats in enumerate((3, 4, 6, 3)):
        inside = width << stage
        for number in range(repeats):
            stride = 2 if stage and not number else 1
            inner = builder.conv(builder.conv(x, inside, 1), inside, 3, stride)
            inner = builder.conv(inner, 4 * inside, 1, relu="")
            shortcut = x if number else builder.conv(x, 4 * inside, 1, stride, relu="")
            x = builder.add(inner, shortcut, relu="relu")
    return builder.save(path, builder.classify(x, classes))


def unet(path: Path, size: int = 256, width: int = 16, levels: int = 4, seed: int = 2016) -> Path:
    """U-Net (Ronneberger et al., 2015) with padding, ``width`` channels at full size and nearest-pixel upsampling."""
    builder = NetworkBuilder(seed, (3, size, size))
    x, skips = builder.input, []
    for level in range(levels):
        x = builder.conv(builder.conv(x, width << level, 3), width << level, 3)
        skips.append(x)
        x = builder.max_pool(x, 2, 2)
    x = builder.conv(builder.conv(x, width << levels, 3), width << levels, 3)
    for level in reversed(range(levels)):
        x = builder.conv(builder.upsample(x), width << level, 3)
        x = builder.concat(skips[level], x)
        x = builder.conv(builder.conv(x, width << level, 3), width << level, 3)
    return builder.save(path, builder.conv(x, 2, 1, relu=""))


NETWORKS: dict[str, Callable[[Path], Path]] = {"mobilenet_v2": mobilenet_v2, "resnet50": resnet50, "unet": unet}


def main() -> None:
    """Write all networks to a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, write in NETWORKS.items():
        print(write(folder / f"{name}.onnx"))


if __name__ == "__main__":
    main()
