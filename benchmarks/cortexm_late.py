"""Made layers of limits and factors, functions of few numbers, first and narrow layers of images, sums without factors
and softmaxes of long lines: the newest kinds with those of ``cortexm_apart.py``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from onnx import TensorProto, helper

from benchmarks.cortexm_ahead import biased
from benchmarks.cortexm_integer import whole_numbers
from benchmarks.cortexm_net import Net, middle, some_rows


def _long_softmax(net: Net) -> None:
    """Lines of more numbers than a byte has steps."""
    net.result(net.add("Softmax", net.source(1, net.between(1, 8), net.between(256, 700)), axis=-1), 1.0)


def _tiny_image(net: Net) -> None:
    """Windows over an image of few positions, to one or two channels."""
    inputs, outputs, taps = max(1, net.between(-1, 3)), net.between(1, 2), net.between(2, 3)
    shape = [net.between(2, 4), net.between(2, 4)]
    y = biased(net, net.source(1, inputs, *shape), outputs, inputs, taps, taps, pads=[0, 0, taps - 1, taps - 1])
    net.result(net.add("Relu", y) if net.between(0, 1) else y, 4.0)


def _few_looked_up(net: Net) -> None:
    """A function of few numbers, which integer networks look up."""
    op = ("Sigmoid", "Tanh", "HardSigmoid", "Relu")[net.between(0, 3)]
    net.result(net.add(op, net.source(1, net.between(1, 90))), 2.0)


def _first_image(net: Net) -> None:
    """Windows over a picture, with strides or without."""
    inputs, outputs, taps = net.between(1, 4), net.between(3, 33), 1 + 2 * net.between(1, 2)
    shape, stride = [net.between(12, 32), net.between(12, 36)], net.between(1, 2)
    pads = [taps // 2 * (net.between(0, 3) > 0)] * 4
    y = biased(net, net.source(1, inputs, *shape), outputs, inputs, taps, taps, strides=[stride] * 2, pads=pads)
    net.result(net.add(("Relu", "HardSwish")[net.between(0, 4) == 0], y) if net.between(0, 2) else y, 4.0)


def _one_channel(net: Net) -> None:
    """Windows over a larger image of one channel, to one."""
    taps, shape = net.between(2, 4), [net.between(6, 34), net.between(18, 40)]
    pads = [net.between(0, 1) * (taps // 2)] * 4
    y = net.add("Conv", net.source(1, 1, *shape), net.weight(1, 1, taps, taps), pads=pads)
    net.result(net.add("Relu", y) if net.between(0, 1) else y)


def _narrow(net: Net) -> None:
    """Pointwise layers of few channels to few, behind others."""
    inputs, outputs = net.between(2, 13), net.between(2, 16)
    x = middle(net, inputs, net.between(3, 16), net.between(3, 18))
    x = net.between_layers(net.add("Relu", x)) if net.between(0, 1) else x
    y = biased(net, x, outputs, inputs, 1, 1)
    net.result(net.add("Relu", y) if net.between(0, 1) else y, 4.0)


def _wide_depthwise(net: Net) -> None:
    """Depthwise windows of 25 or 49 taps, of any number of channels."""
    channels, taps = net.between(3, 40), 5 + 2 * net.between(0, 1)
    x = middle(net, channels, net.between(taps, 12), net.between(taps, 14))
    y = biased(net, x, channels, 1, taps, taps, pads=[taps // 2] * 4, group=channels)
    net.result(net.add("Relu", y) if net.between(0, 1) else y, 4.0)


def _alone(net: Net) -> None:
    """A depthwise or full window that leaves one position, and few channels beside each other."""
    channels, outputs, taps = net.between(3, 24), net.between(4, 28), net.between(2, 4)
    x = middle(net, channels, taps, taps)
    net.result(net.add("Relu", biased(net, x, outputs, channels, taps, taps)), 4.0)


def upwards(net: Net, line: bool) -> None:
    """Transposed windows next to each other, or one over the other, of a line or an image."""
    inputs, outputs, stride = net.between(2, 28), net.between(1, 14), net.between(1, 4)
    taps = stride + net.between(0, 3)
    kernel, shape = [taps] * (1 if line else 2), [net.between(5, 50)] if line else [net.between(3, 9)] * 2
    weight = net.constant(net.rng.normal(0, 0.3, (inputs, outputs, *kernel)))
    if net.quantised:
        weight = net.real(net.constant(net.rng.integers(-127, 128, (inputs, outputs, *kernel)), np.int8), 0.003, 0)
    bias, pads = net.constant(net.rng.normal(0, 1, outputs)), [(taps - stride) // 2 * net.between(0, 1)] * 2
    strides, x = [stride] * len(kernel), net.source(1, inputs, *shape)
    net.result(net.add("ConvTranspose", x, weight, bias, strides=strides, pads=pads * len(kernel)), 4.0)


def _limited(net: Net) -> None:
    """Limits and a product or a sum, of two tensors or with a number, one after another."""
    shape = 1, *some_rows(net)
    x, ends = net.source(*shape), [net.constant(0), net.constant(net.between(1, 6))]
    if net.between(0, 2) == 0:
        x = net.add("Add", x, net.constant(3))
    y = net.add("Clip", x, *ends) if net.between(0, 2) else net.add("Min", net.add("Max", x, ends[0]), ends[1])
    other = (net.source(*shape), x, net.constant(0.2))[net.between(0, 2)]
    y = net.add(("Mul", "Add")[net.between(0, 3) == 0], y, other)
    net.result(net.add("Mul", y, net.constant(1 / 6)) if net.between(0, 2) == 0 else y, 3.0)


def _of_few(net: Net, op: str) -> None:
    """A function of few numbers."""
    net.result(net.add(op, net.source(1, net.between(2, 15))), 3.0)


def _mean_of_two(net: Net) -> None:
    """The mean of two tensors of few numbers."""
    count = net.between(2, 40)
    net.result(net.add("Mean", net.source(1, count), net.source(1, count)), 3.0)


def _there_and_back(net: Net) -> None:
    """Real numbers in steps of a byte."""
    ends = net.constant(net.rng.uniform(0.01, 0.05)), net.constant(net.between(-20, 20), np.int8)
    y = net.add("DequantizeLinear", net.add("QuantizeLinear", net.source(1, *some_rows(net)), *ends), *ends)
    net.result(y)


def _whole_input(net: Net) -> None:
    """Whole numbers that a network stores as real ones, and a convolution of them."""
    inputs, outputs, size = net.between(1, 32), net.between(2, 24), net.between(3, 12)
    whole_numbers(net, inputs, outputs, size, size + net.between(0, 4))


def _unscaled(net: Net) -> None:
    """The sum of two tensors of the same steps or of half and double ones: factors are powers of two."""
    shape, scale = (1, *some_rows(net)), net.rng.uniform(0.01, 0.03)
    sources = []
    for factor in (1, (1, 2, 0.5)[net.between(0, 2)]):
        name = f"x{len(net.inputs)}"
        net.inputs.append(helper.make_tensor_value_info(name, TensorProto.INT8, shape))
        sources.append(net.real(name, scale * factor, 0))
    ends = net.constant(scale * (1, 2, 4)[net.between(0, 2)]), net.constant(net.between(-3, 3), np.int8)
    stored = net.add("QuantizeLinear", net.add("Add", *sources), *ends)
    net.outputs.append(helper.make_tensor_value_info(stored, TensorProto.INT8, None))


#: Of all networks.
LATE_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"tiny_image_{number}": _tiny_image for number in range(3)},
    **{f"few_looked_up_{number}": _few_looked_up for number in range(3)},
    **{f"first_image_{number}": _first_image for number in range(4)},
    **{f"narrow_{number}": _narrow for number in range(4)},
    **{f"wide_depthwise_{number}": _wide_depthwise for number in range(2)},
    "alone": _alone,
    **{f"upwards_{number}": partial(upwards, line=number % 3 > 0) for number in range(3)},
    "long_softmax": _long_softmax,
    "mean_of_two": _mean_of_two,
}
#: Of all networks, too.
LAST_KINDS: dict[str, Callable[[Net], None]] = {f"one_channel_{number}": _one_channel for number in range(3)}
#: Of float32 networks, and of int8 ones.
LATE_REAL_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"limited_{number}": _limited for number in range(4)},
    **{f"few_{op}": partial(_of_few, op=op) for op in ("Exp", "LogSoftmax", "Softmax", "Sigmoid", "Tanh", "Log")},
    "there_and_back": _there_and_back,
}
LATE_INTEGER_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"unscaled_{number}": _unscaled for number in range(3)},
    "whole_input": _whole_input,
    "whole_input_again": _whole_input,
}
