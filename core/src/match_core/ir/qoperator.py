"""QOperators (QLinearConv, QGemm, ...) written as DequantizeLinear -> float operator -> QuantizeLinear.

It has two uses: shape inference of operators that ONNX does not know (``com.microsoft``), and the transform of such
models to the form that integerisation reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx

MICROSOFT = "com.microsoft"
#: The supported operators of domain ``com.microsoft``.
CONTRIB_OPERATORS = frozenset(
    [
        *("QLinearAdd", "QLinearMul", "QGemm", "QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearSoftmax"),
        *("QLinearSigmoid", "QLinearLeakyRelu", "QLinearConcat", "QLinearReduceMean", "QLinearWhere"),
        *("QuantizeLinear", "DequantizeLinear"),
    ]
)


class Expansion:
    """The nodes and constants that replace one node."""

    def __init__(self, node: onnx.NodeProto, constants: Mapping[str, NDArray[np.generic]]) -> None:
        self.node = node
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._constants = constants

    def input(self, position: int) -> str:
        """Name of the input at that position, "" if there is none."""
        return self.node.input[position] if position < len(self.node.input) else ""

    def constant(self, name: str) -> NDArray[np.generic] | None:
        """Values of a constant tensor."""
        return self._constants.get(name)

    def attribute(self, name: str, default: object) -> object:
        """An attribute's value."""
        import onnx

        for attribute in self.node.attribute:
            if attribute.name == name:
                return onnx.helper.get_attribute_value(attribute)
        return default

    def forward(self, *skip: str) -> dict[str, object]:
        """All attributes except those in ``skip``."""
        import onnx

        return {a.name: onnx.helper.get_attribute_value(a) for a in self.node.attribute if a.name not in skip}

    def emit(self, op: str, inputs: list[str], suffix: str, **attributes: object) -> str:
        """A node of the default domain; returns its output's name."""
        import onnx

        name = f"{self.node.name or self.node.output[0]}_{suffix}"
        node = onnx.helper.make_node(op, inputs, [f"{name}_out"], name=name)
        node.attribute.extend(onnx.helper.make_attribute(key, value) for key, value in attributes.items())
        self.nodes.append(node)
        return f"{name}_out"

    def dequantize(self, x: int, scale: int, zero: int, suffix: str, axis: int | None = None) -> str:
        """DequantizeLinear of the inputs at these positions; ``axis`` if the scale is not a scalar."""
        inputs = [self.input(x), self.input(scale)] + ([self.input(zero)] if self.input(zero) else [])
        values = self.constant(self.input(scale))
        per_channel = axis is not None and values is not None and values.size > 1
        return self.emit("DequantizeLinear", inputs, suffix, **({"axis": axis} if per_channel else {}))

    def bias(self, values: int, scales: tuple[int, int], factor: float = 1.0) -> str | None:
        """DequantizeLinear of an int32 bias whose scale is the product of two constant scales."""
        import onnx

        first, second = (self.constant(self.input(scale)) for scale in scales)
        if first is None or second is None:
            return None
        product = (np.asarray(first, np.float64) * np.asarray(second, np.float64) * factor).astype(np.float32)
        name = f"{self.node.name or self.node.output[0]}_bias_scale"
        shaped = product.reshape(product.shape if product.size > 1 else ())
        self.initializers.append(onnx.numpy_helper.from_array(shaped, name))
        attributes = {"axis": 0} if product.size > 1 else {}
        return self.emit("DequantizeLinear", [self.input(values), name], "bias", **attributes)

    def add_integers(self, values: NDArray[np.int64], suffix: str) -> str:
        """A constant; returns its name."""
        import onnx

        name = f"{self.node.name or self.node.output[0]}_{suffix}"
        self.initializers.append(onnx.numpy_helper.from_array(values, name))
        return name

    def quantize(self, x: str, scale: int, zero: int) -> None:
        """QuantizeLinear into the node's own output, under the node's own name."""
        import onnx

        inputs = [x, self.input(scale)] + ([self.input(zero)] if self.input(zero) else [])
        name = f"{self.node.name}_quantize"
        self.nodes.append(onnx.helper.make_node("QuantizeLinear", inputs, [self.node.output[0]], name=name))


