"""Small networks of architectures that no other benchmark has, for ``benchmarks.cortexm_layers``: its third set, listed
before any of their layers was counted.

All are made with a fixed seed, in float32, and quantised to 8 bits by ONNX Runtime's static quantiser.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import onnx

from benchmarks.breadth_models import Build, Graph, float_network, quantised

#: What builds each network, and the shape of its input.
Architectures = Mapping[str, tuple[Build, tuple[int, ...]]]
Networks = Mapping[str, partial[onnx.ModelProto]]


def in_both(architectures: Architectures) -> tuple[Networks, Networks]:
    """Every network by name: a function that makes it, in int8 and in float32."""
    made = architectures.items()
    return (
        {name: partial(quantised, build, shape) for name, (build, shape) in made},
        {f"{name}, float32": partial(float_network, build, shape) for name, (build, shape) in made},
    )


def whole(graph: Graph, *values: int) -> str:
    """A constant of integers."""
    return graph.constant(np.array(values, np.int64))


def linear(graph: Graph, x: str, ins: int, outs: int) -> str:
    """A product of [..., ins] with weights, and a bias."""
    return graph.node("Add", graph.node("MatMul", x, graph.weights(ins, outs)), graph.weights(outs))


def classified(graph: Graph, x: str, channels: int, classes: int) -> str:
    """The mean of each channel of an image, and a dense layer."""
    x = graph.node("Flatten", graph.node("GlobalAveragePool", x))
    return graph.node("Gemm", x, graph.weights(classes, channels), graph.weights(classes), transB=1)


def _inverted(graph: Graph) -> str:
    """Inverted residuals, as MobileNetV2 has them."""
    x, channels = graph.conv("x", 3, 12, (3, 3), strides=[2, 2]), 12
    for outs, stride in ((12, 1), (20, 2), (20, 1)):
        wide = 4 * channels
        y = graph.conv(x, channels, wide, (1, 1))
        y = graph.conv(y, wide, wide, (3, 3), group=wide, strides=[stride] * 2)
        y = graph.conv(y, wide, outs, (1, 1), relu=False)
        x, channels = graph.node("Add", x, y) if outs == channels and stride == 1 else y, outs
    return classified(graph, x, channels, 7)


def _shuffled(graph: Graph) -> str:
    """Pointwise products in groups whose channels are shuffled, as ShuffleNet has them."""
    x = graph.conv("x", 3, 24, (3, 3))
    y = graph.conv(x, 24, 24, (1, 1), group=3)
    y = graph.node("Reshape", y, whole(graph, 1, 3, 8, 18, 14))
    y = graph.node("Reshape", graph.node("Transpose", y, perm=[0, 2, 1, 3, 4]), whole(graph, 1, 24, 18, 14))
    y = graph.conv(y, 24, 24, (3, 3), relu=False, group=24, strides=[2, 2])
    y = graph.conv(y, 24, 24, (1, 1), relu=False, group=3)
    x = graph.node("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    return classified(graph, graph.node("Relu", graph.node("Concat", x, y, axis=1)), 48, 11)


def _segmented(graph: Graph) -> str:
    """A U-Net of two levels."""
    first = graph.conv("x", 1, 10, (3, 3))
    deep = graph.conv(graph.node("MaxPool", first, kernel_shape=[2, 2], strides=[2, 2]), 10, 22, (3, 3))
    scales = graph.constant(np.array([1, 1, 2, 2], np.float32))
    up = graph.node("Resize", graph.conv(deep, 22, 10, (1, 1)), "", scales, mode="nearest")
    both = graph.conv(graph.node("Concat", first, up, axis=1), 20, 10, (3, 3))
    return graph.node("Sigmoid", graph.conv(both, 10, 2, (1, 1), relu=False))


def _temporal(graph: Graph) -> str:
    """Dilated convolutions of a signal's past, with residuals."""
    x = graph.conv("x", 6, 24, (1,))
    for dilation in (1, 2, 4):
        past = graph.node("Pad", x, whole(graph, 0, 0, 2 * dilation, 0, 0, 0))
        y = graph.conv(past, 24, 24, (3,), dilations=[dilation], pads=[0, 0])
        x = graph.node("Add", x, graph.conv(y, 24, 24, (1,)))
    return graph.conv(x, 24, 5, (1,), relu=False)


def _gated(graph: Graph) -> str:
    """Convolutions of a signal whose tanh is multiplied with a sigmoid, as WaveNet has them."""
    x = graph.conv("x", 4, 20, (5,), relu=False)
    for _ in range(2):
        gate = graph.node("Sigmoid", graph.conv(x, 20, 20, (3,), relu=False))
        y = graph.node("Mul", graph.node("Tanh", graph.conv(x, 20, 20, (3,), relu=False)), gate)
        x = graph.node("Add", x, graph.conv(y, 20, 20, (1,), relu=False))
    return graph.node("ReduceMean", x, axes=[2], keepdims=0)


