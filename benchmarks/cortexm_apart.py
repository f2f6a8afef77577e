"""Made layers of windows whose taps are apart, factors and addends of channels, extremes and averages of few positions,
rows of few inputs, copies of few bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from onnx import TensorProto, helper

from benchmarks.cortexm_net import Net, middle


def _biased(net: Net, x: str, outputs: int, inputs: int, *kernel: int, **attributes: object) -> str:
    bias = net.constant(net.rng.normal(0, 1, outputs))
    return net.add("Conv", x, net.weight(outputs, inputs, *kernel), bias, **attributes)


def _apart(net: Net, line: bool) -> None:
    """Windows whose taps are two to six places apart, with padding at both ends, at one or at none."""
    inputs = net.between(3, 40) if net.between(0, 1) else 4 * net.between(1, 10)
    outputs, dilation, taps = net.between(2, 40), net.between(2, 6 if line else 4), 3 if net.between(0, 2) else 2
    reach = dilation * (taps - 1)
    if line:
        kernel, dilations = [taps + 2 * net.between(0, 1)], [dilation]
        reach = dilation * (kernel[0] - 1)
        shape = [reach + net.between(6, 50)]
    else:
        size = net.between(reach + 1, reach + 10)
        kernel, shape, dilations = [taps] * 2, [size, size + net.between(0, 4)], [dilation] * 2
        if net.between(0, 3) == 0:  # of rows or of columns alone
            place = net.between(0, 1)
            kernel[place], dilations[place] = 1, 1
    before = [(0, reach // 2, reach)[net.between(0, 2)] * (one > 1) for one in kernel]
    after = [(reach - first if first else 0) * (one > 1) for first, one in zip(before, kernel, strict=True)]
    x = net.source(1, inputs, *shape)
    if net.between(0, 1):
        x = net.between_layers(net.add("Relu", _biased(net, x, inputs, inputs, *(1 for _ in shape))))
    stride = 1 + (net.between(0, 4) == 0)
    attributes = {"pads": [*before, *after], "dilations": dilations, "strides": [stride] * len(shape)}
    y = _biased(net, x, outputs, inputs, *kernel, **attributes)
    net.result(net.add("Relu", y) if net.between(0, 1) else y, 4.0)


def _scaled_channels(net: Net, few: bool) -> None:
    """An image, or a line, times a factor of each channel, and an addend, as normalisations have them; a shortcut
    before them, a Relu or a limit behind them."""
    channels = net.between(2, 17) if few else net.between(18, 48)
    shape = [net.between(4, 16), net.between(4, 20)] if net.between(0, 3) else [net.between(20, 150)]
    first, points = net.between(1, 4), [1] * len(shape)
    if net.between(0, 2):
        x = net.between_layers(_biased(net, net.source(1, first, *shape), channels, first, *points))
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


def _gated_channels(net: Net) -> None:
    """An image times or plus a computed number of each channel."""
    channels, shape = net.between(2, 40), [net.between(3, 14), net.between(3, 16)]
    x, numbers = middle(net, channels, *shape), net.source(1, channels, 1, 1)
    if net.between(0, 1):
        numbers = net.between_layers(_biased(net, numbers, channels, channels, 1, 1))
        numbers = net.between_layers(net.add(("Sigmoid", "HardSigmoid", "Relu")[net.between(0, 2)], numbers))
    y = net.add("Mul" if net.between(0, 2) else "Add", x, numbers)
    net.result(net.add("Relu", net.between_layers(y)) if net.between(0, 2) == 0 else y, 3.0)


def _whole_line(net: Net, op: str) -> None:
    """The largest number, or the mean, of a line of each channel."""
    channels, size = net.between(2, 40), net.between(2, 17) if net.between(0, 1) else net.between(16, 60)
    x = net.source(1, channels, size)
    if net.between(0, 2) == 0:
        x = net.between_layers(net.add("Relu", _biased(net, x, channels, channels, 1)))
    net.result(net.add(op, x), 2.0)


def _whole_image(net: Net, op: str) -> None:
    """The largest number, or the mean, of few positions of each channel."""
    channels, rows = net.between(2, 48), net.between(1, 6)
    columns = net.between(2, max(2, 40 // rows))
    x = middle(net, channels, rows, columns)
    x = net.between_layers(net.add("Relu", x)) if net.between(0, 1) else x
    net.result(net.add(op, x), 2.0)


def _along_rows(net: Net, op: str) -> None:
    """The largest, the least or the sum of all numbers of each column, or of each row."""
    rows = net.between(2, 40)
    columns = net.between(2, 17) if net.between(0, 2) else net.between(18, 70)
    axis = net.constant([1 if net.between(0, 3) else 2], np.int64)
    x = net.source(1, rows, columns)
    x = net.between_layers(net.add("Add", x, net.source(1, rows, columns))) if net.between(0, 3) == 0 else x
    net.result(net.add(op, x, axis, keepdims=net.between(0, 1)), 4.0)


def _rows_of_few(net: Net) -> None:
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


def _long_first(net: Net) -> None:
    """Long windows over a signal of one to three channels, with strides."""
    inputs, outputs, taps, stride = net.between(1, 3), net.between(4, 36), net.between(8, 48), net.between(1, 6)
    size, pads = taps + stride * net.between(12, 90), [taps // 2 * net.between(0, 1)] * 2
    y = _biased(net, net.source(1, inputs, size), outputs, inputs, taps, pads=pads, strides=[stride])
    net.result(net.add("Relu", y) if net.between(0, 2) else y, 4.0)


def _line_average(net: Net) -> None:
    """Averages of windows of a line behind a convolution, one next to the other or not."""
    channels, taps, windows = net.between(2, 40), net.between(2, 9), net.between(2, 24)
    stride = taps if net.between(0, 1) else net.between(1, taps)
    x = net.source(1, net.between(1, 4), taps + stride * (windows - 1))
    y = net.between_layers(net.add("Relu", _biased(net, x, channels, _channels(net), 1)))
    net.result(net.add("AveragePool", y, kernel_shape=[taps], strides=[stride]), 2.0)


def _channels(net: Net) -> int:
    """Those of the last input."""
    return int(net.inputs[-1].type.tensor_type.shape.dim[1].dim_value)


def _cut_rows(net: Net) -> None:
    """One or two short rows of several, or some columns of these."""
    rows, columns = net.between(2, 9), net.between(3, 40)
    axis, size = (1, rows) if net.between(0, 3) else (2, columns)
    first = net.between(0, size - 1)
    last = min(size, first + net.between(1, 2)) if axis == 1 else net.between(first + 1, size)
    limits = [net.constant([value], np.int64) for value in (first, last, axis)]
    net.result(net.add("Slice", net.source(1, rows, columns), *limits))


def _joined_few(net: Net) -> None:
    """Few numbers of several tensors at each place, or behind each other."""
    places = net.between(2, 150) if net.between(0, 2) else 1
    parts = [net.source(1, places, net.between(1, 6) if places > 1 else net.between(3, 40)) for _ in range(2)]
    if net.between(0, 2) == 0:
        parts.append(net.source(1, places, net.between(1, 12)))
    net.result(net.add("Concat", *parts, axis=2))


def _shuffled(net: Net) -> None:
    """Channels become neighbouring positions, or positions channels."""
    side, rows, columns = net.between(2, 3), net.between(3, 14), net.between(3, 18)
    if net.between(0, 1):
        net.result(net.add("Transpose", net.source(1, side, side, rows, columns), perm=[0, 3, 1, 4, 2]))
        return
    order = [0, 1, 3, 2, 4] if net.between(0, 1) else [0, 2, 4, 1, 3]
    net.result(net.add("Transpose", net.source(1, rows, side, columns, side), perm=order))


APART_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"apart_{number}": partial(_apart, line=number % 2 == 1) for number in range(5)},
    **{f"scaled_channels_{number}": partial(_scaled_channels, few=number % 2 == 0) for number in range(4)},
    "gated_channels": _gated_channels,
    **{f"whole_line_{op}": partial(_whole_line, op=op) for op in ("GlobalMaxPool", "GlobalAveragePool")},
    **{f"whole_image_{op}": partial(_whole_image, op=op) for op in ("GlobalMaxPool", "GlobalAveragePool")},
    "whole_image_again": partial(_whole_image, op="GlobalAveragePool"),
    **{f"along_rows_{op}": partial(_along_rows, op=op) for op in ("ReduceMax", "ReduceMin", "ReduceSum")},
    "along_rows_again": partial(_along_rows, op="ReduceMax"),
    "rows_of_few": _rows_of_few,
    "rows_of_few_again": _rows_of_few,
    "long_first": _long_first,
    "line_average": _line_average,
    "line_average_again": _line_average,
    "cut_rows": _cut_rows,
    "joined_few": _joined_few,
    "shuffled": _shuffled,
}


def _rows_as_floats(net: Net) -> None:
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


def _normalised(net: Net) -> None:
    """A sum of two images, or one, with a factor, an addend and a Relu, or some of these, where channels are first."""
    channels, shape = net.between(2, 40), [net.between(3, 16), net.between(3, 18)]
    x = net.source(1, channels, *shape)
    x = net.between_layers(net.add("Add", x, net.source(1, channels, *shape))) if net.between(0, 1) else x
    x = net.between_layers(net.add("Mul", x, net.constant(net.rng.uniform(0.3, 1.6, (channels, 1, 1)))))
    x = net.add("Add", x, net.constant(net.rng.normal(0, 0.5, (channels, 1, 1)))) if net.between(0, 3) else x
    net.result(net.add("Relu", net.between_layers(x)) if net.between(0, 3) else x, 3.0)


def _ahead(net: Net) -> None:
    """Factors and addends of channels, and a Relu, ahead of a convolution, whose shortcut begins before them."""
    channels, size = net.between(2, 17) if net.between(0, 2) else net.between(18, 40), net.between(4, 14)
    x = middle(net, channels, size, size + net.between(-1, 5))
    x = net.between_layers(net.add("Add", x, middle(net, channels, *_sides(net)))) if net.between(0, 1) else x
    y = net.between_layers(net.add("Mul", x, net.constant(net.rng.uniform(0.3, 1.6, (channels, 1, 1)))))
    y = net.between_layers(net.add("Add", y, net.constant(net.rng.normal(0, 0.5, (channels, 1, 1)))))
    y = net.between_layers(net.add("Relu", y)) if net.between(0, 3) else y
    y = net.between_layers(_biased(net, y, channels, channels, 1, 1))
    net.result(net.add("Add", x, y), 4.0)


def _sides(net: Net) -> tuple[int, int]:
    """Those of the last input."""
    _, _, height, width = (axis.dim_value for axis in net.inputs[-1].type.tensor_type.shape.dim)
    return int(height), int(width)


APART_LAST_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"rows_as_floats_{number}": _rows_as_floats for number in range(4)},
    **{f"normalised_{number}": _normalised for number in range(2)},
    **{f"ahead_{number}": _ahead for number in range(4)},
}
#: Of int16 networks: those with kernels on integers.
APART_WIDE_KINDS = {name: APART_KINDS[name] for name in APART_KINDS if name.startswith("apart")}
