"""Small networks of published architectures, for ``benchmarks.cortexm_layers``: its fourteenth set, listed before any
of their layers was counted. Sizes are other ones than those of the publications.

All are made with a fixed seed, in float32, and quantised to 8 bits by ONNX Runtime's static quantiser.
"""

from __future__ import annotations

import numpy as np

from benchmarks.breadth_models import Graph
from benchmarks.small_models import Architectures, classified, in_both, linear, whole


def _steered(graph: Graph) -> str:
    """Strided windows, then dense layers down to one angle, as PilotNet has them."""
    x, channels = "x", 3
    for outs, taps, stride in ((9, 5, 2), (14, 5, 2), (19, 3, 1)):
        x, channels = graph.conv(x, channels, outs, (taps, taps), strides=[stride] * 2, pads=[0] * 4), outs
    x = graph.node("Flatten", x)
    for ins, outs in ((19 * 2 * 6, 33), (33, 11)):
        x = graph.node("Relu", linear(graph, x, ins, outs))
    return graph.node("Tanh", linear(graph, x, 11, 1))


def _dueling(graph: Graph) -> str:
    """Values of actions less their mean, and of the state, of four frames, as dueling networks have them."""
    x, channels = "x", 4
    for outs, taps, stride in ((13, 8, 4), (21, 4, 2), (21, 3, 1)):
        x, channels = graph.conv(x, channels, outs, (taps, taps), strides=[stride] * 2, pads=[0] * 4), outs
    x = graph.node("Flatten", x)
    value, actions = (graph.node("Relu", linear(graph, x, 21 * 2 * 2, 24)) for _ in range(2))
    value, actions = linear(graph, value, 24, 1), linear(graph, actions, 24, 6)
    mean = graph.node("ReduceMean", actions, axes=[1], keepdims=1)
    return graph.node("Add", value, graph.node("Sub", actions, mean))


def _scales(graph: Graph) -> str:
    """Groups of channels, each with what the one before has found, as Res2Net has them."""
    x = graph.conv("x", 3, 22, (3, 3), strides=[2, 2])
    for _ in range(2):
        y = graph.conv(x, 22, 28, (1, 1))
        ends = [(whole(graph, 7 * part), whole(graph, 7 * part + 7), whole(graph, 1)) for part in range(4)]
        parts = [graph.node("Slice", y, *end) for end in ends]
        for place in range(1, 4):
            source = graph.node("Add", parts[place], parts[place - 1]) if place > 1 else parts[place]
            parts[place] = graph.conv(source, 7, 7, (3, 3))
        y = graph.conv(graph.node("Concat", *parts, axis=1), 28, 22, (1, 1), relu=False)
        x = graph.node("Relu", graph.node("Add", x, y))
    return classified(graph, x, 22, 6)


def _pyramid(graph: Graph) -> str:
    """Dilated windows beside each other whose sums are joined, as ESPNet has them."""
    x = graph.conv("x", 3, 15, (3, 3), strides=[2, 2])
    for _ in range(2):
        narrow, parts = graph.conv(x, 15, 5, (1, 1), relu=False), []
        for dilation in (1, 2, 4):
            y = graph.conv(narrow, 5, 5, (3, 3), relu=False, pads=[dilation] * 4, dilations=[dilation] * 2)
            parts.append(graph.node("Add", parts[-1], y) if parts else y)
        y = graph.node("Concat", *parts, axis=1)
        x = graph.node("PRelu", graph.node("Add", x, y), graph.constant(np.full((15, 1, 1), 0.25, np.float32)))
    return graph.conv(x, 15, 4, (1, 1), relu=False)


def _factored(graph: Graph) -> str:
    """Windows of a column and of a row, near and apart, and a larger image, as ERFNet has them."""
    first = graph.conv("x", 3, 10, (3, 3), strides=[2, 2], relu=False)
    y = graph.node("MaxPool", "x", kernel_shape=[2, 2], strides=[2, 2])
    x = graph.node("Relu", graph.node("Concat", first, y, axis=1))
    for dilation in (1, 3):
        y = graph.conv(graph.conv(x, 13, 13, (3, 1)), 13, 13, (1, 3))
        y = graph.conv(y, 13, 13, (3, 1), pads=[dilation, 0] * 2, dilations=[dilation, 1])
        y = graph.conv(y, 13, 13, (1, 3), relu=False, pads=[0, dilation] * 2, dilations=[1, dilation])
        x = graph.node("Relu", graph.node("Add", x, y))
    return graph.node("ConvTranspose", x, graph.weights(13, 5, 2, 2), graph.weights(5), strides=[2, 2])


