"""Made layers of operators that few networks have: convolutions of lines and volumes, transposed ones, activations that
call functions, weights with a scale for each block, numbers that are quantised at run time, squares and means."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper

from benchmarks.cortexm_net import Net, some_channels, some_rows

_ACTIVATIONS = ("Sigmoid", "Tanh", "HardSwish", "Sigmoid", "Tanh", "LeakyRelu")


def _activated(net: Net, name: str) -> str:
    return net.add("Relu", name) if net.between(0, 1) else name


def _biased(net: Net, x: str, *weight: int, **attributes: object) -> str:
    """A convolution with a bias."""
    return net.add("Conv", x, net.weight(*weight), net.constant(net.rng.normal(0, 1, weight[0])), **attributes)


def _line(net: Net) -> None:
    """A convolution of a line."""
    inputs, outputs, taps, size = some_channels(net), some_channels(net), net.between(1, 9), net.between(20, 90)
    while inputs * outputs * taps * size > 200_000:
        size, outputs = max(taps + 1, size // 2), max(4, outputs // 2)
    stride, pads = 1 + (net.between(0, 3) == 0), [net.between(0, 1) * (taps // 2)] * 2
    y = _biased(net, net.source(1, inputs, size), outputs, inputs, taps, strides=[stride], pads=pads)
    net.result(_activated(net, y), 4.0)


def _line_depthwise(net: Net) -> None:
    channels, taps, size = some_channels(net), net.between(2, 9), net.between(20, 90)
    pads = [net.between(0, 1) * (taps // 2)] * 2
    y = _biased(net, net.source(1, channels, size), channels, 1, taps, pads=pads, group=channels)
    net.result(_activated(net, y), 4.0)


def _line_pool(net: Net) -> None:
    """The largest or the average number of neighbours on a line."""
    channels, taps, size = some_channels(net), net.between(2, 4), net.between(12, 90)
    op = ("MaxPool", "MaxPool", "AveragePool")[net.between(0, 2)]
    net.result(net.add(op, net.source(1, channels, size), kernel_shape=[taps], strides=[net.between(1, taps)]))


def _volume(net: Net) -> None:
    """A convolution of a volume."""
    inputs, outputs, size = net.between(1, 8), 4 * net.between(1, 4), [net.between(4, 8) for _ in range(3)]
    taps, pads = [3, 3, 3] if net.between(0, 1) else [net.between(1, 3) for _ in range(3)], net.between(0, 1)
    y = _biased(
        net, net.source(1, inputs, *size), outputs, inputs, *taps, pads=[pads * (number // 2) for number in taps] * 2
    )
    net.result(_activated(net, y), 4.0)


def _transposed(net: Net) -> None:
    """A transposed convolution."""
    inputs, outputs, taps, stride = 4 * net.between(1, 6), 4 * net.between(1, 5), net.between(2, 4), net.between(1, 2)
    taps, size = max(taps, stride), net.between(4, 10)
    # The first axis is that of the inputs.
    weight = net.constant(net.rng.normal(0, 0.3, (inputs, outputs, taps, taps)))
    if net.quantised:
        values = net.constant(net.rng.integers(-127, 128, (inputs, outputs, taps, taps)), np.int8)
        weight = net.real(values, 0.003, 0)
    pads = [net.between(0, 1) * ((taps - 1) // 2)] * 4
    bias = net.constant(net.rng.normal(0, 1, outputs))
    x = net.source(1, inputs, size, size + net.between(0, 3))
    y = net.add("ConvTranspose", x, weight, bias, strides=[stride] * 2, pads=pads)
    net.result(_activated(net, y), 4.0)


def _curved(net: Net, kernel: int) -> None:
    """A convolution whose activation is a function, in the middle of a network or at its start."""
    inputs, outputs, size = net.between(1, 6) * 4, some_channels(net), net.between(kernel + 1, 12)
    pads, x = [kernel // 2 * net.between(0, 1)] * 4, net.source(1, inputs, size, size + net.between(0, 3))
    y = _biased(net, x, outputs, inputs, kernel, kernel, pads=pads)
    net.result(net.add(_ACTIVATIONS[net.between(0, 5)], y), 2.0)


def _curved_dense(net: Net) -> None:
    rows, inputs, outputs = net.between(1, 3) ** 2, 4 * net.between(1, 24), 2 * net.between(1, 24)
    bias = net.constant(net.rng.normal(0, 1, outputs))
    y = net.add("Gemm", net.source(rows, inputs), net.weight(outputs, inputs), bias, transB=1)
    net.result(net.add(_ACTIVATIONS[net.between(0, 5)], y), 2.0)


def _scaled_channels(net: Net) -> None:
    """Squeeze and excite: each channel of an image, in the middle of a network, times a number."""
    channels, inner, size, first = some_channels(net), net.between(1, 4) * 4, net.between(4, 12), net.between(1, 4)
    x = net.between_layers(net.add("Relu", _biased(net, net.source(1, first, size, size + 1), channels, first, 1, 1)))
    y = net.between_layers(net.add("GlobalAveragePool", x))
    y = net.between_layers(net.add("Relu", _biased(net, y, inner, channels, 1, 1)))
    y = net.between_layers(net.add("Sigmoid", net.between_layers(_biased(net, y, channels, inner, 1, 1))))
    net.result(_biased(net, net.between_layers(net.add("Mul", x, y)), channels, channels, 1, 1), 4.0)


def _squares(net: Net) -> None:
    """A layer normalisation in elementary operators."""
    rows, columns = some_rows(net)
    x = net.source(1, rows, columns)
    axis = net.constant([-1], np.int64)
    centred = net.add("Sub", x, net.add("ReduceMean", x, axis))
    variance = net.add("ReduceMean", net.add("Pow", centred, net.constant(2)), axis)
    root = net.add("Sqrt", net.add("Add", variance, net.constant(1e-5 if not net.halves else 1e-3)))
    y = net.add("Div", centred, root)
    if net.between(0, 1):
        y = net.add("Mul", y, net.constant(net.rng.uniform(0.5, 1.5, columns)))
        y = net.add("Add", y, net.constant(net.rng.normal(0, 1, columns)))
    net.result(y)


def _means(net: Net) -> None:
    """Rows of a mean along the first axis of an image's positions."""
    rows, columns = net.between(4, 40), net.between(4, 60)
    axis = net.constant([1 + net.between(0, 1)], np.int64)
    net.result(net.add("ReduceMean", net.source(1, rows, columns), axis, keepdims=net.between(0, 1)), 1.0)


