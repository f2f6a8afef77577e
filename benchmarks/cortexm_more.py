"""Made layers of sizes that the others have too rarely: odd channels in the middle of networks, windows of 25 taps,
short lines and columns, images of few positions, numbers that are quantised with a power of two."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper

from benchmarks.cortexm_net import Net, some_channels


def _activated(net: Net, name: str) -> str:
    return net.add("Relu", name) if net.between(0, 1) else name


def _biased(net: Net, x: str, *weight: int, **attributes: object) -> str:
    """A convolution with a bias."""
    return net.add("Conv", x, net.weight(*weight), net.constant(net.rng.normal(0, 1, weight[0])), **attributes)


def _any_channels(net: Net) -> int:
    return net.between(3, 40) if net.between(0, 2) else 4 * net.between(4, 32)


def _middle(net: Net, channels: int, height: int, width: int) -> str:
    """An image in the middle of a network, where channels are last."""
    first = net.between(1, 4)
    y = _biased(net, net.source(1, first, height, width), channels, first, 1, 1)
    return net.between_layers(net.add("Relu", y))


def _pooled(net: Net, op: str, taps: int) -> None:
    size, stride, pads = net.between(4, 14), net.between(1, 2), [net.between(0, taps - 2)] * 4
    x = _middle(net, _any_channels(net), size, size + net.between(0, 6))
    net.result(net.add(op, x, kernel_shape=[taps] * 2, strides=[stride] * 2, pads=pads))


def _whole_max(net: Net) -> None:
    """The largest number of each channel of an image."""
    x = _middle(net, some_channels(net), net.between(3, 20), net.between(3, 8))
    net.result(net.add("GlobalMaxPool", x))


def _depthwise_wide(net: Net) -> None:
    """A depthwise convolution of 16 to 25 taps, with any number of channels."""
    channels, taps, size, stride = _any_channels(net), net.between(4, 5), net.between(6, 14), net.between(1, 2)
    x = _middle(net, channels, size, size + net.between(0, 4))
    pads = [net.between(0, 1) * 2] * 4
    y = _biased(net, x, channels, 1, taps, taps, group=channels, pads=pads, strides=[stride] * 2)
    net.result(_activated(net, y), 4.0)


def _depthwise_narrow(net: Net) -> None:
    """A depthwise convolution of an image of few columns, with padding."""
    channels = some_channels(net)
    x = _middle(net, channels, net.between(6, 24), net.between(2, 7))
    net.result(_activated(net, _biased(net, x, channels, 1, 3, 3, group=channels, pads=[1] * 4)), 4.0)


def _odd_channels(net: Net, kernel: int) -> None:
    inputs, outputs, size, stride = net.between(3, 30), net.between(3, 40), net.between(4, 12), net.between(1, 2)
    x = _middle(net, inputs, size, size + net.between(0, 5))
    y = _biased(net, x, outputs, inputs, kernel, kernel, pads=[kernel // 2] * 4, strides=[stride] * 2)
    net.result(_activated(net, y), 4.0)


def _few_in_groups(net: Net) -> None:
    """A convolution in groups of few channels."""
    groups, inputs, outputs, size = net.between(3, 8), net.between(1, 3), net.between(1, 2), net.between(5, 16)
    x = _middle(net, groups * inputs, size, size + net.between(0, 3))
    y = _biased(net, x, groups * outputs, inputs, 3, 3, pads=[net.between(0, 1)] * 4, group=groups)
    net.result(_activated(net, y), 4.0)


def _line_pointwise(net: Net) -> None:
    """Products of each position of a line, and a sum with another line."""
    inputs, outputs, size = 2 * net.between(2, 20), net.between(3, 40), net.between(20, 100)
    y = _activated(net, _biased(net, net.source(1, inputs, size), outputs, inputs, 1))
    net.result(net.add("Add", y, net.source(1, outputs, size)) if net.between(0, 1) else y, 4.0)


def _dense_few(net: Net) -> None:
    """A dense layer of few inputs."""
    inputs, outputs = net.between(2, 16), 4 * net.between(4, 32)
    bias = net.constant(net.rng.normal(0, 1, outputs))
    y = net.add("Gemm", net.source(1, inputs), net.weight(outputs, inputs), bias, transB=1)
    net.result(_activated(net, y), 4.0)


def _hard(net: Net) -> None:
    """A function of each number."""
    x = net.source(1, net.between(4, 24), net.between(4, 60))
    net.result(net.add(("HardSwish", "HardSigmoid", "LeakyRelu")[net.between(0, 2)], x))


def _scaled_evenly(net: Net) -> None:
    """A tensor times a power of two, as scores of an attention."""
    x = net.source(1, net.between(1, 4), net.between(4, 40), net.between(4, 40))
    net.result(net.add("Mul", x, net.constant(0.5 ** net.between(1, 4))))


def _sums_of_lines(net: Net) -> None:
    """The mean of a sum, along the rows or along the columns."""
    shape = 1, net.between(8, 60), net.between(8, 60)
    axis = net.constant([1 + net.between(0, 1)], np.int64)
    y = net.add("Add", net.source(*shape), net.source(*shape)) if net.between(0, 1) else net.source(*shape)
    net.result(net.add("ReduceMean", y, axis, keepdims=net.between(0, 1)), 1.0)


def _moved(net: Net, shape: list[int], order: tuple[int, ...]) -> None:
    net.result(net.add("Transpose", net.source(1, *shape), perm=[0, *order]))


def _heads(net: Net) -> None:
    """Parts of rows become matrices, or the other way round."""
    sizes = net.between(6, 40), net.between(2, 6)
    _moved(net, [*(sizes if net.between(0, 1) else sizes[::-1]), net.between(5, 20)], (2, 1, 3))


def _images(net: Net, most: int) -> None:
    """Channels become the last axis, or the first one."""
    space = [net.between(1 if most < 4 else 4, most), net.between(1 if most < 4 else 4, most)]
    channels = net.between(4, 48)
    if net.between(0, 1):
        _moved(net, [channels, *space], (2, 3, 1))
    else:
        _moved(net, [*space, channels], (3, 1, 2))


def _shuffled(net: Net) -> None:
    """Channels of groups in another order."""
    _moved(net, [net.between(2, 4), net.between(3, 10), net.between(4, 16), net.between(4, 16)], (2, 1, 3, 4))


def _spread(net: Net) -> None:
    """Channels become positions."""
    side = net.between(2, 3)
    _moved(net, [net.between(4, 16), net.between(4, 16), side, side, net.between(1, 10)], (1, 3, 2, 4, 5))


def _bordered_line(net: Net) -> None:
    """Zeros at the ends of lines, or of an image's lines."""
    shape = [net.between(4, 32), net.between(20, 120)]
    before, after = net.between(0, 2) * net.between(0, 4), net.between(0, 8)
    net.result(net.add("Pad", net.source(1, *shape), net.constant([0, 0, before, 0, 0, after], np.int64)))


