"""Small quantised networks with any scales."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
from diana_pass_models import Network, Scale, random_int8, results
from match_core import Model
from match_core.ir.reader import constant

ASYMMETRIC, RELU, RESULT = Scale(0.021, 17), Scale(0.034, -128), Scale(0.9, -21)


def dense(seed: int = 1, x: Scale = ASYMMETRIC, y: Scale = RESULT, inputs: int = 40, outputs: int = 24) -> Model:
    net = Network(seed)
    net.input("x", (1, inputs), x)
    scales = net.random.uniform(0.002, 0.02, outputs)
    bias = net.random.integers(-3000, 3000, outputs)
    return net.model(net.layer("Gemm", "x", "y", net.weights(outputs, inputs), scales, y, bias=bias))


def chain(clamp: str | None = "Relu", dtype: type[np.generic] = np.int8, zero: int = -128, pad: int = 1) -> Model:
    """Convolution, depthwise convolution with padding, pointwise convolution."""
    net = Network(2)
    net.input("x", (1, 3, 12, 12), Scale(0.02, -128))
    middle = Scale(0.03, zero, dtype)
    net.layer("Conv", "x", "a", net.weights(8, 3, 3, 3), 0.004, middle, clamp=clamp, pads=[1, 1, 1, 1])
    scales = net.random.uniform(0.005, 0.02, 8)
    net.layer("Conv", "a", "b", net.weights(8, 1, 3, 3), scales, middle, clamp=clamp, group=8, pads=[pad] * 4)
    net.layer("Conv", "b", "c", net.weights(6, 8, 1, 1), 0.01, Scale(0.05, 3))
    return net.model("c")


def residual() -> Model:
    """A block with a sum, as in the network for images."""
    net = Network(4)
    net.input("x", (1, 3, 8, 8), Scale(0.02, -128))
    net.layer("Conv", "x", "a", net.weights(8, 3, 3, 3), 0.004, RELU, clamp="Relu", pads=[1, 1, 1, 1])
    net.layer("Conv", "a", "b", net.weights(8, 8, 3, 3), 0.004, Scale(0.06, 5), pads=[1, 1, 1, 1])
    net.sum("a", "b", "s", Scale(0.05, -128), clamp="Relu")
    net.layer("Conv", "s", "y", net.weights(4, 8, 1, 1), 0.004, Scale(0.08, 9))
    return net.model("y")


def relative(model: Model, after: Model, seed: int = 3) -> float:
    """The root mean square of the difference, relative to that of the results."""
    shape = [int(size) for size in model.graph.inputs[0].shape]
    before, changed = (
        np.stack([results(each, x=random_int8(seed + i, *shape)) for i in range(4)]) for each in (model, after)
    )
    return float(np.sqrt(np.mean(np.square(before - changed))) / before.std())


def readers(model: Model) -> list[gs.Node]:
    """The nodes that make numbers of stored tensors."""
    return [node for node in model.graph.nodes if node.op == "DequantizeLinear" and constant(node.inputs[0]) is None]


def parameters(node: gs.Node) -> tuple[float, int]:
    """Scale and zero point."""
    scale, zero = (np.asarray(constant(tensor)) for tensor in node.inputs[1:3])
    return float(scale), int(zero)
