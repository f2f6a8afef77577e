"""Small networks of architectures that no other benchmark has, for ``benchmarks.cortexm_layers``: its eighth set,
listed before any of their layers was counted.

All are made with a fixed seed, in float32, and quantised to 8 bits by ONNX Runtime's static quantiser.
"""

from __future__ import annotations

import numpy as np

from benchmarks.breadth_models import Graph
from benchmarks.small_models import Architectures, classified, in_both, linear, whole


def _number(graph: Graph, value: float) -> str:
    return graph.constant(np.float32(value))


def _reshaped(graph: Graph, x: str, *sizes: int) -> str:
    return graph.node("Reshape", x, whole(graph, *sizes))


def _recurrent(graph: Graph, op: str, x: str, gates: int, inputs: int, hidden: int) -> str:
    """A layer over [steps, 1, inputs]; its last state [1, hidden]."""
    sizes = ((1, gates * hidden, inputs), (1, gates * hidden, hidden), (1, 2 * gates * hidden))
    weights = [graph.constant((graph.random.standard_normal(size) * 0.2).astype(np.float32)) for size in sizes]
    name = graph.node(op, x, *weights, outputs=2, hidden_size=hidden)
    return _reshaped(graph, f"{name}_1", 1, hidden)


def _tagger(graph: Graph) -> str:
    """A recurrent layer of a sequence, and classes of what it ends with."""
    x = graph.node("Transpose", linear(graph, "x", 9, 14), perm=[1, 0, 2])
    x = _recurrent(graph, "LSTM", x, 4, 14, 18)
    return graph.node("Softmax", linear(graph, x, 18, 5), axis=-1)


def _turned_columns(graph: Graph) -> str:
    """Columns of an image after convolutions are a sequence, as readers of text have it."""
    x = graph.conv("x", 1, 12, (3, 3))
    x = graph.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = graph.node("MaxPool", graph.conv(x, 12, 10, (3, 3)), kernel_shape=[3, 1], strides=[3, 1])
    x = graph.node("Transpose", _reshaped(graph, x, 1, 20, 13), perm=[2, 0, 1])
    return linear(graph, _recurrent(graph, "GRU", x, 3, 20, 16), 16, 7)


def _reversible(graph: Graph) -> str:
    """A series less its mean and by its deviation is forecast, and gets both back, as RevIN has it."""
    mean = graph.node("ReduceMean", "x", axes=[1], keepdims=1)
    less = graph.node("Sub", "x", mean)
    square = graph.node("ReduceMean", graph.node("Mul", less, less), axes=[1], keepdims=1)
    wide = graph.node("Sqrt", graph.node("Add", square, _number(graph, 1e-3)))
    y = graph.node("Transpose", graph.node("Div", less, wide), perm=[0, 2, 1])
    y = linear(graph, graph.node("Relu", linear(graph, y, 30, 40)), 40, 8)
    y = graph.node("Transpose", y, perm=[0, 2, 1])
    return graph.node("Add", graph.node("Mul", y, wide), mean)


def _leaky_grid(graph: Graph) -> str:
    """Slopes below 0 and maxima between convolutions; each place of a grid tells boxes, as Tiny YOLO has it."""
    x, channels = "x", 3
    for outs in (9, 18, 27):
        x = graph.node("LeakyRelu", graph.conv(x, channels, outs, (3, 3), relu=False), alpha=0.1)
        x, channels = graph.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), outs
    x = graph.conv(x, 27, 14, (1, 1), relu=False)
    score = graph.node("Sigmoid", graph.node("Slice", x, *(whole(graph, value) for value in (0, 6, 1))))
    return graph.node("Concat", score, graph.node("Slice", x, *(whole(graph, value) for value in (6, 14, 1))), axis=1)


def _swish(graph: Graph, x: str) -> str:
    return graph.node("Mul", x, graph.node("Sigmoid", x))


def _efficient(graph: Graph) -> str:
    """Swish and gates of channels, as EfficientNet has them."""
    x = _swish(graph, graph.conv("x", 3, 14, (3, 3), relu=False, strides=[2, 2]))
    y = _swish(graph, graph.conv(x, 14, 42, (1, 1), relu=False))
    y = _swish(graph, graph.conv(y, 42, 42, (3, 3), relu=False, group=42))
    gate = _swish(graph, graph.conv(graph.node("GlobalAveragePool", y), 42, 4, (1, 1), relu=False))
    y = graph.node("Mul", y, graph.node("Sigmoid", graph.conv(gate, 4, 42, (1, 1), relu=False)))
    x = graph.node("Add", x, graph.conv(y, 42, 14, (1, 1), relu=False))
    return classified(graph, x, 14, 6)