def _patches(graph: Graph) -> str:
    """A layer of a vision transformer on patches of an image."""
    x = graph.conv("x", 3, 36, (5, 5), relu=False, strides=[5, 5], pads=[0, 0, 0, 0])
    x = graph.node("Transpose", graph.node("Reshape", x, whole(graph, 1, 36, 25)), perm=[0, 2, 1])
    y = graph.node("LayerNormalization", x, graph.weights(36), graph.weights(36), axis=-1)
    heads = []
    for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
        split = graph.node("Reshape", linear(graph, y, 36, 36), whole(graph, 1, 25, 3, 12))
        heads.append(graph.node("Transpose", split, perm=perm))
    scores = graph.node("Mul", graph.node("MatMul", *heads[:2]), graph.constant(np.float32(12**-0.5)))
    y = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), heads[2])
    y = graph.node("Reshape", graph.node("Transpose", y, perm=[0, 2, 1, 3]), whole(graph, 1, 25, 36))
    x = graph.node("Add", x, linear(graph, y, 36, 36))
    y = graph.node("LayerNormalization", x, graph.weights(36), graph.weights(36), axis=-1)
    y = linear(graph, graph.node("Relu", linear(graph, y, 36, 72)), 72, 36)
    return linear(graph, graph.node("ReduceMean", graph.node("Add", x, y), axes=[1], keepdims=0), 36, 9)


def _mixed(graph: Graph) -> str:
    """A layer of an MLP-Mixer: products along tokens, then along channels."""
    y = graph.node("Transpose", "x", perm=[0, 2, 1])
    y = linear(graph, graph.node("Tanh", linear(graph, y, 30, 18)), 18, 30)
    x = graph.node("Add", "x", graph.node("Transpose", y, perm=[0, 2, 1]))
    return graph.node("Add", x, linear(graph, graph.node("Sigmoid", linear(graph, x, 44, 52)), 52, 44))


def _grown(graph: Graph) -> str:
    """A dense block: all that is there is concatenated, and half of its channels are kept."""
    x, channels = graph.conv("x", 3, 14, (5, 5), strides=[2, 2]), 14
    for _ in range(3):
        y = graph.conv(graph.conv(x, channels, 18, (1, 1)), 18, 6, (3, 3))
        x, channels = graph.node("Concat", x, y, axis=1), channels + 6
    x = graph.node("AveragePool", graph.conv(x, channels, 16, (1, 1)), kernel_shape=[2, 2], strides=[2, 2])
    return classified(graph, x, 16, 13)


def _enlarged(graph: Graph) -> str:
    """Super-resolution: channels become positions."""
    x = graph.conv(graph.conv("x", 1, 12, (5, 5)), 12, 12, (3, 3))
    return graph.node("DepthToSpace", graph.conv(x, 12, 9, (3, 3), relu=False), blocksize=3)


def _detected(graph: Graph) -> str:
    """A head that splits what it finds in boxes and scores."""
    x = graph.node("LeakyRelu", graph.conv("x", 18, 26, (3, 3), relu=False, strides=[2, 2]), alpha=0.1)
    x = graph.node("Transpose", graph.conv(x, 26, 21, (1, 1), relu=False), perm=[0, 2, 3, 1])
    x = graph.node("Reshape", x, whole(graph, 1, 189, 7))
    limits = [(0, 4), (4, 7)]
    box, score = (graph.node("Slice", x, *(whole(graph, value) for value in (a, b, 2))) for a, b in limits)
    return graph.node("Concat", graph.node("Sigmoid", box), graph.node("Softmax", score, axis=-1), axis=2)


def _factored(graph: Graph) -> str:
    """Windows of one row or one column, odd numbers of channels, maxima of overlapping windows."""
    x = graph.conv(graph.conv("x", 5, 17, (1, 7)), 17, 17, (7, 1))
    x = graph.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = graph.conv(x, 17, 17, (5, 5), group=17, strides=[2, 2])
    return graph.node("HardSwish", graph.conv(x, 17, 33, (1, 1), relu=False))


def _decoded(graph: Graph) -> str:
    """Transposed convolutions whose windows overlap."""
    x = graph.conv("x", 3, 12, (3, 3), strides=[2, 2])
    for ins, outs in ((12, 10), (10, 3)):
        weights, bias = graph.weights(ins, outs, 4, 4), graph.weights(outs)
        x = graph.node("ConvTranspose", x, weights, bias, strides=[2, 2], kernel_shape=[4, 4], pads=[1, 1, 1, 1])
        x = graph.node("Relu", x) if outs > 3 else graph.node("Tanh", x)
    return x


_ARCHITECTURES: Architectures = {
    "inverted residuals": (_inverted, (1, 3, 30, 34)),
    "channel shuffle": (_shuffled, (1, 3, 18, 14)),
    "segmentation": (_segmented, (1, 1, 20, 28)),
    "temporal convolutions": (_temporal, (1, 6, 90)),
    "gated convolutions": (_gated, (1, 4, 75)),
    "patches": (_patches, (1, 3, 25, 25)),
    "mixer": (_mixed, (1, 30, 44)),
    "dense block": (_grown, (1, 3, 28, 28)),
    "super-resolution": (_enlarged, (1, 1, 15, 21)),
    "detection": (_detected, (1, 18, 18, 14)),
    "factored windows": (_factored, (1, 5, 19, 23)),
    "decoder": (_decoded, (1, 3, 20, 16)),
}
INTEGER, FLOAT = in_both(_ARCHITECTURES)
