"""Made layers at the ends of common networks: windows over one spectrum, maps and lines of few classes, smallest
squares, scores of short heads, and first layers of images."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper

from benchmarks.cortexm_ahead import biased
from benchmarks.cortexm_heads import matrix
from benchmarks.cortexm_net import Net


def _spectrum(net: Net) -> None:
    """Long windows over one spectrum, one or two frames and bands apart, with padding or without."""
    frames, bands = net.between(14, 50), net.between(8, 20)
    taps = net.between(4, 10), net.between(3, 4)
    before = [(size - 1) // 2 if net.between(0, 3) else 0 for size in taps]
    after = [size - 1 - first if first else 0 for size, first in zip(taps, before, strict=True)]
    strides = [net.between(1, 2), net.between(1, 2)]
    y = biased(
        net, net.source(1, 1, frames, bands), 4 * net.between(1, 16), 1, *taps, pads=before + after, strides=strides
    )
    net.result(net.add("Relu", y) if net.between(0, 2) else y, 2.0)


def _map(net: Net) -> None:
    """One number of each position of an image, in other networks two to five, which a network ends with."""
    inputs, outputs, side = 4 * net.between(1, 5), max(1, net.between(-3, 5)), net.between(8, 34)
    x = net.between_layers(net.add("Relu", biased(net, net.source(1, 3, side, side), inputs, 3, 1, 1)))
    y = net.between_layers(biased(net, x, outputs, inputs, 1, 1))
    net.outputs.append(helper.make_tensor_value_info(y, TensorProto.FLOAT, None))


def _smallest(net: Net) -> None:
    """Windows with or without padding over so few positions of one channel that compilers write each of them; sums are
    multiplied by a factor of few digits in a third of the layers."""
    few = net.quantised and net.between(0, 2) == 0
    rows, columns = (max(2, net.between(-1, 4)) for _ in range(2))
    taps = net.between(2, 3), net.between(2, 3)
    before = [net.between(0, 1), net.between(0, 1)]
    after = [net.between(size > own, 1) for size, own in zip(taps, (rows, columns), strict=True)]
    zero = 20 * (net.between(0, 3) == 0)
    x = net.source(1, 1, rows, columns, zero=zero, scale=1 / 64 if few else None)
    if few:
        digits = net.rng.permutation(np.arange(2, 15))[: net.between(0, 4)]
        scale = (1 + sum(float(net.rng.choice((-1, 1))) / 2**place for place in digits)) / 256
        values = net.constant(net.rng.integers(-127, 128, (1, 1, *taps)), np.int8)
        weight = net.real(values, scale, 0)
    else:
        weight = net.weight(1, 1, *taps)
    y = net.add("Conv", x, weight, net.constant(net.rng.normal(0, 1, 1)), pads=before + after)
    net.result(net.add("Relu", y) if net.between(0, 2) == 0 else y, 2.0)


def _verdict(net: Net) -> None:
    """Two to four classes of a line, and their shares in half of the layers."""
    inputs, classes = net.between(6, 64), net.between(2, 4)
    bias = net.constant(net.rng.normal(0, 1, classes))
    if net.between(0, 1):
        y = net.add("Gemm", net.source(1, inputs), net.weight(classes, inputs), bias, transB=1)
    else:
        y = net.add("Add", net.add("MatMul", net.source(1, inputs), matrix(net, inputs, classes)), bias)
    net.result(net.add("Softmax", net.between_layers(y), axis=-1) if net.between(0, 1) else y, 4.0)


def _scores(net: Net) -> None:
    """Products of the rows and columns of short heads, times a number in half of the layers."""
    heads, rows, depth, columns = net.between(1, 4), net.between(4, 40), 4 * net.between(1, 4), net.between(4, 40)
    y = net.add("MatMul", net.source(1, heads, rows, depth), net.source(1, heads, depth, columns))
    if net.between(0, 1):
        y = net.add("Mul", net.between_layers(y), net.constant(depth**-0.5))
    net.result(y, 4.0)


def _first(net: Net) -> None:
    """Windows over an image of one channel, in a third of the layers of three, with a Relu."""
    channels, taps, side = 3 if net.between(0, 2) == 0 else 1, 3 + 2 * (net.between(0, 2) == 0), net.between(12, 34)
    outputs, pad, stride = 4 * net.between(1, 8), taps // 2 * net.between(0, 1), net.between(1, 2)
    y = biased(
        net, net.source(1, channels, side, side), outputs, channels, taps, taps, pads=[pad] * 4, strides=[stride] * 2
    )
    net.result(net.add("Relu", y), 3.0)


END_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"spectrum_{number}": _spectrum for number in range(4)},
    **{f"map_{number}": _map for number in range(10)},
}
SMALLEST_KINDS: dict[str, Callable[[Net], None]] = {f"smallest_{number}": _smallest for number in range(12)}
CLASS_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"verdict_{number}": _verdict for number in range(8)},
    **{f"scores_{number}": _scores for number in range(8)},
    **{f"first_{number}": _first for number in range(6)},
}
