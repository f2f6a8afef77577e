"""Small networks of published architectures, for ``benchmarks.cortexm_layers``: its fifteenth set, listed before any of
their layers was counted. Sizes are other ones than those of the publications.

All are made with a fixed seed, in float32, and quantised to 8 bits by ONNX Runtime's static quantiser.
"""

from __future__ import annotations

import numpy as np

from benchmarks.breadth_models import Graph
from benchmarks.small_models import Architectures, classified, in_both, linear, whole


def _pooled_tokens(graph: Graph) -> str:
    """Averages of neighbours less each position, then dense layers of channels, as PoolFormer has them."""
    x = graph.conv("x", 3, 21, (7, 7), relu=False, strides=[4, 4], pads=[2] * 4)
    for _ in range(2):
        y = graph.node("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4, count_include_pad=1)
        x = graph.node("Add", x, graph.node("Sub", y, x))
        y = graph.conv(graph.conv(x, 21, 47, (1, 1)), 47, 21, (1, 1), relu=False)
        x = graph.node("Add", x, graph.node("Mul", y, graph.weights(21, 1, 1)))
    return classified(graph, x, 21, 9)


def _near_gates(graph: Graph) -> str:
    """Gates of channels from a window over their means, as ECA-Net has them."""
    x, channels = "x", 3
    for outs in (18, 30):
        x = graph.conv(x, channels, outs, (3, 3), strides=[2, 2])
        means = graph.node("Reshape", graph.node("GlobalAveragePool", x), whole(graph, 1, 1, outs))
        gates = graph.node("Sigmoid", graph.conv(means, 1, 1, (3,), relu=False))
        x, channels = graph.node("Mul", x, graph.node("Reshape", gates, whole(graph, 1, outs, 1, 1))), outs
    return classified(graph, x, 30, 6)


def _placed(graph: Graph) -> str:
    """Two channels that tell each position where it is, as CoordConv has them."""
    rows, columns = np.meshgrid(np.linspace(-1, 1, 20), np.linspace(-1, 1, 26), indexing="ij")
    places = graph.constant(np.stack([rows, columns])[None].astype(np.float32))
    x = graph.conv(graph.node("Concat", "x", places, axis=1), 4, 15, (3, 3), strides=[2, 2])
    x = graph.conv(graph.conv(x, 15, 15, (3, 3)), 15, 3, (1, 1), relu=False)
    return graph.node("ReduceMax", x, axes=[2, 3], keepdims=0)


def _clouds(graph: Graph) -> str:
    """A dense layer of each point, the largest of all points, which each point reads again, as PointNet has them."""
    x = graph.conv(graph.conv("x", 3, 17, (1,)), 17, 26, (1,))
    most = graph.node("Expand", graph.node("ReduceMax", x, axes=[2], keepdims=1), whole(graph, 1, 26, 54))
    x = graph.conv(graph.node("Concat", x, most, axis=1), 52, 22, (1,))
    return graph.conv(x, 22, 5, (1,), relu=False)


def _alike(graph: Graph) -> str:
    """Two halves that one network maps to vectors of length 1, and their product, as Siamese networks have them."""
    weights, other = (graph.weights(29, 40), graph.weights(29)), (graph.weights(12, 29), graph.weights(12))
    lengths = []
    for part in range(2):
        half = graph.node("Slice", "x", whole(graph, 40 * part), whole(graph, 40 * part + 40), whole(graph, 1))
        y = graph.node("Relu", graph.node("Gemm", half, *weights, transB=1))
        y = graph.node("Gemm", y, *other, transB=1)
        lengths.append(graph.node("Div", y, graph.node("ReduceL2", y, axes=[1], keepdims=1)))
    return graph.node("ReduceSum", graph.node("Mul", *lengths), whole(graph, 1), keepdims=1)


def _gated_tokens(graph: Graph) -> str:
    """Half of the channels times a dense layer of the other half along tokens, as gMLP has them."""
    x = "x"
    for _ in range(2):
        y = graph.node("LayerNormalization", x, graph.weights(26), graph.weights(26), axis=-1)
        y = linear(graph, y, 26, 44)
        y = graph.node("Mul", y, graph.node("Sigmoid", graph.node("Mul", y, graph.constant(np.float32(1.7)))))
        ends = [(whole(graph, 22 * part), whole(graph, 22 * part + 22), whole(graph, 2)) for part in range(2)]
        left, right = (graph.node("Slice", y, *end) for end in ends)
        right = linear(graph, graph.node("Transpose", right, perm=[0, 2, 1]), 19, 19)
        y = graph.node("Mul", left, graph.node("Transpose", right, perm=[0, 2, 1]))
        x = graph.node("Add", x, linear(graph, y, 22, 26))
    return linear(graph, graph.node("ReduceMean", x, axes=[1], keepdims=0), 26, 4)


def _attended(graph: Graph) -> str:
    """A recording whose frames are weighted by a softmax over time and added up, as attentive pooling has it."""
    x = graph.conv("x", 9, 23, (5,), strides=[2])
    x = graph.conv(graph.conv(x, 23, 23, (3,)), 23, 34, (1,))
    weights = graph.node("Softmax", graph.conv(graph.node("Tanh", graph.conv(x, 34, 11, (1,))), 11, 1, (1,)), axis=-1)
    x = graph.node("ReduceSum", graph.node("Mul", x, weights), whole(graph, 2), keepdims=0)
    return linear(graph, x, 34, 7)


def _transformed(graph: Graph) -> str:
    """Products with constant matrices along tokens and channels instead of attention, as FNet has them."""
    x = "x"
    for _ in range(2):
        tokens = graph.constant(np.cos(np.outer(np.arange(18), np.arange(18)) * np.pi / 9).astype(np.float32) / 4)
        channels = graph.constant(np.cos(np.outer(np.arange(30), np.arange(30)) * np.pi / 15).astype(np.float32) / 5)
        y = graph.node("MatMul", graph.node("MatMul", tokens, x), channels)
        x = graph.node("LayerNormalization", graph.node("Add", x, y), graph.weights(30), graph.weights(30), axis=-1)
        y = linear(graph, graph.node("Relu", linear(graph, x, 30, 53)), 53, 30)
        x = graph.node("LayerNormalization", graph.node("Add", x, y), graph.weights(30), graph.weights(30), axis=-1)
    return graph.node("Tanh", linear(graph, x, 30, 3))


def _two_ways(graph: Graph) -> str:
    """A window, a pointwise layer and the input itself are added, as RepVGG has them before they become one."""
    x = graph.conv("x", 3, 19, (3, 3), strides=[2, 2])
    for _ in range(3):
        window, point = graph.conv(x, 19, 19, (3, 3), relu=False), graph.conv(x, 19, 19, (1, 1), relu=False)
        x = graph.node("Relu", graph.node("Add", graph.node("Add", window, point), x))
    return classified(graph, x, 19, 11)


def _rates(graph: Graph) -> str:
    """A pulse whose windows of two rates are joined, then dense layers, as multi-scale networks of wearables have."""
    fast = graph.conv("x", 2, 11, (9,), strides=[2])
    slow = graph.conv(graph.node("AveragePool", "x", kernel_shape=[4], strides=[4]), 2, 11, (7,))
    slow = graph.node("Slice", slow, whole(graph, 0), whole(graph, 30), whole(graph, 2))
    fast = graph.node("MaxPool", fast, kernel_shape=[2], strides=[2])
    x = graph.conv(graph.node("Concat", fast, slow, axis=1), 22, 27, (5,), strides=[3])
    x = graph.node("Flatten", x)
    return graph.node("Softplus", linear(graph, graph.node("Relu", linear(graph, x, 270, 18)), 18, 2))


def _masked(graph: Graph) -> str:
    """A spectrum times a mask that windows over time and frequency find, as denoisers of speech have it."""
    x = graph.node("Log", graph.node("Add", graph.node("Abs", "x"), graph.constant(np.float32(1))))
    first = graph.conv(x, 1, 8, (3, 5), strides=[1, 2])
    deep = graph.conv(first, 8, 14, (3, 5), strides=[1, 2])
    up = graph.node("ConvTranspose", deep, graph.weights(14, 8, 1, 2), graph.weights(8), strides=[1, 2])
    both = graph.node("Concat", graph.node("Relu", up), first, axis=1)
    mask = graph.node("ConvTranspose", both, graph.weights(16, 1, 1, 2), graph.weights(1), strides=[1, 2])
    return graph.node("Mul", "x", graph.node("Sigmoid", mask))


def _boxes_and_classes(graph: Graph) -> str:
    """Depthwise and pointwise layers, and heads at two sizes that are joined, as SSDLite has them."""
    x, channels, heads = "x", 3, []
    for outs, stride in ((12, 2), (20, 2), (28, 2)):
        x = graph.conv(x, channels, outs, (3, 3), strides=[stride] * 2) if channels == 3 else x
        if channels > 3:
            x = graph.conv(x, channels, channels, (3, 3), group=channels, strides=[stride] * 2)
            x = graph.conv(x, channels, outs, (1, 1))
            head = graph.conv(graph.conv(x, outs, outs, (3, 3), group=outs), outs, 12, (1, 1), relu=False)
            heads.append(
                graph.node("Reshape", graph.node("Transpose", head, perm=[0, 2, 3, 1]), whole(graph, 1, -1, 6))
            )
        channels = outs
    return graph.node("Concat", *heads, axis=1)


_ARCHITECTURES: Architectures = {
    "pooled tokens": (_pooled_tokens, (1, 3, 28, 32)),
    "near gates": (_near_gates, (1, 3, 24, 26)),
    "placed": (_placed, (1, 2, 20, 26)),
    "clouds": (_clouds, (1, 3, 54)),
    "twins": (_alike, (1, 80)),
    "gated tokens": (_gated_tokens, (1, 19, 26)),
    "attended": (_attended, (1, 9, 66)),
    "transformed": (_transformed, (1, 18, 30)),
    "two ways": (_two_ways, (1, 3, 22, 20)),
    "rates": (_rates, (1, 2, 120)),
    "masked": (_masked, (1, 1, 12, 40)),
    "two sizes": (_boxes_and_classes, (1, 3, 32, 40)),
}
INTEGER, FLOAT = in_both(_ARCHITECTURES)
