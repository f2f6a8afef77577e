"""Made layers of common operators in odd sizes, of repeated operands and of whole numbers: some of the newest kinds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from onnx import TensorProto, helper

from benchmarks.cortexm_ahead import biased
from benchmarks.cortexm_late import upwards
from benchmarks.cortexm_net import Net, middle


def _activated(net: Net, x: str) -> str:
    return net.add("Relu", x) if net.between(0, 1) else x


def _depthwise(net: Net, taps: int) -> None:
    """Depthwise windows of any number of channels, with padding or without."""
    channels, stride = net.between(3, 40), 1 + (net.between(0, 2) == 0)
    x = middle(net, channels, net.between(taps, taps + 10), net.between(taps, taps + 12))
    pads = [taps // 2 * net.between(0, 1 + (taps == 3)) // (1 + (taps == 3))] * 4
    y = biased(net, x, channels, 1, taps, taps, pads=pads, strides=[stride] * 2, group=channels)
    net.result(_activated(net, y), 4.0)


def _few_outputs(net: Net) -> None:
    """Pointwise layers to few channels: the tiles are no whole vectors."""
    inputs = 16 if net.between(0, 3) == 0 else net.between(4, 48)
    outputs = net.between(1, 7)
    shape = [net.between(4, 16), net.between(4, 18)] if net.between(0, 2) else [net.between(10, 90)]
    net.result(_activated(net, biased(net, net.source(1, inputs, *shape), outputs, inputs, *(1 for _ in shape))), 4.0)


def _to_one(net: Net) -> None:
    """Windows over several channels of a larger image, to one."""
    inputs, taps = net.between(2, 16), 1 + 2 * net.between(0, 3)
    shape, pads = [net.between(max(6, taps), 24), net.between(18, 34)], [taps // 2 * net.between(0, 1)] * 4
    y = biased(net, middle(net, inputs, *shape), 1, inputs, taps, taps, pads=pads)
    op = ("", "Relu", "Sigmoid")[net.between(0, 2)]
    net.result(net.add(op, net.between_layers(y)) if op else y, 4.0)


def _near_channels(net: Net) -> None:
    """A window over the channels' means, and the gates."""
    taps = 3 + 2 * net.between(0, 1)
    y = net.add("Conv", net.source(1, 1, net.between(8, 48)), net.weight(1, 1, taps), pads=[taps // 2] * 2)
    net.result(net.add("Sigmoid", net.between_layers(y)) if net.between(0, 2) else y)


def _average(net: Net) -> None:
    """Averages of few positions of few channels, between layers."""
    channels, taps = net.between(3, 20), net.between(2, 5)
    line = net.between(0, 2) == 0
    kernel = [1, taps] if line else [min(taps, 4)] * 2
    shape = [1, taps * net.between(4, 24)] if line else [kernel[0] * net.between(2, 6), kernel[0] * net.between(2, 7)]
    x = net.between_layers(net.add("Relu", middle(net, channels, *shape)))
    y = net.between_layers(net.add("AveragePool", x, kernel_shape=kernel, strides=kernel))
    net.result(biased(net, y, 4, channels, 1, 1), 4.0)


def _enlarged(net: Net) -> None:
    """An image of twice as many rows and columns, between layers."""
    channels = net.between(3, 34)
    x = net.between_layers(net.add("Relu", middle(net, channels, net.between(3, 10), net.between(3, 11))))
    y = net.between_layers(net.add("Resize", x, "", net.constant([1, 1, 2, 2]), mode="nearest"))
    net.result(biased(net, y, 4, channels, 1, 1), 4.0)


def _repeated(net: Net, few: bool) -> None:
    """Several operators in a row, whose second operands are rows or columns that repeat."""
    rows, columns = (net.between(1, 9), net.between(2, 16)) if few else (net.between(4, 40), net.between(17, 60))
    y = net.source(1, rows, columns)
    for _ in range(net.between(1, 3)):
        op = ("Add", "Sub", "Mul")[net.between(0, 2)]
        other = net.source(1, *((1, columns) if net.between(0, 2) else (rows, 1)))
        if net.between(0, 1):
            other = net.constant(net.rng.normal(0, 0.7, columns))
        y = net.between_layers(net.add(op, y, other))
    net.result(net.add("Add", y, net.source(1, rows, columns)) if net.between(0, 1) else y, 3.0)


def _shared_factor(net: Net) -> None:
    """Two images, each with factors of its channels, added up: gates of two branches."""
    channels, shape = net.between(4, 40), [net.between(4, 14), net.between(4, 16)]
    terms = [
        net.between_layers(net.add("Mul", middle(net, channels, *shape), net.source(1, channels, 1, 1)))
        for _ in range(2)
    ]
    net.result(net.add("Add", *terms), 3.0)


def _largest(net: Net) -> None:
    """The largest of two or three sums with constants."""
    columns, terms = net.between(8, 60), []
    for _ in range(net.between(2, 3)):
        terms.append(net.add("Add", net.source(1, columns), net.constant(net.rng.normal(0, 1, columns))))
    net.result(net.add("Max", *(net.between_layers(term) for term in terms)), 3.0)


def _difference(net: Net) -> None:
    """The difference of two tensors."""
    shape = (1, net.between(2, 20), net.between(4, 60))
    net.result(net.add("Sub", net.source(*shape), net.source(*shape)), 3.0)


def _root(net: Net) -> None:
    """Numbers by the root of others, of few or many."""
    count, least = net.between(4, 90), net.constant(0.001)
    x = net.source(1, count)
    net.positive.add(x)
    y = net.add("Sqrt", net.add("Add", x, least))
    net.result(net.add("Div", y, net.add("Add", x, net.constant(1))) if net.between(0, 1) else y, 3.0)


def _cropped(net: Net) -> None:
    """An image without its borders."""
    channels, border = net.between(1, 20), net.between(1, 2)
    x = net.between_layers(net.add("Relu", middle(net, channels, net.between(6, 24), net.between(6, 24))))
    limits = [net.constant(value, np.int64) for value in ([border] * 2, [-border] * 2, [2, 3])]
    y = net.between_layers(net.add("Slice", x, *limits))
    net.result(biased(net, y, 4, channels, 1, 1), 4.0)


def _whole(net: Net) -> None:
    """Bytes as whole numbers: differences, products, and real numbers of them."""
    shape = [1, net.between(2, 40)] if net.between(0, 1) else [1, net.between(2, 12), net.between(4, 40)]
    names = [f"x{len(net.inputs) + place}" for place in range(2)]
    net.inputs += [helper.make_tensor_value_info(name, TensorProto.INT8, shape) for name in names]
    y = net.add("Cast", names[0], to=TensorProto.INT32)
    other = net.constant(net.between(-9, 9), np.int32)
    if net.between(0, 1):
        other = net.add("Cast", names[1], to=TensorProto.INT32)
    y = net.add(("Sub", "Mul", "Add")[net.between(0, 2)], y, other)
    if net.between(0, 1):
        net.outputs.append(helper.make_tensor_value_info(y, TensorProto.INT32, None))
        return
    y = net.add("Mul", net.add("Cast", y, to=TensorProto.FLOAT), net.constant(0.02))
    net.outputs.append(helper.make_tensor_value_info(y, TensorProto.FLOAT, None))


def _cast(net: Net) -> None:
    """Bytes as whole or real numbers."""
    name, kind = f"x{len(net.inputs)}", (TensorProto.INT32, TensorProto.FLOAT)[net.between(0, 1)]
    shape = [1, net.between(2, 40)] if net.between(0, 1) else [1, net.between(2, 12), net.between(4, 40)]
    net.inputs.append(helper.make_tensor_value_info(name, TensorProto.INT8, shape))
    net.outputs.append(helper.make_tensor_value_info(net.add("Cast", name, to=kind), kind, None))


def _joined_function(net: Net) -> None:
    """A function of a tensor, joined to another tensor, which has other steps."""
    rows, op = net.between(1, 40), ("Sigmoid", "Tanh", "Sin", "Relu")[net.between(0, 3)]
    y = net.between_layers(net.add(op, net.between_layers(net.source(1, rows, net.between(2, 30)))))
    net.result(net.add("Concat", y, net.source(1, rows, net.between(2, 20)), axis=2), 2.0)


def _steep_softmax(net: Net) -> None:
    """Long lines of bytes of which few have a result other than 0."""
    shape, name = [1, net.between(1, 12), net.between(120, 700)], f"x{len(net.inputs)}"
    net.inputs.append(helper.make_tensor_value_info(name, TensorProto.INT8, shape))
    x = net.real(name, net.rng.uniform(0.03, 0.4), net.between(-20, 20))
    net.result(net.add("Softmax", x, axis=-1), 1.0)


def _sum(net: Net) -> None:
    """A sum of two tensors of the same steps."""
    shape, scale = [1, net.between(2, 20), net.between(4, 60)], net.rng.uniform(0.01, 0.03)
    names = [f"x{len(net.inputs) + place}" for place in range(2)]
    net.inputs += [helper.make_tensor_value_info(name, TensorProto.INT8, shape) for name in names]
    zero = net.between(0, 1) * 9
    total = net.add("Add", *(net.real(name, scale, zero) for name in names))
    total = net.add("QuantizeLinear", total, net.constant(scale), net.constant(zero, np.int8))
    net.outputs.append(helper.make_tensor_value_info(total, TensorProto.INT8, None))


def _scaled_rows(net: Net) -> None:
    """Rows times factors of their columns, plus addends of these and another tensor, as MobileBERT has them."""
    rows, columns = net.between(2, 40), net.between(18, 70)
    x = net.add("Mul", net.source(1, rows, columns), net.constant(net.rng.uniform(0.3, 1.6, columns)))
    x = net.add("Add", x, net.constant(net.rng.normal(0, 0.5, columns)))
    net.result(net.add("Add", x, net.source(1, rows, columns)) if net.between(0, 2) else x, 3.0)


#: Of all networks.
COMMON_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"depthwise_{number}": partial(_depthwise, taps=3) for number in range(3)},
    **{f"depthwise_large_{number}": partial(_depthwise, taps=5 + 2 * number) for number in range(2)},
    **{f"few_outputs_{number}": _few_outputs for number in range(6)},
    **{f"to_one_{number}": _to_one for number in range(2)},
    **{f"near_channels_{number}": _near_channels for number in range(2)},
    **{f"average_{number}": _average for number in range(3)},
    **{f"enlarged_{number}": _enlarged for number in range(2)},
    **{f"repeated_{number}": partial(_repeated, few=number % 2 == 0) for number in range(4)},
    "shared_factor": _shared_factor,
    "largest": _largest,
    "difference": _difference,
    "root": _root,
    "cropped": _cropped,
    **{f"upwards_{number}": partial(upwards, line=False) for number in range(3)},
}
#: Of int8 networks.
COMMON_INTEGER_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"whole_{number}": _whole for number in range(3)},
    **{f"cast_{number}": _cast for number in range(2)},
    **{f"steep_softmax_{number}": _steep_softmax for number in range(2)},
    **{f"joined_function_{number}": _joined_function for number in range(2)},
    "sum": _sum,
}
#: Of float32 networks.
COMMON_REAL_KINDS: dict[str, Callable[[Net], None]] = {f"scaled_rows_{number}": _scaled_rows for number in range(2)}