def _series(graph: Graph) -> str:
    """Windows of three lengths and a maximum beside each other over a series, as InceptionTime has them."""
    x, channels = "x", 3
    for _ in range(2):
        narrow = graph.conv(x, channels, 8, (1,), relu=False)
        parts = [graph.conv(narrow, 8, 8, (taps,), relu=False) for taps in (9, 19, 39)]
        y = graph.node("MaxPool", x, kernel_shape=[3], strides=[1], pads=[1, 1])
        parts.append(graph.conv(y, channels, 8, (1,), relu=False))
        x, channels = graph.node("Relu", graph.node("Concat", *parts, axis=1)), 32
    return classified(graph, x, 32, 5)


def _separated(graph: Graph) -> str:
    """A mask of what windows over a sound find, from depthwise windows further and further apart, and the sound back,
    as Conv-TasNet has them."""
    found = graph.conv("x", 1, 26, (16,), strides=[8], pads=[0, 0])
    x = graph.conv(found, 26, 14, (1,), relu=False)
    for dilation in (1, 2, 4):
        slope = graph.constant(np.full((1, 1), 0.25, np.float32))
        y = graph.node("PRelu", graph.conv(x, 14, 22, (1,), relu=False), slope)
        y = graph.conv(y, 22, 22, (3,), group=22, pads=[dilation] * 2, dilations=[dilation])
        x = graph.node("Add", x, graph.conv(y, 22, 14, (1,), relu=False))
    mask = graph.node("Sigmoid", graph.conv(x, 14, 26, (1,), relu=False))
    return graph.node("ConvTranspose", graph.node("Mul", found, mask), graph.weights(26, 1, 16), strides=[8])


