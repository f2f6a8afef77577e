"""A small residual network in float16 with weights from a fixed seed: a few milliseconds on an emulated hart, work for
both clusters, and a last node for the host. ``python -m tests.qemu.small_model M.onnx X.npz`` writes it and two
samples."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from match_report.npz import write_arrays
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

CHANNELS, SIZE, CLASSES = 16, 12, 10
INPUT_SHAPE = (1, 8, SIZE, SIZE)


def _values(random: np.random.Generator, *shape: int) -> NDArray[np.float16]:
    fan_in = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
    return np.asarray(random.standard_normal(shape) * fan_in**-0.5, np.float16)


def small_model(path: Path, middle: int = CHANNELS) -> Path:
    """Three convolutions with a sum around two of them, a mean over all pixels, a dense layer, absolute values. With
    other channels in the ``middle`` there is a fourth convolution, while the sum's other operand only waits."""
    random = np.random.default_rng(4)
    constants = {
        "w1": _values(random, CHANNELS, INPUT_SHAPE[1], 3, 3),
        "w2": _values(random, middle, CHANNELS, 3, 3),
        "w3": _values(random, CHANNELS, middle, 3, 3),
        "w4": _values(random, CHANNELS, CLASSES),
    }
    inner = []
    if middle != CHANNELS:
        constants["w5"] = _values(random, middle, middle, 3, 3)
        inner = [helper.make_node("Conv", ["r2", "w5"], ["c5"], name="inner", kernel_shape=[3, 3], pads=[1] * 4)]
    same: dict[str, Any] = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["c1"], name="first", **same),
        helper.make_node("Relu", ["c1"], ["r1"], name="first_relu"),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], name="second", **same),
        helper.make_node("Relu", ["c2"], ["r2"], name="second_relu"),
        *inner,
        helper.make_node("Conv", ["c5" if inner else "r2", "w3"], ["c3"], name="third", **same),
        helper.make_node("Add", ["c3", "r1"], ["sum"], name="sum"),
        helper.make_node("GlobalAveragePool", ["sum"], ["mean"], name="mean"),
        helper.make_node("Flatten", ["mean"], ["flat"], name="flat"),
        helper.make_node("MatMul", ["flat", "w4"], ["scores"], name="dense"),
        helper.make_node("Abs", ["scores"], ["y"], name="sizes"),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT16, INPUT_SHAPE)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT16, [1, CLASSES])],
        [numpy_helper.from_array(values, name) for name, values in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
    return path


def small_inputs(samples: int) -> dict[str, NDArray[np.float16]]:
    """Samples from a fixed seed, by graph input name."""
    values = np.random.default_rng(5).standard_normal((samples, *INPUT_SHAPE))
    return {"x": values.astype(np.float16)}


if __name__ == "__main__":
    small_model(Path(sys.argv[1]))
    write_arrays(Path(sys.argv[2]), small_inputs(2))
