"""Small float networks as exporters of PyTorch write them: a batch axis named ``batch``, opset 17, seeded weights."""

from __future__ import annotations

import sys

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

SIDE = 16


def exported_network(seed: int = 7, channels: int = 16, classes: int = 10) -> onnx.ModelProto:
    """Two convolutions with ReLU, global average pooling, a linear layer: image [batch, 3, 16, 16] -> scores."""
    random = np.random.default_rng(seed)

    def weights(name: str, *shape: int) -> onnx.TensorProto:
        scale = np.sqrt(2 / np.prod(shape[1:]))
        return numpy_helper.from_array((random.standard_normal(shape) * scale).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["image", "w1", "b1"], ["c1"], name="/conv1/Conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"], name="/relu1/Relu"),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], name="/conv2/Conv", pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["c2"], ["r2"], name="/relu2/Relu"),
        helper.make_node("GlobalAveragePool", ["r2"], ["p"], name="/pool/GlobalAveragePool"),
        helper.make_node("Flatten", ["p"], ["f"], name="/flatten/Flatten"),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["scores"], name="/fc/Gemm", transB=1),
    ]
    constants = [
        weights("w1", channels, 3, 3, 3),
        weights("b1", channels),
        weights("w2", 2 * channels, channels, 3, 3),
        weights("b2", 2 * channels),
        weights("w3", classes, 2 * channels),
        weights("b3", classes),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, SIDE, SIDE])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", classes])],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def images(count: int, seed: int = 11) -> NDArray[np.float32]:
    """Random images with a sample axis: [count, 1, 3, 16, 16]."""
    return np.random.default_rng(seed).standard_normal((count, 1, 3, SIDE, SIDE)).astype(np.float32)


if __name__ == "__main__":
    onnx.save(exported_network(), sys.argv[1])
    np.savez(sys.argv[2], image=images(16))
