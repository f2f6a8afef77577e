"""A small float network for images: convolution, batch normalisation, ReLU, pooling, dense."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def float_convolution(
    path: Path, side: int = 4, batch: int | str = 1, classes: int = 5, *, spread: float = 1.0
) -> Path:
    """NCHW, 3 channels, opset 11, seeded. ``spread``: how much larger the first channel of the convolution is."""
    rng = np.random.default_rng(3)
    gains = np.ones(8)
    gains[0] = spread
    constants = {
        "w": rng.standard_normal((8, 3, 3, 3)) * 0.3,
        "scale": rng.uniform(0.5, 2, 8) * gains,
        "bias": rng.standard_normal(8) * gains,
        "mean": rng.standard_normal(8) * 0.1,
        "var": rng.uniform(0.5, 2, 8),
        "d": rng.standard_normal((8, classes)) / gains[:, None],
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c", "scale", "bias", "mean", "var"], ["n"], name="norm"),
        helper.make_node("Relu", ["n"], ["r"], name="relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["p"], name="pool"),
        helper.make_node("Flatten", ["p"], ["f"], name="flat"),
        helper.make_node("Gemm", ["f", "d"], ["y"], name="dense"),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (batch, 3, side, side))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (batch, classes))],
        [numpy_helper.from_array(values.astype(np.float32), name) for name, values in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=7), str(path))
    return path
