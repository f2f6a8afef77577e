"""Made layers of products that the others have too rarely: convolutions to few channels, of long windows, of what was
before, with gaps, transposed ones of lines, dense layers of few numbers, recurrent layers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.cortexm_net import Net, middle, some_channels

#: Recurrent layers, and their gates.
_RECURRENT = {"LSTM": 4, "GRU": 3, "RNN": 1}


def _to_few(net: Net) -> None:
    """A convolution to one to four channels, of an image or of a line."""
    inputs, outputs, taps = net.between(2, 36), net.between(1, 4), 1 + 2 * net.between(0, 2)
    size = [net.between(6, 14), net.between(6, 14)] if net.between(0, 1) else [net.between(10, 60)]
    x = net.source(1, inputs, *size)
    bias = net.constant(np.abs(net.rng.normal(0, 1, outputs)))
    pads = [taps // 2] * 2 * len(size)
    y = net.add("Conv", x, net.weight(outputs, inputs, *[taps] * len(size)), bias, pads=pads)
    net.result(net.add("Relu", y) if net.between(0, 2) == 0 else y, 4.0)


def _long_windows(net: Net) -> None:
    """Windows of one row or one column, in groups of one channel each or of all."""
    taps, channels, alone = net.between(5, 16), net.between(2, 16), net.between(0, 1)
    size = [net.between(taps, 24), net.between(4, 12)]
    kernel, size = ([taps, 1], size) if net.between(0, 1) else ([1, taps], size[::-1])
    outputs = channels * net.between(1, 2) if alone else net.between(2, 12)
    x = middle(net, channels, *size) if net.between(0, 1) else net.source(1, channels, *size)
    pads = [net.between(0, 1) * (length // 2) for length in kernel] * 2
    weight = net.weight(outputs, 1 if alone else channels, *kernel)
    bias = net.constant(net.rng.normal(0, 1, outputs))
    net.result(net.add("Conv", x, weight, bias, pads=pads, group=channels if alone else 1), 4.0)


def _past(net: Net) -> None:
    """Sums of earlier places of a line, with or without gaps."""
    channels, taps, dilation, size = some_channels(net), net.between(2, 9), net.between(1, 3), net.between(16, 60)
    alone = net.between(0, 1)
    outputs = channels if alone else net.between(2, 16)
    weight, bias = net.weight(outputs, 1 if alone else channels, taps), net.constant(net.rng.normal(0, 1, outputs))
    pads, group = [dilation * (taps - 1), 0], channels if alone else 1
    y = net.add("Conv", net.source(1, channels, size), weight, bias, pads=pads, dilations=[dilation], group=group)
    net.result(net.add("Relu", y) if net.between(0, 1) else y, 4.0)


def _dilated(net: Net) -> None:
    """Windows with gaps."""
    inputs, outputs, dilation = net.between(2, 16), net.between(2, 16), net.between(2, 3)
    size, pads = net.between(8, 14), [dilation * net.between(0, 1)] * 4
    x = middle(net, inputs, size, size) if net.between(0, 1) else net.source(1, inputs, size, size)
    weight, bias = net.weight(outputs, inputs, 3, 3), net.constant(net.rng.normal(0, 1, outputs))
    y = net.add("Conv", x, weight, bias, pads=pads, dilations=[dilation] * 2)
    net.result(net.add("Relu", y) if net.between(0, 1) else y, 4.0)


def _transposed_line(net: Net) -> None:
    """A transposed convolution of a line."""
    inputs, outputs, stride, size = net.between(2, 20), net.between(1, 12), net.between(1, 3), net.between(6, 40)
    taps = stride + net.between(0, 2)
    weight = net.constant(net.rng.normal(0, 0.3, (inputs, outputs, taps)))
    if net.quantised:
        weight = net.real(net.constant(net.rng.integers(-127, 128, (inputs, outputs, taps)), np.int8), 0.003, 0)
    bias, pads = net.constant(net.rng.normal(0, 1, outputs)), [net.between(0, 1) * (taps - stride) // 2] * 2
    net.result(net.add("ConvTranspose", net.source(1, inputs, size), weight, bias, strides=[stride], pads=pads), 4.0)


def _large_depthwise(net: Net) -> None:
    """A depthwise convolution of 49 taps."""
    channels, size = net.between(3, 24), net.between(7, 11)
    x = middle(net, channels, size, size) if net.between(0, 1) else net.source(1, channels, size, size)
    bias = net.constant(net.rng.normal(0, 1, channels))
    net.result(net.add("Conv", x, net.weight(channels, 1, 7, 7), bias, pads=[3] * 4, group=channels), 4.0)


def _dense_tiny(net: Net) -> None:
    """A dense layer of few inputs and outputs, its bias in it or added behind."""
    inputs, outputs = net.between(4, 32), net.between(2, 14)
    x, weight, bias = net.source(1, inputs), net.weight(outputs, inputs), net.constant(net.rng.normal(0, 1, outputs))
    net.result(net.add("Gemm", x, weight, bias, transB=1), 4.0)


def _few_added(net: Net) -> None:
    """A few numbers and constants of their own."""
    count = net.between(2, 16)
    bias = net.constant(net.rng.normal(0, 1, count))
    if net.quantised:
        bias = net.real(net.constant(net.rng.integers(-128, 128, count), np.int8), net.rng.uniform(0.005, 0.02), 0)
    net.result(net.add("Add", net.source(1, count), bias), 4.0)


def _recurrent(net: Net, op: str) -> None:
    """A layer of some steps; its last state."""
    steps, inputs, hidden, gates = net.between(2, 6), net.between(3, 20), net.between(3, 20), _RECURRENT[op]
    sizes = ((1, gates * hidden, inputs), (1, gates * hidden, hidden), (1, 2 * gates * hidden))
    weights = [net.constant(net.rng.normal(0, 0.3, size)) for size in sizes]
    y = net.add(op, net.source(steps, 1, inputs), *weights, hidden_size=hidden)
    net.nodes[-1].output.append(f"{y}_state")
    net.result(f"{y}_state", 1.0)


PRODUCT_KINDS: dict[str, Callable[[Net], None]] = {
    "to_few": _to_few,
    "to_few_2": _to_few,
    "long_windows": _long_windows,
    "long_windows_2": _long_windows,
    "past": _past,
    "dilated": _dilated,
    "transposed_line": _transposed_line,
    "large_depthwise": _large_depthwise,
    "dense_tiny": _dense_tiny,
    "dense_tiny_2": _dense_tiny,
    "few_added": _few_added,
    "few_added_2": _few_added,
    **{op: partial(_recurrent, op=op) for op in _RECURRENT},
}
