"""Makes the models of examples/study.toml: networks with the shapes of MLPerf Tiny and random int8 weights from fixed
seeds. Cycles and memory depend on shapes, not on weights. If the trained networks are on this machine, they are linked.

    PYTHONPATH=. python examples/study_models.py build/study-models
"""

from __future__ import annotations

import sys
from pathlib import Path

from onnx import helper

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


def main(folder: Path, *, shared: bool = True) -> None:
    """Write or link the four models."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, maker in MAKERS.items():
        trained, made = SHARED / f"mlperf_{name}_int8_qdq" / "model.onnx", folder / f"{name}.onnx"
        made.unlink(missing_ok=True)
        if shared and trained.is_file():
            made.symlink_to(trained)
        else:
            maker().save(made)


if __name__ == "__main__":
    main(Path(sys.argv[1]), shared="--own" not in sys.argv)