def _extremes(net: Net) -> None:
    """The largest and the smallest number of a tensor, or of its rows."""
    rows, columns = some_rows(net)
    op = ("ReduceMax", "ReduceMin")[net.between(0, 1)]
    axes = (net.constant([-1], np.int64),) if net.between(0, 1) else ()
    net.result(net.add(op, net.source(rows, columns), *axes, keepdims=1))


def _joined_channels(net: Net) -> None:
    """Images of a few channels, which are last, next to each other."""
    size, last = net.between(3, 12), net.between(1, 4)
    parts = []
    for _ in range(net.between(2, 4)):
        channels, first = net.between(1, 8) * (4 if net.between(0, 1) else 1), net.between(1, 4)
        x = net.add("Relu", _biased(net, net.source(1, first, size, size + last), channels, first, 1, 1))
        parts.append(net.between_layers(x))
    net.result(net.add("Concat", *parts, axis=1), 4.0)


def _joined_rows(net: Net) -> None:
    """Tensors next to each other along any axis."""
    even = 4 if net.between(0, 1) else 1  # runs of whole words
    shape = [net.between(1, 8), net.between(1, 8), even * net.between(1, 20 // even)]
    axis, parts = net.between(0, 2), []
    for _ in range(net.between(2, 5)):
        shape[axis] = net.between(1, 12) * (even if axis == 2 else 1)
        parts.append(net.source(1, *shape))
    net.result(net.add("Concat", *parts, axis=axis + 1))


def _some_sizes(net: Net) -> list[int]:
    """Two to four axes, the last one of whole words in half of the layers."""
    *sizes, last = (net.between(2, 8) for _ in range(net.between(2, 4)))
    return [*sizes, last * (4 * net.between(1, 2) if net.between(0, 1) else net.between(1, 4))]


def _bordered(net: Net) -> None:
    """Zeros at the ends of one axis."""
    shape = _some_sizes(net)
    before, after = [0] * (len(shape) + 1), [0] * (len(shape) + 1)
    axis = net.between(1, len(shape) - (net.between(0, 2) > 0))
    before[axis], after[axis] = net.between(0, 4), net.between(1, 4)
    net.result(net.add("Pad", net.source(1, *shape), net.constant([*before, *after], np.int64)))


def _cut(net: Net) -> None:
    """Some places of one axis."""
    shape = _some_sizes(net)
    axis = net.between(0, len(shape) - 1)
    first = net.between(0, shape[axis] - 2)
    limits = [net.constant([value], np.int64) for value in (first, net.between(first + 1, shape[axis]), axis + 1)]
    net.result(net.add("Slice", net.source(1, *shape), *limits))


def _turned(net: Net) -> None:
    """Five axes in another order."""
    shape, order = [net.between(2, 8) for _ in range(4)], net.rng.permutation(4) + 1
    net.result(net.add("Transpose", net.source(1, *shape), perm=[0, *order.tolist()]))


def _tiny(net: Net) -> None:
    """A convolution of an image of 2 x 2 to 4 x 4, with padding."""
    depthwise, channels = net.between(0, 2) == 0, (1, 2, 4, 16, 32, 64)[net.between(0, 5)]
    outputs = channels if depthwise or net.between(0, 1) else some_channels(net)
    x = net.source(1, channels, net.between(1, 4), net.between(1, 4))
    weight = net.weight(outputs, 1 if depthwise else channels, 3, 3)
    net.result(_activated(net, net.add("Conv", x, weight, pads=[1] * 4, group=channels if depthwise else 1)), 4.0)


ODD_KINDS: dict[str, Callable[[Net], None]] = {
    "line": _line,
    "line_2": _line,
    "line_depthwise": _line_depthwise,
    "line_pool": _line_pool,
    "volume": _volume,
    "transposed": _transposed,
    "transposed_2": _transposed,
    "curved": lambda net: _curved(net, 3),
    "curved_2": lambda net: _curved(net, 3),
    "curved_pointwise": lambda net: _curved(net, 1),
    "curved_dense": _curved_dense,
    "scaled_channels": _scaled_channels,
    "squares": _squares,
    "squares_2": _squares,
    "means": _means,
    "extremes": _extremes,
    "joined_channels": _joined_channels,
    "joined_rows": _joined_rows,
    "joined_rows_2": _joined_rows,
    "bordered": _bordered,
    "bordered_2": _bordered,
    "cut": _cut,
    "cut_2": _cut,
    "turned": _turned,
    "turned_2": _turned,
    "tiny": _tiny,
    "tiny_2": _tiny,
}


def _quantised_now(net: Net, x: str) -> tuple[str, str, str]:
    """Bytes, scale and zero point of numbers, found at run time."""
    names = [f"q{len(net.nodes)}_{number}" for number in range(3)]
    net.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], names))
    return names[0], names[1], names[2]


