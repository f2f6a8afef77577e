"""Networks of kinds that products with microcontrollers ship, in drawn sizes, for ``benchmarks.cortexm_layers``: its
seventeenth set. ``drawn`` makes them for any seed; no layer of those that are listed here had been counted before.

All are in float32, and quantised to 8 bits by ONNX Runtime's static quantiser.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.breadth_models import Build, Graph
from benchmarks.small_models import Architectures, classified, in_both, linear, whole

#: Of the listed networks.
SEED = 1701
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Sizes:
    """Sizes that are drawn once for each network."""

    rng: np.random.Generator

    def one_of(self, *values: int) -> int:
        """One of these."""
        return int(self.rng.choice(values))

    def between(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``."""
        return int(self.rng.integers(low, high + 1))


def _dense(graph: Graph, x: str, ins: int, *outs: int, rectified: bool = False) -> str:
    """Dense layers, each but the last rectified."""
    for place, size in enumerate(outs):
        x = graph.node("Gemm", x, graph.weights(size, ins), graph.weights(size), transB=1)
        x, ins = graph.node("Relu", x) if place + 1 < len(outs) or rectified else x, size
    return x


def _digits(sizes: Sizes) -> tuple[Build, Shape]:
    """Two convolutions, each with a pool, and dense layers, as LeNet has them."""
    taps, first, second, side = sizes.one_of(3, 5), sizes.between(4, 16), sizes.between(8, 32), sizes.one_of(20, 28, 32)
    left = ((side - taps + 1) // 2 - taps + 1) // 2
    hidden, classes = sizes.between(24, 120), sizes.between(2, 20)

    def build(graph: Graph) -> str:
        x, channels = "x", 1
        for outs in (first, second):
            x = graph.conv(x, channels, outs, (taps, taps), pads=[0] * 4)
            x, channels = graph.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), outs
        return _dense(graph, graph.node("Flatten", x), second * left * left, hidden, classes)

    return build, (1, 1, side, side)


def _persons(sizes: Sizes) -> tuple[Build, Shape]:
    """A first layer, depthwise and pointwise ones, the mean, as MobileNet has them."""
    width, colours, side, classes = sizes.one_of(4, 8, 12, 16), sizes.one_of(1, 3), sizes.one_of(32, 48, 64), 2
    strides = [1, *(sizes.one_of(1, 2) for _ in range(sizes.between(3, 5)))]

    def build(graph: Graph) -> str:
        x, channels = graph.conv("x", colours, width, (3, 3), strides=[2, 2], pads=[1] * 4), width
        for stride in strides:
            x = graph.conv(x, channels, channels, (3, 3), group=channels, strides=[stride] * 2, pads=[1] * 4)
            outs = channels * 2 if channels < 8 * width else channels
            x, channels = graph.conv(x, channels, outs, (1, 1)), outs
        return classified(graph, x, channels, classes)

    return build, (1, colours, side, side)


def _bottlenecks(sizes: Sizes) -> tuple[Build, Shape]:
    """Inverted bottlenecks with shortcuts, as MobileNetV2 has them."""
    side, first = sizes.one_of(32, 40, 56), sizes.one_of(8, 16)
    wider, last = sizes.one_of(3, 4, 6), sizes.one_of(64, 96)
    blocks = [(sizes.one_of(8, 12, 16, 24, 32), sizes.one_of(1, 2)) for _ in range(3)]
    classes = sizes.between(2, 30)

    def build(graph: Graph) -> str:
        x, channels = graph.conv("x", 3, first, (3, 3), strides=[2, 2], pads=[1] * 4), first
        for block, first_stride in blocks:
            for stride in (first_stride, 1):
                wide = wider * channels
                y = graph.conv(x, channels, wide, (1, 1))
                y = graph.conv(y, wide, wide, (3, 3), group=wide, strides=[stride] * 2, pads=[1] * 4)
                y = graph.conv(y, wide, block, (1, 1), relu=False)
                x, channels = graph.node("Add", x, y) if stride == 1 and channels == block else y, block
        return classified(graph, graph.conv(x, channels, last, (1, 1)), last, classes)

    return build, (1, 3, side, side)


