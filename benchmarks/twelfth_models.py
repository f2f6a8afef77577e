"""Small networks of published programs for microcontrollers, for ``benchmarks.cortexm_layers``: its twelfth set,
listed before any of their layers was counted. Sizes are other ones than those of the programs.

All are made with a fixed seed, in float32, and quantised to 8 bits by ONNX Runtime's static quantiser.
"""

from __future__ import annotations

import numpy as np

from benchmarks.breadth_models import Graph
from benchmarks.small_models import Architectures, classified, in_both, linear, whole


def _fruit(graph: Graph) -> str:
    """Dense layers tell fruit by its colour, as an example of Arduino does."""
    x = graph.node("Relu", linear(graph, "x", 3, 9))
    x = graph.node("Relu", linear(graph, x, 9, 6))
    return graph.node("Softmax", linear(graph, x, 6, 3), axis=-1)


def _infrared(graph: Graph) -> str:
    """Windows over an image of 8 x 8 temperatures count people."""
    x = graph.node("MaxPool", graph.conv("x", 1, 13, (3, 3), pads=[0] * 4), kernel_shape=[2, 2], strides=[2, 2])
    x = graph.node("Relu", linear(graph, graph.node("Flatten", graph.conv(x, 13, 9, (3, 3), pads=[0] * 4)), 9, 22))
    return linear(graph, x, 22, 5)


def _letters(graph: Graph) -> str:
    """Windows of 5 x 5, averages and hyperbolic tangents, as LeNet has them."""
    x = graph.node("Tanh", graph.conv("x", 1, 7, (5, 5), relu=False, pads=[0] * 4))
    x = graph.node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = graph.node("Tanh", graph.conv(x, 7, 18, (5, 5), relu=False, pads=[0] * 4))
    x = graph.node("Flatten", graph.node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]))
    for ins, outs in ((18 * 9, 45), (45, 31)):
        x = graph.node("Tanh", linear(graph, x, ins, outs))
    return linear(graph, x, 31, 11)


def _beats(graph: Graph) -> str:
    """Windows over a heartbeat, with averages, as classifiers of arrhythmias have them."""
    x, channels = "x", 1
    for outs, taps, stride in ((14, 13, 2), (21, 7, 1), (21, 5, 1)):
        x = graph.conv(x, channels, outs, (taps,), strides=[stride])
        x, channels = graph.node("AveragePool", x, kernel_shape=[2], strides=[2]), outs
    return graph.node("Softmax", linear(graph, graph.node("Flatten", x), 21 * 11, 5), axis=-1)


def _pulse(graph: Graph) -> str:
    """Dilated windows over a pulse and accelerations, averages between them, and one number, as TEMPONet has them."""
    x, channels = "x", 4
    for outs, dilation in ((10, 2), (19, 4)):
        for _ in range(2):
            pads = [dilation, dilation]
            x, channels = graph.conv(x, channels, outs, (3,), dilations=[dilation], pads=pads), outs
        x = graph.conv(x, channels, outs, (5,), strides=[2])
        x = graph.node("AveragePool", x, kernel_shape=[2], strides=[2])
    x = graph.node("Relu", linear(graph, graph.node("Flatten", x), 19 * 6, 28))
    return linear(graph, x, 28, 1)


def _radar(graph: Graph) -> str:
    """Windows over frames of a radar, and products of frames side by side, as TinyRadarNN finds gestures."""
    x = graph.node("MaxPool", graph.conv("x", 2, 15, (3, 5)), kernel_shape=[3, 5], strides=[3, 5])
    x = graph.node("MaxPool", graph.conv(x, 15, 23, (3, 5)), kernel_shape=[1, 5], strides=[1, 5])
    x = graph.node("Reshape", x, whole(graph, 1, 46, -1))
    x = graph.node("Relu", graph.conv(x, 46, 17, (1,), relu=False))
    y = graph.conv(x, 17, 17, (2,), dilations=[2], pads=[2, 0])
    x = graph.node("Add", x, y)
    return graph.node("Softmax", graph.conv(x, 17, 12, (1,), relu=False), axis=1)


def _cells(graph: Graph) -> str:
    """Windows of 3 x 3 with maxima, and boxes of all cells from one dense layer, as TinyissimoYOLO has them."""
    x, channels = "x", 3
    for outs in (11, 19, 19, 35):
        x = graph.conv(graph.conv(x, channels, outs, (3, 3)), outs, outs, (1, 1))
        x, channels = graph.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), outs
    return graph.node("Reshape", linear(graph, graph.node("Flatten", x), 35 * 6, 6 * 9), whole(graph, 1, 6, 9))


