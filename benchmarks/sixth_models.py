"""Small networks of architectures that no other benchmark has, for ``benchmarks.cortexm_layers``: its sixth set, listed
before any of their layers was counted.

All are made with a fixed seed, in float32, and quantised to 8 bits by ONNX Runtime's static quantiser.
"""

from __future__ import annotations

import numpy as np

from benchmarks.breadth_models import Graph
from benchmarks.small_models import Architectures, classified, in_both, linear, whole


def _one(graph: Graph) -> str:
    return graph.constant(np.float32(1))


def _cut(graph: Graph, x: str, first: int, last: int, axis: int) -> str:
    return graph.node("Slice", x, *(whole(graph, value) for value in (first, last, axis)))


def _highway(graph: Graph) -> str:
    """Gates choose between a layer and what it reads, as highway networks have them."""
    x = graph.node("Relu", linear(graph, "x", 37, 46))
    for _ in range(2):
        gate = graph.node("Sigmoid", linear(graph, x, 46, 46))
        y = graph.node("Mul", graph.node("Relu", linear(graph, x, 46, 46)), gate)
        x = graph.node("Add", y, graph.node("Mul", x, graph.node("Sub", _one(graph), gate)))
    return linear(graph, x, 46, 8)


def _selective(graph: Graph) -> str:
    """A softmax for each channel weighs windows of two sizes, as selective kernels have it."""
    x = graph.conv("x", 3, 14, (3, 3), strides=[2, 2])
    parts = [graph.conv(x, 14, 14, (n, n), group=7) for n in (3, 5)]
    y = graph.node("GlobalAveragePool", graph.node("Add", *parts))
    y = graph.conv(graph.conv(y, 14, 5, (1, 1)), 5, 28, (1, 1), relu=False)
    y = graph.node("Softmax", graph.node("Reshape", y, whole(graph, 1, 2, 14, 1)), axis=1)
    shares = [graph.node("Reshape", _cut(graph, y, n, n + 1, 1), whole(graph, 1, 14, 1, 1)) for n in (0, 1)]
    x = graph.node("Add", *(graph.node("Mul", *pair) for pair in zip(parts, shares, strict=True)))
    return classified(graph, x, 14, 5)


def _recurrence(graph: Graph) -> str:
    """Four steps of a unit with one gate, as minimal gated units have it."""
    state = graph.constant(np.zeros((1, 26), np.float32))
    weights = [(graph.weights(26, 26), graph.weights(17, 26), graph.weights(26)) for _ in range(2)]
    for step in range(4):
        x = graph.node("Reshape", _cut(graph, "x", step, step + 1, 1), whole(graph, 1, 17))

        def summed(kept: str, number: int, x: str = x) -> str:
            own, other, bias = weights[number]
            products = graph.node("MatMul", kept, own), graph.node("MatMul", x, other)
            return graph.node("Add", graph.node("Add", *products), bias)

        gate = graph.node("Sigmoid", summed(state, 0))
        new = graph.node("Tanh", summed(graph.node("Mul", gate, state), 1))
        state = graph.node("Add", state, graph.node("Mul", gate, graph.node("Sub", new, state)))
    return graph.node("Softmax", linear(graph, state, 26, 4), axis=-1)