def _near_channels(graph: Graph) -> str:
    """A window over the means of channels gives their gates, as ECA has it."""
    x = graph.conv(graph.conv("x", 2, 16, (3, 3), strides=[2, 2]), 16, 26, (3, 3))
    line = _reshaped(graph, graph.node("GlobalAveragePool", x), 1, 1, 26)
    gate = graph.node("Sigmoid", graph.conv(line, 1, 1, (3,), relu=False))
    return classified(graph, graph.node("Mul", x, _reshaped(graph, gate, 1, 26, 1, 1)), 26, 9)


def _radial(graph: Graph) -> str:
    """Exponentials of squared distances to stored vectors, weighted."""
    less = graph.node("Sub", _reshaped(graph, "x", 1, 1, 16), graph.weights(1, 21, 16))
    square = graph.node("ReduceSum", graph.node("Mul", less, less), whole(graph, 2), keepdims=0)
    return linear(graph, graph.node("Exp", graph.node("Mul", square, _number(graph, -0.1))), 21, 3)


def _polynomials(graph: Graph) -> str:
    """Powers of inputs and a dense layer beside them."""
    cube = graph.node("Pow", "x", _number(graph, 3))
    y = graph.node("Concat", "x", graph.node("Mul", "x", "x"), cube, axis=1)
    y = graph.node("Sin", linear(graph, y, 72, 25))
    return graph.node("Add", linear(graph, y, 25, 4), linear(graph, "x", 24, 4))


def _pixel_attention(graph: Graph) -> str:
    """A gate of each number of an image, and a larger image, as PAN has them."""
    x = graph.conv("x", 1, 13, (3, 3), relu=False)
    y = graph.node("LeakyRelu", graph.conv(x, 13, 13, (3, 3), relu=False), alpha=0.2)
    y = graph.node("Mul", y, graph.node("Sigmoid", graph.conv(y, 13, 13, (1, 1), relu=False)))
    x = graph.node("Add", x, graph.conv(y, 13, 13, (3, 3), relu=False))
    scales = graph.constant(np.array([1, 1, 2, 2], np.float32))
    return graph.conv(graph.node("Resize", x, "", scales, mode="nearest"), 13, 1, (3, 3), relu=False)


def _bands(graph: Graph) -> str:
    """Absolute values of filters become logarithms less their mean, in which windows find sounds."""
    x = graph.node("Abs", graph.conv("x", 1, 19, (25,), relu=False, strides=[10]))
    x = graph.node("Log", graph.node("Add", x, _number(graph, 0.1)))
    x = graph.node("Sub", x, graph.node("ReduceMean", x, axes=[2], keepdims=1))
    x = graph.conv(x, 19, 23, (3,), strides=[2])
    x = graph.conv(x, 23, 23, (3,), group=23)
    return linear(graph, graph.node("ReduceMean", x, axes=[2], keepdims=0), 23, 10)


def _relative_heads(graph: Graph) -> str:
    """Heads with a bias of each pair of places, as windows of Swin have them."""
    x = graph.node("LayerNormalization", "x", graph.weights(24), graph.weights(24), axis=-1)
    heads = []
    for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
        y = _reshaped(graph, linear(graph, x, 24, 24), 1, 16, 3, 8)
        heads.append(graph.node("Transpose", y, perm=order))
    scores = graph.node("Mul", graph.node("MatMul", heads[0], heads[1]), _number(graph, 8**-0.5))
    shares = graph.node("Softmax", graph.node("Add", scores, graph.weights(1, 3, 16, 16)), axis=-1)
    y = graph.node("Transpose", graph.node("MatMul", shares, heads[2]), perm=[0, 2, 1, 3])
    return graph.node("Add", "x", linear(graph, _reshaped(graph, y, 1, 16, 24), 24, 24))


def _voices(graph: Graph) -> str:
    """The mean of what three networks of two layers say."""
    found = []
    for hidden in (17, 22, 28):
        y = graph.node("Tanh", linear(graph, "x", 31, hidden))
        found.append(graph.node("Softmax", linear(graph, y, hidden, 6), axis=-1))
    return graph.node("Mean", *found)


_ARCHITECTURES: Architectures = {
    "tagger": (_tagger, (1, 6, 9)),
    "turned columns": (_turned_columns, (1, 1, 12, 26)),
    "reversible": (_reversible, (1, 30, 5)),
    "leaky grid": (_leaky_grid, (1, 3, 32, 40)),
    "efficient": (_efficient, (1, 3, 29, 23)),
    "near channels": (_near_channels, (1, 2, 24, 20)),
    "radial": (_radial, (1, 16)),
    "polynomials": (_polynomials, (1, 24)),
    "pixel attention": (_pixel_attention, (1, 1, 17, 14)),
    "bands": (_bands, (1, 1, 505)),
    "relative heads": (_relative_heads, (1, 16, 24)),
    "voices": (_voices, (1, 31)),
}
INTEGER, FLOAT = in_both(_ARCHITECTURES)