def _charge(graph: Graph) -> str:
    """Dense layers with slopes and a sigmoid estimate the charge of a battery."""
    x = graph.node("Tanh", linear(graph, "x", 5, 24))
    x = graph.node("LeakyRelu", linear(graph, x, 24, 13), alpha=0.3)
    return graph.node("Sigmoid", linear(graph, x, 13, 1))


def _vibration(graph: Graph) -> str:
    """A narrow waist between dense layers, and the mean of squared differences, tell faults of a fan."""
    x, ins = "x", 30
    for outs in (17, 6, 17):
        x, ins = graph.node("Relu", linear(graph, x, ins, outs)), outs
    difference = graph.node("Sub", linear(graph, x, 17, 30), "x")
    return graph.node("ReduceMean", graph.node("Mul", difference, difference), axes=[1], keepdims=1)


def _noise(graph: Graph) -> str:
    """Dense layers, two of which remember, give the gain of each band, as RNNoise does."""
    x = graph.node("Tanh", linear(graph, graph.node("Squeeze", "x", whole(graph, 0)), 21, 14))
    kept = graph.constant(np.full((1, 14), 0.1, np.float32))
    for _ in range(2):
        update = graph.node("Sigmoid", graph.node("Add", linear(graph, x, 14, 14), linear(graph, kept, 14, 14)))
        new = graph.node("Relu", graph.node("Add", linear(graph, x, 14, 14), graph.node("Mul", update, kept)))
        rest = graph.node("Sub", graph.constant(np.float32(1)), update)
        x = graph.node("Add", graph.node("Mul", update, kept), graph.node("Mul", rest, new))
    return graph.node("Sigmoid", linear(graph, x, 14, 22))


def _plants(graph: Graph) -> str:
    """Depthwise and pointwise layers with slopes of a Relu, of an image of a leaf."""
    x, channels = graph.conv("x", 3, 10, (3, 3), strides=[2, 2]), 10
    for outs, stride in ((22, 1), (33, 2), (33, 1), (58, 2)):
        x = graph.conv(x, channels, channels, (3, 3), group=channels, strides=[stride] * 2)
        x, channels = graph.conv(x, channels, outs, (1, 1)), outs
    return graph.node("Softmax", classified(graph, x, 58, 13), axis=-1)


def _signatures(graph: Graph) -> str:
    """Windows and maxima, and a dense layer whose results are divided by their length, as siamese networks have it."""
    x = graph.node("MaxPool", graph.conv("x", 1, 9, (5, 5)), kernel_shape=[2, 2], strides=[2, 2])
    x = graph.node("MaxPool", graph.conv(x, 9, 21, (3, 3)), kernel_shape=[2, 2], strides=[2, 2])
    x = linear(graph, graph.node("Flatten", x), 21 * 48, 27)
    return graph.node("Div", x, graph.node("ReduceL2", x, axes=[1], keepdims=1))


def _activity(graph: Graph) -> str:
    """Two windows over six signals of a phone, a maximum and dense layers, as examples of activities have them."""
    x = graph.conv(graph.conv("x", 6, 26, (3,), pads=[0, 0]), 26, 26, (3,), pads=[0, 0])
    x = graph.node("MaxPool", x, kernel_shape=[2], strides=[2])
    x = graph.node("Relu", linear(graph, graph.node("Flatten", x), 26 * 22, 37))
    return graph.node("Softmax", linear(graph, x, 37, 6), axis=-1)


_ARCHITECTURES: Architectures = {
    "fruit": (_fruit, (1, 3)),
    "infrared": (_infrared, (1, 1, 8, 8)),
    "letters": (_letters, (1, 1, 24, 24)),
    "beats": (_beats, (1, 1, 180)),
    "pulse": (_pulse, (1, 4, 96)),
    "radar": (_radar, (1, 2, 6, 100)),
    "cells": (_cells, (1, 3, 32, 48)),
    "charge": (_charge, (1, 5)),
    "vibration": (_vibration, (1, 30)),
    "noise": (_noise, (1, 1, 21)),
    "plants": (_plants, (1, 3, 32, 40)),
    "signatures": (_signatures, (1, 1, 24, 32)),
    "activity": (_activity, (1, 6, 48)),
}
INTEGER, FLOAT = in_both(_ARCHITECTURES)
