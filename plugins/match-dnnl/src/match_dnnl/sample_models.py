"""Small float networks for the conformance cases: convolutions with a residual, and attention with a host operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from match_kit.testing import SampleModel

if TYPE_CHECKING:
    import onnx


class Writer:
    """Nodes with seeded weights."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def node(self, op: str, inputs: list[str], **attributes: Any) -> str:
        """A node; the name of its result."""
        from onnx import helper

        name = f"t{len(self._nodes)}"
        self._nodes.append(helper.make_node(op, inputs, [name], name=f"{op}_{name}", **attributes))
        return name

    def weights(self, *shape: int) -> str:
        """A constant with values of about the size that keeps variances."""
        from onnx import numpy_helper

        name, fan = f"w{len(self._constants)}", max(1, int(np.prod(shape[1:])))
        values = self._random.normal(0, fan**-0.5, shape).astype(np.float32)
        self._constants.append(numpy_helper.from_array(values, name))
        return name

    def constant(self, values: object) -> str:
        """A constant of integers."""
        from onnx import numpy_helper

        name = f"w{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(values, np.int64), name))
        return name

    def model(
        self, name: str, sources: Mapping[str, tuple[int, ...]], result: tuple[int, ...], last: str
    ) -> onnx.ModelProto:
        """The network with these inputs and one output."""
        import onnx
        from onnx import TensorProto, helper

        ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (*sources.items(), (last, result))]
        graph = helper.make_graph(self._nodes, name, ends[:-1], ends[-1:], self._constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        onnx.checker.check_model(made, full_check=True)
        return made


def _image() -> onnx.ModelProto:
    """Convolutions, plain, depthwise and grouped, with a residual addition, pooling and a dense layer."""
    w = Writer()
    first = w.node("Relu", [w.node("Conv", ["x", w.weights(24, 3, 3, 3), w.weights(24)], pads=[1] * 4)])
    depth = w.node("Conv", [first, w.weights(24, 1, 3, 3), w.weights(24)], pads=[1] * 4, group=24)
    clipped = w.node("HardSwish", [depth])
    grouped = w.node("Conv", [clipped, w.weights(24, 8, 1, 1)], group=3)
    added = w.node("Relu", [w.node("Add", [grouped, first])])
    pooled = w.node("MaxPool", [added], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    mean = w.node("Flatten", [w.node("GlobalAveragePool", [pooled])])
    last = w.node("Softmax", [w.node("Gemm", [mean, w.weights(10, 24), w.weights(10)], transB=1)])
    return w.model("image", {"x": (1, 3, 24, 24)}, (1, 10), last)


def _lines() -> onnx.ModelProto:
    """Attention over 16 lines of 32 values; an operator that oneDNN does not have cuts the network in two regions."""
    w = Writer()
    wide, size = [16, 4, 8], (32, 32)
    parts = [w.node("MatMul", ["x", w.weights(*size)]) for _ in range(3)]
    shape = w.constant(wide)
    query, key, value = (w.node("Reshape", [part, shape]) for part in parts)
    query, value = (w.node("Transpose", [part], perm=[1, 0, 2]) for part in (query, value))
    scores = w.node("MatMul", [query, w.node("Transpose", [key], perm=[1, 2, 0])])
    mixed = w.node("MatMul", [w.node("Softmax", [scores], axis=-1), value])
    joined = w.node("Reshape", [w.node("Transpose", [mixed], perm=[1, 0, 2]), w.constant([16, 32])])
    added = w.node("Add", [w.node("MatMul", [joined, w.weights(*size)]), "x"])
    normal = w.node("LayerNormalization", [added, w.weights(32), w.weights(32)], axis=-1)
    summed = w.node("CumSum", [normal, w.constant(0)])
    hidden = w.node("Gelu", [w.node("Add", [w.node("MatMul", [summed, w.weights(32, 128)]), w.weights(128)])])
    last = w.node("MatMul", [hidden, w.weights(128, 32)])
    return w.model("lines", {"x": (16, 32)}, (16, 32), last)


SAMPLES = (SampleModel("image", _image), SampleModel("lines", _lines))
