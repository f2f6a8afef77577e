"""Made layers of integer networks: QuantLib's operators, whose numbers are whole and stored as real ones, steps that
change or stay, small images of one channel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from benchmarks.cortexm_net import Net, some_channels
from benchmarks.cortexm_written import plain_input

#: Steps of 8 bits.
_LEVELS = np.array([256.0], np.float32)


def _whole(net: Net, *shape: int) -> str:
    """Bytes, as real numbers."""
    return net.add("Cast", plain_input(net, 1, *shape), to=TensorProto.FLOAT)


def _shaped(net: Net, op: str, shape: tuple[int, ...], *sources: str, **attributes: object) -> None:
    """An operator that ONNX does not know, so that it tells the result's sizes."""
    name = net.add(op, *sources, **{key: _attribute(value) for key, value in attributes.items()})
    net.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))


def _attribute(value: object) -> object:
    return numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value


def _integer_norm(net: Net) -> None:
    """Lines that are centred and scaled."""
    rows, columns = net.between(4, 60), net.between(16, 160)
    weight = net.constant(net.rng.integers(50_000, 300_000, columns))
    bias = net.constant(net.rng.integers(-9_000, 9_000, columns))
    divisor = np.array([2.0 ** net.between(13, 15)], np.float32)
    _shaped(
        net, "iLayerNorm", (1, rows, columns), _whole(net, rows, columns), weight, bias, D=divisor, n_levels=_LEVELS
    )


def _integer_softmax(net: Net) -> None:
    shape = net.between(1, 8), net.between(2, 20), net.between(6, 80)
    numbers = {"coeffA": 1, "coeffB": net.between(150, 350), "coeffC": net.between(12_000, 64_000)}
    numbers["log2"] = net.between(100, 255)
    given = {name: np.array([value], np.float32) for name, value in numbers.items()}
    _shaped(net, "iSoftmax", (1, *shape), _whole(net, *shape), **given, n_levels=_LEVELS)


def _shift_softmax(net: Net) -> None:
    """Powers of two, a part of each line at a time."""
    group = 4 * net.between(2, 16)
    shape = net.between(1, 6), net.between(2, 20), group * net.between(1, 4)
    _shaped(net, "ITAPartialMax", (1, *shape), _whole(net, *shape), n_levels=_LEVELS, group_width=group)


def _integer_mean(net: Net) -> None:
    """The mean of columns."""
    rows, columns = net.between(6, 80), net.between(6, 160)
    _shaped(net, "IntegerMean", (1, columns), _whole(net, rows, columns), axes=[1], keepdims=0)


def _requantised(net: Net) -> None:
    """Bytes times a factor, one or one for each channel, whose sums have 32 bits or 64."""
    channels, size, bits = net.between(2, 40), (net.between(2, 14), net.between(2, 14)), net.between(4, 28)
    shape = (channels, 1, 1) if net.between(0, 1) else ()
    factor = net.constant(net.rng.integers(1 << bits, 1 << (bits + 1), shape))
    addend = net.constant(net.rng.integers(-1 << bits, 1 << bits, shape))
    numbers = {"div": np.array(2.0**bits, np.float32), "n_levels_out": _LEVELS, "signed": np.array([1.0], np.float32)}
    _shaped(net, "RequantShift", (1, channels, *size), _whole(net, channels, *size), factor, addend, **numbers)


def _requantised_sums(net: Net, kernel: int, depthwise: bool = False) -> None:
    """A convolution of whole numbers, whose factors are too small for a shift of words."""
    outputs, size = some_channels(net), net.between(kernel + 1, 12)
    inputs, wide = outputs if depthwise else 4 * net.between(1, 8), size + net.between(0, 4)
    pads, levels = kernel // 2 * net.between(0, 1), net.between(0, 1)
    weight = net.constant(net.rng.integers(-127, 128, (outputs, 1 if depthwise else inputs, kernel, kernel)))
    group, x = outputs if depthwise else 1, _whole(net, inputs, size, wide)
    y = net.add("Conv", x, weight, pads=[pads] * 4, group=group, kernel_shape=[kernel] * 2)
    factor = net.constant(net.rng.integers(10, 200, (outputs, 1, 1)))
    addend = net.constant(net.rng.integers(-50_000, 50_000, (outputs, 1, 1)))
    numbers = {"div": np.array(2.0 ** net.between(14, 18), np.float32), "n_levels_out": _LEVELS}
    shape = 1, outputs, size + 2 * pads - kernel + 1, wide + 2 * pads - kernel + 1
    _shaped(net, "RequantShift", shape, y, factor, addend, **numbers, signed=np.array([levels], np.float32))


