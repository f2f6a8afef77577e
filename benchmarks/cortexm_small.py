"""Made layers of the ends and edges of small networks: activations of few numbers, pooling of lines, averages of whole
images, one result of many, means of sums, one number for all, parts of rows, channels that fill no tile."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.cortexm_net import Net, middle

#: Activations; some are two operators or have other inputs.
_ACTIVATIONS = ("LeakyRelu", "HardSwish", "HardSigmoid", "Clip", "Relu", "Sigmoid", "Tanh")


def _activated(net: Net, x: str, op: str) -> str:
    """An activation; quantised networks quantise before it."""
    x = net.between_layers(x)
    if op == "Clip":
        return net.add("Clip", x, net.constant(0), net.constant(6))
    return net.add(op, x, **({"alpha": net.rng.uniform(0.01, 0.3)} if op == "LeakyRelu" else {}))


def _some(net: Net, most: int = len(_ACTIVATIONS)) -> str:
    return _ACTIVATIONS[net.between(0, most - 1)]


def _few_activated(net: Net, op: str) -> None:
    """An activation of as few numbers as compilers unroll, or some more."""
    net.result(_activated(net, net.source(1, net.between(2, 16) if net.between(0, 3) else net.between(17, 40)), op))


def _line_pool(net: Net, op: str) -> None:
    """Windows of a line, one next to the other or not, or the whole line."""
    channels, kernel = net.between(2, 40), net.between(2, 3) if net.between(0, 2) else net.between(4, 5)
    size = net.between(kernel, 70)
    x = net.source(1, channels, size)
    if net.between(0, 2) == 0:
        bias = net.constant(net.rng.normal(0, 1, channels))
        x = net.between_layers(net.add("Relu", net.add("Conv", x, net.weight(channels, channels, 1), bias)))
    if op.startswith("Global"):
        net.result(net.add(op, x), 2.0)
        return
    pads = [net.between(0, 3) == 0] * 2
    stride = kernel if net.between(0, 1) else net.between(1, kernel)
    net.result(net.add(op, x, kernel_shape=[kernel], strides=[stride], pads=pads), 2.0)


def _whole_average(net: Net) -> None:
    """The average of each channel where channels are last, or of windows: any number of them, or a multiple of 17."""
    channels = net.between(9, 72) if net.between(0, 1) else 17 * net.between(1, 4)
    x = middle(net, channels, net.between(2, 11), net.between(2, 11))
    if net.between(0, 2):
        net.result(net.add("GlobalAveragePool", x), 2.0)
        return
    op, taps = ("AveragePool", "MaxPool")[net.between(0, 1)], 2 + (net.between(0, 2) == 0)
    net.result(net.add(op, x, kernel_shape=[taps] * 2, strides=[2, 2], pads=[1] * 4 if taps > 2 else [0] * 4), 2.0)


def _to_number(net: Net) -> None:
    """A dense layer of one to three results, of one row or more, with or without an activation."""
    inputs, outputs = net.between(6, 160), net.between(1, 3)
    rows = 1 if net.between(0, 3) else net.between(2, 12)
    x, bias = net.source(rows, inputs), net.constant(net.rng.normal(0, 1, outputs))
    if net.between(0, 1):
        y = net.add("Gemm", x, net.weight(outputs, inputs), bias, transB=1)
    else:
        weight = net.constant(net.rng.normal(0, 0.3, (inputs, outputs)))
        if net.quantised:
            weight = net.real(net.constant(net.rng.integers(-127, 128, (inputs, outputs)), np.int8), 0.003, 0)
        y = net.add("Add", net.add("MatMul", x, weight), bias)
    net.result(_activated(net, y, "Sigmoid") if net.between(0, 2) == 0 else y, 4.0)


def _to_map(net: Net) -> None:
    """A map of one or two channels, and a sigmoid of its sums."""
    inputs, outputs, size = net.between(3, 40), net.between(1, 2), net.between(6, 26)
    bias = net.constant(net.rng.normal(0, 1, outputs))
    y = net.add("Conv", middle(net, inputs, size, size + net.between(-2, 6)), net.weight(outputs, inputs, 1, 1), bias)
    net.result(net.add("Sigmoid", y) if net.between(0, 2) else net.add("Sigmoid", net.between_layers(y)), 1.0)


def _mean_of_sums(net: Net) -> None:
    """The mean or the sum along positions of a bias, a product and a shortcut."""
    places, depth = net.between(4, 40), net.between(4, 48)
    y = net.source(1, places, depth)
    if net.between(0, 1):
        y = net.between_layers(net.add("Add", y, net.constant(net.rng.normal(0, 1, depth))))
    y = net.between_layers(net.add("Add", y, net.source(1, places, depth)))
    op, axis = ("ReduceMean", "ReduceMean", "ReduceSum")[net.between(0, 2)], 1 + (net.between(0, 4) == 0)
    net.result(net.add(op, y, net.constant([axis], np.int64), keepdims=net.between(0, 1)), 4.0)


def _of_one_number(net: Net) -> None:
    """Numbers and one that is known at run time."""
    x, other = net.source(1, net.between(3, 80)), net.source(1, 1)
    net.positive.add(other)
    op = ("Div", "Mul", "Add", "Sub")[net.between(0, 3)]
    net.result(net.add("Mul" if net.quantised and op == "Div" else op, x, other), 4.0)


def _part(net: Net) -> None:
    """One place of an axis, or some next to each other."""
    shape = [1, *(net.between(2, 30) for _ in range(net.between(1, 2)))]
    axis = net.between(1, len(shape) - 1)
    first = net.between(0, shape[axis] - 1)
    last = first + 1 if net.between(0, 2) else net.between(first + 1, shape[axis])
    limits = [net.constant([value], np.int64) for value in (first, last, axis)]
    net.result(net.add("Slice", net.source(*shape), *limits))


def _odd_channels(net: Net, alone: bool) -> None:
    """Convolutions of few inputs in the middle, to any number of channels, with an activation of few instructions."""
    outputs, size = net.between(5, 50), net.between(4, 13)
    inputs, taps = (outputs, 3 + 2 * (net.between(0, 3) == 0)) if alone else (net.between(3, 40), 1)
    x = middle(net, inputs, size, size + net.between(-2, 3))
    weight, bias = net.weight(outputs, 1 if alone else inputs, taps, taps), net.constant(net.rng.normal(0, 1, outputs))
    y = net.add("Conv", x, weight, bias, pads=[taps // 2] * 4, group=inputs if alone else 1)
    net.result(_activated(net, y, _some(net, 5)), 4.0)


def _computed(net: Net) -> None:
    """Products of two tensors of any depth, of one head or more, with or without a factor."""
    rows, depth, columns, heads = (net.between(2, 30), net.between(3, 44), net.between(2, 30), net.between(1, 4))
    y = net.between_layers(net.add("MatMul", net.source(1, heads, rows, depth), net.source(1, heads, depth, columns)))
    net.result(net.add("Mul", y, net.constant(depth**-0.5)) if net.between(0, 2) == 0 else y, 4.0)


SMALL_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"few_{op}": partial(_few_activated, op=op) for op in _ACTIVATIONS},
    **{f"line_{op}": partial(_line_pool, op=op) for op in ("MaxPool", "AveragePool", "GlobalAveragePool")},
    **{f"line_{op}_2": partial(_line_pool, op=op) for op in ("MaxPool", "AveragePool")},
    "line_MaxPool_3": partial(_line_pool, op="MaxPool"),
    **{f"whole_average_{number}": _whole_average for number in range(3)},
    "to_number": _to_number,
    "to_number_2": _to_number,
    "to_map": _to_map,
    "mean_of_sums": _mean_of_sums,
    "mean_of_sums_2": _mean_of_sums,
    "of_one_number": _of_one_number,
    "of_one_number_2": _of_one_number,
    "part": _part,
    "part_2": _part,
    **{f"odd_channels_{number}": partial(_odd_channels, alone=number % 2 == 1) for number in range(4)},
    **{f"computed_{number}": _computed for number in range(3)},
}
