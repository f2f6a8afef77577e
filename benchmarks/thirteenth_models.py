"""Small networks of published architectures, for ``benchmarks.cortexm_layers``: its thirteenth set, listed before any
of their layers was counted. Sizes are other ones than those of the publications.

All are made with a fixed seed, in float32, and quantised to 8 bits by ONNX Runtime's static quantiser.
"""

from __future__ import annotations

import numpy as np

from benchmarks.breadth_models import Graph
from benchmarks.small_models import Architectures, classified, in_both, linear, whole


def _digits(graph: Graph) -> str:
    """Two hidden layers tell digits of 8 x 8."""
    x = graph.node("Flatten", "x")
    for ins, outs in ((64, 28), (28, 18)):
        x = graph.node("Sigmoid", linear(graph, x, ins, outs))
    return graph.node("Softmax", linear(graph, x, 18, 10), axis=-1)


def _sounds(graph: Graph) -> str:
    """A long first window over a sound itself, then short ones with maxima, as M5 has them."""
    x = graph.conv("x", 1, 18, (40,), strides=[4], pads=[18, 18])
    x = graph.node("MaxPool", x, kernel_shape=[4], strides=[4])
    for ins, outs in ((18, 18), (18, 34)):
        x = graph.node("MaxPool", graph.conv(x, ins, outs, (3,)), kernel_shape=[4], strides=[4])
    return classified(graph, x, 34, 9)


def _sleep(graph: Graph) -> str:
    """Windows and maxima over a brain's signal, and dense layers, as TinySleepNet has them."""
    x = graph.conv("x", 1, 14, (25,), strides=[6])
    x = graph.node("MaxPool", x, kernel_shape=[8], strides=[8])
    for _ in range(3):
        x = graph.conv(x, 14, 14, (7,))
    x = graph.node("Flatten", graph.node("MaxPool", x, kernel_shape=[4], strides=[4]))
    return linear(graph, x, 14 * 3, 5)


def _faces(graph: Graph) -> str:
    """Depthwise blocks, windows of three dilations beside each other, scores and boxes, as UltraFace has them."""
    x, channels = graph.conv("x", 3, 9, (3, 3), strides=[2, 2]), 9
    for outs, stride in ((18, 1), (18, 2), (30, 2)):
        x = graph.conv(x, channels, channels, (3, 3), group=channels, strides=[stride] * 2)
        x, channels = graph.conv(x, channels, outs, (1, 1)), outs
    parts = []
    for dilation in (1, 2, 3):
        y = graph.conv(x, channels, 10, (1, 1), relu=False)
        parts.append(graph.conv(y, 10, 10, (3, 3), relu=False, pads=[dilation] * 4, dilations=[dilation] * 2))
    y = graph.conv(graph.node("Concat", *parts, axis=1), 30, 30, (1, 1), relu=False)
    x = graph.node("Relu", graph.node("Add", x, y))
    found = []
    for outs in (2, 4):
        y = graph.conv(graph.conv(x, 30, 30, (3, 3), group=30), 30, 3 * outs, (1, 1), relu=False)
        y = graph.node("Reshape", graph.node("Transpose", y, perm=[0, 2, 3, 1]), whole(graph, 1, -1, outs))
        found.append(graph.node("Softmax", y, axis=-1) if outs == 2 else y)
    return graph.node("Concat", *found, axis=2)


def _sharper(graph: Graph) -> str:
    """Few channels between a wide window and a transposed one, with slopes, as FSRCNN enlarges images."""
    x = graph.conv("x", 1, 21, (5, 5), relu=False)
    x = graph.node("PRelu", x, graph.constant(np.full((21, 1, 1), 0.2, np.float32)))
    x = graph.conv(x, 21, 7, (1, 1))
    for _ in range(2):
        x = graph.conv(x, 7, 7, (3, 3))
    x = graph.conv(x, 7, 21, (1, 1))
    weights, bias, pads = graph.weights(21, 1, 9, 9), graph.weights(1), [4] * 4
    return graph.node("ConvTranspose", x, weights, bias, strides=[2, 2], pads=pads, output_padding=[1, 1])


def _strides(graph: Graph) -> str:
    """Windows only, strides instead of maxima, as All-CNN has them."""
    x, channels = "x", 3
    for outs, stride in ((15, 1), (15, 2), (26, 1), (26, 2)):
        x, channels = graph.conv(x, channels, outs, (3, 3), strides=[stride] * 2), outs
    x = graph.conv(graph.conv(x, 26, 26, (1, 1)), 26, 9, (1, 1))
    return graph.node("Softmax", graph.node("Flatten", graph.node("GlobalAveragePool", x)), axis=-1)


def _inner(graph: Graph) -> str:
    """Dense layers at each position behind each window, as Network in Network has them."""
    x, channels = "x", 3
    for outs, narrow in ((22, 13), (25, 19)):
        x = graph.conv(graph.conv(x, channels, outs, (5, 5)), outs, narrow, (1, 1))
        x, channels = graph.conv(x, narrow, narrow, (1, 1)), narrow
        x = graph.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    return classified(graph, x, 19, 11)