def _blocks(sizes: Sizes) -> tuple[Build, Shape]:
    """Blocks with shortcuts, as ResNet has them for small pictures."""
    side, width, classes = sizes.one_of(16, 24, 32), sizes.one_of(8, 12, 16), sizes.between(2, 20)
    strides = [1, *(sizes.one_of(1, 2) for _ in range(2))]

    def build(graph: Graph) -> str:
        x, channels = graph.conv("x", 3, width, (3, 3), pads=[1] * 4), width
        for stride in strides:
            outs = channels * stride
            y = graph.conv(x, channels, outs, (3, 3), strides=[stride] * 2, pads=[1] * 4)
            y = graph.conv(y, outs, outs, (3, 3), pads=[1] * 4, relu=False)
            x = graph.conv(x, channels, outs, (1, 1), strides=[stride] * 2, relu=False) if stride > 1 else x
            x, channels = graph.node("Relu", graph.node("Add", x, y)), outs
        return classified(graph, x, channels, classes)

    return build, (1, 3, side, side)


def _words(sizes: Sizes) -> tuple[Build, Shape]:
    """A spectrum in depthwise and pointwise layers, as DS-CNN has them."""
    times, bands, channels = sizes.between(30, 60), sizes.one_of(10, 13, 20, 40), sizes.one_of(24, 32, 40, 64)
    layers, classes = sizes.between(2, 4), sizes.between(2, 12)

    def build(graph: Graph) -> str:
        x = graph.conv("x", 1, channels, (10, 4), strides=[2, 2], pads=[4, 1, 5, 1])
        for _ in range(layers):
            x = graph.conv(x, channels, channels, (3, 3), group=channels, pads=[1] * 4)
            x = graph.conv(x, channels, channels, (1, 1))
        return graph.node("Softmax", classified(graph, x, channels, classes), axis=-1)

    return build, (1, 1, times, bands)


