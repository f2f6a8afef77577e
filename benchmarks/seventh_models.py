"""Small networks of architectures that no other benchmark has, for ``benchmarks.cortexm_layers``: its seventh set,
listed before any of their layers was counted.

All are made with a fixed seed, in float32, and quantised to 8 bits by ONNX Runtime's static quantiser.
"""

from __future__ import annotations

import numpy as np

from benchmarks.breadth_models import Graph
from benchmarks.small_models import Architectures, classified, in_both, linear, whole


def _number(graph: Graph, value: float) -> str:
    return graph.constant(np.float32(value))


def _layer_norm(graph: Graph, x: str, size: int) -> str:
    return graph.node("LayerNormalization", x, graph.weights(size), graph.weights(size), axis=-1)


def _latents(graph: Graph) -> str:
    """Few learned vectors attend to many tokens, as the Perceiver has them."""
    keys, values = (linear(graph, "x", 18, 22) for _ in range(2))
    queries = graph.weights(1, 5, 22)
    scores = graph.node("MatMul", queries, graph.node("Transpose", keys, perm=[0, 2, 1]))
    shares = graph.node("Softmax", graph.node("Mul", scores, _number(graph, 22**-0.5)), axis=-1)
    y = _layer_norm(graph, graph.node("MatMul", shares, values), 22)
    return linear(graph, graph.node("ReduceMean", y, axes=[1], keepdims=0), 22, 6)


def _neighbours(graph: Graph) -> str:
    """Sums of neighbours between dense layers, as graph convolutions have them."""
    near = graph.constant((graph.random.uniform(0, 1, (14, 14)) < 0.3).astype(np.float32) / 4)
    x = graph.node("Relu", linear(graph, graph.node("MatMul", near, "x"), 11, 19))
    x = linear(graph, graph.node("MatMul", near, x), 19, 13)
    return graph.node("Softmax", x, axis=-1)


def _capsules(graph: Graph) -> str:
    """Vectors whose length becomes less than 1, as capsules have them."""
    x = graph.conv("x", 1, 24, (5, 5), strides=[2, 2], pads=[0] * 4)
    x = graph.conv(x, 24, 16, (3, 3), relu=False, strides=[2, 2])
    x = graph.node("Reshape", x, whole(graph, 1, -1, 8))
    square = graph.node("ReduceSum", graph.node("Mul", x, x), whole(graph, 2), keepdims=1)
    length = graph.node("Sqrt", graph.node("Add", square, _number(graph, 1e-3)))
    share = graph.node("Div", length, graph.node("Add", square, _number(graph, 1)))
    return linear(graph, graph.node("Mul", x, share), 8, 5)


def _free_anchors(graph: Graph) -> str:
    """Scores and sizes of each position, the latter as exponentials, as detectors without anchors have them."""
    x = graph.conv(graph.conv("x", 3, 18, (3, 3), strides=[2, 2]), 18, 18, (3, 3), strides=[2, 2])
    score = graph.node("Sigmoid", graph.conv(x, 18, 4, (3, 3), relu=False))
    size = graph.node("Exp", graph.node("Clip", graph.conv(x, 18, 4, (1, 1), relu=False), *_ends(graph)))
    y = graph.node("Concat", score, size, axis=1)
    return graph.node("Transpose", graph.node("Reshape", y, whole(graph, 1, 8, -1)), perm=[0, 2, 1])


def _ends(graph: Graph) -> tuple[str, str]:
    return _number(graph, -2), _number(graph, 2)


def _group_norms(graph: Graph) -> str:
    """Groups of channels are normalised together between convolutions."""
    x, channels = "x", 3
    for outs in (16, 24):
        y = graph.conv(x, channels, outs, (3, 3), relu=False, strides=[2, 2])
        y = graph.node("Reshape", y, whole(graph, 1, 4, -1))
        ones, zeros = (graph.constant(np.full(4, value, np.float32)) for value in (1, 0))
        y = graph.node("InstanceNormalization", y, ones, zeros)
        sizes = whole(graph, 1, outs, *((13, 11) if outs == 16 else (7, 6)))
        scale = graph.weights(outs, 1, 1)
        y = graph.node("Mul", graph.node("Reshape", y, sizes), scale)
        x, channels = graph.node("Relu", graph.node("Add", y, graph.weights(outs, 1, 1))), outs
    return classified(graph, x, 24, 9)


def _forecasts(graph: Graph) -> str:
    """Each block explains a part of a series and forecasts, as N-BEATS has them."""
    rest, sums = "x", []
    for _ in range(3):
        y = graph.node("Relu", linear(graph, graph.node("Relu", linear(graph, rest, 42, 35)), 35, 35))
        rest = graph.node("Sub", rest, linear(graph, y, 35, 42))
        sums.append(linear(graph, y, 35, 12))
    return graph.node("Sum", *sums)


