"""Made layers of forms that the others have too rarely to decide figures: windows of few channels, groups, one channel,
regions of many operands, averages of few positions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper

from benchmarks.cortexm_net import Net, some_channels, some_rows
from benchmarks.cortexm_written import plain_input, written_average


def _activated(net: Net, name: str) -> str:
    return net.add("Relu", name) if net.between(0, 1) else name


def _few_channels(net: Net) -> None:
    """A convolution of one to four channels, with windows of any sides, at a network's input."""
    inputs, outputs = net.between(1, 4), some_channels(net)
    rows, columns, stride = net.between(1, 10), net.between(2, 6), net.between(1, 2)
    size, other = rows + net.between(2, 12), columns + net.between(4, 20)
    pads = [net.between(0, rows // 2), net.between(0, columns // 2)] * 2
    weight, bias = net.weight(outputs, inputs, rows, columns), net.constant(net.rng.normal(0, 1, outputs))
    y = net.add("Conv", net.source(1, inputs, size, other), weight, bias, strides=[stride] * 2, pads=pads)
    net.result(_activated(net, y), 4.0)


def _one_channel(net: Net) -> None:
    """A convolution of one channel to one; the bias is 0, so that results differ."""
    rows, columns, stride = net.between(1, 5), net.between(2, 5), net.between(1, 2)
    shape = 1, 1, rows + net.between(4, 24), columns + net.between(4, 28)
    pads = [net.between(0, 1) * (rows // 2), net.between(0, 1) * (columns // 2)] * 2
    y = net.add("Conv", net.source(*shape), net.weight(1, 1, rows, columns), strides=[stride] * 2, pads=pads)
    net.result(_activated(net, y))


def _groups(net: Net, kernel: int) -> None:
    """A convolution in groups, in the middle of a network, where channels are last."""
    groups, inputs, outputs = (int(2 ** net.between(low, 4)) for low in (1, 1, 1))
    while groups * inputs * outputs > 512:
        groups //= 2
    size, first = net.between(kernel + 1, 12), net.between(1, 4)
    x = net.add("Conv", net.source(1, first, size, size + net.between(0, 5)), net.weight(groups * inputs, first, 1, 1))
    weight, bias = net.weight(groups * outputs, inputs, kernel, kernel), net.rng.normal(0, 1, groups * outputs)
    pads, stride = [kernel // 2 * net.between(0, 1)] * 4, 1 + (net.between(0, 3) == 0)
    x = net.between_layers(net.add("Relu", x))
    y = net.add("Conv", x, weight, net.constant(bias), group=groups, pads=pads, strides=[stride] * 2)
    net.result(_activated(net, y), 4.0)


def _many_operands(net: Net) -> None:
    """Sums and products of rows with other rows, with numbers of their columns and with one number of each row."""
    rows, columns = net.between(2, 48), net.between(2, 40) * (4 if net.between(0, 3) else 1)
    y = net.source(1, rows, columns)
    for _ in range(net.between(1, 6)):
        kind = net.between(0, 4)
        other = net.source(1, rows, 1 if kind == 0 else columns) if kind < 3 else None
        other = other or net.constant(net.rng.uniform(0.5, 1.5, columns))
        y = net.add(("Add", "Mul")[net.between(0, 1)], y, other)
    net.result(_activated(net, y), 8.0)


def _whole_average(net: Net) -> None:
    """The average of a small image in the middle of a network."""
    channels, height, width, first = some_channels(net), net.between(2, 5), net.between(2, 5), net.between(1, 4)
    x = net.add("Conv", net.source(1, first, height, width), net.weight(channels, first, 1, 1))
    y = net.add("AveragePool", net.between_layers(net.add("Relu", x)), kernel_shape=[height, width])
    net.result(y, 1.0)


def _bounded(net: Net) -> None:
    """A tensor between two numbers."""
    net.result(net.add("Clip", net.source(*some_rows(net)), net.constant(-1), net.constant(net.between(1, 6))))


def _woven(net: Net) -> None:
    """Two or four channels that are last become first, or the other way round."""
    channels, rows, columns = 2 * net.between(1, 2), net.between(1, 14), net.between(2, 24)
    if net.between(0, 1):
        y = net.add("Transpose", net.source(1, rows, columns, channels), perm=[0, 3, 1, 2])
    else:
        y = net.add("Transpose", net.source(1, channels, rows, columns), perm=[0, 2, 3, 1])
    net.result(y)


RARE_KINDS: dict[str, Callable[[Net], None]] = {
    "few_channels": _few_channels,
    "few_channels_2": _few_channels,
    "one_channel": _one_channel,
    "one_channel_2": _one_channel,
    "one_channel_3": _one_channel,
    "groups": lambda net: _groups(net, 3),
    "groups_2": lambda net: _groups(net, 3),
    "groups_pointwise": lambda net: _groups(net, 1),
    "many_operands": _many_operands,
    "many_operands_2": _many_operands,
    "whole_average": _whole_average,
    "bounded": _bounded,
    "woven": _woven,
    "woven_2": _woven,
    "woven_3": _woven,
}


def _sums(net: Net) -> None:
    """Sums over an image, as integers."""
    channels, height, width = some_channels(net), net.between(2, 9), net.between(2, 9)
    ones = net.constant(np.ones((channels, 1, height, width)), np.int8)
    name = net.add("ConvInteger", plain_input(net, 1, channels, height, width), ones, group=channels)
    net.outputs.append(helper.make_tensor_value_info(name, TensorProto.INT32, None))


def _steep_softmax(net: Net) -> None:
    """Lines whose exponentials are 0 in int8 but for the largest numbers."""
    rows, columns = net.between(1, 24), net.between(8, 300)
    x = net.real(plain_input(net, rows, columns), net.rng.uniform(0.03, 0.5), net.between(-20, 20))
    net.result(net.add("Softmax", x, axis=-1), 1.0)


#: Of int8 networks only.
RARE_INTEGER_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"one_channel_{number}": _one_channel for number in range(4, 9)},  # own kernels take most
    "sums": _sums,
    "sums_2": _sums,
    "steep_softmax": _steep_softmax,
    "steep_softmax_2": _steep_softmax,
    "written_average_few": lambda net: written_average(net, net.between(2, 4), net.between(0, 2)),
}
