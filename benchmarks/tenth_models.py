"""Small networks of kinds that microcontrollers run, for ``benchmarks.cortexm_layers``: its tenth set, listed (as the
ninth, until another one got that number) before any of their layers was counted.

All are made with a fixed seed, in float32, and quantised to 8 bits by ONNX Runtime's static quantiser.
"""

from __future__ import annotations

import numpy as np

from benchmarks.breadth_models import Graph
from benchmarks.small_models import Architectures, classified, in_both, linear, whole


def _swished(graph: Graph, x: str, ins: int, outs: int, taps: int, **attributes: object) -> str:
    """A convolution and HardSwish."""
    return graph.node("HardSwish", graph.conv(x, ins, outs, (taps, taps), relu=False, **attributes))


def _mobile(graph: Graph) -> str:
    """Wide windows, squeeze and excitation and hard functions, as MobileNetV3 has them."""
    x = _swished(graph, "x", 3, 10, 3, strides=[2, 2])
    y = _swished(graph, x, 10, 34, 1)
    y = _swished(graph, y, 34, 34, 5, group=34, strides=[2, 2])
    gate = graph.conv(graph.node("GlobalAveragePool", y), 34, 11, (1, 1))
    gate = graph.node("HardSigmoid", graph.conv(gate, 11, 34, (1, 1), relu=False), alpha=1 / 6)
    x = graph.conv(graph.node("Mul", y, gate), 34, 18, (1, 1), relu=False)
    return classified(graph, _swished(graph, x, 18, 50, 1), 50, 8)


def _fires(graph: Graph) -> str:
    """Few channels and two sizes of windows beside each other, as SqueezeNet has them."""
    x = graph.node("MaxPool", graph.conv("x", 3, 22, (3, 3), strides=[2, 2]), kernel_shape=[3, 3], strides=[2, 2])
    channels = 22
    for few, outs in ((6, 14), (7, 18)):
        y = graph.conv(x, channels, few, (1, 1))
        x = graph.node("Concat", graph.conv(y, few, outs, (1, 1)), graph.conv(y, few, outs, (3, 3)), axis=1)
        channels = 2 * outs
    return graph.node("Flatten", graph.node("GlobalAveragePool", graph.conv(x, channels, 5, (1, 1))))


def _ghosts(graph: Graph) -> str:
    """Half of the channels come from windows over the other half, as GhostNet has them."""
    x, channels = graph.conv("x", 1, 14, (3, 3), strides=[2, 2]), 14
    for outs in (20, 28):
        y = graph.conv(x, channels, outs // 2, (1, 1))
        x = graph.node("Concat", y, graph.conv(y, outs // 2, outs // 2, (3, 3), group=outs // 2), axis=1)
        channels = outs
    return classified(graph, x, 28, 10)


def _words(graph: Graph) -> str:
    """Windows over time alone, with shortcuts, as TC-ResNet finds words."""
    x, channels = graph.conv("x", 13, 18, (3,)), 18
    for outs in (26, 34):
        y = graph.conv(x, channels, outs, (9,), strides=[2])
        y = graph.conv(y, outs, outs, (9,), relu=False)
        short = graph.conv(x, channels, outs, (1,), strides=[2])
        x, channels = graph.node("Relu", graph.node("Add", y, short)), outs
    return classified(graph, x, 34, 12)


def _shaking(graph: Graph) -> str:
    """Long windows over a measured series, maxima, and dense layers."""
    x = graph.node("MaxPool", graph.conv("x", 3, 11, (15,), strides=[3]), kernel_shape=[2], strides=[2])
    x = graph.node("MaxPool", graph.conv(x, 11, 21, (5,)), kernel_shape=[2], strides=[2])
    x = graph.node("Relu", linear(graph, graph.node("Flatten", x), 21 * 17, 30))
    return graph.node("Softmax", linear(graph, x, 30, 4), axis=-1)


def _digits(graph: Graph) -> str:
    """Averages and hyperbolic tangents, as LeNet has them."""
    x = graph.node("Tanh", graph.conv("x", 1, 6, (5, 5), relu=False))
    x = graph.node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = graph.node("Tanh", graph.conv(x, 6, 15, (5, 5), relu=False, pads=[0, 0, 0, 0]))
    x = graph.node("Flatten", graph.node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]))
    return linear(graph, graph.node("Tanh", linear(graph, x, 15 * 25, 52)), 52, 10)


def _faces(graph: Graph) -> str:
    """Wide windows with shortcuts; boxes and scores of two grids in one list, as BlazeFace has them."""
    x = graph.conv("x", 3, 12, (5, 5), strides=[2, 2])
    for _ in range(2):
        y = graph.conv(graph.conv(x, 12, 12, (5, 5), relu=False, group=12), 12, 12, (1, 1), relu=False)
        x = graph.node("Relu", graph.node("Add", x, y))
    small = graph.conv(x, 12, 30, (3, 3), strides=[2, 2])
    lists = []
    for y, channels, places in ((x, 12, 18 * 14), (small, 30, 9 * 7)):
        y = graph.node("Transpose", graph.conv(y, channels, 10, (1, 1), relu=False), perm=[0, 2, 3, 1])
        lists.append(graph.node("Reshape", y, whole(graph, 1, 2 * places, 5)))
    return graph.node("Concat", *lists, axis=1)


def _quiet(graph: Graph) -> str:
    """A recurrent layer of bands of a spectrum gives the gain of each, as RNNoise has them."""
    x = graph.node("Tanh", linear(graph, "x", 25, 21))
    x = graph.node("Transpose", x, perm=[1, 0, 2])
    hidden = 23
    sizes = ((1, 3 * hidden, 21), (1, 3 * hidden, hidden), (1, 6 * hidden))
    weights = [graph.constant((graph.random.standard_normal(size) * 0.2).astype(np.float32)) for size in sizes]
    name = graph.node("GRU", x, *weights, outputs=2, hidden_size=hidden, linear_before_reset=1)
    y = graph.node("Reshape", name, whole(graph, 7, hidden))
    return graph.node("Sigmoid", linear(graph, y, hidden, 19))


def _moving(graph: Graph) -> str:
    """An encoder of a short series of a sensor: heads, norms, and a wider layer."""
    x = graph.node("Add", linear(graph, "x", 6, 28), graph.weights(1, 20, 28))
    heads = []
    for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
        y = graph.node("Reshape", linear(graph, x, 28, 28), whole(graph, 1, 20, 4, 7))
        heads.append(graph.node("Transpose", y, perm=order))
    scores = graph.node("Mul", graph.node("MatMul", heads[0], heads[1]), graph.constant(np.float32(7**-0.5)))
    y = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), heads[2])
    y = graph.node("Reshape", graph.node("Transpose", y, perm=[0, 2, 1, 3]), whole(graph, 1, 20, 28))
    x = graph.node("Add", x, linear(graph, y, 28, 28))
    x = graph.node("LayerNormalization", x, graph.weights(28), graph.weights(28), axis=-1)
    x = graph.node("Add", x, linear(graph, graph.node("Relu", linear(graph, x, 28, 60)), 60, 28))
    return linear(graph, graph.node("ReduceMean", x, axes=[1], keepdims=0), 28, 6)


