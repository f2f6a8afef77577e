"""Made layers of the operators of the host that no other made layer has, and of forms that few have: functions,
comparisons, reductions, normalisations, places that are repeated, gathered or reflected."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from onnx import TensorProto, helper

from benchmarks.cortexm_few import PRODUCT_KINDS
from benchmarks.cortexm_net import Net, middle

#: Functions of one number, and those whose numbers are positive.
_FUNCTIONS = (
    *("Elu", "Selu", "Celu", "Softplus", "Softsign", "Mish", "Erf", "Sin", "Cos", "Atan", "Sign", "Ceil", "Round"),
    *("Log", "Reciprocal", "ThresholdedRelu", "Gelu"),
)
_POSITIVE = ("Log", "Reciprocal")
_REDUCTIONS = ("ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceProd", "ReduceMax", "ReduceLogSumExp")
_NORMALISED = ("LogSoftmax", "InstanceNormalization", "BatchNormalization", "LpNormalization", "LRN")


def _shape(net: Net, ranks: tuple[int, int] = (2, 4), most: int = 14) -> list[int]:
    """A batch of one and other axes."""
    return [1, *(net.between(2, most) for _ in range(net.between(*ranks) - 1))]


def same(net: Net, shape: list[int], make: Callable[[str], str]) -> None:
    """A layer whose results are numbers that it reads: quantised networks keep their scale."""
    if not net.quantised:
        net.result(make(net.source(*shape)))
        return
    x, ends = f"x{len(net.inputs)}", net.ends(0.02, -20, 20)
    net.inputs.append(helper.make_tensor_value_info(x, net.element, shape))
    net.bytes_ += int(np.prod(shape))
    y = net.add("QuantizeLinear", make(net.add("DequantizeLinear", x, *ends)), *ends)
    net.outputs.append(helper.make_tensor_value_info(y, net.element, None))


def _function(net: Net, op: str) -> None:
    x = net.source(*_shape(net, (2, 4), 10))
    if op in _POSITIVE and not net.quantised:
        net.positive.add(x)
    if op == "Log" and net.quantised:  # half of the bytes are negative, which have none
        x = net.add("Add", net.add("Abs", x), net.constant(0.05))
    net.result(net.add(op, x, **({"alpha": 0.7} if op == "Celu" else {})))  # by 1, nothing is multiplied


def _slopes(net: Net) -> None:
    """A slope below 0 for each channel, for all, or for each column."""
    shape = [1, net.between(2, 24), net.between(3, 12), net.between(3, 12)]
    inner = net.between(0, 1)
    x = middle(net, *shape[1:]) if inner else net.source(*shape)
    sizes = ((shape[1], 1, 1), (1,), (shape[1], 1, 1), (1, 1, shape[3]))[net.between(0, 3)]
    slope = net.constant(net.rng.normal(0, 0.2, sizes) if net.between(0, 2) else net.rng.uniform(0, 0.3, sizes))
    net.result(net.add("PRelu", x, slope))


def _repeated(net: Net, op: str) -> None:
    """One or more axes of one place become long."""
    shape = _shape(net, (2, 4), 12)
    times = [1] * len(shape)
    for place in net.rng.choice(len(shape) - 1, net.between(1, max(1, len(shape) - 2)), replace=False):
        times[place + 1], shape[place + 1] = net.between(2, 14), net.between(1, 4) if op == "Tile" else 1
    sizes = times if op == "Tile" else [a * b for a, b in zip(shape, times, strict=True)]
    same(net, shape, lambda x: net.add(op, x, net.constant(sizes, np.int64)))


def _spread(net: Net) -> None:
    """A number of each channel at all positions of an image or a line, or numbers of a line in each row."""
    channels, size = net.between(2, 24), [net.between(3, 14) for _ in range(net.between(1, 2))]
    shape = [1, channels, *[1] * len(size)] if net.between(0, 2) else [1, 1, size[-1]]
    sizes = net.constant([1, channels, *(size if len(shape) == len(size) + 2 else size[-1:])], np.int64)
    same(net, shape, lambda x: net.add("Expand", x, sizes))


def _relu_added(net: Net) -> None:
    """A tensor of which much becomes 0, and another one."""
    shape = _shape(net, (3, 4), 14)
    y = net.between_layers(net.add("Relu", net.source(*shape)))
    net.result(net.add("Add", y, net.source(*shape)), 4.0)


def _gathered(net: Net) -> None:
    """Some places of an axis in another order."""
    shape = _shape(net, (2, 4), 16)
    axis = net.between(1, len(shape) - 1)
    places = net.constant(net.rng.integers(0, shape[axis], net.between(2, 16)), np.int64)
    same(net, shape, lambda x: net.add("Gather", x, places, axis=axis))


def _embedded(net: Net) -> None:
    """Rows of a table whose places are inputs."""
    x = f"x{len(net.inputs)}"
    net.inputs.append(helper.make_tensor_value_info(x, TensorProto.INT64, (1, net.between(2, 24))))
    table = net.constant(net.rng.normal(0, 1, (net.between(4, 40), net.between(4, 40))))
    net.result(net.add("Gather", table, x))


def bordered(net: Net) -> None:
    """Borders that repeat what is inside."""
    shape = [1, net.between(1, 8), *(net.between(4, 16) for _ in range(net.between(1, 2)))]
    width = [0, 0, *(net.between(1, 3) for _ in shape[2:])]
    mode = ("reflect", "edge")[net.between(0, 1)]
    same(net, shape, lambda x: net.add("Pad", x, net.constant(width * 2, np.int64), mode=mode))


def _resized(net: Net) -> None:
    """An image of another size, by nearest or by neighbouring numbers."""
    shape, mode = [1, net.between(1, 8), net.between(3, 12), net.between(3, 12)], ("nearest", "linear")
    scales = net.constant([1, 1, *[(0.5, 2, 2, 3)[net.between(0, 3)]] * 2], np.float32)
    same(net, shape, lambda x: net.add("Resize", x, "", scales, mode=mode[net.between(0, 1)]))


def _parted(net: Net) -> None:
    """Two parts along an axis, one of which is a result."""
    shape = _shape(net, (3, 4), 8)
    axis = net.between(1, len(shape) - 1)
    shape[axis] *= 2

    def make(x: str) -> str:
        name = net.add("Split", x, axis=axis, num_outputs=2)
        net.nodes[-1].output.append(f"{name}_other")
        return name

    same(net, shape, make)


def _strided(net: Net) -> None:
    """Every second or third place."""
    shape = _shape(net, (2, 4), 16)
    axis, step = net.between(1, len(shape) - 1), net.between(2, 3)
    limits = [net.constant([value], np.int64) for value in (0, shape[axis], axis, step)]
    same(net, shape, lambda x: net.add("Slice", x, *limits))


def _compared(net: Net) -> None:
    """The larger or the smaller number."""
    shape = _shape(net)
    one_row, one_column = [*[1] * (len(shape) - 1), shape[-1]], [*shape[:-1], 1]
    other = (shape, shape, one_row, one_column)[net.between(0, 3)]
    net.result(net.add(("Max", "Min")[net.between(0, 1)], net.source(*shape), net.source(*other)))


def _masked(net: Net) -> None:
    """Whether numbers are in a range, as numbers."""
    x = net.source(*_shape(net))
    y = net.add("Greater", x, net.constant(-0.5))
    if net.between(0, 1):
        y = net.add(("And", "Or")[net.between(0, 1)], y, net.add("Less", x, net.constant(0.7)))
    net.result(net.add("Cast", net.add("Not", y) if net.between(0, 1) else y, to=TensorProto.FLOAT), 1.0)


def _summed(net: Net) -> None:
    """Three tensors, and one less the other."""
    shape = _shape(net)
    parts = [net.source(*shape) for _ in range(3)]
    y = net.add("Sum", *parts) if net.between(0, 1) else net.add("Mean", *parts)
    net.result(net.add("Sub", net.constant(1), y) if net.between(0, 1) else y, 4.0)


def _reduced(net: Net, op: str) -> None:
    """One axis, or two."""
    shape = _shape(net, (3, 4), 18)
    last = len(shape) - 1
    axes = ([last], [1], [last - 1, last], [last])[net.between(0, 3)]
    x = net.source(*shape)
    if op in ("ReduceSum", "ReduceMax"):
        net.rectified.add(x)
    net.result(net.add(op, x, net.constant(axes, np.int64), keepdims=net.between(0, 1)), 4.0)


def _rectified_mean(net: Net) -> None:
    """The mean along one axis of numbers of which some are 0."""
    x = net.source(1, net.between(3, 24), net.between(3, 20), net.between(3, 20))
    net.rectified.add(x)
    net.result(net.add("ReduceMean", x, net.constant([net.between(1, 3)], np.int64), keepdims=net.between(0, 1)), 1.0)


def _place(net: Net) -> None:
    """The place of the largest or the smallest number."""
    shape, op = _shape(net, (2, 3), 24), ("ArgMax", "ArgMin")[net.between(0, 1)]
    y = net.add(op, net.source(*shape), axis=net.between(1, len(shape) - 1), keepdims=net.between(0, 1))
    net.outputs.append(helper.make_tensor_value_info(y, TensorProto.INT64, None))


def _largest(net: Net) -> None:
    """The largest numbers of each row."""
    rows, columns = net.between(1, 8), net.between(4, 40)
    y = net.add("TopK", net.source(1, rows, columns), net.constant([net.between(1, 4)], np.int64), axis=-1)
    net.nodes[-1].output.append(f"{y}_places")
    net.result(y)


def _running(net: Net) -> None:
    """Sums of all numbers before."""
    shape = _shape(net, (2, 3), 30)
    net.result(net.add("CumSum", net.source(*shape), net.constant(net.between(1, len(shape) - 1), np.int64)), 8.0)


def _normalised(net: Net, op: str) -> None:
    channels = net.between(3, 20)
    x = net.source(1, channels, net.between(3, 14), net.between(3, 14))
    if op == "LRN":
        net.result(net.add(op, x, size=3 + 2 * net.between(0, 1)))
    elif op.startswith("L"):
        net.result(net.add(op, x, axis=(-1, 1)[net.between(0, 1)]))
    else:
        count = 4 if op.startswith("B") else 2
        net.result(net.add(op, x, *(net.constant(net.rng.uniform(0.5, 1.5, channels)) for _ in range(count))))


def _whole_image(net: Net) -> None:
    """A number of each channel of an image at a network's input."""
    op = ("GlobalMaxPool", "GlobalAveragePool")[net.between(0, 1)]
    net.result(net.add(op, net.source(1, net.between(2, 24), net.between(3, 14), net.between(3, 14))), 1.0)


EVERY_KINDS: dict[str, Callable[[Net], None]] = {
    **{op: partial(_function, op=op) for op in _FUNCTIONS},
    "slopes": _slopes,
    "slopes_2": _slopes,
    "expanded": partial(_repeated, op="Expand"),
    "spread": _spread,
    "spread_2": _spread,
    "spread_3": _spread,
    "relu_added": _relu_added,
    "tiled": partial(_repeated, op="Tile"),
    "gathered": _gathered,
    "embedded": _embedded,
    "bordered": bordered,
    "resized": _resized,
    "resized_2": _resized,
    "parted": _parted,
    "strided": _strided,
    "compared": _compared,
    "compared_2": _compared,
    "masked": _masked,
    "summed": _summed,
    **{op: partial(_reduced, op=op) for op in _REDUCTIONS},
    "rectified_mean": _rectified_mean,
    "rectified_mean_2": _rectified_mean,
    "place": _place,
    "largest": _largest,
    "running": _running,
    **{op: partial(_normalised, op=op) for op in _NORMALISED},
    "whole_image": _whole_image,
    **PRODUCT_KINDS,
}