def _lines(sizes: Sizes) -> tuple[Build, Shape]:
    """A spectrum whose frequencies are channels, with shortcuts, as TC-ResNet has them."""
    bands, times, taps = sizes.one_of(20, 32, 40), sizes.between(40, 100), sizes.one_of(5, 7, 9)
    widths, classes = [sizes.one_of(12, 16, 24, 32) for _ in range(3)], sizes.between(3, 12)

    def build(graph: Graph) -> str:
        x, channels = graph.conv("x", bands, widths[0], (3,), pads=[1] * 2), widths[0]
        for outs in widths[1:]:
            y = graph.conv(x, channels, outs, (taps,), strides=[2], pads=[taps // 2] * 2)
            y = graph.conv(y, outs, outs, (taps,), pads=[taps // 2] * 2, relu=False)
            x = graph.node("Relu", graph.node("Add", y, graph.conv(x, channels, outs, (1,), strides=[2])))
            channels = outs
        return classified(graph, x, channels, classes)

    return build, (1, bands, times)


def _machines(sizes: Sizes) -> tuple[Build, Shape]:
    """Dense layers to few numbers and back, as autoencoders of sounds have them."""
    ins, wide, few = sizes.one_of(64, 120, 320, 640), sizes.one_of(24, 32, 64, 128), sizes.one_of(4, 8, 16)

    def build(graph: Graph) -> str:
        return _dense(graph, "x", ins, wide, wide, few, wide, wide, ins)

    return build, (1, ins)


def _motion(sizes: Sizes) -> tuple[Build, Shape]:
    """Windows over axes of acceleration with pools, and dense layers, as recognisers of activities have them."""
    axes, times, taps = sizes.one_of(3, 6, 9), sizes.between(60, 128), sizes.one_of(3, 5, 7)
    widths, hidden, classes = (
        [sizes.one_of(8, 16, 24, 32) for _ in range(3)],
        sizes.between(12, 40),
        sizes.between(2, 8),
    )

    def build(graph: Graph) -> str:
        x, channels = "x", axes
        for outs in widths[:2]:
            x = graph.conv(x, channels, outs, (taps,))
            x, channels = graph.node("MaxPool", x, kernel_shape=[2], strides=[2]), outs
        x = graph.conv(x, channels, widths[2], (3,))
        x = graph.node("Flatten", graph.node("GlobalAveragePool", x))
        x = graph.node("Relu", linear(graph, x, widths[2], hidden))
        return graph.node("Softmax", linear(graph, x, hidden, classes), axis=-1)

    return build, (1, axes, times)


def _tokens(sizes: Sizes) -> tuple[Build, Shape]:
    """A block of attention and its dense layers, as small transformers have them."""
    count, heads, depth = sizes.between(12, 40), sizes.one_of(1, 2, 4), sizes.one_of(8, 16)
    ins, wider, classes = sizes.one_of(12, 24, 40), sizes.one_of(2, 4), sizes.between(2, 12)
    wide = heads * depth

    def build(graph: Graph) -> str:
        x = linear(graph, "x", ins, wide)
        parts = []
        for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
            made = graph.node("Reshape", linear(graph, x, wide, wide), whole(graph, 1, count, heads, depth))
            parts.append(graph.node("Transpose", made, perm=perm))
        scale = graph.constant(np.float32(depth**-0.5))
        scores = graph.node("Mul", graph.node("MatMul", parts[0], parts[1]), scale)
        y = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), parts[2])
        y = graph.node("Reshape", graph.node("Transpose", y, perm=[0, 2, 1, 3]), whole(graph, 1, count, wide))
        x = graph.node("Add", x, linear(graph, y, wide, wide))
        x = graph.node("LayerNormalization", x, graph.weights(wide), graph.weights(wide), axis=-1)
        y = linear(graph, graph.node("Relu", linear(graph, x, wide, wider * wide)), wider * wide, wide)
        x = graph.node("LayerNormalization", graph.node("Add", x, y), graph.weights(wide), graph.weights(wide), axis=-1)
        return linear(graph, graph.node("ReduceMean", x, axes=[1], keepdims=0), wide, classes)

    return build, (1, count, ins)


def _pixels(sizes: Sizes) -> tuple[Build, Shape]:
    """An image to fewer positions and back, whose first results are joined to the last, as U-Net has them."""
    colours, width = sizes.one_of(1, 3), sizes.one_of(8, 12, 16)
    side, classes = sizes.one_of(16, 24, 32), sizes.between(1, 5)

    def build(graph: Graph) -> str:
        first = graph.conv("x", colours, width, (3, 3), pads=[1] * 4)
        deep = graph.node("MaxPool", first, kernel_shape=[2, 2], strides=[2, 2])
        deep = graph.conv(deep, width, 2 * width, (3, 3), pads=[1] * 4)
        deep = graph.conv(deep, 2 * width, 2 * width, (3, 3), pads=[1] * 4)
        up = graph.node("Resize", deep, "", graph.constant(np.array([1, 1, 2, 2], np.float32)), mode="nearest")
        x = graph.conv(graph.node("Concat", up, first, axis=1), 3 * width, width, (3, 3), pads=[1] * 4)
        return graph.conv(x, width, classes, (1, 1), relu=False)

    return build, (1, colours, side, side)


def _hearts(sizes: Sizes) -> tuple[Build, Shape]:
    """Long windows over one signal, the largest of neighbours, the mean, as classifiers of beats have them."""
    times, classes = sizes.between(100, 260), sizes.between(2, 6)
    layers = [(sizes.one_of(4, 8, 12, 16, 32), sizes.one_of(5, 8, 16)) for _ in range(3)]

    def build(graph: Graph) -> str:
        x, channels = "x", 1
        for outs, taps in layers:
            x = graph.conv(x, channels, outs, (taps,), pads=[taps // 2 - 1, taps // 2])
            x, channels = graph.node("MaxPool", x, kernel_shape=[2], strides=[2]), outs
        return classified(graph, x, channels, classes)

    return build, (1, 1, times)


def _states(sizes: Sizes) -> tuple[Build, Shape]:
    """Few numbers of a battery or a motor in three dense layers."""
    ins, outs = sizes.between(3, 16), [sizes.one_of(8, 12, 16, 24, 32), sizes.one_of(8, 16), sizes.between(1, 4)]

    def build(graph: Graph) -> str:
        return _dense(graph, "x", ins, *outs)

    return build, (1, ins)


_KINDS: dict[str, Callable[[Sizes], tuple[Build, Shape]]] = {
    "digits": _digits,
    "persons": _persons,
    "bottlenecks": _bottlenecks,
    "blocks": _blocks,
    "words": _words,
    "lines": _lines,
    "machines": _machines,
    "motion": _motion,
    "tokens": _tokens,
    "pixels": _pixels,
    "hearts": _hearts,
    "states": _states,
}


def drawn(prefix: str, seed: int) -> Architectures:
    """A network of each kind, its sizes drawn with this seed."""
    return {
        f"{prefix} {kind}": make(Sizes(np.random.default_rng([seed, place])))
        for place, (kind, make) in enumerate(_KINDS.items())
    }


INTEGER, FLOAT = in_both(drawn("drawn", SEED))
