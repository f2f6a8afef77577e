"""Operators on int16 activations, bit for bit as TFLite's reference kernels compute them.

Products with int8 weights are two products of 8 bits: of the lower and the upper bytes. Each function returns whether
it has translated the operator; if not, the operator stays one on real numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from match_tflite import convolutions, tables16
from match_tflite.call import Call, axis_of
from match_tflite.elementwise import fit_planes
from match_tflite.fixed_point import Fixed, Ints
from match_tflite.graph import TO_PLANES
from match_tflite.model import Tensor

#: Products of fewer bytes fit 32 bits.
_MOST_PRODUCTS = (1 << 31) // (255 * 128)
#: Windows of fewer values have sums that float32 holds.
_MOST_SUMMED = 1 << 9
#: Bits that TFLite adds to summands before it scales them.
_LEFT = 15
_RELU, _RELU_N1_TO_1, _RELU6 = 1, 2, 3
_BOUNDS = {_RELU: (0.0, np.inf), _RELU_N1_TO_1: (-1.0, 1.0), _RELU6: (0.0, 6.0)}


def is_int16(call: Call) -> bool:
    """Whether the operator has an implementation on integers and its result is one of int16, or becomes one of
    another type."""
    if call.operator.kind not in INT16:
        return False
    kinds = [call.graph.file.tensors[index] for index in (*call.operator.inputs[:1], *call.operator.outputs)]
    return any(tensor.dtype == np.int16 and tensor.quantisation is not None for tensor in kinds)


def _symmetric(tensor: Tensor) -> float | None:
    """The scale of an int16 tensor without zero point, else None."""
    quantisation = tensor.quantisation
    if tensor.dtype != np.int16 or quantisation is None or not quantisation.per_tensor:
        return None
    return float(quantisation.scales[0]) if quantisation.zero_points[0] == 0 else None


def _scales(call: Call, count: int) -> list[float] | None:
    """Scales of the first ``count`` inputs and of the result, if all of them are int16."""
    if call.input_count < count:
        return None
    found = [_symmetric(tensor) for tensor in (*(call.input(i) for i in range(count)), call.output())]
    return [scale for scale in found if scale is not None] if None not in found else None


def _give(call: Call, fixed: Fixed, name: str, planes: bool = False) -> None:
    """Integers as the result, within the bounds of its type and of the fused activation function."""
    quantisation = call.output().quantisation
    assert quantisation is not None
    limits, zero = np.iinfo(call.output().dtype), int(quantisation.zero_points[0])
    low, high = _BOUNDS.get(call.option("FusedActivationFunction", 0), (-np.inf, np.inf))
    steps = [np.clip(bound / float(quantisation.scales[0]), -1e9, 1e9) for bound in (low, high)]
    ends = [int(np.sign(step) * np.floor(abs(step) + 0.5)) + zero for step in steps]
    bounded = fixed.clipped(name, max(ends[0], int(limits.min)), min(ends[1], int(limits.max)))
    call.give(fixed.narrow(bounded, call.output().dtype), planes)


def _can_activate(call: Call) -> bool:
    return call.option("FusedActivationFunction", 0) in (0, *_BOUNDS)


def _bytes(call: Call, name: str) -> tuple[str, str]:
    """Lower bytes, and upper bytes plus 128, as uint8."""
    fixed = Fixed(call)
    wide = fixed.wide(name)
    low = fixed.node("Mod", wide, 256)
    high = fixed.node("Add", fixed.halves(wide, 256), 128)
    return call.node("Cast", [low], to=2), call.node("Cast", [high], to=2)


def _products(call: Call, op: str, x: str, weights: str, **attributes: object) -> str:
    """Sums of products of int16 and int8, in int64."""
    fixed = Fixed(call)
    low, high = _bytes(call, x)
    sums = []
    for part, zero in ((low, 0), (high, 128)):
        inputs = [part, weights, call.constant("zero", np.array(zero, np.uint8))]
        sums.append(fixed.wide(call.node(op, inputs, **attributes)))
    return fixed.node("Add", fixed.node("Mul", sums[1], 256), sums[0])


def _weights(call: Call) -> Ints | None:
    """Constant int8 weights without zero point."""
    tensor, values = call.input(1), call.graph.known(call.index(1))
    plain = tensor.quantisation is not None and not tensor.quantisation.zero_points.any()
    return values if values is not None and values.dtype == np.int8 and plain else None  # type: ignore[return-value]


def _has_biases(call: Call, count: int) -> bool:
    """Whether there are no biases, or one constant integer for each result."""
    values = call.graph.known(call.index(2)) if call.has(2) else np.zeros(count, np.int64)
    return values is not None and values.dtype in (np.int32, np.int64) and values.shape == (count,)


def _scaled_sums(call: Call, sums: str, shape: tuple[int, ...], reals: NDArray[np.float64]) -> str:
    """Sums and biases times factors."""
    fixed = Fixed(call)
    if not call.has(2):
        return fixed.scaled_wide(sums, reals)
    values = call.constant_of(2, "biases")
    total = fixed.node("Add", sums, values.astype(np.int64).reshape(shape))
    return fixed.scaled(total, reals) if values.dtype == np.int32 else fixed.scaled_wide(total, reals)


def _convolution(call: Call) -> bool:
    x, y, weights = _symmetric(call.input(0)), _symmetric(call.output()), _weights(call)
    quantisation = call.input(1).quantisation
    if x is None or y is None or weights is None or quantisation is None or not _can_activate(call):
        return False
    of_kind = convolutions.of_conv if call.operator.kind == "CONV_2D" else convolutions.of_depthwise
    order, kernel, group = of_kind(call)
    filters = weights.transpose(order)
    if filters[0].size >= _MOST_PRODUCTS or quantisation.scales.size not in (1, filters.shape[0]):
        return False
    if not _has_biases(call, filters.shape[0]):
        return False
    attributes = convolutions.windows_of(call, kernel)
    name = call.graph.constant(f"{call.input(1).name}_weights", filters)
    sums = _products(call, "ConvInteger", call.stored(0, planes=True), name, group=group, **attributes)
    reals = (x * quantisation.scales.astype(np.float64) / y).reshape(-1, 1, 1)
    _give(call, Fixed(call), _scaled_sums(call, sums, (1, -1, 1, 1), reals), planes=True)
    return True


def _dense(call: Call) -> bool:
    x, y, weights = _symmetric(call.input(0)), _symmetric(call.output()), _weights(call)
    quantisation = call.input(1).quantisation
    if x is None or y is None or weights is None or quantisation is None or not _can_activate(call):
        return False
    if (
        weights.ndim != 2
        or not weights.shape[1]
        or call.input(0).size % weights.shape[1]
        or call.option("WeightsFormat", 0)
    ):
        return False
    columns, depth = weights.shape
    rows = call.input(0).size // depth
    if depth >= _MOST_PRODUCTS or quantisation.scales.size not in (1, columns) or call.output().size != rows * columns:
        return False
    if not _has_biases(call, columns):
        return False
    values = call.graph.reshape(call.graph.read_flat(call.index(0)), [rows, depth])
    sums = _products(call, "MatMulInteger", values, call.turned_weights(1))
    per_tensor = quantisation.per_tensor  # of one scale, the kernel multiplies in float32
    reals = (np.float32(x) * quantisation.scales).astype(np.float64) / y
    reals = reals if per_tensor else x * quantisation.scales.astype(np.float64) / y
    scaled = _scaled_sums(call, sums, (1, -1), reals)
    _give(call, Fixed(call), call.graph.reshape(scaled, list(call.output().shape)))
    return True


def _operands(call: Call, planes: bool) -> list[str]:
    """Both operands in int64, ready to broadcast."""
    fixed, names = Fixed(call), []
    for position in range(2):
        tensor = call.input(position)
        if planes and tensor.rank != 4 and tensor.size != 1:
            values = call.constant_of(position, "operands")
            image = values.reshape((1,) * (4 - tensor.rank) + tensor.shape).transpose(TO_PLANES)
            names.append(fixed.number(image.astype(np.int64)))
        else:
            names.append(fixed.wide(call.stored(position, planes and tensor.rank == 4)))
    return names


def _sum(call: Call) -> bool:
    """ADD and SUB: summands are scaled to twice the larger scale with 15 more bits, and so is the sum."""
    scales = _scales(call, 2)
    if scales is None or not _can_activate(call):
        return False
    fixed, planes = Fixed(call), fit_planes(call, range(2))
    unit = 2 * max(scales[:2])
    a, b = (
        fixed.scaled(fixed.node("Mul", name, 1 << _LEFT), scale / unit)
        for name, scale in zip(_operands(call, planes), scales[:2], strict=True)
    )
    total = fixed.node("Add" if call.operator.kind == "ADD" else "Sub", a, b)
    _give(call, fixed, fixed.scaled(total, unit / ((1 << _LEFT) * scales[2])), planes)
    return True


def _product(call: Call) -> bool:
    scales = _scales(call, 2)
    if scales is None or not _can_activate(call):
        return False
    fixed, planes = Fixed(call), fit_planes(call, range(2))
    a, b = _operands(call, planes)
    # The kernel computes the factor in float32.
    factor = np.float32(scales[0]) * np.float32(scales[1]) / np.float32(scales[2])
    _give(call, fixed, fixed.scaled(fixed.node("Mul", a, b), float(factor)), planes)
    return True


def _function(call: Call) -> bool:
    """LOGISTIC and TANH: results of 15 fractional bits by the table of sigmoid."""
    scales = _scales(call, 1)
    if scales is None or scales[1] != 2.0**-15:
        return False
    fixed, planes = Fixed(call), call.is_planes(0)
    x = fixed.wide(call.stored(0, planes))
    if call.operator.kind == "LOGISTIC":
        name = tables16.sigmoid(fixed, x, *tables16.table_input(scales[0], (0,)))
    else:
        name = tables16.tanh(fixed, x, *tables16.table_input(scales[0], (0, 1)))
    _give(call, fixed, name, planes)
    return True


def _softmax(call: Call) -> bool:
    scales = _scales(call, 1)
    if scales is None or scales[1] != 2.0**-15 or not call.input(0).rank:
        return False
    fixed = Fixed(call)
    _give(call, fixed, tables16.softmax(fixed, fixed.wide(call.stored(0)), call.number("Beta") * scales[0]))
    return True


def _rescaled(call: Call) -> bool:
    """QUANTIZE between quantised tensors, RELU, RELU6, RELU_N1_TO_1."""
    x, y = call.input(0).quantisation, call.output().quantisation
    if x is None or y is None or not (x.per_tensor and y.per_tensor):
        return False
    if call.input(0).dtype.itemsize > 2 or call.output().dtype.itemsize > 2:
        return False
    fixed, planes = Fixed(call), call.is_planes(0)
    centred = fixed.node("Sub", fixed.wide(call.stored(0, planes)), int(x.zero_points[0]))
    scaled = fixed.scaled(centred, float(x.scales[0]) / float(y.scales[0]))
    low, high = {"RELU": (0.0, 1e9), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}.get(
        call.operator.kind, (-1e9, 1e9)
    )
    ends = [int(np.floor(np.clip(bound / float(y.scales[0]), -1e9, 1e9) + 0.5)) for bound in (low, high)]
    clipped = fixed.clipped(scaled, *ends) if call.operator.kind != "QUANTIZE" else scaled
    _give(call, fixed, fixed.node("Add", clipped, int(y.zero_points[0])), planes)
    return True


def _quotient(fixed: Fixed, sums: str, counts: Ints) -> str:
    """Rounded to the nearest, ties away from zero."""
    half = counts // 2
    is_negative = fixed.node("Less", sums, 0)
    moved = fixed.call.node("Where", [is_negative, fixed.node("Sub", sums, half), fixed.node("Add", sums, half)])
    return fixed.node("Div", moved, counts)


def _average_pool(call: Call) -> bool:
    scales = _scales(call, 1)
    kernel = convolutions.filter_of(call)
    if scales is None or scales[0] != scales[1] or kernel[0] * kernel[1] >= _MOST_SUMMED or not _can_activate(call):
        return False
    if call.input(0).rank != 4 or call.output().rank != 4:
        return False
    fixed, channels = Fixed(call), call.input(0).shape[3]
    attributes = convolutions.windows(call, kernel, (1, 1))
    reals = call.node("Cast", [call.stored(0, planes=True)], to=1)
    ones = call.constant("ones", np.ones((channels, 1, *kernel), np.float32))
    sums = fixed.wide(call.node("Conv", [reals, ones], group=channels, **attributes))
    _give(call, fixed, _quotient(fixed, sums, _counts(call, kernel, attributes)), planes=True)
    return True


def _counts(call: Call, kernel: tuple[int, int], attributes: dict[str, list[int]]) -> Ints:
    """How many values of the image each window has."""
    columns = []
    for axis in range(2):
        size, taps, stride = call.input(0).shape[1 + axis], kernel[axis], attributes["strides"][axis]
        starts = np.arange(call.output().shape[1 + axis]) * stride - attributes["pads"][axis]
        columns.append(np.minimum(starts + taps, size) - np.maximum(starts, 0))
    return np.maximum(np.outer(*columns), 1).astype(np.int64)


def _mean(call: Call) -> bool:
    """Sums, times the factor of the scales divided by the count."""
    scales = _scales(call, 1)
    if scales is None:
        return False
    shape = call.input(0).shape
    axes = sorted({axis_of(call, axis, len(shape)) for axis in call.integers(1, "axes")})
    count = int(np.prod([shape[axis] for axis in axes], dtype=np.int64))
    if not axes or not 0 < count < 1 << 16:
        return False
    fixed = Fixed(call)
    inputs = [fixed.wide(call.stored(0)), fixed.number(np.array(axes))]
    sums = call.node("ReduceSum", inputs, keepdims=int(bool(call.option("KeepDims"))))
    _give(call, fixed, fixed.divided(sums, scales[0] / scales[1], count))
    return True


def _max_pool(call: Call) -> bool:
    if not call.same_values() or not _can_activate(call):
        return False
    fixed, kernel = Fixed(call), convolutions.filter_of(call)
    reals = call.node("Cast", [call.stored(0, planes=True)], to=1)
    attributes = convolutions.windows(call, kernel, (1, 1))
    _give(call, fixed, fixed.wide(call.node("MaxPool", [reals], **attributes)), planes=True)
    return True


INT16: dict[str, Callable[[Call], bool]] = {
    "CONV_2D": _convolution,
    "DEPTHWISE_CONV_2D": _convolution,
    "FULLY_CONNECTED": _dense,
    "ADD": _sum,
    "SUB": _sum,
    "MUL": _product,
    "LOGISTIC": _function,
    "TANH": _function,
    "SOFTMAX": _softmax,
    "QUANTIZE": _rescaled,
    "RELU": _rescaled,
    "RELU6": _rescaled,
    "RELU_N1_TO_1": _rescaled,
    "AVERAGE_POOL_2D": _average_pool,
    "MAX_POOL_2D": _max_pool,
    "MEAN": _mean,
}
