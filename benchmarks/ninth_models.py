"""Small networks of what microcontrollers run most, in sizes that no other benchmark has, for
``benchmarks.cortexm_layers``: its ninth set, listed before any of their layers was counted.

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


def _clipped(graph: Graph, x: str) -> str:
    return graph.node("Clip", x, _number(graph, 0), _number(graph, 6))


def _separable(graph: Graph, x: str, ins: int, outs: int, stride: int = 1) -> str:
    x = graph.conv(x, ins, ins, (3, 3), group=ins, strides=[stride] * 2)
    return graph.conv(x, ins, outs, (1, 1))


def _recurrent(graph: Graph, op: str, x: str, gates: int, inputs: int, hidden: int) -> str:
    """A layer over [steps, 1, inputs]; its last state [1, hidden]."""
    sizes = ((1, gates * hidden, inputs), (1, gates * hidden, hidden), (1, 2 * gates * hidden))
    weights = [graph.constant((graph.random.standard_normal(size) * 0.2).astype(np.float32)) for size in sizes]
    name = graph.node(op, x, *weights, outputs=2, hidden_size=hidden)
    return _reshaped(graph, f"{name}_1", 1, hidden)


def _keywords(graph: Graph) -> str:
    """A long window over spectra and depthwise separable blocks, as DS-CNN has them."""
    x = graph.conv("x", 1, 26, (10, 4), strides=[2, 2], pads=[4, 1, 5, 2])
    for _ in range(3):
        x = _separable(graph, x, 26, 26)
    return graph.node("Softmax", classified(graph, x, 26, 9), axis=-1)


def _wake_word(graph: Graph) -> str:
    """Separable windows over time, further and further apart, and one probability."""
    x = graph.conv("x", 33, 22, (3,))
    for dilation in (1, 2, 4):
        y = graph.conv(x, 22, 22, (5,), group=22, dilations=[dilation], pads=[2 * dilation] * 2)
        x = graph.node("Add", x, graph.conv(y, 22, 22, (1,)))
    x = graph.node("ReduceMean", x, axes=[2], keepdims=0)
    return graph.node("Sigmoid", linear(graph, x, 22, 1))


def _gated(graph: Graph, x: str, channels: int, few: int) -> str:
    """Squeeze and excite with a piecewise linear gate."""
    gate = graph.conv(graph.node("GlobalAveragePool", x), channels, few, (1, 1))
    return graph.node("Mul", x, graph.node("HardSigmoid", graph.conv(gate, few, channels, (1, 1), relu=False)))


def _mobile(graph: Graph) -> str:
    """Inverted residuals with gates and piecewise linear swish, as MobileNetV3 has them."""
    x, channels = graph.node("HardSwish", graph.conv("x", 3, 10, (3, 3), relu=False, strides=[2, 2])), 10
    for outs, wide, kernel, stride in ((10, 18, 3, 1), (14, 38, 5, 2), (14, 46, 5, 1)):
        y = graph.node("HardSwish", graph.conv(x, channels, wide, (1, 1), relu=False))
        y = graph.conv(y, wide, wide, (kernel, kernel), relu=False, group=wide, strides=[stride] * 2)
        y = _gated(graph, graph.node("HardSwish", y), wide, 8)
        y = graph.conv(y, wide, outs, (1, 1), relu=False)
        x, channels = graph.node("Add", x, y) if outs == channels else y, outs
    x = graph.node("GlobalAveragePool", graph.node("HardSwish", graph.conv(x, 14, 52, (1, 1), relu=False)))
    x = graph.node("HardSwish", graph.conv(x, 52, 40, (1, 1), relu=False))
    return graph.node("Flatten", graph.conv(x, 40, 7, (1, 1), relu=False))


def _next_blocks(graph: Graph) -> str:
    """Windows of 7 x 7 of each channel, normalised positions and two products, as ConvNeXt has them."""
    x = graph.conv("x", 3, 20, (4, 4), relu=False, strides=[4, 4], pads=[0] * 4)
    for _ in range(2):
        y = graph.node("Transpose", graph.conv(x, 20, 20, (7, 7), relu=False, group=20), perm=[0, 2, 3, 1])
        y = graph.node("LayerNormalization", y, graph.weights(20), graph.weights(20), axis=-1)
        y = linear(graph, y, 20, 60)
        half = graph.node("Mul", y, _number(graph, 0.5))
        erf = graph.node("Erf", graph.node("Mul", y, _number(graph, 0.5**0.5)))
        y = linear(graph, graph.node("Mul", half, graph.node("Add", erf, _number(graph, 1))), 60, 20)
        x = graph.node("Add", x, graph.node("Transpose", y, perm=[0, 3, 1, 2]))
    return classified(graph, x, 20, 11)


def _ghost(graph: Graph, x: str, ins: int, outs: int, relu: bool = True) -> str:
    """Half of the channels by products, half by windows of these."""
    half = graph.conv(x, ins, outs // 2, (1, 1), relu=relu)
    other = graph.conv(half, outs // 2, outs // 2, (3, 3), relu=relu, group=outs // 2)
    return graph.node("Concat", half, other, axis=1)


def _ghosts(graph: Graph) -> str:
    """Channels that windows of others make, and gates, as GhostNet has them."""
    x = graph.conv("x", 3, 12, (3, 3), strides=[2, 2])
    y = _gated(graph, _ghost(graph, x, 12, 34), 34, 9)
    x = graph.node("Add", x, _ghost(graph, y, 34, 12, relu=False))
    y = _ghost(graph, x, 12, 42)
    y = graph.conv(y, 42, 42, (3, 3), relu=False, group=42, strides=[2, 2])
    return classified(graph, _ghost(graph, y, 42, 22, relu=False), 22, 5)


def _shuffle_units(graph: Graph) -> str:
    """Half of the channels as they are, and a shuffle of both halves, as ShuffleNetV2 has them."""
    x = graph.node("MaxPool", graph.conv("x", 3, 28, (3, 3)), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for _ in range(2):
        first = graph.node("Slice", x, *(whole(graph, value) for value in (0, 14, 1)))
        y = graph.node("Slice", x, *(whole(graph, value) for value in (14, 28, 1)))
        y = graph.conv(graph.conv(y, 14, 14, (1, 1)), 14, 14, (3, 3), relu=False, group=14)
        both = graph.node("Concat", first, graph.conv(y, 14, 14, (1, 1)), axis=1)
        y = graph.node("Transpose", _reshaped(graph, both, 1, 2, 14, 14, 16), perm=[0, 2, 1, 3, 4])
        x = _reshaped(graph, y, 1, 28, 14, 16)
    return classified(graph, graph.conv(x, 28, 38, (1, 1)), 38, 8)


def _squeezed(graph: Graph) -> str:
    """Few channels that become many of two windows, as SqueezeNet has them."""
    x, channels = graph.conv("x", 3, 18, (3, 3), strides=[2, 2]), 18
    for few, outs in ((6, 14), (10, 22)):
        x = graph.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
        y = graph.conv(x, channels, few, (1, 1))
        x = graph.node("Concat", graph.conv(y, few, outs, (1, 1)), graph.conv(y, few, outs, (3, 3)), axis=1)
        channels = 2 * outs
    x = graph.node("GlobalAveragePool", graph.conv(x, channels, 6, (1, 1)))
    return graph.node("Softmax", graph.node("Flatten", x), axis=-1)


def _lite(graph: Graph) -> str:
    """Inverted residuals of two windows with a limit, as EfficientNet-Lite has them."""
    x, channels = _clipped(graph, graph.conv("x", 3, 13, (3, 3), relu=False, strides=[2, 2])), 13
    for outs, kernel, stride in ((13, 3, 1), (19, 5, 2), (19, 3, 1)):
        wide = 3 * channels
        y = _clipped(graph, graph.conv(x, channels, wide, (1, 1), relu=False))
        y = graph.conv(y, wide, wide, (kernel, kernel), relu=False, group=wide, strides=[stride] * 2)
        y = graph.conv(_clipped(graph, y), wide, outs, (1, 1), relu=False)
        x, channels = graph.node("Add", x, y) if outs == channels else y, outs
    x = _clipped(graph, graph.conv(x, 19, 44, (1, 1), relu=False))
    return classified(graph, x, 44, 6)


def _causal(graph: Graph) -> str:
    """Residuals of two sums of the past each, further and further apart, as temporal networks have them."""
    x, channels = "x", 7
    for outs, dilation in ((15, 1), (15, 2), (18, 4)):
        pads = [2 * dilation, 0]
        y = graph.conv(x, channels, outs, (3,), dilations=[dilation], pads=pads)
        y = graph.conv(y, outs, outs, (3,), dilations=[dilation], pads=pads)
        x = x if channels == outs else graph.conv(x, channels, outs, (1,), relu=False)
        x, channels = graph.node("Relu", graph.node("Add", x, y)), outs
    last = graph.node("Slice", x, *(whole(graph, value) for value in (63, 64, 2)))
    return linear(graph, _reshaped(graph, last, 1, 18), 18, 4)


def _gestures(graph: Graph) -> str:
    """A recurrent layer of what a window over sensors finds."""
    x = graph.conv("x", 6, 15, (5,), strides=[3])
    x = graph.node("Transpose", x, perm=[2, 0, 1])
    return graph.node("Softmax", linear(graph, _recurrent(graph, "GRU", x, 3, 15, 24), 24, 6), axis=-1)


def _loads(graph: Graph) -> str:
    """Two values of the next hours from a recurrent layer of the last ones."""
    x = graph.node("Transpose", "x", perm=[1, 0, 2])
    x = _recurrent(graph, "LSTM", x, 4, 5, 27)
    return linear(graph, graph.node("Relu", linear(graph, x, 27, 12)), 12, 2)


def _segments(graph: Graph) -> str:
    """A U-Net of three levels whose windows enlarge images."""
    skips, x, channels = [], "x", 1
    for outs in (7, 14):
        x, channels = graph.conv(x, channels, outs, (3, 3)), outs
        skips.append(x)
        x = graph.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x, channels = graph.conv(x, 14, 21, (3, 3)), 21
    for skip, outs in zip(reversed(skips), (14, 7), strict=True):
        weights, bias = graph.weights(channels, outs, 2, 2), graph.weights(outs)
        x = graph.node("ConvTranspose", x, weights, bias, strides=[2, 2], kernel_shape=[2, 2])
        x, channels = graph.conv(graph.node("Concat", skip, x, axis=1), 2 * outs, outs, (3, 3)), outs
    return graph.node("Sigmoid", graph.conv(x, 7, 1, (1, 1), relu=False))


def _machine_sounds(graph: Graph) -> str:
    """A dense autoencoder, and how far its result is from what it reads."""
    x, ins = "x", 132
    for outs in (52, 36, 6, 36, 52):
        x, ins = graph.node("Relu", linear(graph, x, ins, outs)), outs
    less = graph.node("Sub", linear(graph, x, 52, 132), "x")
    return graph.node("ReduceMean", graph.node("Mul", less, less), axes=[1], keepdims=1)


def _poses(graph: Graph) -> str:
    """Maps of where joints are, larger than what finds them."""
    x = graph.conv("x", 3, 16, (3, 3), strides=[2, 2])
    x = _separable(graph, _separable(graph, x, 16, 30, 2), 30, 30)
    scales = graph.constant(np.array([1, 1, 2, 2], np.float32))
    x = graph.node("Resize", x, "", scales, mode="nearest")
    x = graph.conv(_separable(graph, x, 30, 17), 17, 9, (1, 1), relu=False)
    return graph.node("Sigmoid", x)


def _encoder(graph: Graph) -> str:
    """A transformer's encoder of three heads, the mean of its places, and classes."""
    y = graph.node("LayerNormalization", "x", graph.weights(30), graph.weights(30), axis=-1)
    heads = []
    for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
        part = _reshaped(graph, linear(graph, y, 30, 30), 1, 21, 3, 10)
        heads.append(graph.node("Transpose", part, perm=order))
    scores = graph.node("Mul", graph.node("MatMul", heads[0], heads[1]), _number(graph, 10**-0.5))
    y = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), heads[2])
    y = _reshaped(graph, graph.node("Transpose", y, perm=[0, 2, 1, 3]), 1, 21, 30)
    x = graph.node("Add", "x", linear(graph, y, 30, 30))
    y = graph.node("LayerNormalization", x, graph.weights(30), graph.weights(30), axis=-1)
    x = graph.node("Add", x, linear(graph, graph.node("Relu", linear(graph, y, 30, 70)), 70, 30))
    return linear(graph, graph.node("ReduceMean", x, axes=[1], keepdims=0), 30, 5)


_ARCHITECTURES: Architectures = {
    "keywords": (_keywords, (1, 1, 47, 11)),
    "wake word": (_wake_word, (1, 33, 38)),
    "mobile gates": (_mobile, (1, 3, 33, 27)),
    "next blocks": (_next_blocks, (1, 3, 36, 28)),
    "ghost gates": (_ghosts, (1, 3, 29, 25)),
    "shuffle units": (_shuffle_units, (1, 3, 28, 32)),
    "squeezed": (_squeezed, (1, 3, 41, 45)),
    "lite": (_lite, (1, 3, 37, 29)),
    "causal": (_causal, (1, 7, 64)),
    "gestures": (_gestures, (1, 6, 48)),
    "loads": (_loads, (1, 14, 5)),
    "segments": (_segments, (1, 1, 24, 40)),
    "machine sounds": (_machine_sounds, (1, 132)),
    "poses": (_poses, (1, 3, 36, 44)),
    "encoder": (_encoder, (1, 21, 30)),
}
INTEGER, FLOAT = in_both(_ARCHITECTURES)
