"""Makes the models of examples/study.toml and benchmarks/studies: networks with the shapes of MLPerf Tiny and random
int8 weights from fixed seeds; in the folder half, a residual block and the autoencoder in float16. Cycles and memory
depend on shapes, not on weights. If the networks that the papers use are on this machine, they are linked instead.

    PYTHONPATH=. python examples/study_models.py build/study-models
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper, save

from tests.end_to_end.models import QdqBuilder

SHARED = Path(__file__).resolve().parents[2] / "shared" / "models"


class Network(QdqBuilder):
    """Layers that the small networks of the tests do not have."""

    def average(self) -> Network:
        """The mean of each channel."""
        x = self._dequantize(self.current, self.scale, self.zero_point)
        label = f"mean{self.count}"
        self.nodes.append(helper.make_node("GlobalAveragePool", [x], [label], name=label))
        self.shape = [*self.shape[:2], 1, 1]
        self._quantize(label, self.scale, self.zero_point)
        return self

    def add(self, other: tuple[str, float, int]) -> Network:
        """The sum with an earlier tensor (name, scale, zero point) and a ReLU."""
        parts = [self._dequantize(self.current, self.scale, self.zero_point), self._dequantize(*other)]
        label = f"add{self.count}"
        self.nodes.append(helper.make_node("Add", parts, [label], name=label))
        self.nodes.append(helper.make_node("Relu", [label], [f"{label}_relu"], name=f"{label}_relu"))
        self._quantize(f"{label}_relu", self.scale + other[1], -128)
        return self

    @property
    def here(self) -> tuple[str, float, int]:
        """The current tensor, for ``add``."""
        return self.current, self.scale, self.zero_point


def resnet8() -> Network:
    """Image classification: 32x32 pixels, three residual stages, 10 classes."""
    net = Network(1, 3, 32, 32)
    net.conv(16, 3)
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        before, shape = net.here, [*net.shape]
        net.conv(channels, 3, stride).conv(channels, 3, relu=False)
        main, after = net.here, [*net.shape]
        if stride == 2:
            (net.current, net.scale, net.zero_point), net.shape = before, shape
            net.conv(channels, 1, 2, relu=False, pad=0)
            before = net.here
        (net.current, net.scale, net.zero_point), net.shape = main, after
        net.add(before)
    net.average().conv(10, 1, relu=False)
    return net


def dscnn() -> Network:
    """Keyword spotting: 49x10 features, four depthwise separable blocks, 12 classes."""
    net = Network(2, 1, 49, 10)
    net.conv(64, 5, 2)
    for _ in range(4):
        net.conv(64, 3, group=64).conv(64, 1)
    net.average().conv(12, 1, relu=False)
    return net


def mobilenetv1_025() -> Network:
    """Visual wake words: 96x96 pixels, thirteen depthwise separable blocks, 2 classes."""
    net = Network(3, 3, 96, 96)
    net.conv(8, 3, 2)
    for channels, stride in (
        (16, 1),
        (32, 2),
        (32, 1),
        (64, 2),
        (64, 1),
        (128, 2),
        *((128, 1),) * 5,
        (256, 2),
        (256, 1),
    ):
        net.conv(net.shape[1], 3, stride, group=net.shape[1]).conv(channels, 1)
    net.average().conv(2, 1, relu=False)
    return net


def autoencoder() -> Network:
    """Anomaly detection: dense layers 640, 128 (four times), 8, 128 (four times), 640, as convolutions of one pixel."""
    net = Network(4, 640, 1, 1)
    for channels in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        net.conv(channels, 1)
    net.conv(640, 1, relu=False)
    return net


MAKERS = {"resnet8": resnet8, "dscnn": dscnn, "mobilenetv1_025": mobilenetv1_025, "autoencoder": autoencoder}


class HalfNetwork:
    """Layers of float16, each with a ReLU; ``shape`` of the current tensor."""

    def __init__(self, seed: int, *shape: int) -> None:
        self.rng, self.input, self.shape = np.random.default_rng(seed), list(shape), list(shape)
        self.nodes, self.constants, self.current = [], [], "x"

    def layer(self, kind: str, *weights: int, **attributes: list[int]) -> HalfNetwork:
        """A Conv with weights (outputs, inputs, height, width), or a Gemm with weights (inputs, outputs)."""
        spread = (1 / np.prod(weights[1:] if kind == "Conv" else weights[:1])) ** 0.5
        name = f"{kind.lower()}{len(self.nodes)}"
        values = (self.rng.standard_normal(weights) * spread).astype(np.float16)
        self.constants.append(numpy_helper.from_array(values, f"{name}_weight"))
        self.nodes.append(helper.make_node(kind, [self.current, f"{name}_weight"], [name], name=name, **attributes))
        self.shape = [1, weights[0], *self.shape[2:]] if kind == "Conv" else [1, weights[1]]
        return self._relu(name)

    def add(self, other: str) -> HalfNetwork:
        """The sum with an earlier tensor."""
        name = f"add{len(self.nodes)}"
        self.nodes.append(helper.make_node("Add", [self.current, other], [name], name=name))
        return self._relu(name)

    def model(self) -> ModelProto:
        """The network."""
        ends = [
            [helper.make_tensor_value_info(name, TensorProto.FLOAT16, shape)]
            for name, shape in (("x", self.input), (self.current, self.shape))
        ]
        graph = helper.make_graph(self.nodes, "half", *ends, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def _relu(self, name: str) -> HalfNetwork:
        self.nodes.append(helper.make_node("Relu", [name], [f"{name}_relu"], name=f"{name}_relu"))
        self.current = f"{name}_relu"
        return self


def resnet_block_half() -> ModelProto:
    """Two 3x3 convolutions of 64 channels and a shortcut."""
    net = HalfNetwork(5, 1, 64, 16, 16)
    for _ in range(2):
        net.layer("Conv", 64, 64, 3, 3, pads=[1, 1, 1, 1])
    return net.add("x").model()


def autoencoder_half() -> ModelProto:
    """The dense layers of anomaly detection."""
    net, sizes = HalfNetwork(6, 1, 640), (640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640)
    for inputs, outputs in pairwise(sizes):
        net.layer("Gemm", inputs, outputs)
    return net.model()


HALF = {"resnet_block": resnet_block_half, "autoencoder": autoencoder_half}


def main(folder: Path, *, shared: bool = True) -> None:
    """Write or link the models."""
    half = folder / "half"
    half.mkdir(parents=True, exist_ok=True)
    for made in (*folder.glob("*.onnx"), *half.glob("*.onnx")):
        made.unlink()
    trained = {folder / f"{name}.onnx": SHARED / f"mlperf_{name}_int8_qdq" / "model.onnx" for name in MAKERS}
    published = sorted(SHARED.glob("matcha_*_f16/model.onnx"))
    trained |= {half / f"{path.parent.name}.onnx": path for path in published}
    for made, path in trained.items():
        if shared and path.is_file():
            made.symlink_to(path)
    for name, maker in MAKERS.items():
        if not (folder / f"{name}.onnx").is_symlink():
            maker().save(folder / f"{name}.onnx")
    if not any(half.iterdir()):
        for name, make in HALF.items():
            save(make(), half / f"{name}.onnx")


if __name__ == "__main__":
    main(Path(sys.argv[1]), shared="--own" not in sys.argv)