def _frequencies(graph: Graph) -> str:
    """Tokens are mixed by constant cosines along both axes, as FNet has it."""
    rows, columns = (np.cos(2 * np.pi * np.outer(np.arange(n), np.arange(n)) / n) / n**0.5 for n in (26, 34))
    x = linear(graph, "x", 34, 34)
    mixed = graph.node("MatMul", graph.constant(rows.astype(np.float32)), x)
    mixed = graph.node("MatMul", mixed, graph.constant(columns.astype(np.float32)))
    x = _layer_norm(graph, graph.node("Add", x, mixed), 34)
    y = linear(graph, graph.node("Tanh", linear(graph, x, 34, 68)), 68, 34)
    return _layer_norm(graph, graph.node("Add", x, y), 34)


def _keypoints(graph: Graph) -> str:
    """Means of places, weighted by a softmax over each channel's image."""
    x = graph.conv(graph.conv("x", 1, 15, (3, 3), strides=[2, 2]), 15, 6, (3, 3), relu=False)
    shares = graph.node("Softmax", graph.node("Reshape", x, whole(graph, 1, 6, -1)), axis=-1)
    grid = np.stack([line.ravel() for line in np.meshgrid(np.linspace(0, 1, 10), np.linspace(0, 1, 13))])
    places = graph.constant(grid.T.astype(np.float32))
    return graph.node("MatMul", shares, places)


def _wide_windows(graph: Graph) -> str:
    """Windows of 7 x 7 of each channel, norms of positions, four times the channels, as ConvNeXt has them."""
    x = graph.conv("x", 3, 20, (4, 4), relu=False, strides=[4, 4], pads=[0] * 4)
    y = graph.conv(x, 20, 20, (7, 7), relu=False, group=20)
    y = _layer_norm(graph, graph.node("Transpose", y, perm=[0, 2, 3, 1]), 20)
    y = linear(graph, y, 20, 80)
    curve = graph.node("Erf", graph.node("Mul", y, _number(graph, 0.70710677)))
    y = graph.node("Mul", graph.node("Mul", y, _number(graph, 0.5)), graph.node("Add", curve, _number(graph, 1)))
    y = graph.node("Mul", linear(graph, y, 80, 20), graph.weights(20))
    return classified(graph, graph.node("Add", x, graph.node("Transpose", y, perm=[0, 3, 1, 2])), 20, 11)


def _hard_gates(graph: Graph) -> str:
    """Piecewise linear activations and gates of channels, as MobileNetV3 has them."""
    x = graph.node("HardSwish", graph.conv("x", 3, 16, (3, 3), relu=False, strides=[2, 2]))
    y = graph.node("HardSwish", graph.conv(x, 16, 40, (1, 1), relu=False))
    y = graph.node("HardSwish", graph.conv(y, 40, 40, (5, 5), relu=False, group=40))
    gate = graph.conv(graph.conv(graph.node("GlobalAveragePool", y), 40, 12, (1, 1)), 12, 40, (1, 1), relu=False)
    y = graph.node("Mul", y, graph.node("HardSigmoid", gate, alpha=1 / 6))
    return classified(graph, graph.node("Add", x, graph.conv(y, 40, 16, (1, 1), relu=False)), 16, 8)


def _points(graph: Graph) -> str:
    """The largest numbers of all points go back to each of them, as PointNet has it."""
    x = graph.node("Relu", linear(graph, graph.node("Relu", linear(graph, "x", 3, 21)), 21, 33))
    most = graph.node("ReduceMax", x, axes=[1], keepdims=1)
    y = graph.node("Concat", x, graph.node("Expand", most, whole(graph, 1, 44, 33)), axis=-1)
    return linear(graph, graph.node("Relu", linear(graph, y, 66, 24)), 24, 4)


def _differences(graph: Graph) -> str:
    """Absolute differences of what two halves of the input become, relative to their lengths."""
    halves = [graph.node("Slice", "x", *(whole(graph, v) for v in (29 * n, 29 * n + 29, 1))) for n in (0, 1)]
    weights, bias = graph.weights(29, 23), graph.weights(23)
    both = [graph.node("Tanh", graph.node("Add", graph.node("MatMul", half, weights), bias)) for half in halves]
    length = graph.node("ReduceL2", both[0], axes=[1], keepdims=1)
    y = graph.node("Abs", graph.node("Sub", *both))
    y = graph.node("Div", y, graph.node("Add", length, _number(graph, 0.1)))
    return graph.node("Sigmoid", linear(graph, y, 23, 2))


_ARCHITECTURES: Architectures = {
    "latents": (_latents, (1, 37, 18)),
    "neighbours": (_neighbours, (1, 14, 11)),
    "capsules": (_capsules, (1, 1, 25, 25)),
    "free anchors": (_free_anchors, (1, 3, 28, 36)),
    "group norms": (_group_norms, (1, 3, 26, 22)),
    "forecasts": (_forecasts, (1, 42)),
    "frequencies": (_frequencies, (1, 26, 34)),
    "keypoints": (_keypoints, (1, 1, 25, 20)),
    "wide windows": (_wide_windows, (1, 3, 36, 32)),
    "hard gates": (_hard_gates, (1, 3, 27, 31)),
    "points": (_points, (1, 44, 3)),
    "differences": (_differences, (1, 58)),
}
INTEGER, FLOAT = in_both(_ARCHITECTURES)
