"""Small networks of architectures that no other benchmark has, for ``benchmarks.cortexm_layers``: its fourth set,
listed before any of their layers was counted.

All are made with a fixed seed, in float32, and quantised to 8 bits by ONNX Runtime's static quantiser.
"""

from __future__ import annotations

from benchmarks.breadth_models import Graph
from benchmarks.small_models import Architectures, classified, in_both, linear, whole


def _ghosts(graph: Graph) -> str:
    """Half of the channels are computed from the others by depthwise convolutions, as GhostNet has them."""
    x, channels = graph.conv("x", 3, 10, (3, 3), strides=[2, 2]), 10
    for outs in (16, 28):
        half = graph.conv(x, channels, outs // 2, (1, 1))
        cheap = graph.conv(half, outs // 2, outs // 2, (3, 3), group=outs // 2)
        x, channels = graph.node("Concat", half, cheap, axis=1), outs
    return classified(graph, x, channels, 6)


def _pyramid(graph: Graph) -> str:
    """Maxima of windows of three sizes beside each other."""
    x = graph.conv("x", 4, 14, (3, 3))
    sizes = (3, 5, 7)
    parts = [graph.node("MaxPool", x, kernel_shape=[n, n], strides=[1, 1], pads=[n // 2] * 4) for n in sizes]
    return graph.conv(graph.node("Concat", x, *parts, axis=1), 56, 9, (1, 1), relu=False)


def _broadcast(graph: Graph) -> str:
    """Means of frequencies that are added to each of them, as keyword spotters with broadcast residuals have them."""
    x = graph.conv("x", 1, 20, (5, 5), strides=[2, 1])
    y = graph.node("ReduceMean", graph.conv(x, 20, 20, (3, 1), group=20), axes=[2], keepdims=1)
    y = graph.conv(graph.conv(y, 20, 20, (1, 3), group=20), 20, 20, (1, 1))
    return classified(graph, graph.node("Relu", graph.node("Add", x, y)), 20, 8)


def _heartbeat(graph: Graph) -> str:
    """Residual blocks of a signal that get shorter."""
    x, channels = graph.conv("x", 2, 12, (7,), strides=[2]), 12
    for outs in (12, 22):
        y = graph.conv(graph.conv(x, channels, outs, (5,), strides=[2]), outs, outs, (5,), relu=False)
        x = graph.node("Relu", graph.node("Add", y, graph.conv(x, channels, outs, (1,), relu=False, strides=[2])))
        channels = outs
    return graph.node("Softmax", linear(graph, graph.node("ReduceMean", x, axes=[2], keepdims=0), 22, 4), axis=-1)


def _conformed(graph: Graph) -> str:
    """A convolution between a gate and a residual, on rows, as the Conformer has it."""
    y = graph.node("LayerNormalization", "x", graph.weights(40), graph.weights(40), axis=-1)
    gate, y = (linear(graph, y, 40, 40) for _ in range(2))
    y = graph.node("Transpose", graph.node("Mul", y, graph.node("Sigmoid", gate)), perm=[0, 2, 1])
    y = graph.conv(y, 40, 40, (9,), relu=False, group=40)
    y = graph.node("Mul", y, graph.node("Sigmoid", y))
    return graph.node("Add", "x", linear(graph, graph.node("Transpose", y, perm=[0, 2, 1]), 40, 40))


def _linear_attention(graph: Graph) -> str:
    """Attention whose keys and values are multiplied first."""
    query, key, value = (linear(graph, "x", 24, 24) for _ in range(3))
    query, key = (graph.node("Relu", one) for one in (query, key))
    context = graph.node("MatMul", graph.node("Transpose", key, perm=[0, 2, 1]), value)
    return graph.node("Add", "x", linear(graph, graph.node("MatMul", query, context), 24, 24))


def _unshuffled(graph: Graph) -> str:
    """Positions become channels first, as detectors for small images have it."""
    x = graph.conv(graph.node("SpaceToDepth", "x", blocksize=2), 12, 18, (3, 3))
    x = graph.node("Add", x, graph.conv(graph.conv(x, 18, 9, (1, 1)), 9, 18, (3, 3)))
    return graph.conv(x, 18, 15, (1, 1), relu=False)


def _split(graph: Graph) -> str:
    """One half of the channels is computed, the other one stays, as partial networks have it."""
    x = graph.conv("x", 3, 16, (3, 3), strides=[2, 2])
    limits = [(0, 8), (8, 16)]
    kept, taken = (graph.node("Slice", x, *(whole(graph, value) for value in (a, b, 1))) for a, b in limits)
    y = graph.node("Concat", kept, graph.conv(graph.conv(taken, 8, 8, (3, 3)), 8, 8, (3, 3)), axis=1)
    y = graph.conv(y, 16, 30, (1, 1))
    return classified(graph, graph.node("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2]), 30, 5)


def _compared(graph: Graph) -> str:
    """The squared distances of a vector to stored ones."""
    x = graph.node("Tanh", graph.node("Gemm", "x", graph.weights(21, 64), graph.weights(21), transB=1))
    difference = graph.node("Sub", graph.node("Reshape", x, whole(graph, 1, 1, 21)), graph.weights(17, 21))
    squares = graph.node("Mul", difference, difference)
    return graph.node("Sqrt", graph.node("ReduceMean", squares, axes=[2], keepdims=0))


def _anomaly(graph: Graph) -> str:
    """An image is made smaller and larger again."""
    x = graph.conv(graph.conv("x", 1, 9, (3, 3), strides=[2, 2]), 9, 19, (3, 3), strides=[2, 2])
    x = graph.conv(x, 19, 6, (1, 1))
    for ins, outs in ((6, 11), (11, 1)):
        weights, bias = graph.weights(ins, outs, 2, 2), graph.weights(outs)
        x = graph.node("ConvTranspose", x, weights, bias, strides=[2, 2], kernel_shape=[2, 2])
        x = graph.node("Relu", x) if outs > 1 else graph.node("Sigmoid", x)
    return x


_ARCHITECTURES: Architectures = {
    "ghosts": (_ghosts, (1, 3, 26, 22)),
    "pyramid pooling": (_pyramid, (1, 4, 15, 17)),
    "broadcast residual": (_broadcast, (1, 1, 30, 21)),
    "heartbeat": (_heartbeat, (1, 2, 110)),
    "gated rows": (_conformed, (1, 34, 40)),
    "linear attention": (_linear_attention, (1, 45, 24)),
    "unshuffled": (_unshuffled, (1, 3, 26, 18)),
    "split": (_split, (1, 3, 28, 20)),
    "distances": (_compared, (1, 64)),
    "anomaly": (_anomaly, (1, 1, 24, 32)),
}
INTEGER, FLOAT = in_both(_ARCHITECTURES)
