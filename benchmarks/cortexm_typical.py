"""Made layers of the sizes that are usual for microcontrollers: the newest kinds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.cortexm_ahead import biased
from benchmarks.cortexm_net import Net, middle


def _one_of(net: Net, *values: int) -> int:
    return values[net.between(0, len(values) - 1)]


def _activated(net: Net, x: str) -> str:
    return net.add("Relu", x) if net.between(0, 2) else x


def _first(net: Net) -> None:
    """The first layer of an image of one or three colours."""
    colours, outs, taps = _one_of(net, 1, 3), _one_of(net, 4, 6, 8, 10, 12, 16, 24), _one_of(net, 3, 3, 5)
    side, stride = net.between(12, 36), net.between(1, 2)
    y = net.source(1, colours, side, side + net.between(-2, 2))
    pads = [taps // 2 * net.between(0, 1)] * 4
    net.result(_activated(net, biased(net, y, outs, colours, taps, taps, pads=pads, strides=[stride] * 2)), 4.0)


def _spectrum(net: Net) -> None:
    """The first layer of a spectrum, whose windows may end inside of it."""
    outs, taps = 4 * net.between(2, 10), _one_of(net, 3, 4, 5)
    x = net.source(1, 1, net.between(20, 40), net.between(8, 24))
    pads = [4, net.between(0, 1), 5, net.between(0, 2)]
    net.result(net.add("Relu", biased(net, x, outs, 1, 10, taps, pads=pads, strides=[2, 2])), 4.0)


def _depthwise(net: Net) -> None:
    """Depthwise windows of three by three taps with padding."""
    channels, side, stride = 4 * net.between(2, 32), net.between(4, 20), 1 + (net.between(0, 2) == 0)
    y = middle(net, channels, side, side)
    y = biased(net, y, channels, 1, 3, 3, pads=[1] * 4, strides=[stride] * 2, group=channels)
    net.result(_activated(net, y), 4.0)


def _line(net: Net) -> None:
    """Windows along a line."""
    channels, outs, taps = net.between(1, 24), 4 * net.between(1, 8), net.between(3, 9)
    stride, pad = net.between(1, 2), net.between(0, 1)
    x = net.source(1, channels, net.between(20, 80))
    net.result(net.add("Relu", biased(net, x, outs, channels, taps, pads=[taps // 2 * pad] * 2, strides=[stride])), 4.0)


def _mean(net: Net, line: bool) -> None:
    """The mean of each channel, behind a layer."""
    channels = 4 * (net.between(1, 17) if net.between(0, 2) else net.between(32, 44))
    shape = [net.between(8, 30)] if line else [net.between(2, 8), net.between(2, 8)]
    first = net.between(1, 4)
    y = net.add("Conv", net.source(1, first, *shape), net.weight(channels, first, *(1 for _ in shape)))
    y = net.between_layers(net.add("GlobalAveragePool", net.between_layers(net.add("Relu", y))))
    net.result(biased(net, y, 4, channels, *(1 for _ in shape)), 4.0)


def _mean_of_rows(net: Net) -> None:
    """The mean of all rows."""
    x = net.source(1, net.between(10, 40), 4 * net.between(2, 16))
    net.result(net.add("ReduceMean", x, net.constant([1], int), keepdims=0), 2.0)


def _heads(net: Net, merged: bool) -> None:
    """Heads of attention, and back."""
    rows, heads, depth = net.between(8, 40), _one_of(net, 2, 2, 3, 4, 8), 4 * net.between(1, 8)
    shape = (1, heads, rows, depth) if merged else (1, rows, heads, depth)
    net.result(net.add("Transpose", net.source(*shape), perm=[0, 2, 1, 3]))


def _enlarged(net: Net) -> None:
    """An image of twice as many rows and columns, between layers."""
    channels = 4 * net.between(1, 10)
    x = net.between_layers(net.add("Relu", middle(net, channels, net.between(3, 12), net.between(3, 12))))
    y = net.between_layers(net.add("Resize", x, "", net.constant([1, 1, 2, 2]), mode="nearest"))
    net.result(biased(net, y, 4, channels, 1, 1), 4.0)


def _normalised(net: Net) -> None:
    """Rows of a few or many numbers with the same mean and variance."""
    columns = _one_of(net, 8, 12, 16, 16, 24, 32, 48, 64)
    scales = net.rng.uniform(0.5, 1.5, columns), net.rng.normal(0, 0.5, columns)
    x = net.source(1, net.between(8, 40), columns)
    net.result(net.add("LayerNormalization", x, *(net.constant(each) for each in scales), axis=-1), 3.0)


def _scores(net: Net) -> None:
    """Scores of attention: products of two computed matrices, and a softmax of several lines."""
    heads, rows, depth = net.between(1, 4), net.between(8, 40), 4 * net.between(1, 6)
    y = net.add("MatMul", net.source(1, heads, rows, depth), net.source(1, heads, depth, rows))
    net.result(y)
    net.result(net.add("Softmax", net.source(1, heads, rows, net.between(8, 40)), axis=-1), 1.0)


def _weighted(net: Net) -> None:
    """Scores of attention times values: lines of any number of scores."""
    heads, rows, depth = net.between(1, 4), net.between(7, 39), 4 * net.between(1, 6)
    net.result(net.add("MatMul", net.source(1, heads, rows, rows), net.source(1, heads, rows, depth)))


def _pooled_line(net: Net) -> None:
    """The larger one of two neighbours in a line, and the mean of a line."""
    x = net.source(1, net.between(3, 32), 2 * net.between(6, 40))
    net.result(net.add("MaxPool", x, kernel_shape=[2], strides=[2]))
    net.result(net.add("GlobalAveragePool", net.source(1, net.between(4, 40), net.between(4, 24))))


def _few_results(net: Net) -> None:
    """Pointwise layers to few channels, of few that stay in registers."""
    inputs, outputs = 4 * net.between(1, 4), net.between(1, 8)
    y = middle(net, inputs, net.between(4, 20), net.between(4, 20))
    net.result(_activated(net, biased(net, y, outputs, inputs, 1, 1)), 4.0)


def _shifted_columns(net: Net) -> None:
    """Bytes with addends of their columns, in steps of which the quotient is almost a power of two."""
    rows, columns = net.between(2, 40), net.between(2, 12) * 4
    net.result(net.add("Add", net.source(1, rows, columns), net.constant(net.rng.normal(0, 0.5, columns))), 3.0)


def _shortcut(net: Net, prime: bool = False) -> None:
    """Windows along a line, and one position that a shortcut adds to them. ``prime``: no tile of several results
    divides the line."""
    ins, outs = (_one_of(net, 8, 12, 16, 24, 32) for _ in range(2))
    taps, stride = _one_of(net, 3, 5, 7, 9), net.between(1, 2)
    size = stride * _one_of(net, 11, 13, 17, 19, 23, 29) if prime else net.between(20, 60)
    outs = _one_of(net, 8, 12, 12, 16) if prime else outs
    x = net.between_layers(net.add("Relu", biased(net, net.source(1, 3, size), ins, 3, 1)))
    y = biased(net, x, outs, ins, taps, pads=[taps // 2] * 2, strides=[stride])
    y = net.between_layers(net.add("Relu", y) if net.between(0, 1) else y)
    short = biased(net, x, outs, ins, 1, strides=[stride])
    short = net.between_layers(net.add("Relu", short) if net.between(0, 1) else short)
    net.result(net.add("Relu", net.add("Add", y, short)), 4.0)


def _usual_enlarged(net: Net) -> None:
    """An image of twice as many rows and columns, whose channels are words."""
    channels, height, width = _one_of(net, 8, 16, 16, 24, 32), 2 * net.between(2, 8), 2 * net.between(2, 8)
    x = net.between_layers(net.add("Relu", middle(net, channels, height, width)))
    y = net.between_layers(net.add("Resize", x, "", net.constant([1, 1, 2, 2]), mode="nearest"))
    net.result(biased(net, y, 4, channels, 1, 1), 4.0)


def _few_places(net: Net) -> None:
    """Windows of one channel to few results, whose loops compilers unroll."""
    height, width, taps = net.between(2, 3), net.between(2, 3), _one_of(net, 2, 3, 3, 3)
    pad = int(net.between(0, 3) > 0 or min(height, width) < taps)
    y = biased(net, net.source(1, 1, height, width), 1, 1, taps, taps, pads=[pad] * 4)
    net.result(_activated(net, y), 2.0)


def _few_digits(net: Net) -> None:
    """Bytes with addends of their columns, in steps whose quotient has one to five digits."""
    rows, columns, reach = net.between(2, 40), net.between(2, 12) * 4, 3.0
    places = net.rng.permutation(np.arange(2, 15))[: net.between(0, 4)]
    quotient = 1 + sum(float(net.rng.choice((-1, 1))) / 2**place for place in places)
    ends = net.constant(reach / 128 * quotient), net.constant(0, np.int8)
    x = net.add("DequantizeLinear", net.add("QuantizeLinear", net.source(1, rows, columns), *ends), *ends)
    net.result(net.add("Add", x, net.constant(net.rng.normal(0, 0.5, columns))), reach)


def _one_channel(net: Net) -> None:
    """Windows of one channel, with padding in most layers."""
    height, taps, pad = net.between(4, 20), _one_of(net, 3, 3, 3, 5), int(net.between(0, 3) > 0)
    x = net.source(1, 1, height, height + net.between(0, 3))
    net.result(_activated(net, biased(net, x, 1, 1, taps, taps, pads=[pad * (taps // 2)] * 4)), 2.0)


def _square(net: Net) -> None:
    """Windows of three by three taps, of one channel with padding, whose zero point is mostly 0."""
    few = net.between(0, 2) == 0
    rows = net.between(2, 4) if few else net.between(5, 20)
    columns = net.between(2, 4) if few else rows + net.between(-1, 1)
    x = net.source(1, 1, rows, columns, zero=20 * (net.between(0, 3) == 0))
    net.result(biased(net, x, 1, 1, 3, 3, pads=[1] * 4), 2.0)


def _narrow_depthwise(net: Net) -> None:
    """Depthwise windows of three by three taps with padding, over as many channels as a vector has."""
    side, stride = net.between(6, 28), 1 + (net.between(0, 2) == 0)
    y = middle(net, 4, side, side)
    net.result(_activated(net, biased(net, y, 4, 1, 3, 3, pads=[1] * 4, strides=[stride] * 2, group=4)), 4.0)


#: Of all networks.
TYPICAL_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"first_{number}": _first for number in range(4)},
    **{f"spectrum_{number}": _spectrum for number in range(2)},
    **{f"depthwise_{number}": _depthwise for number in range(4)},
    **{f"line_{number}": _line for number in range(3)},
    **{f"mean_{number}": partial(_mean, line=number % 2 == 0) for number in range(4)},
    **{f"heads_{number}": partial(_heads, merged=number % 2 == 0) for number in range(4)},
    **{f"enlarged_{number}": _enlarged for number in range(2)},
    **{f"normalised_{number}": _normalised for number in range(2)},
    **{f"scores_{number}": _scores for number in range(2)},
    **{f"pooled_line_{number}": _pooled_line for number in range(2)},
    **{f"few_results_{number}": _few_results for number in range(3)},
    "mean_of_rows": _mean_of_rows,
    "shifted_columns": _shifted_columns,
}
#: Of all networks, too, which are made apart.
WEIGHTED_KINDS: dict[str, Callable[[Net], None]] = {f"weighted_{number}": _weighted for number in range(3)}
SHORTCUT_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"shortcut_{number}": _shortcut for number in range(3)},
    **{f"usual_enlarged_{number}": _usual_enlarged for number in range(2)},
}
FEW_PLACES_KINDS: dict[str, Callable[[Net], None]] = {f"few_places_{number}": _few_places for number in range(4)}
#: Of quantised networks.
FEW_DIGITS_KINDS: dict[str, Callable[[Net], None]] = {f"few_digits_{number}": _few_digits for number in range(3)}
#: Of all networks: lines that no tile divides, small squares, narrow images.
PRIME_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"prime_{number}": partial(_shortcut, prime=True) for number in range(3)},
    **{f"square_{number}": _square for number in range(12)},
}
NARROW_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"one_channel_{number}": _one_channel for number in range(7)},
    **{f"narrow_depthwise_{number}": _narrow_depthwise for number in range(2)},
}
