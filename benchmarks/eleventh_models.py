"""Small networks of published programs for microcontrollers, for ``benchmarks.cortexm_layers``: its eleventh set,
listed before any of their layers was counted. Sizes are other ones than those of the programs.

All are made with a fixed seed, in float32, and quantised to 8 bits by ONNX Runtime's static quantiser.
"""

from __future__ import annotations

import numpy as np

from benchmarks.breadth_models import Graph
from benchmarks.small_models import Architectures, classified, in_both, linear, whole


def _limited(graph: Graph, x: str, ins: int, outs: int, taps: int, **attributes: object) -> str:
    """A convolution and limits of 0 and 6."""
    y = graph.conv(x, ins, outs, (taps, taps), relu=False, **attributes)
    return graph.node("Clip", y, graph.constant(np.float32(0)), graph.constant(np.float32(6)))


def _sine(graph: Graph) -> str:
    """Three dense layers learn a sine, as the first example of TensorFlow Lite Micro does."""
    x, ins = "x", 1
    for outs in (14, 14):
        x, ins = graph.node("Relu", linear(graph, x, ins, outs)), outs
    return linear(graph, x, 14, 1)


def _speech(graph: Graph) -> str:
    """One convolution of long windows over a spectrogram, and a dense layer, as Micro Speech has them."""
    x = graph.conv("x", 1, 7, (10, 8), strides=[2, 2], pads=[4, 3, 5, 4])
    return graph.node("Softmax", linear(graph, graph.node("Flatten", x), 7 * 23 * 20, 4), axis=-1)


def _wand(graph: Graph) -> str:
    """Windows over time and the axes of an acceleration, maxima over time, and dense layers, as Magic Wand has them."""
    x = graph.conv("x", 1, 8, (4, 3), pads=[1, 1, 2, 1])
    x = graph.node("MaxPool", x, kernel_shape=[3, 3], strides=[3, 3])
    x = graph.node("MaxPool", graph.conv(x, 8, 15, (4, 1), pads=[1, 0, 2, 0]), kernel_shape=[3, 1], strides=[3, 1])
    x = graph.node("Relu", linear(graph, graph.node("Flatten", x), 15 * 13, 17))
    return graph.node("Softmax", linear(graph, x, 17, 4), axis=-1)


def _persons(graph: Graph) -> str:
    """Depthwise and pointwise layers whose results have limits, of a grey image, as person detection has them."""
    x, channels = _limited(graph, "x", 1, 8, 3, strides=[2, 2]), 8
    for outs, stride in ((18, 1), (30, 2), (30, 1), (52, 2)):
        x = _limited(graph, x, channels, channels, 3, group=channels, strides=[stride] * 2)
        x, channels = _limited(graph, x, channels, outs, 1), outs
    x = graph.node("AveragePool", x, kernel_shape=[5, 5], strides=[5, 5])
    x = graph.node("Flatten", graph.conv(x, 52, 2, (1, 1), relu=False))
    return graph.node("Softmax", x, axis=-1)


def _objects(graph: Graph) -> str:
    """Inverted residuals, and classes of each cell of a grid, as FOMO has them."""
    x = _limited(graph, "x", 3, 11, 3, strides=[2, 2])
    y = _limited(graph, _limited(graph, x, 11, 38, 1), 38, 38, 3, group=38, strides=[2, 2])
    x = graph.conv(y, 38, 13, (1, 1), relu=False)
    y = _limited(graph, _limited(graph, x, 13, 46, 1), 46, 46, 3, group=46)
    x = graph.node("Add", x, graph.conv(y, 46, 13, (1, 1), relu=False))
    x = graph.conv(graph.conv(x, 13, 26, (1, 1)), 26, 3, (1, 1), relu=False)
    return graph.node("Softmax", graph.node("Transpose", x, perm=[0, 2, 3, 1]), axis=-1)


def _searched(graph: Graph) -> str:
    """Inverted residuals with windows of 3, 5 and 7, as searches of MCUNet find them."""
    x, channels = _limited(graph, "x", 3, 9, 3, strides=[2, 2]), 9
    for taps, wide, outs, stride in ((7, 27, 14, 2), (5, 44, 14, 1), (3, 54, 21, 2), (7, 63, 21, 1)):
        y = _limited(graph, x, channels, wide, 1)
        y = _limited(graph, y, wide, wide, taps, group=wide, strides=[stride] * 2)
        y = graph.conv(y, wide, outs, (1, 1), relu=False)
        x, channels = graph.node("Add", x, y) if outs == channels and stride == 1 else y, outs
    return classified(graph, x, channels, 9)


def _flying(graph: Graph) -> str:
    """Residual blocks of strides, and a steering angle beside a chance of a collision, as nano drones have them."""
    x = graph.conv("x", 1, 12, (5, 5), strides=[2, 2])
    x, channels = graph.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2]), 12
    for outs in (12, 25):
        y = graph.conv(graph.conv(graph.node("Relu", x), channels, outs, (3, 3), strides=[2, 2]), outs, outs, (3, 3))
        x = graph.node("Add", graph.conv(x, channels, outs, (1, 1), relu=False, strides=[2, 2]), y)
        channels = outs
    x = graph.node("Relu", graph.node("Flatten", x))
    angle, chance = (linear(graph, x, 25 * 12, 1) for _ in range(2))
    return graph.node("Concat", angle, graph.node("Sigmoid", chance), axis=1)


