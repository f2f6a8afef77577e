"""Made networks of independent layers with random sizes, for counts of instructions: int8 in QDQ form, and float32.

A network has many layers, each with inputs and an output of its own, so that one run of an emulator counts them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from onnx import TensorProto, helper

from benchmarks.cortexm_net import Net

#: Layers of a network, and bytes of its inputs.
LAYERS, MOST_BYTES = 28, 400_000


def _activated(net: Net, name: str) -> str:
    kind = net.between(0, 3)
    if kind == 0:
        return name
    if kind == 1 and not net.quantised:
        return net.add("Clip", name, net.constant(0), net.constant(6))
    return net.add("Relu", name)


def _channels(net: Net) -> int:
    """Powers of two in half of the layers, as in many networks."""
    return int(2 ** net.between(3, 6)) if net.between(0, 1) else 4 * net.between(1, 12)


def _conv(net: Net, kernel: int, depthwise: bool = False, added: bool = False, image: bool = False) -> None:
    """A convolution; ``added``: another tensor is added to its result; ``image``: of one or three channels."""
    stride = net.between(1, 2) if net.between(0, 2) == 0 else 1
    outputs = _channels(net)
    inputs = outputs if depthwise else net.between(1, 4) if net.between(0, 4) == 0 else _channels(net)
    inputs = 1 + 2 * net.between(0, 1) if image else inputs
    least = kernel + stride
    most = max(least, int((2_000 if depthwise else 900) / np.sqrt(inputs * outputs) ** (0.5 if depthwise else 1)))
    most = max(least, min(most, int(np.sqrt(9_000 / max(inputs, outputs))), 32))
    size = net.between(least, most)
    other = min(most, max(least, size + net.between(-3, 3)))
    pads = net.between(0, 1) * (kernel // 2)
    weight = net.weight(outputs, 1 if depthwise else inputs, kernel, kernel)
    group = outputs if depthwise else 1
    bias = net.constant(net.rng.normal(0, 1, outputs))
    y = net.add(
        "Conv", net.source(1, inputs, size, other), weight, bias, pads=[pads] * 4, strides=[stride] * 2, group=group
    )
    if added:
        out = [(length + 2 * pads - kernel) // stride + 1 for length in (size, other)]
        y = net.add("Add", net.between_layers(y), net.source(1, outputs, *out))
    net.result(_activated(net, y), 4.0, unsigned=net.between(0, 5) == 0)


def _compact(net: Net) -> None:
    """One channel to 64: the rows of a window are short."""
    size, kernel, stride = net.between(10, 28), net.between(4, 6), net.between(1, 2)
    bias = net.constant(net.rng.normal(0, 1, 64))
    y = net.add("Conv", net.source(1, 1, size, size), net.weight(64, 1, kernel, 4), bias, strides=[stride] * 2)
    net.result(net.add("Relu", y), 4.0)


def _dense(net: Net, rows: int | None = None) -> None:
    inputs, outputs = net.between(8, 300), net.between(2, 14) if net.between(0, 2) == 0 else net.between(4, 150)
    rows = rows or (1 if net.between(0, 1) else net.between(2, 9))
    source, bias = net.source(rows, inputs), net.constant(net.rng.normal(0, 1, outputs))
    net.result(_activated(net, net.add("Gemm", source, net.weight(outputs, inputs), bias, transB=1)))


def _product(net: Net, even: bool = False) -> None:
    """Two computed matrices, by heads; ``even``: of sizes that tiles divide."""
    heads, rows, depth, columns = net.between(1, 4), net.between(8, 40), net.between(8, 40), net.between(8, 40)
    if even:
        rows, depth, columns = (16 * net.between(1, 5) for _ in range(3))
    net.result(net.add("MatMul", net.source(1, heads, rows, depth), net.source(1, heads, depth, columns)))


def _weighted(net: Net) -> None:
    """Rows times a matrix, plus a bias."""
    rows, depth, columns = net.between(4, 40), net.between(8, 80), net.between(8, 80)
    weight = net.add("Transpose", net.weight(columns, depth), perm=[1, 0])
    y = net.add("MatMul", net.source(1, rows, depth), weight)
    bias = net.constant(net.rng.normal(0, 1, columns))
    net.result(net.add("Add", y, bias) if not net.quantised else y)


def _image(net: Net, most: int = 48) -> tuple[int, int, int, int]:
    size = net.between(5, 24)
    return 1, 4 * net.between(1, most // 4), size, size + net.between(-3, 3)


def _pool(net: Net, op: str) -> None:
    shape = _image(net)
    if net.between(0, 1) and op == "AveragePool":
        net.result(net.add(op, net.source(*shape), kernel_shape=shape[2:]), 1.0)
        return
    taps, stride = net.between(2, 3), net.between(1, 2)
    net.result(net.add(op, net.source(*shape), kernel_shape=[taps] * 2, strides=[stride] * 2))


def _inner_pool(net: Net, op: str, whole: bool = False) -> None:
    """Pooling in the middle of a network, where channels are last; ``whole``: of images, to the same scale."""
    channels, height, width = _channels(net), net.between(3, 12), net.between(3, 12)
    y = net.add("Conv", net.source(1, 4, height, width), net.weight(channels, 4, 1, 1))
    if whole:
        ends = net.constant(0.03), net.constant(net.between(-128, 20), np.int8)
        y = net.add("DequantizeLinear", net.add("QuantizeLinear", y, *ends), *ends) if net.quantised else y
        y = net.add(op, y, kernel_shape=[height, width])
        y = net.add("QuantizeLinear", y, *ends) if net.quantised else y
        net.outputs.append(
            helper.make_tensor_value_info(y, TensorProto.INT8 if net.quantised else TensorProto.FLOAT, None)
        )
        return
    y = net.between_layers(y)
    taps, stride = net.between(2, 3), net.between(1, 2)
    net.result(net.add(op, y, kernel_shape=[taps] * 2, strides=[stride] * 2, pads=[net.between(0, 1)] * 4))


def _rows(net: Net) -> tuple[int, int]:
    """Rows and columns: in a quarter of the layers one short row, as of classifiers."""
    return (1, net.between(2, 12)) if net.between(0, 3) == 0 else (net.between(1, 40), net.between(6, 160))


def _unary(net: Net, op: str, **attributes: object) -> None:
    net.result(net.add(op, net.source(*_rows(net)), **attributes), 1.0)


def _softmax(net: Net, rows: int, columns: int) -> None:
    net.result(net.add("Softmax", net.source(rows, columns), axis=-1), 1.0)


def _binary(net: Net, op: str, reach: float = 1.0) -> None:
    shape = _image(net, 32)
    other = shape if net.between(0, 2) else (1, shape[1], 1, 1)
    net.result(net.add(op, net.source(*shape), net.source(*other)), reach)


def _added(net: Net) -> None:
    """A sum and its activation, of two tensors in the middle of a network."""
    shape = _image(net, 64)
    net.result(net.add("Relu", net.add("Add", net.source(*shape), net.source(*shape))), 2.0)


def _layer_norm(net: Net) -> None:
    rows, columns = _rows(net)
    scale, bias = (net.constant(net.rng.normal(size=columns)) for _ in range(2))
    net.result(net.add("LayerNormalization", net.source(rows, columns), scale, bias, axis=-1))


def _gelu(net: Net) -> None:
    x = net.source(*_rows(net))
    y = net.add("Erf", net.add("Div", x, net.constant(np.sqrt(2))))
    net.result(net.add("Mul", net.add("Mul", x, net.add("Add", y, net.constant(1))), net.constant(0.5)))


def _heads(net: Net) -> None:
    """Rows of heads become heads of rows."""
    shape = 1, net.between(8, 64), net.between(2, 8), int(2 ** net.between(3, 7))
    net.result(net.add("Transpose", net.source(*shape), perm=[0, 2, 1, 3]))


def _pad(net: Net) -> None:
    shape, wide = _image(net), net.between(1, 2)
    net.result(net.add("Pad", net.source(*shape), net.constant([0, 0, wide, wide, 0, 0, wide, wide], np.int64)))


def _transpose(net: Net) -> None:
    orders = ([0, 2, 1, 3], [0, 2, 3, 1], [0, 3, 1, 2], [0, 1, 3, 2])
    net.result(net.add("Transpose", net.source(*_image(net)), perm=orders[net.between(0, 3)]))


def _concat(net: Net) -> None:
    _, channels, height, width = _image(net, 24)
    parts = [net.source(1, channels + 4 * k, height, width) for k in range(net.between(2, 3))]
    net.result(net.add("Concat", *parts, axis=1))


def _slice(net: Net) -> None:
    rows, columns = net.between(4, 40), net.between(12, 120)
    limits = [net.constant([value], np.int64) for value in (2, columns - 3, -1)]
    net.result(net.add("Slice", net.source(rows, columns), *limits))


def _reduce(net: Net) -> None:
    axes = net.constant([-1] if net.between(0, 1) else [2, 3], np.int64)
    net.result(net.add("ReduceMean", net.source(*_image(net)), axes, keepdims=1), 1.0)


def _written_average(net: Net, size: int = 0) -> None:
    """The average of an image, written with integer operators; of ``size`` positions squared."""
    channels, wide = _channels(net), 0 if size else net.between(0, 2)
    size = size or net.between(3, 9)
    conv = net.add("Conv", net.source(1, 4, size, size + wide), net.weight(channels, 4, 1, 1))
    zero = net.constant(net.between(-128, -5), np.int8)
    stored = net.add("QuantizeLinear", net.add("Relu", conv), net.constant(1.0), zero)
    total = net.add(
        "ReduceSum", net.add("Cast", stored, to=TensorProto.INT64), net.constant([2, 3], np.int64), keepdims=1
    )
    half = size * (size + wide) // 2
    up = net.add("Greater", total, net.constant(0, np.int64))
    moved = net.add("Add", total, net.add("Where", up, net.constant(half, np.int64), net.constant(-half, np.int64)))
    value = net.add("Div", moved, net.constant(size * (size + wide), np.int64))
    limits = [net.constant(limit, np.int64) for limit in (-128, 127)]
    name = net.add("Cast", net.add("Clip", value, *limits), to=TensorProto.INT8)
    net.outputs.append(helper.make_tensor_value_info(name, TensorProto.INT8, None))


def _ends(net: Net, few: bool = False) -> None:
    """Quantisation, and the other way round."""
    x = f"x{len(net.inputs)}"
    shape = (1, net.between(2, 14)) if few else _rows(net)
    net.inputs.append(helper.make_tensor_value_info(x, TensorProto.FLOAT, shape))
    zero = net.constant(3, np.int8)
    stored = net.add("QuantizeLinear", x, net.constant(0.03), zero)
    net.outputs.append(helper.make_tensor_value_info(stored, TensorProto.INT8, None))
    name = f"x{len(net.inputs)}"
    net.inputs.append(helper.make_tensor_value_info(name, TensorProto.INT8, shape))
    real = net.add("DequantizeLinear", name, net.constant(0.03), zero)
    net.outputs.append(helper.make_tensor_value_info(real, TensorProto.FLOAT, None))


def _rounded(net: Net, value: str, divisor: object) -> str:
    """An int64 divided by a power of two, half away from zero, in standard operators."""
    half = np.asarray(divisor) // 2
    negative = net.add("Less", value, net.constant(0, np.int64))
    moved = net.add(
        "Add", value, net.add("Where", negative, net.constant(-half, np.int64), net.constant(half, np.int64))
    )
    return net.add("Div", moved, net.constant(divisor, np.int64))


def _stored(net: Net, value: str) -> str:
    """An int64 clipped to int8 around a zero point."""
    shifted = net.add("Add", value, net.constant(-128, np.int64))
    limits = [net.constant(limit, np.int64) for limit in (-128, 127)]
    return net.add("Cast", net.add("Clip", shifted, *limits), to=TensorProto.INT8)


def _plain(net: Net, *shape: int) -> str:
    name = f"x{len(net.inputs)}"
    net.inputs.append(helper.make_tensor_value_info(name, TensorProto.INT8, shape))
    net.bytes_ += int(np.prod(shape))
    return name


def _written(net: Net, added: bool = False) -> None:
    """An integer convolution whose requantisation is written with standard operators, rounded twice; ``added``: and a
    tensor that is added to it."""
    depthwise = net.between(0, 2) == 0
    outputs, kernel, size = 4 * net.between(1, 10), net.between(0, 2) + 1, net.between(5, 16)
    inputs = outputs if depthwise else 4 * net.between(1, 8)
    weight = net.constant(net.rng.integers(-127, 128, (outputs, 1 if depthwise else inputs, kernel, kernel)), np.int8)
    conv = net.add(
        "ConvInteger",
        _plain(net, 1, inputs, size, size),
        weight,
        net.constant(-128, np.int8),
        group=outputs if depthwise else 1,
    )
    total = net.add("Add", conv, net.constant(net.rng.integers(-9999, 9999, (1, outputs, 1, 1)), np.int32))
    factor = net.constant(net.rng.integers(1 << 30, 1 << 31, (1, outputs, 1, 1)), np.int64)
    scaled = net.add("Mul", net.add("Cast", total, to=TensorProto.INT64), factor)
    value = _rounded(net, _rounded(net, scaled, 1 << 31), 1 << net.rng.integers(7, 11, (1, outputs, 1, 1)))
    if added:
        out = size - kernel + 1
        other = net.add("Cast", _plain(net, 1, outputs, out, out), to=TensorProto.INT64)
        moved = net.add("Mul", net.add("Sub", other, net.constant(4, np.int64)), net.constant(1 << 20, np.int64))
        other = _rounded(net, net.add("Mul", moved, net.constant(1 << 30, np.int64)), 1 << 31)
        both = net.add("Add", net.add("Mul", value, net.constant(1 << 19, np.int64)), other)
        both = _rounded(net, net.add("Mul", both, net.constant(1098017566, np.int64)), 1 << 31)
        value = _rounded(net, both, 1 << 17)
    name = _stored(net, value)
    net.outputs.append(helper.make_tensor_value_info(name, TensorProto.INT8, None))


KINDS: dict[str, Callable[[Net], None]] = {
    "conv": lambda net: _conv(net, net.between(2, 5)),
    "conv_3": lambda net: _conv(net, 3),
    "conv_compact": _compact,
    "conv_image": lambda net: _conv(net, net.between(3, 5), image=True),
    "conv_add": lambda net: _conv(net, 3 if net.between(0, 2) else 1, added=True),
    "pointwise": lambda net: _conv(net, 1),
    "depthwise": lambda net: _conv(net, net.between(2, 4), depthwise=True),
    "depthwise_3": lambda net: _conv(net, 3, depthwise=True),
    "depthwise_5": lambda net: _conv(net, net.between(3, 5), depthwise=True),
    "depthwise_small": lambda net: _conv(net, 3, depthwise=True),
    "dense": _dense,
    "dense_row": lambda net: _dense(net, 1),
    "product": _product,
    "product_even": lambda net: _product(net, even=True),
    "weighted": _weighted,
    "average_pool": lambda net: _pool(net, "AveragePool"),
    "max_pool": lambda net: _pool(net, "MaxPool"),
    "inner_average_pool": lambda net: _inner_pool(net, "AveragePool"),
    "whole_average_pool": lambda net: _inner_pool(net, "AveragePool", whole=True),
    "inner_max_pool_2": lambda net: _inner_pool(net, "MaxPool"),
    "inner_max_pool": lambda net: _inner_pool(net, "MaxPool"),
    "add": lambda net: _binary(net, "Add"),
    "added": _added,
    "mul": lambda net: _binary(net, "Mul"),
    "softmax": lambda net: _unary(net, "Softmax", axis=-1),
    "softmax_few": lambda net: _softmax(net, 1, net.between(2, 14)),
    "softmax_long": lambda net: _softmax(net, net.between(2, 12), net.between(200, 400)),
    "sigmoid": lambda net: _unary(net, "Sigmoid"),
    "tanh": lambda net: _unary(net, "Tanh"),
    "layer_norm": _layer_norm,
    "gelu": _gelu,
    "pad": _pad,
    "transpose": _transpose,
    "heads": _heads,
    "concat": _concat,
    "slice": _slice,
    "reduce": _reduce,
    "relu": lambda net: _unary(net, "Relu"),
}
#: Of int8 networks only.
INTEGER_KINDS: dict[str, Callable[[Net], None]] = {
    # Sums of which hardly any is inside of int8: no factors of 32 bits give the results of those of 64.
    "add_wide": lambda net: _binary(net, "Add", 0.0005),
    "written": _written,
    "written_add": lambda net: _written(net, added=True),
    "written_average": _written_average,
    "written_average_8": lambda net: _written_average(net, 8),
    "ends": _ends,
    "ends_few": lambda net: _ends(net, few=True),
}


def made_networks(seed: int, rounds: int, quantised: bool) -> Iterator[Net]:
    """Networks that have ``rounds`` layers of each kind in all."""
    rng = np.random.default_rng([seed, int(quantised)])
    net = Net(rng, quantised)
    kinds = {**KINDS, **INTEGER_KINDS} if quantised else KINDS
    for _ in range(rounds):
        for make in kinds.values():
            if len(net.outputs) >= LAYERS or net.bytes_ >= MOST_BYTES:
                yield net
                net = Net(rng, quantised)
            make(net)
    yield net
    if quantised:  # one row: classifiers, autoencoders
        net = Net(np.random.default_rng([seed, 2]), quantised)
        for _ in range(2 * rounds):
            _dense(net, 1)
        yield net