def expand(node: onnx.NodeProto, constants: Mapping[str, NDArray[np.generic]]) -> Expansion | None:
    """The replacement of a QOperator; None for other nodes and for unsupported forms (channels-last pooling, scales
    that are not constant but required for a bias)."""
    rules: dict[str, Callable[[Expansion], bool]] = {
        "::QLinearConv": _conv,
        "::QLinearMatMul": _matmul,
        f"{MICROSOFT}::QLinearAdd": lambda e: _binary(e, "Add"),
        f"{MICROSOFT}::QLinearMul": lambda e: _binary(e, "Mul"),
        f"{MICROSOFT}::QGemm": _gemm,
        f"{MICROSOFT}::QLinearAveragePool": lambda e: _pool(e, "AveragePool"),
        f"{MICROSOFT}::QLinearGlobalAveragePool": lambda e: _pool(e, "GlobalAveragePool"),
        f"{MICROSOFT}::QLinearSoftmax": _softmax,
        f"{MICROSOFT}::QLinearSigmoid": lambda e: _unary(e, "Sigmoid"),
        f"{MICROSOFT}::QLinearLeakyRelu": lambda e: _unary(e, "LeakyRelu"),
        f"{MICROSOFT}::QLinearConcat": _concat,
        f"{MICROSOFT}::QLinearReduceMean": _reduce_mean,
        f"{MICROSOFT}::QLinearWhere": _where,
        f"{MICROSOFT}::QuantizeLinear": _rename,
        f"{MICROSOFT}::DequantizeLinear": _rename,
    }
    domain = "" if node.domain == "ai.onnx" else node.domain
    rule = rules.get(f"{domain}::{node.op_type}")
    if rule is None:
        return None
    expansion = Expansion(node, constants)
    return expansion if rule(expansion) else None


def _conv(e: Expansion) -> bool:
    inputs = [e.dequantize(0, 1, 2, "x"), e.dequantize(3, 4, 5, "w", axis=0)]
    if e.input(8):
        bias = e.bias(8, (1, 4))
        if bias is None:
            return False
        inputs.append(bias)
    e.quantize(e.emit("Conv", inputs, "conv", **e.forward()), 6, 7)
    return True


def _matmul(e: Expansion) -> bool:
    b = e.constant(e.input(3))
    axis = b.ndim - 1 if b is not None else None
    inputs = [e.dequantize(0, 1, 2, "a"), e.dequantize(3, 4, 5, "b", axis=axis)]
    e.quantize(e.emit("MatMul", inputs, "matmul"), 6, 7)
    return True


def _gemm(e: Expansion) -> bool:
    transposed = bool(e.attribute("transB", 0))
    alpha = float(str(e.attribute("alpha", 1.0)))
    inputs = [e.dequantize(0, 1, 2, "a"), e.dequantize(3, 4, 5, "b", axis=0 if transposed else 1)]
    if e.input(6):
        bias = e.bias(6, (1, 4), alpha)
        if bias is None:
            return False
        inputs.append(bias)
    result = e.emit("Gemm", inputs, "gemm", **e.forward())
    if e.input(7):
        e.quantize(result, 7, 8)
    else:
        e.nodes[-1].output[0] = e.node.output[0]
    return True


def _binary(e: Expansion, op: str) -> bool:
    e.quantize(e.emit(op, [e.dequantize(0, 1, 2, "a"), e.dequantize(3, 4, 5, "b")], op.lower()), 6, 7)
    return True


def _pool(e: Expansion, op: str) -> bool:
    if e.attribute("channels_last", 0):
        return False
    e.quantize(e.emit(op, [e.dequantize(0, 1, 2, "x")], "pool", **e.forward("channels_last")), 3, 4)
    return True


def _unary(e: Expansion, op: str) -> bool:
    e.quantize(e.emit(op, [e.dequantize(0, 1, 2, "x")], op.lower(), **e.forward()), 3, 4)
    return True


def _softmax(e: Expansion) -> bool:
    axis = int(str(e.attribute("axis", -1)))
    if int(str(e.attribute("opset", 13))) < 13 and axis != -1:
        return False  # before opset 13 the axis split the tensor in two, which is the same only for the last axis
    e.quantize(e.emit("Softmax", [e.dequantize(0, 1, 2, "x")], "softmax", axis=axis), 3, 4)
    return True


def _concat(e: Expansion) -> bool:
    parts = range(2, len(e.node.input), 3)
    inputs = [e.dequantize(i, i + 1, i + 2, f"x{i // 3}") for i in parts]
    e.quantize(e.emit("Concat", inputs, "concat", **e.forward()), 0, 1)
    return True


def _reduce_mean(e: Expansion) -> bool:
    axes, keep = e.attribute("axes", None), int(str(e.attribute("keepdims", 1)))
    inputs = [e.dequantize(0, 1, 2, "x")]
    if axes is not None:
        inputs.append(e.add_integers(np.asarray(axes, np.int64), "axes"))
    e.quantize(e.emit("ReduceMean", inputs, "mean", keepdims=keep), 3, 4)
    return True


def _where(e: Expansion) -> bool:
    inputs = [e.input(0), e.dequantize(1, 2, 3, "x"), e.dequantize(4, 5, 6, "y")]
    e.quantize(e.emit("Where", inputs, "where"), 7, 8)
    return True


def _rename(e: Expansion) -> bool:
    import onnx

    node = onnx.NodeProto()
    node.CopyFrom(e.node)
    node.domain = ""
    e.nodes.append(node)
    return True