def _plain_source(net: Net, *shape: int) -> str:
    name = f"x{len(net.inputs)}"
    net.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    net.bytes_ += 4 * int(np.prod(shape))
    return name


def _dynamic(net: Net, conv: bool) -> None:
    """A product of bytes that are quantised at run time, as ONNX Runtime's dynamic quantiser writes it."""
    if conv:
        inputs, outputs, size, kernel = 4 * net.between(1, 4), some_channels(net), net.between(4, 9), net.between(1, 3)
        x = _plain_source(net, 1, inputs, size, size + net.between(0, 4))
        shape: tuple[int, ...] = (outputs, inputs, kernel, kernel)
    else:
        inputs, outputs = 4 * net.between(2, 24), net.between(2, 48)
        x, shape = _plain_source(net, net.between(1, 3) ** 2, inputs), (inputs, outputs)
    stored, scale, zero = _quantised_now(net, x)
    dtype = np.uint8 if net.between(0, 1) else np.int8
    low = 0 if dtype == np.uint8 else -128
    weight = net.constant(net.rng.integers(low, low + 256, shape), dtype)
    shift = net.constant(low + 128 - net.between(0, 1) * 5 * (dtype == np.uint8), dtype)
    attributes = {"pads": [shape[-1] // 2 * net.between(0, 1)] * 4} if conv else {}
    y = net.add("ConvInteger" if conv else "MatMulInteger", stored, weight, zero, shift, **attributes)
    y = net.add("Mul", net.add("Cast", y, to=TensorProto.FLOAT), net.add("Mul", scale, net.constant(0.003)))
    y = net.add("Add", y, net.constant(net.rng.normal(0, 1, (1, outputs, 1, 1) if conv else outputs)))
    net.outputs.append(helper.make_tensor_value_info(_activated(net, y), TensorProto.FLOAT, None))


def _blocks(net: Net) -> None:
    """A product with weights of 4 bits and a scale for each block of rows."""
    rows, block, outputs = net.between(1, 12), (16, 32)[net.between(0, 1)], 2 * net.between(2, 24)
    inputs = block * net.between(1, 4)
    kind = (TensorProto.INT4, TensorProto.UINT4)[net.between(0, 1)]
    low = -8 if kind == TensorProto.INT4 else 0
    values, name = net.rng.integers(low, low + 16, inputs * outputs), f"c{len(net.constants)}"
    net.constants.append(helper.make_tensor(name, kind, (inputs, outputs), values.tolist()))
    scales = net.constant(net.rng.uniform(0.01, 0.05, (inputs // block, outputs)))
    weight = net.add("DequantizeLinear", name, scales, axis=0, block_size=block)
    net.result(net.add("MatMul", net.source(rows, inputs), weight))


def _large_average(net: Net) -> None:
    """The average of a larger image in the middle of a network."""
    channels, height, width = (8, 16, 32)[net.between(0, 2)], net.between(8, 20), net.between(8, 20)
    x = net.add("Conv", net.source(1, 1, height, width), net.weight(channels, 1, 1, 1))
    net.result(net.add("GlobalAveragePool", net.between_layers(net.add("Relu", x))), 1.0)


#: Of int8 networks only.
ODD_INTEGER_KINDS: dict[str, Callable[[Net], None]] = {
    "dynamic": lambda net: _dynamic(net, conv=False),
    "dynamic_conv": lambda net: _dynamic(net, conv=True),
    "dynamic_conv_2": lambda net: _dynamic(net, conv=True),
    "blocks": _blocks,
    "large_average": _large_average,
    "large_average_2": _large_average,
}