def _weighted(graph: Graph) -> str:
    """Images of three sizes, whose weighted sums go up and down, as EfficientDet has them."""
    levels, channels = ["x"], 3
    for outs in (10, 18, 27):
        levels.append(graph.conv(levels[-1], channels, outs, (3, 3), strides=[2, 2]))
        channels = outs
    sides = [graph.conv(x, outs, 12, (1, 1), relu=False) for x, outs in zip(levels[1:], (10, 18, 27), strict=True)]
    share, rest = (graph.constant(np.float32(value)) for value in (0.4, 0.6))
    scales = graph.constant(np.array([1, 1, 2, 2], np.float32))
    ups = [sides[2]]
    for x in (sides[1], sides[0]):
        up = graph.node("Resize", ups[-1], "", scales, mode="nearest")
        y = graph.node("Add", graph.node("Mul", x, share), graph.node("Mul", up, rest))
        y = graph.node("Mul", y, graph.node("Sigmoid", y))
        ups.append(graph.conv(graph.conv(y, 12, 12, (3, 3), group=12, relu=False), 12, 12, (1, 1), relu=False))
    down = graph.node("MaxPool", ups[2], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    y = graph.node("Add", graph.node("Mul", ups[1], share), graph.node("Mul", down, rest))
    return graph.conv(graph.node("Mul", y, graph.node("Sigmoid", y)), 12, 9, (1, 1), relu=False)


def _clicks(graph: Graph) -> str:
    """Products of all pairs of vectors, one of which a dense layer finds, and dense layers, as DLRM has them."""
    first = graph.node("Slice", "x", whole(graph, 0), whole(graph, 1), whole(graph, 1))
    x = graph.node("Relu", linear(graph, graph.node("Relu", linear(graph, first, 15, 20)), 20, 15))
    others = graph.node("Slice", "x", whole(graph, 1), whole(graph, 6), whole(graph, 1))
    every = graph.node("Concat", x, others, axis=1)
    pairs = graph.node("MatMul", every, graph.node("Transpose", every, perm=[0, 2, 1]))
    both = graph.node("Concat", graph.node("Flatten", x), graph.node("Flatten", pairs), axis=1)
    y = graph.node("Relu", linear(graph, both, 15 + 36, 18))
    return graph.node("Sigmoid", linear(graph, y, 18, 1))


def _sampled(graph: Graph) -> str:
    """Means and deviations of few hidden numbers, a sample of these, and the input back, as variational autoencoders
    have them."""
    x = graph.node("Relu", linear(graph, "x", 45, 26))
    mean, spread = linear(graph, x, 26, 7), linear(graph, x, 26, 7)
    half = graph.node("Exp", graph.node("Mul", spread, graph.constant(np.float32(0.5))))
    noise = graph.constant(graph.random.standard_normal((1, 7)).astype(np.float32))
    z = graph.node("Add", mean, graph.node("Mul", half, noise))
    y = graph.node("Relu", linear(graph, z, 7, 26))
    return graph.node("Sigmoid", linear(graph, y, 26, 45))


def _stars(graph: Graph) -> str:
    """Products of two layers that read the same, one with limits, as StarNet has them."""
    x = graph.conv("x", 3, 13, (3, 3), strides=[2, 2])
    for _ in range(2):
        y = graph.conv(x, 13, 13, (7, 7), group=13, relu=False)
        left, right = (graph.conv(y, 13, 31, (1, 1), relu=False) for _ in range(2))
        ends = (graph.constant(np.float32(value)) for value in (0, 6))
        y = graph.node("Mul", graph.node("Clip", left, *ends), right)
        y = graph.conv(graph.conv(y, 31, 13, (1, 1), relu=False), 13, 13, (7, 7), group=13, relu=False)
        x = graph.node("Add", x, y)
    return classified(graph, x, 13, 8)


def _letters(graph: Graph) -> str:
    """Windows over features of a sound, long ones at both ends, and letters of each frame, as Wav2Letter has them."""
    x = graph.conv("x", 13, 20, (11,), strides=[2])
    for _ in range(3):
        x = graph.conv(x, 20, 20, (7,))
    x = graph.conv(graph.conv(x, 20, 33, (15,)), 33, 33, (1,))
    x = graph.conv(x, 33, 11, (1,), relu=False)
    return graph.node("LogSoftmax", graph.node("Transpose", x, perm=[0, 2, 1]), axis=-1)


def _patches(graph: Graph) -> str:
    """Patches are mixed with each other, then their channels, with a factor and a bias of each, as ResMLP has it."""
    x = graph.conv("x", 3, 22, (5, 5), relu=False, strides=[5, 5], pads=[0] * 4)
    x = graph.node("Transpose", graph.node("Reshape", x, whole(graph, 1, 22, 20)), perm=[0, 2, 1])
    for _ in range(2):
        y = graph.node("Add", graph.node("Mul", x, graph.weights(22)), graph.weights(22))
        y = graph.node("Transpose", y, perm=[0, 2, 1])
        y = graph.node("Transpose", linear(graph, y, 20, 20), perm=[0, 2, 1])
        x = graph.node("Add", x, graph.node("Mul", y, graph.weights(22)))
        y = graph.node("Add", graph.node("Mul", x, graph.weights(22)), graph.weights(22))
        y = linear(graph, graph.node("Relu", linear(graph, y, 22, 51)), 51, 22)
        x = graph.node("Add", x, graph.node("Mul", y, graph.weights(22)))
    return linear(graph, graph.node("ReduceMean", x, axes=[1], keepdims=0), 22, 7)


_ARCHITECTURES: Architectures = {
    "steered": (_steered, (1, 3, 27, 43)),
    "dueling": (_dueling, (1, 4, 44, 44)),
    "scales": (_scales, (1, 3, 22, 26)),
    "pyramid": (_pyramid, (1, 3, 24, 28)),
    "factored": (_factored, (1, 3, 18, 26)),
    "series": (_series, (1, 3, 61)),
    "separated": (_separated, (1, 1, 408)),
    "weighted": (_weighted, (1, 3, 32, 40)),
    "clicks": (_clicks, (1, 6, 15)),
    "sampled": (_sampled, (1, 45)),
    "stars": (_stars, (1, 3, 20, 24)),
    "spelling": (_letters, (1, 13, 58)),
    "mixed": (_patches, (1, 3, 20, 25)),
}
INTEGER, FLOAT = in_both(_ARCHITECTURES)
