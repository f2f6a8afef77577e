"""Made layers of what stands ahead of products: factors and addends of channels, rows of few numbers, copies of few
bytes."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from benchmarks.cortexm_net import Net, middle


def biased(net: Net, x: str, outputs: int, inputs: int, *kernel: int, **attributes: object) -> str:
    """A convolution and its bias."""
    bias = net.constant(net.rng.normal(0, 1, outputs))
    return net.add("Conv", x, net.weight(outputs, inputs, *kernel), bias, **attributes)


def scaled_channels(net: Net, few: bool) -> None:
    """An image, or a line, times a factor of each channel, and an addend, as normalisations have them; a shortcut
    before them, a Relu or a limit behind them."""
    channels = net.between(2, 17) if few else net.between(18, 48)
    shape = [net.between(4, 16), net.between(4, 20)] if net.between(0, 3) else [net.between(20, 150)]
    first, points = net.between(1, 4), [1] * len(shape)
    if net.between(0, 2):
        x = net.between_layers(biased(net, net.source(1, first, *shape), channels, first, *points))
    else:
        x = net.source(1, channels, *shape)
    if net.between(0, 2) == 0:
        x = net.between_layers(net.add("Add", x, net.source(1, channels, *shape)))
    kind = net.between(0, 5)
    if kind != 1:
        x = net.add("Mul", x, net.constant(net.rng.uniform(0.3, 1.6, (channels, *points))))
        x = net.between_layers(x) if kind else x
    if kind != 2:
        x = net.add("Add", x, net.constant(net.rng.normal(0, 0.5, (channels, *points))))
    op = net.between(0, 3)
    if op < 2:
        x = net.add("Relu", x) if op else net.add("Clip", x, net.constant(0), net.constant(6))
    net.result(x, 3.0)


def gated_channels(net: Net) -> None:
    """An image times or plus a computed number of each channel."""
    channels, shape = net.between(2, 40), [net.between(3, 14), net.between(3, 16)]
    x, numbers = middle(net, channels, *shape), net.source(1, channels, 1, 1)
    if net.between(0, 1):
        numbers = net.between_layers(biased(net, numbers, channels, channels, 1, 1))
        numbers = net.between_layers(net.add(("Sigmoid", "HardSigmoid", "Relu")[net.between(0, 2)], numbers))
    y = net.add("Mul" if net.between(0, 2) else "Add", x, numbers)
    net.result(net.add("Relu", net.between_layers(y)) if net.between(0, 2) == 0 else y, 3.0)


def rows_of_few(net: Net) -> None:
    """A dense layer of few inputs at many places, its bias and an activation."""
    rows, inputs, outputs = net.between(4, 60), net.between(2, 11), net.between(3, 48)
    weight = net.constant(net.rng.normal(0, 0.4, (inputs, outputs)))
    if net.quantised:
        weight = net.real(net.constant(net.rng.integers(-127, 128, (inputs, outputs)), np.int8), 0.003, 0)
    y = net.add("MatMul", net.source(1, rows, inputs), weight)
    if net.between(0, 3):
        y = net.add("Add", net.between_layers(y), net.constant(net.rng.normal(0, 1, outputs)))
    op = ("", "Relu", "Tanh", "Sigmoid")[net.between(0, 3)]
    net.result(net.add(op, net.between_layers(y) if net.between(0, 1) else y) if op else y, 4.0)


def cut_rows(net: Net) -> None:
    """One or two short rows of several, or some columns of these."""
    rows, columns = net.between(2, 9), net.between(3, 40)
    axis, size = (1, rows) if net.between(0, 3) else (2, columns)
    first = net.between(0, size - 1)
    last = min(size, first + net.between(1, 2)) if axis == 1 else net.between(first + 1, size)
    limits = [net.constant([value], np.int64) for value in (first, last, axis)]
    net.result(net.add("Slice", net.source(1, rows, columns), *limits))


def joined_few(net: Net) -> None:
    """Few numbers of several tensors at each place, or behind each other."""
    places = net.between(2, 150) if net.between(0, 2) else 1
    parts = [net.source(1, places, net.between(1, 6) if places > 1 else net.between(3, 40)) for _ in range(2)]
    if net.between(0, 2) == 0:
        parts.append(net.source(1, places, net.between(1, 12)))
    net.result(net.add("Concat", *parts, axis=2))


def shuffled(net: Net) -> None:
    """Channels become neighbouring positions, or positions channels."""
    side, rows, columns = net.between(2, 3), net.between(3, 14), net.between(3, 18)
    if net.between(0, 1):
        net.result(net.add("Transpose", net.source(1, side, side, rows, columns), perm=[0, 3, 1, 4, 2]))
        return
    order = [0, 1, 3, 2, 4] if net.between(0, 1) else [0, 2, 4, 1, 3]
    net.result(net.add("Transpose", net.source(1, rows, side, columns, side), perm=order))


def rows_as_floats(net: Net) -> None:
    """A dense layer of few inputs, or of more, at many places, whose sums become floats."""
    rows, inputs = net.between(3, 50), net.between(2, 11) if net.between(0, 2) else net.between(12, 40)
    outputs = 4 * net.between(1, 12) if net.between(0, 1) else net.between(3, 40)
    weight = net.constant(net.rng.normal(0, 0.4, (inputs, outputs)))
    if net.quantised:
        weight = net.real(net.constant(net.rng.integers(-127, 128, (inputs, outputs)), np.int8), 0.003, 0)
    y = net.between_layers(net.add("MatMul", net.source(1, rows, inputs), weight))
    y = net.add("Add", y, net.constant(net.rng.normal(0, 1, outputs)))
    y = net.add("Tanh", y) if net.between(0, 2) else y
    net.outputs.append(helper.make_tensor_value_info(y, TensorProto.FLOAT, None))


def normalised(net: Net) -> None:
    """A sum of two images, or one, with a factor, an addend and a Relu, or some of these, where channels are first."""
    channels, shape = net.between(2, 40), [net.between(3, 16), net.between(3, 18)]
    x = net.source(1, channels, *shape)
    x = net.between_layers(net.add("Add", x, net.source(1, channels, *shape))) if net.between(0, 1) else x
    x = net.between_layers(net.add("Mul", x, net.constant(net.rng.uniform(0.3, 1.6, (channels, 1, 1)))))
    x = net.add("Add", x, net.constant(net.rng.normal(0, 0.5, (channels, 1, 1)))) if net.between(0, 3) else x
    net.result(net.add("Relu", net.between_layers(x)) if net.between(0, 3) else x, 3.0)


def ahead(net: Net) -> None:
    """Factors and addends of channels, and a Relu, ahead of a convolution, whose shortcut begins before them."""
    channels, size = net.between(2, 17) if net.between(0, 2) else net.between(18, 40), net.between(4, 14)
    x = middle(net, channels, size, size + net.between(-1, 5))
    x = net.between_layers(net.add("Add", x, middle(net, channels, *_sides(net)))) if net.between(0, 1) else x
    y = net.between_layers(net.add("Mul", x, net.constant(net.rng.uniform(0.3, 1.6, (channels, 1, 1)))))
    y = net.between_layers(net.add("Add", y, net.constant(net.rng.normal(0, 0.5, (channels, 1, 1)))))
    y = net.between_layers(net.add("Relu", y)) if net.between(0, 3) else y
    y = net.between_layers(biased(net, y, channels, channels, 1, 1))
    net.result(net.add("Add", x, y), 4.0)


def _sides(net: Net) -> tuple[int, int]:
    """Those of the last input."""
    _, _, height, width = (axis.dim_value for axis in net.inputs[-1].type.tensor_type.shape.dim)
    return int(height), int(width)