def _copied(graph: Graph) -> str:
    """Strided and transposed convolutions give an image back, as detectors of defects have them."""
    x = graph.conv(graph.conv("x", 1, 9, (3, 3), strides=[2, 2]), 9, 17, (3, 3), strides=[2, 2])
    for ins, outs in ((17, 9), (9, 1)):
        x = graph.node("ConvTranspose", x, graph.weights(ins, outs, 2, 2), graph.weights(outs), strides=[2, 2])
        x = graph.node("Relu", x) if outs > 1 else graph.node("Sigmoid", x)
    return x


def _alike(graph: Graph) -> str:
    """A vector of length 1, to be compared with others."""
    x = graph.conv(graph.conv("x", 1, 13, (3, 3), strides=[2, 2]), 13, 13, (3, 3), group=13)
    x = graph.node("MaxPool", graph.conv(x, 13, 24, (1, 1)), kernel_shape=[2, 2], strides=[2, 2])
    x = classified(graph, x, 24, 22)
    return graph.node("Div", x, graph.node("ReduceL2", x, axes=[1], keepdims=1))


def _dense_ends(graph: Graph) -> str:
    """Dense layers that narrow and widen, with slopes below 0, as detectors of anomalies have them."""
    x, ins = "x", 47
    for outs in (37, 14, 5, 14, 37):
        x, ins = graph.node("LeakyRelu", linear(graph, x, ins, outs), alpha=0.05), outs
    return linear(graph, x, 37, 47)


_ARCHITECTURES: Architectures = {
    "mobile": (_mobile, (1, 3, 30, 26)),
    "fires": (_fires, (1, 3, 33, 29)),
    "cheap halves": (_ghosts, (1, 1, 28, 20)),
    "words": (_words, (1, 13, 51)),
    "shaking": (_shaking, (1, 3, 204)),
    "digits": (_digits, (1, 1, 28, 28)),
    "faces": (_faces, (1, 3, 36, 28)),
    "quiet": (_quiet, (1, 7, 25)),
    "moving": (_moving, (1, 20, 6)),
    "copied": (_copied, (1, 1, 28, 24)),
    "alike": (_alike, (1, 1, 26, 30)),
    "dense ends": (_dense_ends, (1, 47)),
}
INTEGER, FLOAT = in_both(_ARCHITECTURES)