def _token_pools(graph: Graph) -> str:
    """Averages of neighbours less themselves instead of an attention, as PoolFormer has them."""
    x = graph.conv("x", 3, 22, (3, 3), relu=False, strides=[2, 2])
    y = graph.node("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4)
    x = graph.node("Add", x, graph.node("Sub", y, x))
    wide = graph.conv(x, 22, 44, (1, 1), relu=False)
    half = graph.node("Mul", wide, graph.constant(np.float32(0.5)))
    curve = graph.node("Erf", graph.node("Mul", wide, graph.constant(np.float32(0.70710677))))
    y = graph.node("Mul", half, graph.node("Add", curve, _one(graph)))
    return classified(graph, graph.node("Add", x, graph.conv(y, 44, 22, (1, 1), relu=False)), 22, 7)


def _octaves(graph: Graph) -> str:
    """Channels of two resolutions that read each other, as octave convolutions have them."""
    high = graph.conv("x", 1, 10, (3, 3))
    low = graph.conv(graph.node("AveragePool", high, kernel_shape=[2, 2], strides=[2, 2]), 10, 6, (3, 3))
    up = graph.node("Resize", graph.conv(low, 6, 10, (3, 3), relu=False), "", _scales(graph), mode="nearest")
    down = graph.node("AveragePool", high, kernel_shape=[2, 2], strides=[2, 2])
    mixed = graph.node("Relu", graph.node("Add", graph.conv(high, 10, 10, (3, 3), relu=False), up))
    deep = graph.node("Add", graph.conv(down, 10, 6, (3, 3), relu=False), graph.conv(low, 6, 6, (3, 3), relu=False))
    mixed = graph.node("MaxPool", mixed, kernel_shape=[2, 2], strides=[2, 2])
    return classified(graph, graph.node("Concat", mixed, graph.node("Relu", deep), axis=1), 16, 6)


def _scales(graph: Graph) -> str:
    return graph.constant(np.array([1, 1, 2, 2], np.float32))


def _experts(graph: Graph) -> str:
    """A softmax weighs what three dense networks give, as mixtures of experts have it."""
    shares = graph.node("Reshape", graph.node("Softmax", linear(graph, "x", 52, 3), axis=-1), whole(graph, 1, 3, 1))
    found = [linear(graph, graph.node("Relu", linear(graph, "x", 52, 30)), 30, 11) for _ in range(3)]
    parts = [graph.node("Reshape", one, whole(graph, 1, 1, 11)) for one in found]
    y = graph.node("Mul", graph.node("Concat", *parts, axis=1), shares)
    return graph.node("ReduceSum", y, whole(graph, 1), keepdims=0)


def _mish(graph: Graph, x: str) -> str:
    return graph.node("Mul", x, graph.node("Tanh", graph.node("Softplus", x)))


def _partial_stages(graph: Graph) -> str:
    """Half of the channels go around a block with the activation Mish, as cross-stage partial networks have it."""
    x = _mish(graph, graph.conv("x", 3, 20, (3, 3), relu=False, strides=[2, 2]))
    around, inner = (_mish(graph, graph.conv(x, 20, 10, (1, 1), relu=False)) for _ in range(2))
    y = _mish(graph, graph.conv(inner, 10, 10, (3, 3), relu=False))
    x = graph.node("Concat", graph.node("Add", inner, y), around, axis=1)
    return graph.conv(x, 20, 9, (1, 1), relu=False)


def _spatial_attention(graph: Graph) -> str:
    """The largest and the mean number of all channels become a gate of each position, as CBAM has it."""
    x = graph.conv("x", 3, 18, (3, 3), strides=[2, 2])
    parts = [graph.node(op, x, axes=[1], keepdims=1) for op in ("ReduceMax", "ReduceMean")]
    gate = graph.conv(graph.node("Concat", *parts, axis=1), 2, 1, (7, 7), relu=False)
    return classified(graph, graph.node("Mul", x, graph.node("Sigmoid", gate)), 18, 10)


def _log_spectrum(graph: Graph) -> str:
    """The logarithm of the energies of bands of a signal, in which a convolution finds words."""
    x = graph.conv("x", 1, 24, (32,), relu=False, strides=[8], pads=[0, 0])
    x = graph.node("Transpose", graph.node("Mul", x, x), perm=[0, 2, 1])
    bands = graph.constant(np.abs(graph.random.standard_normal((24, 13)) * 0.2).astype(np.float32))
    x = graph.node("Log", graph.node("Add", graph.node("MatMul", x, bands), graph.constant(np.float32(0.01))))
    x = graph.conv(graph.node("Transpose", x, perm=[0, 2, 1]), 13, 21, (5,), strides=[2])
    return linear(graph, graph.node("ReduceMax", x, axes=[2], keepdims=0), 21, 6)


def _maxout(graph: Graph) -> str:
    """The larger one of two layers instead of an activation."""
    x = graph.node("Max", *(linear(graph, "x", 33, 28) for _ in range(2)))
    x = graph.node("Max", *(linear(graph, x, 28, 28) for _ in range(3)))
    return graph.node("LogSoftmax", linear(graph, x, 28, 7), axis=-1)


def _reflected(graph: Graph) -> str:
    """Images with reflected borders, normalised one by one, as networks that transfer styles have them."""
    x, channels = "x", 3
    for outs in (13, 13):
        y = graph.node("Pad", x, whole(graph, 0, 0, 1, 1, 0, 0, 1, 1), mode="reflect")
        y = graph.conv(y, channels, outs, (3, 3), relu=False, pads=[0] * 4)
        y = graph.node("InstanceNormalization", y, graph.weights(outs), graph.weights(outs))
        x, channels = graph.node("Relu", y), outs
    return graph.node("Tanh", graph.conv(x, channels, 3, (1, 1), relu=False))


def _waves(graph: Graph) -> str:
    """Places become sines and cosines of several frequencies, and these colours, as radiance fields have them."""
    angles = linear(graph, "x", 2, 19)
    y = graph.node("Concat", graph.node("Sin", angles), graph.node("Cos", angles), axis=-1)
    for ins, outs in ((38, 34), (34, 34)):
        y = graph.node("Relu", linear(graph, y, ins, outs))
    return graph.node("Sigmoid", linear(graph, y, 34, 3))


_ARCHITECTURES: Architectures = {
    "highway": (_highway, (1, 37)),
    "selective kernels": (_selective, (1, 3, 25, 29)),
    "recurrence": (_recurrence, (1, 4, 17)),
    "token pools": (_token_pools, (1, 3, 23, 27)),
    "octaves": (_octaves, (1, 1, 22, 18)),
    "experts": (_experts, (1, 52)),
    "partial stages": (_partial_stages, (1, 3, 21, 19)),
    "spatial attention": (_spatial_attention, (1, 3, 31, 25)),
    "log spectrum": (_log_spectrum, (1, 1, 400)),
    "maxout": (_maxout, (1, 33)),
    "reflections": (_reflected, (1, 3, 15, 17)),
    "waves": (_waves, (1, 60, 2)),
}
INTEGER, FLOAT = in_both(_ARCHITECTURES)
