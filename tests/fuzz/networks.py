"""Small networks of several kinds as seeds: quantised ones in both forms, a transformer, recurrent layers, a detector,
weights in a file."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
Array = np.ndarray


class _Network:
    """Builds a graph from nodes; constants come from one seed."""

    def __init__(self, seed: int, opset: int = 21) -> None:
        self.random, self.opset = np.random.default_rng(seed), opset
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, values: object, dtype: str = "float32") -> str:
        """The name of a new constant."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values).astype(dtype), name))
        return name

    def weights(self, *shape: int) -> str:
        """Normally distributed numbers."""
        return self.constant(self.random.normal(size=shape) / 2)

    def bytes(self, *shape: int, dtype: str = "int8") -> str:
        """Numbers of a byte."""
        info = np.iinfo(dtype)
        return self.constant(self.random.integers(max(info.min, -127), info.max, shape, endpoint=True), dtype)

    def node(self, op: str, *inputs: str, domain: str = "", outputs: int = 1, **attributes: object) -> str:
        """Add a node; the name of its first result (the others end with _1, ...)."""
        name = f"n{len(self.nodes)}"
        names = [name, *(f"{name}_{i}" for i in range(1, outputs))]
        self.nodes.append(helper.make_node(op, list(inputs), names, f"{op}_{name}", domain=domain, **attributes))
        return name

    def scale(self, value: float, zero: int = 0, dtype: str = "int8") -> tuple[str, str]:
        """A scale and a zero point."""
        return self.constant(value), self.constant(zero, dtype)

    def quantised(self, x: str, value: float, zero: int = 0, dtype: str = "int8") -> str:
        """Quantise and dequantise a tensor."""
        ends = self.scale(value, zero, dtype)
        return self.node("DequantizeLinear", self.node("QuantizeLinear", x, *ends), *ends)

    def weight(self, *shape: int, axis: int = 0) -> str:
        """Weights of a byte, with a scale for each channel."""
        scales = self.constant(self.random.uniform(0.01, 0.02, shape[axis]))
        zeros = self.constant(np.zeros(shape[axis]), "int8")
        return self.node("DequantizeLinear", self.bytes(*shape), scales, zeros, axis=axis)

    def model(
        self, inputs: dict[str, tuple[int, tuple[int, ...]]], y: str, kind: int, shape: tuple[int, ...]
    ) -> onnx.ModelProto:
        """The finished model."""
        given = [helper.make_tensor_value_info(name, *value) for name, value in inputs.items()]
        result = [helper.make_tensor_value_info(y, kind, shape)]
        graph = helper.make_graph(self.nodes, "network", given, result, self.constants)
        domains = {"": self.opset, **{node.domain: 1 for node in self.nodes if node.domain}}
        return helper.make_model(graph, opset_imports=[helper.make_opsetid(*d) for d in domains.items()], ir_version=10)


def _residual() -> onnx.ModelProto:
    """Quantised convolutions, one of them depthwise, around an addition, a mean and a dense layer."""
    w = _Network(11)
    x = w.quantised("x", 0.05, 3)
    first = w.quantised(w.node("Relu", w.node("Conv", x, w.weight(4, 2, 3, 3), pads=[1] * 4)), 0.04, -128)
    deep = w.quantised(w.node("Conv", first, w.weight(4, 1, 3, 3), pads=[1] * 4, group=4), 0.06)
    added = w.quantised(w.node("Add", first, deep), 0.08, -20)
    pooled = w.quantised(w.node("GlobalAveragePool", added), 0.05, -20)
    flat = w.node("Reshape", pooled, w.constant([1, 4], "int64"))
    dense = w.node("Gemm", flat, w.weight(3, 4), w.weights(3), transB=1)
    return w.model({"x": (TensorProto.FLOAT, (1, 2, 6, 6))}, w.quantised(dense, 0.1), TensorProto.FLOAT, (1, 3))


def _operators() -> onnx.ModelProto:
    """Quantised operators with scales as inputs (QOperator)."""
    w = _Network(12, 17)
    ends, middle, last = (w.scale(*pair, dtype="uint8") for pair in ((0.05, 120), (0.06, 0), (0.1, 99)))
    weights = (w.bytes(4, 2, 3, 3), *w.scale(0.01))
    bias = w.constant(w.random.integers(-500, 500, 4), "int32")
    conv = w.node("QLinearConv", "x", *ends, *weights, *middle, bias, pads=[1] * 4, strides=[2, 2])
    added = w.node("QLinearAdd", conv, *middle, conv, *middle, *middle, domain=MICROSOFT)
    mean = w.node("QLinearGlobalAveragePool", added, *middle, *middle, domain=MICROSOFT, channels_last=0)
    flat = w.node("Flatten", mean)
    dense = w.node("QLinearMatMul", flat, *middle, w.bytes(4, 3), *w.scale(0.02), *last)
    return w.model({"x": (TensorProto.UINT8, (1, 2, 6, 6))}, dense, TensorProto.UINT8, (1, 3))


def _integers() -> onnx.ModelProto:
    """Integer products of a dynamically quantised input."""
    w = _Network(13)
    x = w.node("DynamicQuantizeLinear", "x", outputs=3)
    product = w.node("MatMulInteger", x, w.bytes(6, 4), f"{x}_2", w.constant(0, "int8"))
    real = w.node("Mul", w.node("Cast", product, to=TensorProto.FLOAT), w.node("Mul", f"{x}_1", w.constant(0.02)))
    return w.model({"x": (TensorProto.FLOAT, (3, 6))}, real, TensorProto.FLOAT, (3, 4))


