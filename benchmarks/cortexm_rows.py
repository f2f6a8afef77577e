"""Made layers of few numbers in small networks: rows of recurrent gates, products of one row that stay in 32 bits,
heads of one number, averages and maxima of short lines, transpositions of few numbers, windows of few inputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from onnx import TensorProto, helper

from benchmarks.cortexm_net import Net
from benchmarks.cortexm_written import plain_input


def _weights(net: Net, inputs: int, outputs: int) -> str:
    """Those of a MatMul."""
    if not net.quantised:
        return net.constant(net.rng.normal(0, 0.3, (inputs, outputs)))
    return net.real(net.constant(net.rng.integers(-127, 128, (inputs, outputs)), np.int8), 0.003, 0)


def _dense(net: Net, x: str, inputs: int, outputs: int) -> str:
    """A product and a bias, each quantised, as tools write a dense layer."""
    y = net.between_layers(net.add("MatMul", x, _weights(net, inputs, outputs)))
    bias = net.constant(net.rng.normal(0, 0.5, outputs))
    if net.quantised:
        bias = net.real(net.constant(net.rng.integers(-128, 128, outputs), np.int8), net.rng.uniform(0.003, 0.01), 0)
    return net.between_layers(net.add("Add", y, bias))


def _gate(net: Net, x: str, op: str) -> str:
    return net.between_layers(net.add(op, x))


def _gates(net: Net) -> None:
    """One row of a recurrent layer: sums of two dense layers, a gate, what it lets through, and what it keeps."""
    inputs, outputs = net.between(3, 26), net.between(3, 26)
    x, kept = net.source(1, inputs), net.source(1, outputs)
    update = _gate(net, net.between_layers(net.add("Add", _dense(net, x, inputs, outputs), kept)), "Sigmoid")
    if net.between(0, 2) == 0:
        net.result(net.add("Mul", update, kept), 1.0)
        return
    y = _dense(net, x, inputs, outputs)
    if net.between(0, 1):
        y = net.between_layers(net.add("Add", y, net.between_layers(net.add("Mul", update, kept))))
    y = _gate(net, y, ("Tanh", "Relu")[net.between(0, 1)])
    rest = net.between_layers(net.add("Sub", net.constant(1), update))
    y = net.between_layers(net.add("Mul", rest, y))
    net.result(net.add("Add", net.between_layers(net.add("Mul", update, kept)), y), 2.0)


def _chain(net: Net) -> None:
    """A dense layer of one row, and some of a factor, a tensor, an activation behind it."""
    inputs, outputs = net.between(2, 40), net.between(2, 26)
    y = _dense(net, net.source(1, inputs), inputs, outputs)
    for _ in range(net.between(0, 2)):
        kind = net.between(0, 3)
        other = net.source(1, outputs) if kind < 2 else ""
        y = net.add(("Add", "Mul", "Sigmoid", "Relu")[kind], *((y, other) if other else (y,)))
        y = net.between_layers(y)
    net.result(net.add("Tanh", y) if net.between(0, 1) else net.add("Sub", y, net.source(1, outputs)), 1.0)


def _plain_row(net: Net, most: int) -> None:
    """Sums of one row of integers, which stay in 32 bits."""
    inputs, outputs = net.between(2, most), net.between(1, 9) if net.between(0, 1) else net.between(10, 40)
    weight = net.constant(net.rng.integers(-127, 128, (inputs, outputs)), np.int8)
    name = net.add("MatMulInteger", plain_input(net, 1, inputs), weight)
    net.outputs.append(helper.make_tensor_value_info(name, TensorProto.INT32, None))


def _one_number(net: Net) -> None:
    """A dense layer of one result, with or without an activation, which may leave the network as a float."""
    inputs = net.between(2, 17) if net.between(0, 1) else net.between(18, 90)
    y = net.add("MatMul", net.source(1, inputs), _weights(net, inputs, 1))
    if net.between(0, 3):
        y = net.add("Add", net.between_layers(y), net.constant(net.rng.normal(0, 1, 1)))
    y = net.add("Sigmoid", net.between_layers(y)) if net.between(0, 2) == 0 else y
    if not net.quantised or net.between(0, 1):
        net.result(y, 2.0)
        return
    ends = net.constant(0.02), net.constant(net.between(-128, 20), np.int8)
    y = net.add("DequantizeLinear", net.add("QuantizeLinear", y, *ends), *ends)
    net.outputs.append(helper.make_tensor_value_info(y, TensorProto.FLOAT, None))


def _short_pool(net: Net, op: str) -> None:
    """Windows next to each other of a line, behind a Relu or at a network's input."""
    channels, taps = net.between(2, 17) if net.between(0, 1) else net.between(2, 40), net.between(2, 4)
    windows = net.between(2, 24)
    x = net.source(1, channels, taps * windows + net.between(0, taps - 1))
    if net.between(0, 2):
        bias = net.constant(net.rng.normal(0, 1, channels))
        x = net.between_layers(net.add("Relu", net.add("Conv", x, net.weight(channels, channels, 1), bias)))
    net.result(net.add(op, x, kernel_shape=[taps], strides=[taps]), 2.0)


