"""Small networks of architectures that no other benchmark has, for ``benchmarks.cortexm_layers``: its fifth set, listed
before any of their layers was counted.

All are made with a fixed seed, in float32, and quantised to 8 bits by ONNX Runtime's static quantiser.
"""

from __future__ import annotations

import numpy as np

from benchmarks.breadth_models import Graph
from benchmarks.small_models import Architectures, classified, in_both, linear, whole


def _fire(graph: Graph) -> str:
    """Channels are squeezed and expanded by windows of two sizes beside each other, as SqueezeNet has them."""
    x, channels = graph.conv("x", 3, 20, (3, 3), strides=[2, 2]), 20
    for squeezed, expanded in ((6, 13), (8, 17)):
        y = graph.conv(x, channels, squeezed, (1, 1))
        parts = [graph.conv(y, squeezed, expanded, kernel) for kernel in ((1, 1), (3, 3))]
        x, channels = graph.node("Concat", *parts, axis=1), 2 * expanded
        x = graph.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    return graph.node("GlobalAveragePool", graph.conv(x, channels, 12, (1, 1)))


def _three_ways(graph: Graph) -> str:
    """Sums of a convolution of 3 x 3, one of 1 x 1 and what both read, as RepVGG is trained."""
    x = graph.conv("x", 3, 15, (3, 3), strides=[2, 2])
    for _ in range(2):
        y = graph.node("Add", *(graph.conv(x, 15, 15, kernel, relu=False) for kernel in ((3, 3), (1, 1))))
        x = graph.node("Relu", graph.node("Add", x, y))
    return classified(graph, x, 15, 9)


def _branches(graph: Graph) -> str:
    """Windows of several sizes and maxima beside each other, as Inception has them."""
    x = graph.conv("x", 1, 16, (7, 3), strides=[2, 1])
    narrow = [graph.conv(x, 16, outs, (1, 1)) for outs in (10, 6, 4)]
    maxima = graph.node("MaxPool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    wide = [
        graph.conv(narrow[1], 6, 11, (3, 3)),
        graph.conv(narrow[2], 4, 7, (5, 5)),
        graph.conv(maxima, 16, 5, (1, 1)),
    ]
    x = graph.node("Concat", narrow[0], *wide, axis=1)
    x = graph.node("AveragePool", x, kernel_shape=[4, 3], strides=[4, 3])
    return linear(graph, graph.node("Flatten", x), 33 * 16, 6)


def _atrous(graph: Graph) -> str:
    """Windows of two dilations and the image's mean beside each other, as DeepLab has them."""
    x = graph.conv("x", 3, 12, (3, 3), strides=[2, 2])
    parts = [graph.conv(x, 12, 8, (1, 1))]
    parts += [graph.conv(x, 12, 8, (3, 3), dilations=[n, n], pads=[n] * 4) for n in (2, 4)]
    mean = graph.conv(graph.node("GlobalAveragePool", x), 12, 8, (1, 1))
    parts.append(graph.node("Expand", mean, whole(graph, 1, 8, 13, 11)))
    x = graph.conv(graph.node("Concat", *parts, axis=1), 32, 14, (1, 1))
    return graph.conv(x, 14, 3, (1, 1), relu=False)


def _spatial_gates(graph: Graph) -> str:
    """Half of the channels, mixed along tokens, is a factor of the other half, as gMLP has it."""
    y = graph.node("LayerNormalization", "x", graph.weights(28), graph.weights(28), axis=-1)
    first, second = (graph.node("Tanh", linear(graph, y, 28, 38)) for _ in range(2))
    gate = linear(graph, graph.node("Transpose", second, perm=[0, 2, 1]), 26, 26)
    y = graph.node("Mul", first, graph.node("Transpose", gate, perm=[0, 2, 1]))
    return graph.node("Add", "x", linear(graph, y, 38, 28))


def _memories(graph: Graph) -> str:
    """Weighted sums of earlier frames, each channel its own, between dense layers, as FSMN has them."""
    x = "x"
    for ins, outs in ((21, 32), (32, 32)):
        y = graph.node("Transpose", linear(graph, x, ins, 18), perm=[0, 2, 1])
        past = graph.conv(y, 18, 18, (8,), relu=False, group=18, pads=[7, 0])
        y = graph.node("Transpose", graph.node("Add", y, past), perm=[0, 2, 1])
        x = graph.node("Relu", linear(graph, y, 18, outs))
    return graph.node("Softmax", linear(graph, x, 32, 5), axis=-1)


def _electrodes(graph: Graph) -> str:
    """Windows along time, then along electrodes, then averages, as EEGNet has them."""
    x = graph.conv("x", 1, 6, (1, 25), relu=False)
    x = graph.node("Elu", graph.conv(x, 6, 12, (9, 1), relu=False, group=6, pads=[0] * 4))
    x = graph.node("AveragePool", x, kernel_shape=[1, 4], strides=[1, 4])
    x = graph.conv(graph.conv(x, 12, 12, (1, 13), relu=False, group=12), 12, 14, (1, 1), relu=False)
    x = graph.node("AveragePool", graph.node("Elu", x), kernel_shape=[1, 5], strides=[1, 5])
    return graph.node("Softmax", linear(graph, graph.node("Flatten", x), 14 * 6, 3), axis=-1)


