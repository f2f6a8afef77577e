"""Small networks of the kinds that products with microcontrollers ship, for ``benchmarks.cortexm_layers``: its
sixteenth set, listed before any of their layers was counted. Sizes are other ones than those of the publications.

All are made with a fixed seed, in float32, and quantised to 8 bits by ONNX Runtime's static quantiser.
"""

from __future__ import annotations

import numpy as np

from benchmarks.breadth_models import Graph
from benchmarks.small_models import Architectures, classified, in_both, linear, whole


def _dense(graph: Graph, x: str, ins: int, outs: int) -> str:
    return graph.node("Gemm", x, graph.weights(outs, ins), graph.weights(outs), transB=1)


def _digits(graph: Graph) -> str:
    """Two convolutions, each with a pool, and dense layers, as LeNet has them."""
    x = graph.node("MaxPool", graph.conv("x", 1, 6, (5, 5), pads=[0] * 4), kernel_shape=[2, 2], strides=[2, 2])
    x = graph.node("MaxPool", graph.conv(x, 6, 16, (5, 5), pads=[0] * 4), kernel_shape=[2, 2], strides=[2, 2])
    x = graph.node("Flatten", x)
    return _dense(graph, graph.node("Relu", _dense(graph, x, 256, 84)), 84, 10)


def _persons(graph: Graph) -> str:
    """A first layer, depthwise and pointwise ones, the mean, as MobileNet has them."""
    x, channels = graph.conv("x", 1, 8, (3, 3), strides=[2, 2], pads=[1] * 4), 8
    for outs, stride in ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1)):
        x = graph.conv(x, channels, channels, (3, 3), group=channels, strides=[stride] * 2, pads=[1] * 4)
        x, channels = graph.conv(x, channels, outs, (1, 1)), outs
    return classified(graph, x, channels, 2)


def _inverted(graph: Graph) -> str:
    """Inverted bottlenecks with shortcuts, as MobileNetV2 has them."""
    x, channels = graph.conv("x", 3, 16, (3, 3), strides=[2, 2], pads=[1] * 4), 16
    for outs, stride in ((24, 2), (24, 1), (32, 2), (32, 1)):
        y = graph.conv(x, channels, 4 * channels, (1, 1))
        y = graph.conv(y, 4 * channels, 4 * channels, (3, 3), group=4 * channels, strides=[stride] * 2, pads=[1] * 4)
        y = graph.conv(y, 4 * channels, outs, (1, 1), relu=False)
        x, channels = graph.node("Add", x, y) if stride == 1 else y, outs
    return classified(graph, graph.conv(x, 32, 96, (1, 1)), 96, 12)


def _residual(graph: Graph) -> str:
    """Blocks with shortcuts, as ResNet has them for small pictures."""
    x, channels = graph.conv("x", 3, 12, (3, 3), pads=[1] * 4), 12
    for outs, stride in ((12, 1), (24, 2), (48, 2)):
        y = graph.conv(x, channels, outs, (3, 3), strides=[stride] * 2, pads=[1] * 4)
        y = graph.conv(y, outs, outs, (3, 3), pads=[1] * 4, relu=False)
        x = graph.conv(x, channels, outs, (1, 1), strides=[stride] * 2, relu=False) if stride > 1 else x
        x, channels = graph.node("Relu", graph.node("Add", x, y)), outs
    return classified(graph, x, channels, 10)


def _words(graph: Graph) -> str:
    """A spectrum in four depthwise and pointwise layers, as DS-CNN has them."""
    x = graph.conv("x", 1, 40, (10, 4), strides=[2, 2], pads=[4, 1, 5, 1])
    for _ in range(4):
        x = graph.conv(x, 40, 40, (3, 3), group=40, pads=[1] * 4)
        x = graph.conv(x, 40, 40, (1, 1))
    return graph.node("Softmax", classified(graph, x, 40, 12), axis=-1)


def _words_in_lines(graph: Graph) -> str:
    """A spectrum whose frequencies are channels, with shortcuts, as TC-ResNet has them."""
    x, channels = graph.conv("x", 40, 16, (3,), pads=[1] * 2), 16
    for outs in (24, 32):
        y = graph.conv(x, channels, outs, (9,), strides=[2], pads=[4] * 2)
        y = graph.conv(y, outs, outs, (9,), pads=[4] * 2, relu=False)
        x = graph.node("Relu", graph.node("Add", y, graph.conv(x, channels, outs, (1,), strides=[2])))
        channels = outs
    return classified(graph, x, channels, 10)