def _ten_classes(graph: Graph) -> str:
    """Wide windows, a maximum and averages, as the first example of CMSIS-NN has them."""
    x = graph.node("Relu", _three(graph, "MaxPool", graph.conv("x", 3, 18, (5, 5), relu=False)))
    x = _three(graph, "AveragePool", graph.conv(x, 18, 10, (5, 5)))
    x = _three(graph, "AveragePool", graph.conv(x, 10, 20, (5, 5)))
    return graph.node("Softmax", linear(graph, graph.node("Flatten", x), 20 * 9, 10), axis=-1)


def _three(graph: Graph, op: str, x: str) -> str:
    """Windows of three rows and columns, two apart, which may reach over the end of an image."""
    return graph.node(op, x, kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1])


def _bearings(graph: Graph) -> str:
    """A first window as long as a knock, then short ones with maxima, as detectors of worn bearings have them."""
    x, channels = graph.conv("x", 1, 10, (64,), strides=[16], pads=[24, 24]), 10
    for outs in (18, 26, 26):
        x = graph.node("MaxPool", x, kernel_shape=[2], strides=[2])
        x, channels = graph.conv(x, channels, outs, (3,)), outs
    x = graph.node("Flatten", graph.node("MaxPool", x, kernel_shape=[2], strides=[2]))
    return linear(graph, graph.node("Relu", linear(graph, x, 26 * 5, 33)), 33, 6)


def _matched(graph: Graph) -> str:
    """Windows of each channel over time, then products of channels, with shortcuts, as MatchboxNet finds words."""
    x, channels = graph.conv("x", 20, 30, (11,), strides=[2]), 30
    for outs, taps in ((24, 13), (24, 15)):
        y = graph.conv(graph.conv(x, channels, channels, (taps,), relu=False, group=channels), channels, outs, (1,))
        y = graph.conv(graph.conv(y, outs, outs, (taps,), relu=False, group=outs), outs, outs, (1,), relu=False)
        x = graph.node("Relu", graph.node("Add", y, graph.conv(x, channels, outs, (1,), relu=False)))
        channels = outs
    x = graph.conv(graph.conv(x, 24, 36, (9,), dilations=[2], pads=[8, 8]), 36, 8, (1,), relu=False)
    return graph.node("Softmax", graph.node("Flatten", graph.node("GlobalAveragePool", x)), axis=-1)


def _fast_gates(graph: Graph) -> str:
    """One gate of a recurrent layer whose two functions share products, over three steps, as FastGRNN has it."""
    ins, hidden = 32, 18
    inner, state = graph.weights(ins, hidden), graph.weights(hidden, hidden)
    biases = graph.weights(hidden), graph.weights(hidden)
    h = ""
    for step in range(3):
        limits = (whole(graph, value) for value in (step, step + 1, 1))
        y = graph.node("MatMul", graph.node("Squeeze", graph.node("Slice", "x", *limits), whole(graph, 1)), inner)
        y = graph.node("Add", y, graph.node("MatMul", h, state)) if h else y
        z = graph.node("Sigmoid", graph.node("Add", y, biases[0]))
        new = graph.node("Tanh", graph.node("Add", y, biases[1]))
        rest = graph.node("Sub", graph.constant(np.float32(1.1)), z)
        new = graph.node("Mul", rest, new)
        h = graph.node("Add", new, graph.node("Mul", z, h)) if h else new
    return linear(graph, h, hidden, 6)


def _walking(graph: Graph) -> str:
    """A long window over three axes of an acceleration and a maximum, as examples of activities have them."""
    x = graph.conv("x", 1, 22, (16, 1), pads=[0, 0, 0, 0])
    x = graph.node("MaxPool", x, kernel_shape=[3, 1], strides=[3, 1])
    x = graph.node("Relu", linear(graph, graph.node("Flatten", x), 22 * 27, 11))
    return graph.node("Softmax", linear(graph, x, 11, 4), axis=-1)


def _boxes(graph: Graph) -> str:
    """Slopes below 0 and maxima; boxes of two grids, one of which is enlarged, as small YOLOs have them."""
    kept, x, channels = [], "x", 3
    for outs in (8, 15, 29):
        x = graph.node("LeakyRelu", graph.conv(x, channels, outs, (3, 3), relu=False), alpha=0.1)
        kept.append(x)
        x, channels = graph.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), outs
    deep = graph.node("LeakyRelu", graph.conv(x, 29, 17, (1, 1), relu=False), alpha=0.1)
    scales = graph.constant(np.array([1, 1, 2, 2], np.float32))
    up = graph.node("Concat", graph.node("Resize", deep, "", scales, mode="nearest"), kept[-1], axis=1)
    found = [graph.conv(deep, 17, 18, (1, 1), relu=False), graph.conv(up, 46, 18, (1, 1), relu=False)]
    return graph.node("Concat", *(graph.node("Reshape", y, whole(graph, 1, 18, -1)) for y in found), axis=2)


_ARCHITECTURES: Architectures = {
    "sine": (_sine, (1, 1)),
    "speech": (_speech, (1, 1, 46, 40)),
    "wand": (_wand, (1, 1, 117, 3)),
    "persons": (_persons, (1, 1, 40, 40)),
    "objects": (_objects, (1, 3, 32, 40)),
    "searched": (_searched, (1, 3, 40, 32)),
    "flying": (_flying, (1, 1, 66, 50)),
    "ten classes": (_ten_classes, (1, 3, 24, 24)),
    "bearings": (_bearings, (1, 1, 1280)),
    "matched": (_matched, (1, 20, 48)),
    "fast gates": (_fast_gates, (1, 3, 32)),
    "walking": (_walking, (1, 1, 42, 3)),
    "boxes": (_boxes, (1, 3, 40, 32)),
}
INTEGER, FLOAT = in_both(_ARCHITECTURES)