def _levels(graph: Graph) -> str:
    """Images of two sizes are added, the small one enlarged, and one head reads both sums."""
    fine = graph.conv("x", 3, 14, (3, 3), strides=[2, 2])
    deep = graph.conv(graph.conv(fine, 14, 26, (3, 3), strides=[2, 2]), 26, 10, (1, 1), relu=False)
    scales = graph.constant(np.array([1, 1, 2, 2], np.float32))
    up = graph.node("Resize", deep, "", scales, mode="nearest")
    merged = graph.node("Add", graph.conv(fine, 14, 10, (1, 1), relu=False), up)
    sums, flat = (graph.conv(one, 10, 10, (3, 3)) for one in (merged, deep)), []
    for one, size in zip(sums, (16 * 12, 8 * 6), strict=True):
        y = graph.node("Transpose", graph.conv(one, 10, 6, (1, 1), relu=False), perm=[0, 2, 3, 1])
        flat.append(graph.node("Reshape", y, whole(graph, 1, size, 6)))
    return graph.node("Sigmoid", graph.node("Concat", *flat, axis=1))


def _directions(graph: Graph) -> str:
    """Means of rows and of columns become gates of both, as coordinate attention has them."""
    x = graph.conv("x", 3, 18, (3, 3), strides=[2, 2])
    gates = []
    for axis in (3, 2):
        y = graph.conv(graph.node("ReduceMean", x, axes=[axis], keepdims=1), 18, 6, (1, 1))
        gates.append(graph.node("Sigmoid", graph.conv(y, 6, 18, (1, 1), relu=False)))
    y = graph.node("Mul", graph.node("Mul", x, gates[0]), gates[1])
    return classified(graph, graph.conv(y, 18, 22, (1, 1)), 22, 4)


def _denoised(graph: Graph) -> str:
    """A signal is made shorter and longer again, and what was there is added."""
    first = graph.conv("x", 1, 8, (9,), strides=[2])
    deep = graph.conv(graph.conv(first, 8, 18, (5,), strides=[2]), 18, 18, (5,))
    for ins, outs in ((18, 8), (8, 1)):
        weights, bias = graph.weights(ins, outs, 4), graph.weights(outs)
        deep = graph.node("ConvTranspose", deep, weights, bias, strides=[2], kernel_shape=[4], pads=[1, 1])
        deep = graph.node("Add", graph.node("Relu", deep), first) if outs > 1 else deep
    return deep


def _landmarks(graph: Graph) -> str:
    """Depthwise blocks with slopes below 0 for each channel, and a dense layer on all positions."""
    x, channels = graph.conv("x", 1, 11, (3, 3), relu=False, strides=[2, 2]), 11
    for outs, stride in ((11, 1), (23, 2)):
        x = graph.node("PRelu", x, graph.weights(channels, 1, 1))
        x = graph.conv(x, channels, channels, (3, 3), relu=False, group=channels, strides=[stride] * 2)
        x, channels = graph.conv(x, channels, outs, (1, 1), relu=False), outs
    return linear(graph, graph.node("Flatten", graph.node("Relu", x)), 23 * 9 * 8, 10)


def _weighted(graph: Graph) -> str:
    """Frames of a signal are added up by what a softmax over time gives each of them."""
    x = graph.conv(graph.conv("x", 3, 16, (7,), strides=[3]), 16, 27, (3,), strides=[2])
    scores = graph.node("Softmax", graph.conv(x, 27, 1, (1,), relu=False), axis=-1)
    y = graph.node("MatMul", scores, graph.node("Transpose", x, perm=[0, 2, 1]))
    return linear(graph, graph.node("Flatten", y), 27, 6)


_ARCHITECTURES: Architectures = {
    "fire modules": (_fire, (1, 3, 37, 33)),
    "three ways": (_three_ways, (1, 3, 22, 26)),
    "branches": (_branches, (1, 1, 31, 13)),
    "atrous pyramid": (_atrous, (1, 3, 25, 21)),
    "spatial gates": (_spatial_gates, (1, 26, 28)),
    "memories": (_memories, (1, 40, 21)),
    "electrodes": (_electrodes, (1, 1, 9, 120)),
    "levels": (_levels, (1, 3, 32, 24)),
    "directions": (_directions, (1, 3, 30, 22)),
    "denoiser": (_denoised, (1, 1, 168)),
    "landmarks": (_landmarks, (1, 1, 36, 32)),
    "weighted frames": (_weighted, (1, 3, 105)),
}
INTEGER, FLOAT = in_both(_ARCHITECTURES)
