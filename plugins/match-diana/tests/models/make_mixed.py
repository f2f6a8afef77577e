"""Make the mixed-precision model: 8-bit layers for the digital array, ternary ones for the analog array, a host's rest.

    PYTHONPATH=. python plugins/match-diana/tests/models/make_mixed.py mixed.onnx

Weights are drawn with a fixed seed, normalised and calibrated on seeded samples, so the network computes something but
recognises nothing. An 8-bit stem brings a picture to 64 channels; a residual block and three layers have ternary
weights, one of them with more input channels than the array's rows hold; then mean, dense layer and softmax.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.end_to_end.residual import Activation, CalibratedBuilder, Floats

SEED = 6
INPUT_SHAPE = (3, 32, 32)
CLASSES = 10
#: Weights nearer to 0 than this, in standard deviations, become 0: about half of them.
THRESHOLD = 0.67


class MixedBuilder(CalibratedBuilder):
    """Also builds layers whose weights are -a, 0 or a, with one ``a`` for each output channel."""

    def __init__(self, seed: int, shape: tuple[int, int, int]) -> None:
        super().__init__(seed, shape)
        self._ternary = False

    def ternary(self, source: Activation, channels: int, stride: int = 1, relu: bool = True) -> Activation:
        """A 3x3 convolution with ternary weights, normalised like the others."""
        self._ternary = True
        result = self.conv(source, channels, 3, stride, relu)
        self._ternary = False
        return result

    def plain_add(self, left: Activation, right: Activation) -> Activation:
        """A sum without ReLU."""
        label = f"add{len(self.nodes)}"
        self._append("Add", [self._dequantize(left), self._dequantize(right)], label)
        return self._finish(label, left.values + right.values, relu=False)

    def save_classifier(self, path: Path, logits: Activation) -> Path:
        """Softmax behind the logits, and the model's file."""
        self._append("Softmax", [self._dequantize(logits)], "probabilities", axis=1)
        inputs = [helper.make_tensor_value_info("input", TensorProto.INT8, [1, *self.shape])]
        outputs = [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, logits.values.shape[1]])]
        graph = helper.make_graph(self.nodes, path.stem, inputs, outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)
        return path

    def _normal(self, shape: tuple[int, ...]) -> Floats:
        values = super()._normal(shape)
        return np.sign(values) * (np.abs(values) > THRESHOLD) if self._ternary else values


def mixed(path: Path, seed: int = SEED) -> Path:
    """Write the model and return its path."""
    builder = MixedBuilder(seed, INPUT_SHAPE)
    x = builder.conv(builder.input, 16, 3, relu=True)
    x = builder.conv(x, 64, 3, stride=2, relu=True)
    inner = builder.ternary(x, 64)
    x = builder.plain_add(builder.ternary(inner, 64, relu=False), x)
    x = builder.ternary(x, 96, stride=2)
    x = builder.ternary(x, 144)
    x = builder.ternary(x, 64)
    return builder.save_classifier(path, builder.classify(x, CLASSES))


def main() -> None:
    """Write the model to the path given."""
    parser = argparse.ArgumentParser(description="Make the mixed-precision model.")
    parser.add_argument("path", type=Path)
    mixed(parser.parse_args().path)


if __name__ == "__main__":
    main()
