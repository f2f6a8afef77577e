"""Made layers of what gates, attention and classifiers have: softmaxes across lines and their logarithms, reductions of
channels and rows, functions with sums around them, products and sums of few numbers, gates, biases, borders."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.cortexm_every import bordered, same
from benchmarks.cortexm_net import Net, middle

#: Functions, some of two operators.
_CURVES = (
    ("Sigmoid",),
    ("Tanh",),
    ("Softplus", "Tanh"),
    ("Exp",),
    ("Log",),
    ("Sin",),
    ("Cos",),
    ("Erf",),
    ("Softplus",),
)


def _softmax_across(net: Net) -> None:
    """A softmax of few or many numbers that are no neighbours."""
    shape = [1, net.between(2, 12), net.between(2, 14)]
    shape += [net.between(2, 10)] if net.between(0, 1) else []
    net.result(net.add("Softmax", net.source(*shape), axis=1), 1.0)


def _logarithms(net: Net) -> None:
    """The logarithm of a softmax of few lines, short or long."""
    x = net.source(net.between(1, 6), net.between(3, 15) if net.between(0, 1) else net.between(16, 60))
    net.result(net.add("LogSoftmax", x, axis=-1), 8.0)


def _across_channels(net: Net) -> None:
    """The largest number, the sum or the mean of all channels at each position, in the middle or at the beginning."""
    channels, height, width = net.between(2, 24), net.between(3, 16), net.between(3, 16)
    x = middle(net, channels, height, width) if net.between(0, 1) else net.source(1, channels, height, width)
    op = ("ReduceMax", "ReduceMean", "ReduceSum")[net.between(0, 2)]
    net.result(net.add(op, x, net.constant([1], np.int64), keepdims=1), 4.0)


def _of_few(net: Net, op: str) -> None:
    """Two tensors of few numbers."""
    count = net.between(2, 64)
    net.result(net.add(op, net.source(1, count), net.source(1, count)), 4.0)


def _of_one(net: Net) -> None:
    """One to three numbers, and those of a tensor or as many."""
    one, count = net.between(1, 3), net.between(4, 40)
    shape = ((1, one), (1, count, 1), (1, 1))[net.between(0, 2)]
    other = shape if net.between(0, 1) else (1, count, one) if len(shape) == 3 else shape
    net.result(net.add(("Mul", "Add", "Sub")[net.between(0, 2)], net.source(*shape), net.source(*other)), 4.0)


def _curved(net: Net) -> None:
    """A function of a sum, and what is done with it, as gates of recurrent units have it."""
    shape = (1, net.between(2, 64)) if net.between(0, 1) else (1, net.between(2, 12), net.between(2, 24))
    curve, before, after = _CURVES[net.between(0, len(_CURVES) - 1)], net.between(0, 2), net.between(0, 3)
    x = net.source(*shape)
    if curve == ("Log",):  # of positive numbers
        x = net.add("Add", net.add("Mul", x, x), net.constant(0.01))
    elif before:
        x = net.add("Add", x, net.source(*shape))
        x = net.add("Add", x, net.constant(net.rng.normal(0, 1, shape[-1]))) if before > 1 else x
    for op in curve:
        x = net.add(op, x)
    if after == 1:
        x = net.add("Mul", x, net.source(*shape))
    elif after == 2:
        x = net.add("Mul", net.add("Sub", x, net.source(*shape)), net.source(*shape))
    elif after == 3:
        x = net.add("Sub", net.constant(1), x)
    net.result(x, 4.0)


def _channel_gates(net: Net) -> None:
    """A number of each channel times its image, and perhaps another one added."""
    channels, size = net.between(2, 24), (net.between(4, 14), net.between(4, 14))
    inner = net.between(0, 1)
    image = [middle(net, channels, *size) if inner else net.source(1, channels, *size) for _ in range(2)]
    made = [net.add("Mul", one, net.source(1, channels, 1, 1)) for one in image]
    net.result(made[0] if net.between(0, 1) else net.add("Add", *made), 4.0)


def _position_gates(net: Net) -> None:
    """Windows of few channels to one, and its sigmoid times an image."""
    channels, taps, size = net.between(4, 24), 3 + 4 * net.between(0, 1), (net.between(8, 14), net.between(8, 14))
    few = net.between(1, 3)
    y = net.add("Conv", net.source(1, few, *size), net.weight(1, few, taps, taps), pads=[taps // 2] * 4)
    if net.between(0, 1):
        net.result(y, 4.0)
        return
    gate = net.add("Sigmoid", net.between_layers(y))
    net.result(net.add("Mul", middle(net, channels, *size), net.between_layers(gate)), 4.0)


def _row_gates(net: Net) -> None:
    """A number of each row, or of each column, and short or long rows; perhaps one number and a constant."""
    rows, columns = net.between(2, 40), net.between(2, 40) if net.between(0, 1) else net.between(2, 8)
    other = ((1, rows, 1), (1, 1, columns))[net.between(0, 1)]
    if net.between(0, 4) == 0:
        net.result(net.add("Add", net.source(1, net.between(1, 3)), net.constant(0.1)), 4.0)
        return
    x = net.source(1, rows, columns)
    net.result(net.add(("Mul", "Add", "Div", "Sub")[net.between(0, 3)], x, net.source(*other)), 4.0)


def _biases(net: Net) -> None:
    """A constant row is added to each row, as exporters write the bias of a dense layer."""
    rows, columns = net.between(2, 44), net.between(3, 40)
    bias = net.constant(net.rng.normal(0, 1, columns))
    if net.quantised:
        values = net.constant(net.rng.integers(-128, 128, columns), np.int8)
        bias = net.real(values, net.rng.uniform(0.005, 0.02), 0)
    net.result(net.add("Add", net.source(1, rows, columns), bias), 4.0)


def _of_rows(net: Net) -> None:
    """The largest, the mean or the length of each column, or of each row, of a table."""
    op = ("ReduceMax", "ReduceMean", "ReduceSum", "ReduceL2")[net.between(0, 3)]
    x = net.source(1, net.between(4, 60), net.between(4, 40))
    net.result(net.add(op, x, net.constant([net.between(1, 2)], np.int64), keepdims=net.between(0, 1)), 4.0)


def _to_rows(net: Net) -> None:
    """A row becomes all rows of a table, or a number a row."""
    rows, columns = net.between(3, 48), net.between(3, 48)
    shape = ((1, 1, columns), (1, rows, 1))[net.between(0, 1)]
    same(net, list(shape), lambda x: net.add("Expand", x, net.constant([1, rows, columns], np.int64)))


def _shallow(net: Net) -> None:
    """Products of rows of two to five numbers, and a bias behind."""
    inputs, outputs = net.between(2, 5), net.between(4, 40)
    weight = net.constant(net.rng.normal(0, 0.3, (inputs, outputs)))
    if net.quantised:
        weight = net.real(net.constant(net.rng.integers(-127, 128, (inputs, outputs)), np.int8), 0.003, 0)
    y = net.add("MatMul", net.source(1, net.between(4, 60), inputs), weight)
    if net.between(0, 2):
        y = net.add("Add", net.between_layers(y), net.constant(net.rng.normal(0, 1, outputs)))
    net.result(net.add("Relu", y) if net.between(0, 1) else y, 4.0)


def _added_up(net: Net) -> None:
    """Two to five tensors, or two products and a root of their sum."""
    shape = (1, net.between(4, 60)) if net.between(0, 1) else (1, net.between(2, 14), net.between(2, 24))
    if net.between(0, 2) == 0:
        x = net.source(*shape)
        y = net.add("Sqrt", net.add("Add", net.add("Mul", x, x), net.constant(0.01)))
        net.result(net.add("Div", x, net.add("Add", y, net.constant(1))) if net.between(0, 1) else y, 4.0)
        return
    if net.between(0, 3) == 0:
        parts = [net.source(*shape) for _ in range(net.between(2, 4))]
        net.result(net.add(("Mean", "Sum")[net.between(0, 1)], *parts), 4.0)
        return
    y = net.add(("Add", "Mul")[net.between(0, 1)], net.source(*shape), net.source(*shape))
    for _ in range(net.between(1, 3)):
        y = net.add("Add", y, net.source(*shape))
    net.result(net.add("Relu", y) if net.between(0, 1) else y, 4.0)


def _largest_of(net: Net) -> None:
    """The larger numbers of two or three dense layers of a row."""
    inputs, outputs = net.between(4, 40), net.between(4, 32)
    x = net.source(1, inputs)
    parts = []
    for _ in range(net.between(2, 3)):
        bias = net.constant(net.rng.normal(0, 1, outputs))
        parts.append(net.between_layers(net.add("Gemm", x, net.weight(outputs, inputs), bias, transB=1)))
    net.result(net.add("Max", *parts), 4.0)


GATE_KINDS: dict[str, Callable[[Net], None]] = {
    "softmax_across": _softmax_across,
    "softmax_across_2": _softmax_across,
    "logarithms": _logarithms,
    "across_channels": _across_channels,
    "across_channels_2": _across_channels,
    **{f"{op}_of_few": partial(_of_few, op=op) for op in ("Add", "Mul", "Sub")},
    "of_one": _of_one,
    "of_one_2": _of_one,
    **{f"curved_{number}": _curved for number in range(5)},
    "channel_gates": _channel_gates,
    "channel_gates_2": _channel_gates,
    "position_gates": _position_gates,
    "position_gates_2": _position_gates,
    "largest_of": _largest_of,
    **{f"bordered_{number}": bordered for number in range(4)},
    "row_gates": _row_gates,
    "row_gates_2": _row_gates,
    "row_gates_3": _row_gates,
    "biases": _biases,
    "biases_2": _biases,
    "of_rows": _of_rows,
    "of_rows_2": _of_rows,
    "to_rows": _to_rows,
    "shallow": _shallow,
    "shallow_2": _shallow,
    "added_up": _added_up,
    "added_up_2": _added_up,
    "added_up_3": _added_up,
}