def _machines(graph: Graph) -> str:
    """Dense layers to few numbers and back, as autoencoders of sounds have them."""
    x, ins = "x", 320
    for outs in (64, 64, 8, 64, 64):
        x, ins = (
            graph.node("Relu", graph.node("Gemm", x, graph.weights(outs, ins), graph.weights(outs), transB=1)),
            outs,
        )
    return _dense(graph, x, ins, 320)


def _motion(graph: Graph) -> str:
    """Windows over three axes of acceleration with pools, and dense layers, as recognisers of activities have them."""
    x, channels = "x", 3
    for outs in (16, 32):
        x = graph.conv(x, channels, outs, (5,))
        x, channels = graph.node("MaxPool", x, kernel_shape=[2], strides=[2]), outs
    x = graph.conv(x, 32, 32, (3,))
    x = graph.node("Flatten", graph.node("GlobalAveragePool", x))
    return graph.node("Softmax", linear(graph, graph.node("Relu", linear(graph, x, 32, 24)), 24, 6), axis=-1)


def _tokens(graph: Graph) -> str:
    """A block of attention with two heads and its dense layers, as small transformers have them."""
    x = linear(graph, "x", 24, 32)
    parts = []
    for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
        heads = graph.node("Reshape", linear(graph, x, 32, 32), whole(graph, 1, 20, 2, 16))
        parts.append(graph.node("Transpose", heads, perm=perm))
    scores = graph.node("Mul", graph.node("MatMul", parts[0], parts[1]), graph.constant(np.float32(0.25)))
    y = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), parts[2])
    y = graph.node("Reshape", graph.node("Transpose", y, perm=[0, 2, 1, 3]), whole(graph, 1, 20, 32))
    x = graph.node("Add", x, linear(graph, y, 32, 32))
    x = graph.node("LayerNormalization", x, graph.weights(32), graph.weights(32), axis=-1)
    y = linear(graph, graph.node("Relu", linear(graph, x, 32, 64)), 64, 32)
    x = graph.node("LayerNormalization", graph.node("Add", x, y), graph.weights(32), graph.weights(32), axis=-1)
    return linear(graph, graph.node("ReduceMean", x, axes=[1], keepdims=0), 32, 10)


def _pixels(graph: Graph) -> str:
    """An image to fewer positions and back, whose first results are joined to the last, as U-Net has them."""
    first = graph.conv("x", 3, 12, (3, 3), pads=[1] * 4)
    deep = graph.node("MaxPool", first, kernel_shape=[2, 2], strides=[2, 2])
    deep = graph.conv(graph.conv(deep, 12, 24, (3, 3), pads=[1] * 4), 24, 24, (3, 3), pads=[1] * 4)
    up = graph.node("Resize", deep, "", graph.constant(np.array([1, 1, 2, 2], np.float32)), mode="nearest")
    x = graph.conv(graph.node("Concat", up, first, axis=1), 36, 12, (3, 3), pads=[1] * 4)
    return graph.conv(x, 12, 4, (1, 1), relu=False)


def _hearts(graph: Graph) -> str:
    """Long windows over one signal with strides, the largest of neighbours, the mean, as classifiers of beats have
    them."""
    x, channels = "x", 1
    for outs, taps in ((8, 16), (16, 8), (32, 8)):
        x = graph.conv(x, channels, outs, (taps,), pads=[taps // 2 - 1, taps // 2])
        x, channels = graph.node("MaxPool", x, kernel_shape=[2], strides=[2]), outs
    return classified(graph, x, channels, 5)


def _states(graph: Graph) -> str:
    """Few numbers of a battery or a motor in three dense layers."""
    x, ins = "x", 6
    for outs in (32, 16):
        x, ins = (
            graph.node("Relu", graph.node("Gemm", x, graph.weights(outs, ins), graph.weights(outs), transB=1)),
            outs,
        )
    return _dense(graph, x, ins, 1)


_ARCHITECTURES: Architectures = {
    "shipped digits": (_digits, (1, 1, 28, 28)),
    "shipped persons": (_persons, (1, 1, 48, 48)),
    "shipped bottlenecks": (_inverted, (1, 3, 40, 40)),
    "shipped blocks": (_residual, (1, 3, 24, 24)),
    "shipped words": (_words, (1, 1, 49, 13)),
    "shipped lines": (_words_in_lines, (1, 40, 80)),
    "shipped machines": (_machines, (1, 320)),
    "shipped motion": (_motion, (1, 3, 100)),
    "shipped tokens": (_tokens, (1, 20, 24)),
    "shipped pixels": (_pixels, (1, 3, 32, 32)),
    "shipped hearts": (_hearts, (1, 1, 200)),
    "shipped states": (_states, (1, 6)),
}
INTEGER, FLOAT = in_both(_ARCHITECTURES)