def _bordered_image(net: Net) -> None:
    x = _middle(net, _any_channels(net), net.between(4, 12), net.between(4, 12))
    before, after = ([net.between(0, 2), net.between(0, 2)] for _ in range(2))
    net.result(net.add("Pad", x, net.constant([0, 0, *before, 0, 0, *after], np.int64)))


def _cut_columns(net: Net) -> None:
    rows, columns = net.between(40, 200), net.between(5, 12)
    first = net.between(0, columns - 3)
    limits = [net.constant([value], np.int64) for value in (first, net.between(first + 2, columns), 2)]
    net.result(net.add("Slice", net.source(1, rows, columns), *limits))


def _joined_columns(net: Net) -> None:
    rows = net.between(40, 200)
    parts = [net.source(1, rows, net.between(2, 8)) for _ in range(net.between(2, 3))]
    net.result(net.add("Concat", *parts, axis=2))


def _enlarged(net: Net) -> None:
    """An image with each position several times."""
    x = _middle(net, net.between(3, 24), net.between(4, 12), net.between(4, 12))
    scales = net.constant([1, 1, *[net.between(2, 3)] * 2], np.float32)
    net.result(net.add("Resize", x, "", scales, mode="nearest"))


MORE_KINDS: dict[str, Callable[[Net], None]] = {
    "pooled_2": lambda net: _pooled(net, "MaxPool", 2),
    "pooled_3": lambda net: _pooled(net, "MaxPool", 3),
    "pooled_3_again": lambda net: _pooled(net, "MaxPool", 3),
    "averaged_2": lambda net: _pooled(net, "AveragePool", 2),
    "whole_max": _whole_max,
    "depthwise_wide": _depthwise_wide,
    "depthwise_wide_2": _depthwise_wide,
    "depthwise_narrow": _depthwise_narrow,
    "odd_channels": lambda net: _odd_channels(net, 3),
    "odd_channels_pointwise": lambda net: _odd_channels(net, 1),
    "few_in_groups": _few_in_groups,
    "line_pointwise": _line_pointwise,
    "dense_few": _dense_few,
    "hard": _hard,
    "scaled_evenly": _scaled_evenly,
    "sums_of_lines": _sums_of_lines,
    "sums_of_lines_2": _sums_of_lines,
    "heads": _heads,
    "images": lambda net: _images(net, 20),
    "images_2": lambda net: _images(net, 20),
    "tiny_images": lambda net: _images(net, 3),
    "shuffled": _shuffled,
    "spread": _spread,
    "bordered_line": _bordered_line,
    "bordered_image": _bordered_image,
    "cut_columns": _cut_columns,
    "joined_columns": _joined_columns,
    "enlarged": _enlarged,
}


def _plain(net: Net, element: int, outer: tuple[int, ...] = (1,)) -> str:
    """An input that is not quantised."""
    name, shape = f"x{len(net.inputs)}", (*outer, net.between(2, 24), net.between(4, 60))
    net.inputs.append(helper.make_tensor_value_info(name, element, shape))
    net.bytes_ += 4 * int(np.prod(shape))
    return name


def _quantised(net: Net) -> None:
    """Numbers that become bytes, of whole steps or of others, many of them too large."""
    scale = (1.0, 1.0, 0.5 ** net.between(1, 8), net.rng.uniform(0.002, 0.05))[net.between(0, 3)]
    unsigned = net.between(0, 1)
    zero = net.constant(net.between(0, 1) * (0 if unsigned else -128), np.uint8 if unsigned else np.int8)
    y = net.add("QuantizeLinear", _plain(net, TensorProto.FLOAT), net.constant(scale, np.float32), zero)
    element = TensorProto.UINT8 if unsigned else TensorProto.INT8
    net.outputs.append(helper.make_tensor_value_info(y, element, None))


def _cast(net: Net) -> None:
    """Bytes as real numbers, in two or three axes."""
    outer = (1,) * net.between(0, 1)
    y = net.add("Cast", _plain(net, TensorProto.INT8, outer), to=TensorProto.FLOAT)
    net.outputs.append(helper.make_tensor_value_info(y, TensorProto.FLOAT, None))


#: Of int8 networks only.
MORE_INTEGER_KINDS: dict[str, Callable[[Net], None]] = {
    "quantised": _quantised,
    "quantised_2": _quantised,
    "cast": _cast,
}
