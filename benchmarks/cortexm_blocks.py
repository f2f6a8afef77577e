"""Made layers of what networks for microcontrollers are built of, in sizes that the others have rarely: activations
behind products, reductions behind activations, gates of single positions, long depthwise windows, sums of the past of a
line, pooling and convolutions of small images, few bytes next to each other, constants of which much is 0."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.cortexm_net import Net, middle, some_channels

#: Activations of floats; Silu is two operators.
_ACTIVATIONS = ("HardSwish", "HardSigmoid", "Sigmoid", "Silu", "LeakyRelu", "Tanh", "Clip")
#: Recurrent layers, and their gates.
_RECURRENT = {"LSTM": 4, "GRU": 3}


def _activated(net: Net, x: str, op: str) -> str:
    """The activation of a product; quantised networks quantise before it."""
    x = net.between_layers(x)
    if op == "Silu":
        return net.add("Mul", x, net.between_layers(net.add("Sigmoid", x)))
    if op == "Clip":
        return net.add("Clip", x, net.constant(0), net.constant(6))
    return net.add(op, x)


def _some_activation(net: Net) -> str:
    return _ACTIVATIONS[net.between(0, len(_ACTIVATIONS) - 1)]


def _biased(net: Net, x: str, *weight: int, **attributes: object) -> str:
    """A convolution with a bias."""
    return net.add("Conv", x, net.weight(*weight), net.constant(net.rng.normal(0, 1, weight[0])), **attributes)


def _curved_conv(net: Net, kernel: int, alone: bool = False) -> None:
    """A convolution and an activation, at the start or in the middle of a network; ``alone``: of each channel."""
    outputs, size = some_channels(net), net.between(kernel + 2, 13)
    inputs = outputs if alone else net.between(1, 3) if net.between(0, 2) == 0 else some_channels(net)
    if not alone and inputs * outputs * kernel**2 * size**2 > 400_000:
        inputs, outputs = max(1, inputs // 2), max(4, outputs // 2)
    shape = inputs, size, size + net.between(-1, 3)
    x = middle(net, *shape) if alone or net.between(0, 1) else net.source(1, *shape)
    pads, strides = [kernel // 2] * 4, [1 + (net.between(0, 2) == 0)] * 2
    group = inputs if alone else 1
    y = _biased(net, x, outputs, inputs // group, kernel, kernel, pads=pads, strides=strides, group=group)
    net.result(_activated(net, y, _some_activation(net)), 4.0)


def _curved_dense(net: Net) -> None:
    inputs, outputs = net.between(6, 90), net.between(4, 60)
    bias = net.constant(net.rng.normal(0, 1, outputs))
    x = net.source(1 if net.between(0, 1) else net.between(2, 12), inputs)
    y = net.add("Gemm", x, net.weight(outputs, inputs), bias, transB=1)
    net.result(_activated(net, y, _some_activation(net)), 4.0)


def _rectified_reduction(net: Net) -> None:
    """The mean, the sum or the largest of an image's positions, of its channels or of a line behind an activation."""
    op = ("ReduceMean", "ReduceMean", "ReduceMax", "ReduceSum")[net.between(0, 3)]
    if net.between(0, 1):
        x, axes = net.source(1, net.between(3, 40), net.between(4, 60)), [net.between(1, 2)]
    else:
        shape = net.between(2, 24), net.between(3, 14), net.between(3, 14)
        x = middle(net, *shape) if net.between(0, 2) == 0 else net.source(1, *shape)
        axes = ([2, 3], [2, 3], [1], [3])[net.between(0, 3)]
    y = net.add("Relu", x) if net.between(0, 1) else _activated(net, x, ("Clip", "HardSwish")[net.between(0, 1)])
    net.result(net.add(op, y, net.constant(axes, np.int64), keepdims=net.between(0, 1)), 4.0)


def _rectified_average(net: Net) -> None:
    """The average of an image's positions, or of windows, behind a convolution and an activation."""
    channels, size, first = net.between(3, 48), net.between(3, 12), net.between(1, 6)
    y = _biased(net, net.source(1, first, size, size + net.between(0, 2)), channels, first, 1, 1)
    y = _activated(net, y, ("Clip", "HardSwish")[net.between(0, 1)]) if net.between(0, 1) else net.add("Relu", y)
    y = net.between_layers(y)
    if net.between(0, 1):
        taps = net.between(2, 3)
        net.result(net.add("AveragePool", y, kernel_shape=[taps] * 2, strides=[net.between(1, taps)] * 2), 2.0)
        return
    net.result(net.add("GlobalAveragePool", y), 2.0)


