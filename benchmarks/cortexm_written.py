"""Made layers of integer networks: requantisations, averages and sums as standard operators, and both ends of a
network."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from benchmarks.cortexm_net import Net, some_channels, some_image, some_rows


def written_average(net: Net, size: int = 0, wide: int = 0, plain: bool = False) -> None:
    """The average of an image, written with integer operators; of ``size`` by ``size + wide`` positions; ``plain``: of
    an input."""
    channels, wide = some_channels(net), wide if size else net.between(0, 2)
    size = size or net.between(3, 9)
    if plain:
        stored = plain_input(net, 1, channels, size, size + wide)
    else:
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


def real_sum(net: Net) -> None:
    """The sum of two quantised tensors as real numbers."""
    shape = some_image(net, 32)
    name = net.add("Add", net.source(*shape), net.source(*shape))
    net.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))


def tied_average(net: Net) -> None:
    """The average of a power of two positions to the same scale, which has ties; behind a Relu in half of the layers,
    where zero is the least number, and averages of nothing else saturate."""
    channels, size, first, cut = some_channels(net), int(2 ** net.between(1, 3)), net.between(1, 12), net.between(0, 1)
    bias = net.constant(net.rng.normal(-0.5 if cut else 0, 2, channels))
    y = net.add("Conv", net.source(1, first, size, 2 * size), net.weight(channels, first, 1, 1), bias)
    y = net.add("Relu", y) if cut else y
    ends = net.constant(0.03), net.constant(-128 if cut else net.between(-127, 20), np.int8)
    y = net.add("DequantizeLinear", net.add("QuantizeLinear", y, *ends), *ends)
    y = net.add("QuantizeLinear", net.add("AveragePool", y, kernel_shape=[size, 2 * size]), *ends)
    net.outputs.append(helper.make_tensor_value_info(y, TensorProto.INT8, None))


def ends(net: Net, few: bool = False) -> None:
    """Quantisation, and the other way round."""
    x = f"x{len(net.inputs)}"
    shape = (1, net.between(2, 14)) if few else some_rows(net)
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


def plain_input(net: Net, *shape: int) -> str:
    name = f"x{len(net.inputs)}"
    net.inputs.append(helper.make_tensor_value_info(name, TensorProto.INT8, shape))
    net.bytes_ += int(np.prod(shape))
    return name


def written(net: Net, added: bool = False) -> None:
    """An integer convolution whose requantisation is written with standard operators, rounded twice; ``added``: and a
    tensor that is added to it."""
    depthwise = net.between(0, 2) == 0
    outputs, kernel, size = 4 * net.between(1, 10), net.between(0, 2) + 1, net.between(5, 16)
    inputs = outputs if depthwise else 4 * net.between(1, 8)
    weight = net.constant(net.rng.integers(-127, 128, (outputs, 1 if depthwise else inputs, kernel, kernel)), np.int8)
    conv = net.add(
        "ConvInteger",
        plain_input(net, 1, inputs, size, size),
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
        other = net.add("Cast", plain_input(net, 1, outputs, out, out), to=TensorProto.INT64)
        moved = net.add("Mul", net.add("Sub", other, net.constant(4, np.int64)), net.constant(1 << 20, np.int64))
        other = _rounded(net, net.add("Mul", moved, net.constant(1 << 30, np.int64)), 1 << 31)
        both = net.add("Add", net.add("Mul", value, net.constant(1 << 19, np.int64)), other)
        both = _rounded(net, net.add("Mul", both, net.constant(1098017566, np.int64)), 1 << 31)
        value = _rounded(net, both, 1 << 17)
    name = _stored(net, value)
    net.outputs.append(helper.make_tensor_value_info(name, TensorProto.INT8, None))