def _ahead(graph: Graph) -> str:
    """Activations ahead of windows, beside shortcuts without any, as the second ResNet has them."""
    x, channels = graph.conv("x", 3, 11, (3, 3), relu=False), 11
    for outs, stride in ((11, 1), (23, 2), (23, 1)):
        scale, shift = (graph.weights(channels, 1, 1) for _ in range(2))
        before = graph.node("Relu", graph.node("Add", graph.node("Mul", x, scale), shift))
        y = graph.conv(before, channels, outs, (3, 3), strides=[stride] * 2)
        y = graph.conv(y, outs, outs, (3, 3), relu=False)
        if stride > 1:
            x = graph.conv(before, channels, outs, (1, 1), relu=False, strides=[stride] * 2, pads=[0] * 4)
        x, channels = graph.node("Add", x, y), outs
    return classified(graph, graph.node("Relu", x), 23, 8)


def _sentence(graph: Graph) -> str:
    """Windows of two, three and four words, the largest of all places, as sentences are classified."""
    parts = []
    for taps in (2, 3, 4):
        y = graph.conv("x", 25, 12, (taps,), pads=[0, 0])
        parts.append(graph.node("Flatten", graph.node("GlobalMaxPool", y)))
    return graph.node("Softmax", linear(graph, graph.node("Concat", *parts, axis=1), 36, 3), axis=-1)


def _denoised(graph: Graph) -> str:
    """What windows find in an image is taken from it, as DnCNN has it."""
    x = graph.conv("x", 1, 14, (3, 3))
    for _ in range(3):
        x = graph.conv(x, 14, 14, (3, 3))
    return graph.node("Sub", "x", graph.conv(x, 14, 1, (3, 3), relu=False))


def _speakers(graph: Graph) -> str:
    """Dilated windows over frames, their mean and deviation over time, and dense layers, as x-vectors have them."""
    x, channels = "x", 13
    for outs, taps, dilation in ((22, 5, 1), (22, 3, 2), (22, 3, 3), (37, 1, 1)):
        pads = [0, 0]
        x, channels = graph.conv(x, channels, outs, (taps,), dilations=[dilation], pads=pads), outs
    mean = graph.node("ReduceMean", x, axes=[2], keepdims=1)
    rest = graph.node("Sub", x, mean)
    square = graph.node("ReduceMean", graph.node("Mul", rest, rest), axes=[2], keepdims=1)
    deviation = graph.node("Sqrt", graph.node("Add", square, graph.constant(np.float32(1e-3))))
    x = graph.node("Flatten", graph.node("Concat", mean, deviation, axis=1))
    return linear(graph, graph.node("Relu", linear(graph, x, 74, 29)), 29, 12)


def _sets(graph: Graph) -> str:
    """Dense layers of each element of a set, less the largest of all, and the sum of all, as Deep Sets have them."""
    x = "x"
    for ins, outs in ((5, 23), (23, 23)):
        y = graph.node("ReduceMax", x, axes=[1], keepdims=1)
        x = graph.node("Tanh", linear(graph, graph.node("Sub", x, y), ins, outs))
    x = graph.node("ReduceSum", x, whole(graph, 1), keepdims=0)
    return linear(graph, graph.node("Relu", linear(graph, x, 23, 16)), 16, 4)


def _steps(graph: Graph) -> str:
    """Three steps of a unit whose products read no state, as simple recurrent units have it."""
    gates = [linear(graph, "x", 12, 21) for _ in range(2)]
    new = graph.node("MatMul", "x", graph.weights(12, 21))
    state = ""
    for step in range(3):
        ends = whole(graph, step), whole(graph, step + 1), whole(graph, 1)
        forget, reset, value = (graph.node("Slice", part, *ends) for part in (*gates, new))
        forget, reset = (graph.node("Sigmoid", part) for part in (forget, reset))
        taken = graph.node("Mul", graph.node("Sub", graph.constant(np.float32(1)), forget), value)
        state = graph.node("Add", graph.node("Mul", forget, state), taken) if state else taken
        shown = graph.node("Mul", reset, graph.node("Tanh", state))
    return linear(graph, graph.node("Flatten", shown), 21, 6)


_ARCHITECTURES: Architectures = {
    "numerals": (_digits, (1, 1, 8, 8)),
    "sounds": (_sounds, (1, 1, 1200)),
    "sleep": (_sleep, (1, 1, 600)),
    "crowds": (_faces, (1, 3, 30, 40)),
    "sharper": (_sharper, (1, 1, 13, 17)),
    "strides": (_strides, (1, 3, 20, 24)),
    "inner": (_inner, (1, 3, 18, 18)),
    "ahead": (_ahead, (1, 3, 18, 22)),
    "sentence": (_sentence, (1, 25, 19)),
    "denoised": (_denoised, (1, 1, 17, 21)),
    "speakers": (_speakers, (1, 13, 40)),
    "sets": (_sets, (1, 21, 5)),
    "steps": (_steps, (1, 3, 12)),
}
INTEGER, FLOAT = in_both(_ARCHITECTURES)