def _few_moved(net: Net) -> None:
    """Rows and columns of few numbers change places."""
    rows, columns = (2, 2, 3, 4, 4, 4, 5, 8)[net.between(0, 7)], net.between(2, 20)
    columns = net.between(16, 17) if net.between(0, 1) else columns
    shape = (1, rows, columns) if net.between(0, 1) else (1, columns, rows)
    net.result(net.add("Transpose", net.source(*shape), perm=[0, 2, 1]))


def _few_biased(net: Net) -> None:
    """Constants are added to a row of bytes."""
    count, scale = net.between(2, 40), net.rng.uniform(0.005, 0.02)
    bias = net.constant(net.rng.normal(0, 1, count))
    if net.quantised:
        bias = net.real(net.constant(net.rng.integers(-128, 128, count), np.int8), scale, 0)
    y = net.add("Add", net.source(1, count), bias)
    net.result(net.add("Relu", y) if net.between(0, 2) == 0 else y, 4.0)


def _few_inputs(net: Net) -> None:
    """A first convolution of one to eight inputs to any number of channels, of a line or of an image."""
    inputs, outputs, stride = net.between(1, 8), net.between(5, 28), net.between(1, 2)
    line = net.between(0, 2) > 0
    taps = (3, 5, 7, 9, 13)[net.between(0, 4)] if line else net.between(3, 5)
    shape = (net.between(40, 120),) if line else (net.between(10, 22), net.between(10, 26))
    kernel, pads = [taps] * len(shape), [taps // 2 * net.between(0, 1)] * 2 * len(shape)
    bias = net.constant(net.rng.normal(0, 1, outputs))
    x, weight = net.source(1, inputs, *shape), net.weight(outputs, inputs, *kernel)
    y = net.add("Conv", x, weight, bias, pads=pads, strides=[stride] * len(kernel))
    net.result(net.add("Relu", y) if net.between(0, 2) else y, 4.0)


def _short_row(net: Net) -> None:
    """A dense layer of few inputs, its bias and an activation."""
    inputs, outputs = net.between(2, 20), net.between(3, 40)
    y = _dense(net, net.source(1, inputs), inputs, outputs)
    op = ("", "Relu", "Sigmoid", "Tanh")[net.between(0, 3)]
    net.result(net.add(op, y) if op else y, 2.0)


_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"recurrent_gates_{number}": _gates for number in range(3)},
    **{f"chain_{number}": _chain for number in range(3)},
    **{f"one_number_{number}": _one_number for number in range(3)},
    **{f"short_average_{number}": partial(_short_pool, op="AveragePool") for number in range(5)},
    **{f"short_maximum_{number}": partial(_short_pool, op="MaxPool") for number in range(2)},
    **{f"few_moved_{number}": _few_moved for number in range(5)},
    **{f"few_biased_{number}": _few_biased for number in range(2)},
    **{f"few_inputs_{number}": _few_inputs for number in range(4)},
    **{f"short_row_{number}": _short_row for number in range(2)},
}
#: Of int8 networks, too.
_INTEGER: dict[str, Callable[[Net], None]] = {
    f"plain_row_{most}": partial(_plain_row, most=most) for most in (16, 17, 18, 60, 90)
}


def row_kinds(quantised: bool) -> dict[str, Callable[[Net], None]]:
    """The kinds of layers of a network in float32, or in int8."""
    return {**_KINDS, **(_INTEGER if quantised else {})}