def _single_gates(net: Net) -> None:
    """Squeeze and excite of one position: few numbers of many, and back, each with an activation or none."""
    channels, few = net.between(6, 96), net.between(2, 24)
    x = net.between_layers(net.add("Relu", _biased(net, net.source(1, channels, 1, 1), few, channels, 1, 1)))
    y = _biased(net, x, channels, few, 1, 1)
    kind = net.between(0, 3)
    net.result(y if kind == 0 else _activated(net, y, ("Sigmoid", "HardSigmoid", "HardSwish")[kind - 1]), 2.0)


def _single_dense(net: Net) -> None:
    """Convolutions of images of one to nine positions."""
    inputs, outputs, taps = net.between(3, 64), net.between(3, 64), 1 + 2 * (net.between(0, 2) == 0)
    size = [net.between(1, 3), net.between(1, 3)]
    x = middle(net, inputs, *size) if net.between(0, 1) else net.source(1, inputs, *size)
    y = _biased(net, x, outputs, inputs, taps, taps, pads=[taps // 2] * 4)
    net.result(net.add("Relu", y) if net.between(0, 1) else y, 4.0)


def _to_one(net: Net) -> None:
    """A map of many channels, as heads of segmentation and attention have it."""
    inputs, taps = net.between(3, 28), 1 + 2 * net.between(0, 2)
    size = [net.between(6, 18), net.between(6, 18)] if taps < 5 else [net.between(6, 12), net.between(6, 12)]
    x = middle(net, inputs, *size) if net.between(0, 1) else net.source(1, inputs, *size)
    bias = net.constant(np.abs(net.rng.normal(0, 1, 1)))
    y = net.add("Conv", x, net.weight(1, inputs, taps, taps), bias, pads=[taps // 2] * 4)
    net.result(_activated(net, y, "Sigmoid") if net.between(0, 2) == 0 else y, 4.0)


def _long_depthwise(net: Net, taps: int) -> None:
    """Depthwise windows of 5 x 5 or 7 x 7 of many channels, with strides or gaps."""
    channels, size = some_channels(net) if net.between(0, 2) else net.between(9, 60), net.between(5, 12)
    stride, dilation = 1 + (net.between(0, 3) == 0), 1 + (net.between(0, 5) == 0)
    x = middle(net, channels, size, size + net.between(-1, 2))
    attributes = {"pads": [dilation * (taps // 2)] * 4, "strides": [stride] * 2, "dilations": [dilation] * 2}
    y = _biased(net, x, channels, 1, taps, taps, group=channels, **attributes)
    net.result(net.add("Relu", y) if net.between(0, 2) == 0 else y, 4.0)


def _past(net: Net) -> None:
    """Sums of earlier places of a line with gaps, as causal networks have them, in the middle or at the beginning."""
    channels, taps, dilation, size = net.between(4, 40), net.between(2, 5), 2 ** net.between(0, 3), net.between(20, 50)
    alone, reach = net.between(0, 1), dilation * (taps - 1)
    outputs = channels if alone else net.between(4, 32)
    pads = [reach, 0] if net.between(0, 1) else [reach // 2, reach - reach // 2]
    x = net.source(1, channels, size)
    x = net.between_layers(net.add("Relu", _biased(net, x, channels, channels, 1))) if net.between(0, 1) else x
    attributes = {"pads": pads, "dilations": [dilation], "group": channels if alone else 1}
    y = _biased(net, x, outputs, 1 if alone else channels, taps, **attributes)
    net.result(net.add("Relu", y) if net.between(0, 1) else y, 4.0)


def _small_maxima(net: Net) -> None:
    """The largest numbers of windows of small images, of one row or one column, or of whole images."""
    channels, size = net.between(2, 40), [net.between(2, 8), net.between(2, 8)]
    x = middle(net, channels, *size)
    if net.between(0, 4) == 0:
        net.result(net.add("GlobalMaxPool", x))
        return
    kernel = [min(net.between(1, 3), size[0]), min(net.between(2, 3), size[1])][:: 1 - 2 * net.between(0, 1)]
    kernel = [min(pair) for pair in zip(kernel, size, strict=True)]
    strides = kernel if net.between(0, 2) else [1, 1]
    net.result(net.add("MaxPool", x, kernel_shape=kernel, strides=strides))


def _offset(net: Net, op: str) -> None:
    """A tensor and one constant number, on either side."""
    shape = (1, net.between(2, 60)) if net.between(0, 1) else (1, net.between(2, 24), net.between(3, 24))
    x = net.source(*shape)
    if net.between(0, 1):
        net.rectified.add(x)
    pair = [x, net.constant(net.rng.uniform(0.01, 3))]
    net.result(net.add(op, *(pair if net.between(0, 2) else pair[::-1])), 4.0)


def _bytes_joined(net: Net) -> None:
    """One to three numbers of each position, which are last, next to each other, or rows of few numbers."""
    places, axis = [net.between(1, 12), net.between(1, 12)], 3 if net.between(0, 2) else 1
    parts = []
    for _ in range(net.between(2, 4)):
        last = net.between(1, 3) if net.between(0, 3) else net.between(4, 9)
        parts.append(net.source(1, *((*places, last) if axis == 3 else (last, *places))))
    net.result(net.add("Concat", *parts, axis=axis), 4.0)


def _sparse(net: Net) -> None:
    """A constant matrix of which much is 0, on either side of a product, or convolutions with such weights."""
    rows, depth, columns = net.between(6, 30), net.between(6, 30), net.between(6, 30)
    places = net.rng.uniform(size=(rows, depth)) > net.rng.uniform(0.2, 0.9)
    values = net.rng.normal(0, 0.5, (rows, depth)) * places
    if net.quantised:
        matrix = net.real(net.constant(np.round(values * 60).clip(-128, 127), np.int8), 0.02, 0)
    else:
        matrix = net.constant(values)
    if net.between(0, 1):
        net.result(net.add("MatMul", matrix, net.source(1, depth, columns)), 4.0)
        return
    net.result(net.add("MatMul", net.source(1, columns, rows), matrix), 4.0)


def _few_heads(net: Net) -> None:
    """Scores of queries and keys of one or more heads, scaled, and what they weigh."""
    heads, places, depth = net.between(1, 4), net.between(5, 24), net.between(4, 20)
    one = net.source(1, heads, places, depth)
    if net.between(0, 1):
        y = net.between_layers(net.add("MatMul", one, net.source(1, heads, depth, places)))
        net.result(net.add("Mul", y, net.constant(depth**-0.5)) if net.between(0, 1) else y, 4.0)
        return
    net.result(net.add("MatMul", net.source(1, heads, places, places), one), 4.0)


def _narrow_dense(net: Net) -> None:
    """Dense layers of two to six inputs, of one row or more."""
    inputs, outputs = net.between(2, 6), net.between(2, 40)
    x = net.source(1 if net.between(0, 1) else net.between(2, 20), inputs)
    y = net.add("Gemm", x, net.weight(outputs, inputs), net.constant(net.rng.normal(0, 1, outputs)), transB=1)
    net.result(net.add("Relu", y) if net.between(0, 1) else y, 4.0)


def _few_results(net: Net, op: str) -> None:
    """Two tensors of one to ten numbers, or one and a constant of each."""
    count = net.between(1, 10)
    other = net.source(1, count)
    if net.between(0, 2) == 0:
        other = net.constant(net.rng.uniform(0.2, 2, count))
        if net.quantised:
            other = net.real(net.constant(net.rng.integers(-128, 128, count), np.int8), 0.01, 0)
    y = net.add(op, net.source(1, count), other)
    net.result(net.add("Relu", y) if net.between(0, 2) == 0 else y, 4.0)


def _states(net: Net, op: str) -> None:
    """A recurrent layer of more units than loops unroll; its last state."""
    steps, inputs, hidden, gates = net.between(2, 6), net.between(4, 30), net.between(12, 34), _RECURRENT[op]
    sizes = ((1, gates * hidden, inputs), (1, gates * hidden, hidden), (1, 2 * gates * hidden))
    weights = [net.constant(net.rng.normal(0, 0.3, size)) for size in sizes]
    y = net.add(op, net.source(steps, 1, inputs), *weights, hidden_size=hidden)
    net.nodes[-1].output.append(f"{y}_state")
    net.result(f"{y}_state", 1.0)


def _centred(net: Net) -> None:
    """Rows or columns less their mean, squared or by a deviation, as normalisations of series have them."""
    shape, axis = (1, net.between(4, 40), net.between(2, 30)), net.between(1, 2)
    x, row = net.source(*shape), [1 if place == axis else size for place, size in enumerate(shape)]
    less = net.add("Sub", x, net.source(*row))
    if net.between(0, 1):
        square = net.between_layers(net.add("Mul", less, less))
        net.result(net.add("ReduceMean", square, net.constant([axis], np.int64), keepdims=1), 4.0)
        return
    wide = net.source(*row)
    net.positive.add(wide)
    op = ("Mul", "Mul", "Div")[net.between(0, 2)] if not net.quantised else "Mul"
    net.result(net.add(op, less, wide) if net.between(0, 1) else less, 4.0)


def _scored(net: Net) -> None:
    """Scores of queries and keys, scaled, and a mask or a bias of each pair."""
    heads, places, depth = net.between(1, 4), net.between(6, 24), net.between(4, 20)
    y = net.between_layers(net.add("MatMul", net.source(1, heads, places, depth), net.source(1, heads, depth, places)))
    y = net.between_layers(net.add("Mul", y, net.constant(depth**-0.5)))
    if net.quantised or net.between(0, 1):
        net.result(net.add("Add", y, net.source(1, heads if net.between(0, 1) else 1, places, places)), 4.0)
        return
    net.result(net.add("Add", y, net.constant(net.rng.normal(0, 1, (1, heads, places, places)))), 4.0)


def _self_gated(net: Net, alone: bool) -> None:
    """A convolution and Silu of any number of channels; ``alone``: windows of each channel."""
    channels, size = net.between(5, 60), net.between(6, 15)
    x = middle(net, channels, size, size + net.between(-2, 3))
    if alone:
        y = _biased(net, x, channels, 1, 3, 3, group=channels, pads=[1] * 4)
    else:
        y = _biased(net, x, net.between(5, 48), channels, 1, 1)
    net.result(_activated(net, y, "Silu"), 4.0)


def _of_long_rows(net: Net) -> None:
    """A number of each row, and rows of more numbers than loops unroll."""
    x, row = net.source(1, net.between(4, 30), net.between(18, 80)), ("Sub", "Add", "Mul", "Div")[net.between(0, 3)]
    rows = net.inputs[-1].type.tensor_type.shape.dim[1].dim_value
    other = net.source(1, rows, 1)
    net.positive.add(other)
    net.result(net.add(row if not net.quantised else ("Sub", "Mul")[net.between(0, 1)], x, other), 4.0)


def _squared(net: Net) -> None:
    """Squares and their sum or mean, of short or long rows, or of columns."""
    x = net.source(1, net.between(4, 50), net.between(3, 24))
    y = net.between_layers(net.add("Mul", x, x))
    op = ("ReduceSum", "ReduceMean")[net.between(0, 1)]
    net.result(net.add(op, y, net.constant([net.between(1, 2)], np.int64), keepdims=1), 8.0)


def _plain_row(net: Net) -> None:
    """A row times a matrix, without a bias."""
    inputs, outputs = net.between(8, 90), net.between(2, 60)
    weight = net.constant(net.rng.normal(0, 0.3, (inputs, outputs)))
    if net.quantised:
        weight = net.real(net.constant(net.rng.integers(-127, 128, (inputs, outputs)), np.int8), 0.003, 0)
    net.result(net.add("MatMul", net.source(1, inputs), weight), 4.0)


#: Layers of several operators that units or compilers combine, and plain ones.
JOINED_KINDS: dict[str, Callable[[Net], None]] = {
    "scored": _scored,
    "scored_2": _scored,
    "self_gated": partial(_self_gated, alone=False),
    "self_gated_alone": partial(_self_gated, alone=True),
    "of_long_rows": _of_long_rows,
    "squared": _squared,
    "squared_2": _squared,
    "plain_row": _plain_row,
    "plain_row_2": _plain_row,
}
BLOCK_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"curved_conv_{number}": partial(_curved_conv, kernel=1 + 2 * (number % 2)) for number in range(4)},
    **{f"curved_alone_{number}": partial(_curved_conv, kernel=3, alone=True) for number in range(2)},
    "curved_alone_5": partial(_curved_conv, kernel=5, alone=True),
    "curved_dense": _curved_dense,
    "curved_dense_2": _curved_dense,
    **{f"rectified_reduction_{number}": _rectified_reduction for number in range(3)},
    "rectified_average": _rectified_average,
    "rectified_average_2": _rectified_average,
    **{f"single_gates_{number}": _single_gates for number in range(2)},
    **{f"single_dense_{number}": _single_dense for number in range(2)},
    **{f"to_one_{number}": _to_one for number in range(2)},
    **{f"long_depthwise_{taps}": partial(_long_depthwise, taps=taps) for taps in (5, 7)},
    **{f"past_{number}": _past for number in range(2)},
    **{f"small_maxima_{number}": _small_maxima for number in range(2)},
    **{f"{op}_offset": partial(_offset, op=op) for op in ("Add", "Sub", "Mul")},
    **{f"bytes_joined_{number}": _bytes_joined for number in range(2)},
    "sparse": _sparse,
    "sparse_2": _sparse,
    "few_heads": _few_heads,
    "few_heads_2": _few_heads,
    "narrow_dense": _narrow_dense,
    "narrow_dense_2": _narrow_dense,
    **{f"{op}_results": partial(_few_results, op=op) for op in ("Add", "Mul", "Sub")},
    **{f"{op}_states": partial(_states, op=op) for op in _RECURRENT},
    "centred": _centred,
    "centred_2": _centred,
}
