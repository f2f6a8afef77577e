"""Made networks of independent layers with random sizes, for counts of instructions: int8 and int16 in QDQ form,
float32 and float16.

A network has many layers, each with inputs and an output of its own, so that one run of an emulator counts them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from onnx import helper

from benchmarks.cortexm_apart import newest_networks
from benchmarks.cortexm_blocks import BLOCK_KINDS, JOINED_KINDS
from benchmarks.cortexm_every import EVERY_KINDS
from benchmarks.cortexm_gates import GATE_KINDS
from benchmarks.cortexm_heads import HEAD_KINDS
from benchmarks.cortexm_integer import FEW_KINDS, QUANTLIB_KINDS
from benchmarks.cortexm_later import LATER_KINDS
from benchmarks.cortexm_more import MORE_INTEGER_KINDS, MORE_KINDS
from benchmarks.cortexm_moved import MOVED_KINDS, concat, deep_transpose, heads, pad, slice_, transpose
from benchmarks.cortexm_net import Net, networks_of, some_channels, some_image, some_rows
from benchmarks.cortexm_odd import ODD_INTEGER_KINDS, ODD_KINDS
from benchmarks.cortexm_rare import RARE_INTEGER_KINDS, RARE_KINDS
from benchmarks.cortexm_rows import row_kinds
from benchmarks.cortexm_small import SMALL_KINDS
from benchmarks.cortexm_written import ends, real_sum, tied_average, written, written_average


def _activated(net: Net, name: str) -> str:
    kind = net.between(0, 3)
    if net.quantised and net.wide and kind == 1:
        return net.add("Relu", net.between_layers(name))
    if kind == 0:
        return name
    if kind == 1 and not net.quantised:
        return net.add("Clip", name, net.constant(0), net.constant(6))
    return net.add("Relu", name)


def _conv(net: Net, kernel: int, depthwise: bool = False, added: bool = False, image: bool = False) -> None:
    """A convolution; ``added``: another tensor is added to its result; ``image``: of one or three channels."""
    stride = net.between(1, 2) if net.between(0, 2) == 0 else 1
    outputs = some_channels(net)
    inputs = outputs if depthwise else net.between(1, 4) if net.between(0, 4) == 0 else some_channels(net)
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
    size, rows, columns, stride = net.between(10, 28), net.between(4, 10), net.between(3, 5), net.between(1, 2)
    bias, pads = net.constant(net.rng.normal(0, 1, 64)), [net.between(0, 4), net.between(0, 1)] * 2
    weight = net.weight(64, 1, rows, columns)
    y = net.add("Conv", net.source(1, 1, size, size), weight, bias, strides=[stride] * 2, pads=pads)
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


def _grouped(net: Net, kernel: int, inner: bool = False) -> None:
    """A convolution in groups; ``inner``: in the middle of a network, where channels are last."""
    groups, inputs, outputs = int(2 ** net.between(1, 4)), 4 * net.between(1, 3), 4 * net.between(1, 3)
    size, first = net.between(kernel + 1, 14), net.between(1, 8) if inner else groups * inputs
    x = net.source(1, first, size, size + net.between(0, 3))
    if inner:
        x = net.between_layers(net.add("Relu", net.add("Conv", x, net.weight(groups * inputs, first, 1, 1))))
    weight, bias = net.weight(groups * outputs, inputs, kernel, kernel), net.rng.normal(0, 1, groups * outputs)
    pads = [kernel // 2 * net.between(0, 1)] * 4
    y = net.add("Conv", x, weight, net.constant(bias), group=groups, pads=pads)
    net.result(_activated(net, y), 4.0)


def _single(net: Net) -> None:
    """A convolution of one channel to one. Its bias is positive: else a Relu may leave nothing; compilers, which know
    that of one channel, would fill the result."""
    kernel, size = net.between(2, 4), net.between(6, 32)
    weight, bias = net.weight(1, 1, kernel, kernel), net.constant(np.abs(net.rng.normal(0, 1, 1)))
    x = net.source(1, 1, size, size + net.between(-1, 3))
    net.result(_activated(net, net.add("Conv", x, weight, bias, pads=[kernel // 2 * net.between(0, 1)] * 4)), 4.0)


def _scaled_columns(net: Net, product: bool = False) -> None:
    """Rows times numbers of their columns, plus others; ``product``: rows that are a product and a residual."""
    rows, columns, depth = net.between(4, 60), 4 * net.between(2, 48), 4 * net.between(2, 32)
    y = net.source(1, rows, columns)
    if product and not net.quantised:
        made = net.add("MatMul", net.source(1, rows, depth), net.constant(net.rng.normal(0, 0.3, (depth, columns))))
        made = net.add("Add", made, net.constant(net.rng.normal(0, 1, columns)))
        y = net.add("Add", made, y) if net.between(0, 1) else made
    for _ in range(1 + (product and net.between(0, 1))):
        y = net.add("Mul", y, net.constant(net.rng.uniform(0.5, 1.5, columns)))
        y = net.add("Add", y, net.constant(net.rng.normal(0, 1, columns)))
    net.result(y, 4.0)


def _weighted(net: Net) -> None:
    """Rows times a matrix, plus a bias."""
    rows, depth, columns = net.between(4, 40), net.between(8, 80), net.between(8, 80)
    weight = net.add("Transpose", net.weight(columns, depth), perm=[1, 0])
    y = net.add("MatMul", net.source(1, rows, depth), weight)
    bias = net.constant(net.rng.normal(0, 1, columns))
    net.result(net.add("Add", y, bias) if not net.quantised else y)


def _pool(net: Net, op: str) -> None:
    shape = some_image(net)
    if net.between(0, 1) and op == "AveragePool":
        net.result(net.add(op, net.source(*shape), kernel_shape=shape[2:]), 1.0)
        return
    taps, stride = net.between(2, 3), net.between(1, 2)
    net.result(net.add(op, net.source(*shape), kernel_shape=[taps] * 2, strides=[stride] * 2))


def _inner_pool(net: Net, op: str, whole: bool = False) -> None:
    """Pooling in the middle of a network, where channels are last; ``whole``: of images, to the same scale."""
    channels, height, width, first = some_channels(net), net.between(3, 12), net.between(3, 12), net.between(1, 12)
    y = net.add("Conv", net.source(1, first, height, width), net.weight(channels, first, 1, 1))
    if not net.quantised and net.between(0, 1):  # of what is pooled, some is 0
        y = net.add("Relu", net.add("Add", y, net.constant(net.rng.uniform(-2, 1) * 0.3 * np.sqrt(first))))
    if whole:
        ends = net.ends(0.03, -128, 20)
        y = net.add("DequantizeLinear", net.add("QuantizeLinear", y, *ends), *ends) if net.quantised else y
        y = net.add(op, y, kernel_shape=[height, width])
        y = net.add("QuantizeLinear", y, *ends) if net.quantised else y
        net.outputs.append(helper.make_tensor_value_info(y, net.element, None))
        return
    y = net.between_layers(y)
    taps, stride = net.between(2, 3), net.between(1, 2)
    net.result(net.add(op, y, kernel_shape=[taps] * 2, strides=[stride] * 2, pads=[net.between(0, 1)] * 4))


def _unary(net: Net, op: str, **attributes: object) -> None:
    net.result(net.add(op, net.source(*some_rows(net)), **attributes), 1.0)


def _softmax(net: Net, rows: int, columns: int) -> None:
    net.result(net.add("Softmax", net.source(rows, columns), axis=-1), 1.0)


def _binary(net: Net, op: str, reach: float = 1.0) -> None:
    shape = some_image(net, 32)
    other = shape if net.between(0, 2) else (1, shape[1], 1, 1)
    net.result(net.add(op, net.source(*shape), net.source(*other)), reach)


def _scaled(net: Net) -> None:
    """A tensor times a number."""
    net.result(net.add("Mul", net.source(*some_image(net, 32)), net.constant(net.rng.uniform(0.1, 0.9))))


def _added(net: Net) -> None:
    """A sum and its activation, of two tensors in the middle of a network."""
    shape = some_image(net, 64)
    net.result(net.add("Relu", net.add("Add", net.source(*shape), net.source(*shape))), 2.0)


def _layer_norm(net: Net) -> None:
    rows, columns = some_rows(net)
    scale, bias = (net.constant(net.rng.normal(size=columns)) for _ in range(2))
    net.result(net.add("LayerNormalization", net.source(rows, columns), scale, bias, axis=-1))


def _gelu(net: Net, biased: bool = False) -> None:
    """``biased``: numbers of the columns are added first."""
    rows, columns = some_rows(net)
    x = net.source(rows, columns)
    x = net.add("Add", x, net.constant(net.rng.normal(0, 1, columns))) if biased else x
    y = net.add("Erf", net.add("Div", x, net.constant(np.sqrt(2))))
    net.result(net.add("Mul", net.add("Mul", x, net.add("Add", y, net.constant(1))), net.constant(0.5)))


def _inner_conv(net: Net, kernel: int, depthwise: bool = False) -> None:
    """A convolution in the middle of a network, where channels are last."""
    inputs, stride, size = some_channels(net), 1 + (net.between(0, 2) == 0), net.between(kernel + 1, 14)
    outputs, pads, first = inputs if depthwise else some_channels(net), kernel // 2, net.between(1, 12)
    bias = net.constant(net.rng.normal(0, 1, inputs))
    y = net.add("Conv", net.source(1, first, size, size + net.between(0, 3)), net.weight(inputs, first, 1, 1), bias)
    weight = net.weight(outputs, 1 if depthwise else inputs, kernel, kernel)
    group, bias = inputs if depthwise else 1, net.constant(net.rng.normal(0, 1, outputs))
    y = net.add(
        "Conv", net.between_layers(net.add("Relu", y)), weight, bias, pads=[pads] * 4, strides=[stride] * 2, group=group
    )
    net.result(_activated(net, y), 4.0)


def _classifier(net: Net) -> None:
    """A dense layer with few outputs, and no activation."""
    inputs, outputs = 16 * net.between(1, 20), net.between(2, 20)
    bias = net.constant(net.rng.normal(0, 1, outputs))
    net.result(net.add("Gemm", net.source(1, inputs), net.weight(outputs, inputs), bias, transB=1))


def _reduce(net: Net) -> None:
    axes = net.constant([-1] if net.between(0, 1) else [2, 3], np.int64)
    net.result(net.add("ReduceMean", net.source(*some_image(net)), axes, keepdims=1), 1.0)


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
    "weighted_scaled": lambda net: _scaled_columns(net, product=True),
    "scaled_columns": _scaled_columns,
    "grouped": lambda net: _grouped(net, 3),
    "inner_grouped": lambda net: _grouped(net, 3, inner=True),
    "inner_grouped_pointwise": lambda net: _grouped(net, 1, inner=True),
    "single": _single,
    "average_pool": lambda net: _pool(net, "AveragePool"),
    "max_pool": lambda net: _pool(net, "MaxPool"),
    "inner_average_pool": lambda net: _inner_pool(net, "AveragePool"),
    "whole_average_pool": lambda net: _inner_pool(net, "AveragePool", whole=True),
    "inner_max_pool_2": lambda net: _inner_pool(net, "MaxPool"),
    "inner_max_pool": lambda net: _inner_pool(net, "MaxPool"),
    "add": lambda net: _binary(net, "Add"),
    "added": _added,
    "mul": lambda net: _binary(net, "Mul"),
    "scaled": _scaled,
    "softmax": lambda net: _unary(net, "Softmax", axis=-1),
    "softmax_few": lambda net: _softmax(net, 1, net.between(2, 14)),
    "softmax_long": lambda net: _softmax(net, net.between(2, 12), net.between(200, 400)),
    "sigmoid": lambda net: _unary(net, "Sigmoid"),
    "tanh": lambda net: _unary(net, "Tanh"),
    "layer_norm": _layer_norm,
    "gelu": _gelu,
    "gelu_biased": lambda net: _gelu(net, biased=True),
    "pad": pad,
    "transpose": transpose,
    "transpose_deep": deep_transpose,
    "heads": heads,
    "heads_2": heads,
    "heads_columns": lambda net: heads(net, columns=True),
    "inner_conv": lambda net: _inner_conv(net, 3),
    "inner_pointwise": lambda net: _inner_conv(net, 1),
    "inner_pointwise_2": lambda net: _inner_conv(net, 1),
    "inner_depthwise": lambda net: _inner_conv(net, 3, depthwise=True),
    "inner_depthwise_2": lambda net: _inner_conv(net, 3, depthwise=True),
    "classifier": _classifier,
    "concat": concat,
    "slice": slice_,
    "reduce": _reduce,
    "relu": lambda net: _unary(net, "Relu"),
}
#: Of int8 networks only.
INTEGER_KINDS: dict[str, Callable[[Net], None]] = {
    # Sums of which hardly any is inside of int8: no factors of 32 bits give the results of those of 64.
    "add_wide": lambda net: _binary(net, "Add", 0.0005),
    "written": written,
    "written_add": lambda net: written(net, added=True),
    "written_average": written_average,
    "written_average_8": lambda net: written_average(net, 8),
    # Numbers of positions by which compilers divide 64 bits in a function of their library.
    "written_average_odd": lambda net: written_average(net, 9 + 2 * net.between(0, 2)),
    "plain_average": lambda net: written_average(net, plain=True),
    "tied_average": tied_average,
    "real_sum": real_sum,
    "ends": ends,
    "ends_few": lambda net: ends(net, few=True),
}


#: Of int16 networks: layers with kernels on integers.
WIDE_KINDS = (
    *("conv", "conv_3", "conv_compact", "conv_image", "conv_add", "pointwise", "depthwise", "depthwise_3", "dense"),
    *("dense_row", "inner_average_pool", "whole_average_pool", "inner_max_pool", "add", "added", "inner_conv"),
    *("inner_pointwise", "inner_depthwise", "inner_depthwise_2", "classifier"),
)


def made_networks(seed: int, rounds: int, quantised: bool, wide: bool = False) -> Iterator[Net]:
    """Networks that have ``rounds`` layers of each kind in all."""
    number = (3 if quantised else 4) if wide else int(quantised)
    kinds = {**KINDS, **INTEGER_KINDS} if quantised else KINDS
    kinds = {name: KINDS[name] for name in WIDE_KINDS} if quantised and wide else kinds
    yield from networks_of(Net(np.random.default_rng([seed, number]), quantised, wide), kinds, rounds)
    yield from newest_networks(seed, rounds, quantised, wide)
    if quantised and wide:
        return
    rare = {**RARE_KINDS, **RARE_INTEGER_KINDS} if quantised else RARE_KINDS
    yield from networks_of(Net(np.random.default_rng([seed, number, 1]), quantised, wide), rare, rounds)
    odd = {**ODD_KINDS, **ODD_INTEGER_KINDS} if quantised else ODD_KINDS
    yield from networks_of(Net(np.random.default_rng([seed, number, 3]), quantised, wide), odd, rounds)
    if not wide:
        more = {**MORE_KINDS, **MORE_INTEGER_KINDS} if quantised else MORE_KINDS
        yield from networks_of(Net(np.random.default_rng([seed, number, 4]), quantised), more, rounds)
        last = {**MOVED_KINDS, **(QUANTLIB_KINDS if quantised else {})}
        yield from networks_of(Net(np.random.default_rng([seed, number, 5]), quantised), last, rounds)
    if quantised and not wide:
        yield from networks_of(Net(np.random.default_rng([seed, number, 6]), quantised), FEW_KINDS, rounds)
    if not wide:
        later = (LATER_KINDS, EVERY_KINDS, GATE_KINDS, BLOCK_KINDS, JOINED_KINDS, SMALL_KINDS, HEAD_KINDS)
        for place, kinds in enumerate((*later, row_kinds(quantised)), 7):
            yield from networks_of(Net(np.random.default_rng([seed, number, place]), quantised), kinds, rounds)
    if quantised:  # one row: classifiers, autoencoders
        net = Net(np.random.default_rng([seed, 2]), quantised)
        for _ in range(2 * rounds):
            _dense(net, 1)
        yield net