def whole_numbers(net: Net, inputs: int, outputs: int, height: int, width: int) -> None:
    """A pointwise convolution of whole numbers that are an input of real ones."""
    x = f"x{len(net.inputs)}"
    net.inputs.append(helper.make_tensor_value_info(x, TensorProto.FLOAT, (1, inputs, height, width)))
    net.bytes_ += 4 * inputs * height * width
    y = net.add("Conv", x, net.constant(net.rng.integers(-127, 128, (outputs, inputs, 1, 1))), kernel_shape=[1, 1])
    factor = net.constant(net.rng.integers(10, 200, (outputs, 1, 1)))
    addend = net.constant(net.rng.integers(-50_000, 50_000, (outputs, 1, 1)))
    numbers = {"div": np.array(2.0 ** net.between(14, 18), np.float32), "n_levels_out": _LEVELS}
    shape = 1, outputs, height, width
    _shaped(net, "RequantShift", shape, y, factor, addend, **numbers, signed=np.array([1.0], np.float32))


def _image(net: Net) -> tuple[int, ...]:
    return some_channels(net), net.between(2, 14), net.between(2, 14)


def _stored(net: Net, name: str, scale: float, zero: int) -> None:
    ends = net.constant(scale), net.constant(zero, np.int8)
    name = net.add("QuantizeLinear", name, *ends)
    net.outputs.append(helper.make_tensor_value_info(name, TensorProto.INT8, None))


def _rescaled(net: Net) -> None:
    """Bytes in other steps."""
    x = net.real(plain_input(net, 1, *_image(net)), net.rng.uniform(0.01, 0.03), net.between(-20, 20))
    _stored(net, x, net.rng.uniform(0.01, 0.05), net.between(-128, 20))


def _added_evenly(net: Net) -> None:
    """A sum of two tensors in the same steps: there is one factor."""
    shape, scale = _image(net), net.rng.uniform(0.01, 0.03)
    one, other = (net.real(plain_input(net, 1, *shape), scale, net.between(-20, 20)) for _ in range(2))
    total = net.add("Add", one, other)
    total = net.add("Relu", total) if net.between(0, 2) == 0 else total
    _stored(net, total, scale * (1, 2, net.rng.uniform(1, 2))[net.between(0, 2)], net.between(-128, 20))


def _real_activation(net: Net) -> None:
    """Real results of bytes."""
    x = net.real(plain_input(net, 1, *_image(net)), 0.03, net.between(-20, 20))
    x = net.add("HardSwish", x) if net.between(0, 2) else net.add("LeakyRelu", x, alpha=0.1)
    net.outputs.append(helper.make_tensor_value_info(x, TensorProto.FLOAT, None))


def _even_average(net: Net) -> None:
    """Averages of windows to the same steps, of which many lie between two bytes."""
    channels, first, taps = some_channels(net), net.between(1, 8), net.between(2, 3)
    size, ends = taps * net.between(2, 6), (net.constant(0.03), net.constant(net.between(-20, 20), np.int8))
    y = net.add("Conv", net.source(1, first, size, size), net.weight(channels, first, 1, 1))
    y = net.add("DequantizeLinear", net.add("QuantizeLinear", y, *ends), *ends)
    y = net.add("AveragePool", y, kernel_shape=[taps] * 2, strides=[taps] * 2)
    y = net.add("QuantizeLinear", y, *ends)
    net.outputs.append(helper.make_tensor_value_info(y, TensorProto.INT8, None))


def _one_channel(net: Net) -> None:
    """A small convolution of one channel, whose lines are one tile."""
    rows, columns, kernel = net.between(2, 12), net.between(2, 9), net.between(2, 3)
    pads = [net.between(0, 1)] * 4 if min(rows, columns) >= kernel else [1] * 4
    y = net.add("Conv", net.source(1, 1, rows, columns), net.weight(1, 1, kernel, kernel), pads=pads)
    net.result(net.add("Relu", y) if net.between(0, 1) else y)


