"""Made layers of the heads of small networks: dense layers of one row and few results, whose numbers leave the network
as floats or as bytes, the numbers of several heads side by side, averages behind a Relu, a Relu beside a shortcut."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from onnx import TensorProto, helper

from benchmarks.cortexm_net import Net, middle

#: Activations of results.
_ENDS = ("", "", "Relu", "Sigmoid")


def _left(net: Net, name: str, reach: float) -> None:
    """Ends a layer; half of the quantised ones leave the network as floats."""
    if not net.quantised or net.between(0, 1):
        net.result(name, reach)
        return
    ends = net.constant(reach / 128), net.constant(net.between(-128, 20), np.int8)
    name = net.add("DequantizeLinear", net.add("QuantizeLinear", name, *ends), *ends)
    net.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))


def matrix(net: Net, inputs: int, outputs: int) -> str:
    """Those of a MatMul."""
    if not net.quantised:
        return net.constant(net.rng.normal(0, 0.3, (inputs, outputs)))
    return net.real(net.constant(net.rng.integers(-127, 128, (inputs, outputs)), np.int8), 0.003, 0)


def _head(net: Net, outputs: int, long: bool) -> None:
    """A dense layer of one row, or a convolution of one position, of 1 to 17 inputs or of more."""
    inputs = net.between(18, 200) if long else net.between(1, 17)
    outputs, kind = outputs or net.between(5, 17), net.between(0, 4)
    bias = net.constant(net.rng.normal(0, 1, outputs))
    if kind == 0:
        y = net.add("Conv", net.source(1, inputs, 1, 1), net.weight(outputs, inputs, 1, 1), bias)
    elif kind == 1:
        y = net.add("Gemm", net.source(1, inputs), net.weight(outputs, inputs), bias, transB=1)
    else:
        y = net.add("MatMul", net.source(1, inputs), matrix(net, inputs, outputs))
        y = y if kind == 2 else net.add("Add", y, bias)
    op = _ENDS[net.between(0, len(_ENDS) - 1)]
    _left(net, net.add(op, net.between_layers(y) if net.between(0, 1) else y) if op else y, 4.0)


def _heads(net: Net) -> None:
    """The numbers of two or three heads side by side."""
    inputs = net.between(4, 40)
    x = net.between_layers(net.add("Relu", net.add("MatMul", net.source(1, inputs), matrix(net, inputs, inputs))))
    parts = []
    for _ in range(net.between(2, 3)):
        outputs = net.between(1, 3)
        y = net.add(
            "Add", net.add("MatMul", x, matrix(net, inputs, outputs)), net.constant(net.rng.normal(0, 1, outputs))
        )
        parts.append(net.between_layers(net.add("Sigmoid", net.between_layers(y)) if net.between(0, 1) else y))
    _left(net, net.add("Concat", *parts, axis=-1), 4.0)


def _average(net: Net) -> None:
    """An average of windows behind a Relu, with padding at both ends, at one or at none."""
    channels, size, taps = net.between(2, 20), net.between(5, 14), net.between(2, 3)
    y = net.between_layers(net.add("Relu", middle(net, channels, size, size + net.between(-1, 3))))
    first, last = ((0, 0), (0, 1), (1, 1))[net.between(0, 2)]
    pads = {"pads": [first, first, last, last], "count_include_pad": net.between(0, 1)}
    y = net.add("AveragePool", y, kernel_shape=[taps] * 2, strides=[net.between(1, 2)] * 2, **pads)
    net.result(y, 2.0)


def _shared_relu(net: Net) -> None:
    """A Relu of what a shortcut reads, too."""
    channels, size = net.between(4, 20), net.between(5, 12)
    x = middle(net, channels, size, size)
    x = net.between_layers(net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]) if net.between(0, 1) else x)
    bias = net.constant(net.rng.normal(0, 1, channels))
    y = net.add("Conv", net.between_layers(net.add("Relu", x)), net.weight(channels, channels, 1, 1), bias)
    net.result(net.add("Add", net.between_layers(y), x))


HEAD_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"head_{n}{'_long' * long}": partial(_head, outputs=n, long=long) for n in range(5) for long in (False, True)},
    **{f"head_{n}_again": partial(_head, outputs=n, long=False) for n in (1, 2, 4)},
    "heads": _heads,
    "heads_again": _heads,
    "average_behind_relu": _average,
    "average_behind_relu_again": _average,
    "shared_relu": _shared_relu,
}
