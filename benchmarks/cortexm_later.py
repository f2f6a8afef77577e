"""Made layers of what the networks of ``benchmarks.fresh_models`` have and the others have rarely: halves of channels,
functions and differences of a few numbers, windows of any size, short lines, sums of which much is 0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.cortexm_net import Net


def _activated(net: Net, name: str) -> str:
    return net.add("Relu", name) if net.between(0, 1) else name


def _biased(net: Net, x: str, *weight: int, **attributes: object) -> str:
    """A convolution with a bias."""
    return net.add("Conv", x, net.weight(*weight), net.constant(net.rng.normal(0, 1, weight[0])), **attributes)


def _middle(net: Net, channels: int, height: int, width: int) -> str:
    """An image in the middle of a network, where channels are last."""
    first = net.between(1, 4)
    y = _biased(net, net.source(1, first, height, width), channels, first, 1, 1)
    return net.between_layers(net.add("Relu", y))


def _halves(net: Net) -> None:
    """Some channels of each position, which are last."""
    channels, size = (4, 8, 12, 16, 24, 32)[net.between(0, 5)], net.between(6, 14)
    taken = channels // 2 if net.between(0, 1) else net.between(1, channels - 1)
    first = (0, channels - taken)[net.between(0, 1)]
    limits = [net.constant([value], np.int64) for value in (first, first + taken, 3)]
    net.result(net.add("Slice", net.source(1, size, size + net.between(0, 4), channels), *limits))


def _blocks(net: Net) -> None:
    """Positions become channels, or channels positions."""
    side, channels, rows, columns = net.between(2, 3), net.between(1, 6), net.between(3, 20), net.between(3, 24)
    if net.between(0, 1):
        y = net.add("SpaceToDepth", net.source(1, channels, side * rows, side * columns), blocksize=side)
    else:
        mode = ("DCR", "CRD")[net.between(0, 1)]
        y = net.add("DepthToSpace", net.source(1, channels * side**2, rows, columns), blocksize=side, mode=mode)
    net.result(y)


def _function(net: Net, op: str) -> None:
    """A function of a few numbers, or of many."""
    shape = (1, net.between(2, 30)) if net.between(0, 1) else (net.between(2, 20), net.between(6, 60))
    x = net.source(*shape)
    net.positive.add(x)
    net.result(net.add("Abs" if net.quantised else op, x))  # half of the bytes are negative


def _difference(net: Net, op: str) -> None:
    """A row and the rows of a table, or each row and a number of its own."""
    rows, columns = net.between(3, 40), net.between(3, 40)
    other_shape = ((1, columns), (rows, 1), (rows, columns))[net.between(0, 2)]
    one, other = net.source(1, rows, columns), net.source(1, *other_shape)
    net.result(net.add(op, *((one, other) if net.between(0, 1) else (other, one))), 4.0)


def _frames(net: Net) -> None:
    """The mean of an image's rows, or of its columns."""
    axis = net.constant([net.between(2, 3)], np.int64)
    x = net.source(1, net.between(3, 24), net.between(3, 20), net.between(3, 24))
    net.result(net.add("ReduceMean", x, axis, keepdims=net.between(0, 1)), 1.0)


def _product(net: Net) -> None:
    """Two tensors, number by number."""
    shape = 1, net.between(4, 40), net.between(4, 60)
    net.result(net.add("Mul", net.source(*shape), net.source(*shape)), 4.0)


def _gates(net: Net) -> None:
    """Images in the middle of a network and a number for each channel."""
    channels, size = 4 * net.between(1, 12) if net.between(0, 1) else net.between(3, 40), net.between(3, 14)
    x = _middle(net, channels, size, size + net.between(0, 3))
    y = net.between_layers(net.add("Sigmoid", net.between_layers(net.add("GlobalAveragePool", x))))
    net.result(net.add("Mul", x, y), 4.0)


def _short_lines(net: Net) -> None:
    """Channels of a short line become last, or first."""
    net.result(net.add("Transpose", net.source(1, net.between(4, 48), net.between(4, 48)), perm=[0, 2, 1]))


def _first(net: Net) -> None:
    """A network's first convolution, of an image or of a line."""
    inputs, outputs, stride, size = net.between(1, 3), net.between(6, 24), net.between(1, 2), net.between(10, 28)
    line, taps = net.between(0, 2) == 0, 3 + 2 * net.between(0, 2)
    shape, kernel = ((4 * size,), [taps]) if line else ((size, size + net.between(-4, 6)), [min(taps, 5)] * 2)
    pads = [kernel[0] // 2] * 2 * len(kernel)
    x = net.source(1, inputs, *shape)
    y = _biased(net, x, outputs, inputs, *kernel, pads=pads, strides=[stride] * len(kernel))
    net.result(_activated(net, y), 4.0)


def _odd_depthwise(net: Net) -> None:
    """A depthwise convolution of any number of channels."""
    channels, size, stride = net.between(3, 30), net.between(4, 14), 1 + (net.between(0, 2) == 0)
    x = _middle(net, channels, size, size + net.between(0, 5))
    y = _biased(net, x, channels, 1, 3, 3, group=channels, pads=[1] * 4, strides=[stride] * 2)
    net.result(_activated(net, y), 4.0)


def _windows(net: Net) -> None:
    """The largest number of windows of 3 x 3 to 7 x 7."""
    taps, size, stride = 3 + 2 * net.between(0, 2), net.between(7, 14), net.between(1, 2)
    x = _middle(net, net.between(2, 36), size, size + net.between(0, 4))
    net.result(net.add("MaxPool", x, kernel_shape=[taps] * 2, strides=[stride] * 2, pads=[taps // 2] * 4))


def _rectified_sum(net: Net, repeated: bool = False) -> None:
    """Sums of tensors of which much is 0; ``repeated``: the second one is added to each of the first one's images."""
    shape = 1, net.between(2, 16), net.between(4, 14), net.between(4, 24)
    one, other = net.source(*shape), net.source(*((1, 1, *shape[2:]) if repeated else shape))
    net.rectified |= {one, other}
    net.result(_activated(net, net.add("Add", one, other)), 4.0)


LATER_KINDS: dict[str, Callable[[Net], None]] = {
    "halves": _halves,
    "halves_2": _halves,
    "blocks": _blocks,
    "root": lambda net: _function(net, "Sqrt"),
    "function": lambda net: _function(net, ("Abs", "Neg", "Exp", "Floor")[net.between(0, 3)]),
    "difference": lambda net: _difference(net, "Sub"),
    "quotient": lambda net: _difference(net, "Div"),
    "frames": _frames,
    "frames_2": _frames,
    "product": _product,
    "gates": _gates,
    "short_lines": _short_lines,
    "short_lines_2": _short_lines,
    "first": _first,
    "first_2": _first,
    "odd_depthwise": _odd_depthwise,
    "windows": _windows,
    "windows_2": _windows,
    "rectified_sum": _rectified_sum,
    "rectified_sum_2": lambda net: _rectified_sum(net, repeated=True),
}