def _transformer() -> onnx.ModelProto:
    """A block with two heads."""
    w, steps, width = _Network(14), 4, 8
    x = w.node("LayerNormalization", "x", w.weights(width), w.weights(width), axis=-1)
    heads = []
    for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
        product = w.node("Add", w.node("MatMul", x, w.weights(width, width)), w.weights(width))
        split = w.node("Reshape", product, w.constant([1, steps, 2, width // 2], "int64"))
        heads.append(w.node("Transpose", split, perm=order))
    scores = w.node("Mul", w.node("MatMul", heads[0], heads[1]), w.constant(0.5))
    mixed = w.node("MatMul", w.node("Softmax", scores, axis=-1), heads[2])
    joined = w.node("Reshape", w.node("Transpose", mixed, perm=[0, 2, 1, 3]), w.constant([1, steps, width], "int64"))
    after = w.node("Add", w.node("MatMul", joined, w.weights(width, width)), "x")
    normal = w.node("RMSNormalization" if w.opset > 22 else "LayerNormalization", after, w.weights(width), axis=-1)
    inner = w.node("Gelu", w.node("MatMul", normal, w.weights(width, 16)), approximate="tanh")
    y = w.node("Add", w.node("MatMul", inner, w.weights(16, width)), after)
    return w.model({"x": (TensorProto.FLOAT, (1, steps, width))}, y, TensorProto.FLOAT, (1, steps, width))


def _quantised_attention() -> onnx.ModelProto:
    """Products of activations and a softmax in 8 bits."""
    w = _Network(15)
    x = w.quantised("x", 0.03)
    q, k, v = (w.quantised(w.node("MatMul", x, w.weight(8, 8, axis=1)), 0.02) for _ in range(3))
    scores = w.quantised(w.node("MatMul", q, w.node("Transpose", k, perm=[0, 2, 1])), 0.01)
    weights = w.quantised(w.node("Softmax", scores, axis=-1), 1 / 255, -128)
    y = w.quantised(w.node("MatMul", weights, v), 0.02)
    return w.model({"x": (TensorProto.FLOAT, (1, 4, 8))}, y, TensorProto.FLOAT, (1, 4, 8))


def _layers() -> onnx.ModelProto:
    """A GRU in both directions, an LSTM with lengths and peepholes, an RNN."""
    w = _Network(16)
    gru = w.node(
        *("GRU", "x", w.weights(2, 9, 2), w.weights(2, 9, 3), w.weights(2, 18)),
        **{"hidden_size": 3, "direction": "bidirectional", "linear_before_reset": 1},
    )
    both = w.node("Reshape", w.node("Transpose", gru, perm=[0, 2, 1, 3]), w.constant([4, 1, 6], "int64"))
    lstm = w.node(
        *("LSTM", both, w.weights(1, 8, 6), w.weights(1, 8, 2), w.weights(1, 16), w.constant([3], "int32")),
        *("", "", w.weights(1, 6)),
        **{"hidden_size": 2, "direction": "reverse", "outputs": 3},
    )
    rnn = w.node(
        *("RNN", w.node("Squeeze", lstm, w.constant([1], "int64")), w.weights(1, 3, 2), w.weights(1, 3, 3)),
        **{"hidden_size": 3, "activations": ["Relu"], "outputs": 2},
    )
    return w.model({"x": (TensorProto.FLOAT, (4, 1, 2))}, f"{rnn}_1", TensorProto.FLOAT, (1, 1, 3))


def _detector() -> onnx.ModelProto:
    """Upsampling, concatenation, the best of several scores and their places."""
    w = _Network(17)
    small = w.node("AveragePool", "x", kernel_shape=[2, 2], strides=[2, 2])
    large = w.node("Resize", small, "", w.constant([1, 1, 2, 2]), mode="linear")
    both = w.node("Concat", w.node("LeakyRelu", "x", alpha=0.1), large, axis=1)
    up = w.node("ConvTranspose", both, w.weights(4, 2, 2, 2), strides=[2, 2])
    scores = w.node("Reshape", w.node("Sigmoid", up), w.constant([1, -1], "int64"))
    best = w.node("TopK", scores, w.constant([5], "int64"), outputs=2)
    picked = w.node("GatherElements", scores, f"{best}_1", axis=1)
    y = w.node("Where", w.node("Greater", best, w.constant(0.5)), picked, w.node("Clip", best, "", w.constant(0.4)))
    return w.model({"x": (TensorProto.FLOAT, (1, 2, 4, 4))}, y, TensorProto.FLOAT, (1, 5))


def _outside() -> onnx.ModelProto:
    """Weights in ``w.bin``, which lies beside every case."""
    w = _Network(18)
    inner = w.node("Relu", w.node("Conv", "x", w.weights(3, 2, 3, 3), pads=[1] * 4))
    model = w.model(
        *({"x": (TensorProto.FLOAT, (1, 2, 4, 4))}, w.node("Mul", inner, w.weights(1, 3, 4, 4))),
        *(TensorProto.FLOAT, (1, 3, 4, 4)),
    )
    for place, tensor in enumerate(model.graph.initializer):
        tensor.data_location = TensorProto.EXTERNAL
        size = len(tensor.raw_data)
        tensor.ClearField("raw_data")
        for key, value in {"location": "w.bin", "offset": str(4096 * place), "length": str(size)}.items():
            tensor.external_data.add(key=key, value=value)
    return model


NETWORKS: dict[str, Callable[[], onnx.ModelProto]] = {
    "residual": _residual,
    "operators": _operators,
    "integers": _integers,
    "transformer": _transformer,
    "quantised attention": _quantised_attention,
    "layers": _layers,
    "detector": _detector,
    "outside": _outside,
}