def _plain_product(net: Net) -> None:
    """The product of two computed matrices, in 32 bits, of sizes as networks have them."""
    heads, rows, depth, columns = net.between(1, 4), *(8 * net.between(1, 8) for _ in range(3))
    sources = (plain_input(net, 1, heads, *sizes) for sizes in ((rows, depth), (depth, columns)))
    name = net.add("MatMulInteger", *sources)
    net.outputs.append(helper.make_tensor_value_info(name, TensorProto.INT32, None))


QUANTLIB_KINDS: dict[str, Callable[[Net], None]] = {
    "integer_norm": _integer_norm,
    "integer_norm_2": _integer_norm,
    "integer_softmax": _integer_softmax,
    "integer_softmax_2": _integer_softmax,
    "shift_softmax": _shift_softmax,
    "shift_softmax_2": _shift_softmax,
    "integer_mean": _integer_mean,
    "requantised": _requantised,
    "requantised_2": _requantised,
    "requantised_sums": lambda net: _requantised_sums(net, 3),
    "requantised_sums_1": lambda net: _requantised_sums(net, 1),
    "requantised_depthwise": lambda net: _requantised_sums(net, 3, depthwise=True),
    "plain_product": _plain_product,
    "rescaled": _rescaled,
    "added_evenly": _added_evenly,
    "real_activation": _real_activation,
    "even_average": _even_average,
    "even_average_2": _even_average,
    **{f"one_channel_{number}": _one_channel for number in range(3)},
}


def _added_constant(net: Net) -> None:
    """Bytes and a constant for each column, or for each element."""
    rows, columns = net.between(2, 40), net.between(4, 80)
    shape = (columns,) if net.between(0, 1) else (rows, columns)
    scale = net.rng.uniform(0.01, 0.03)
    x = net.real(plain_input(net, 1, rows, columns), scale, net.between(-20, 20))
    other = net.real(net.constant(net.rng.integers(-127, 128, shape), np.int8), scale / net.between(1, 4), 0)
    _stored(net, net.add("Add", x, other), scale * net.rng.uniform(0.8, 1.6), net.between(-20, 20))


def _few_casts(net: Net) -> None:
    """A few bytes as real numbers."""
    x = net.add("Cast", plain_input(net, 1, net.between(2, 16)), to=TensorProto.FLOAT)
    net.outputs.append(helper.make_tensor_value_info(x, TensorProto.FLOAT, None))


def _joined_rows(net: Net) -> None:
    """A few short rows behind each other."""
    columns = net.between(8, 60) if net.between(0, 1) else 4 * net.between(2, 15)
    parts = [plain_input(net, 1, columns) for _ in range(net.between(2, 4))]
    name = net.add("Concat", *parts, axis=net.between(0, 1))
    net.outputs.append(helper.make_tensor_value_info(name, TensorProto.INT8, None))


def _mean_of_squares(net: Net) -> None:
    shape = 1, net.between(4, 40), net.between(18, 120)
    x = f"x{len(net.inputs)}"
    net.inputs.append(helper.make_tensor_value_info(x, TensorProto.FLOAT, shape))
    net.bytes_ += 4 * int(np.prod(shape))
    x = net.add("Pow", x, net.constant(2.0))
    y = net.add("ReduceMean", x, net.constant([-1], np.int64), keepdims=1)
    net.outputs.append(helper.make_tensor_value_info(y, TensorProto.FLOAT, None))


def _near_pairs(net: Net) -> None:
    """Pairs of a few rows."""
    shape = 1, net.between(2, 8), net.between(20, 70), 2
    net.result(net.add("Transpose", net.source(*shape), perm=[0, 2, 1, 3]))


def _short_softmax(net: Net) -> None:
    """QuantLib's softmax of short lines."""
    shape = net.between(1, 8), net.between(2, 20), net.between(4, 16)
    numbers = {"coeffA": 1, "coeffB": 173, "coeffC": 15_599, "log2": net.between(100, 255)}
    given = {name: np.array([value], np.float32) for name, value in numbers.items()}
    _shaped(net, "iSoftmax", (1, *shape), _whole(net, *shape), **given, n_levels=_LEVELS)


#: Of int8 networks, too.
FEW_KINDS: dict[str, Callable[[Net], None]] = {
    "added_constant": _added_constant,
    "added_constant_2": _added_constant,
    "few_casts": _few_casts,
    "joined_rows": _joined_rows,
    "mean_of_squares": _mean_of_squares,
    "near_pairs": _near_pairs,
    "short_softmax": _short_softmax,
}
