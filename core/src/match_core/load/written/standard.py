"""Forms of standard operators that no kernel supports: training outputs, masks, scales per block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from match_core.load.written.writer import UnknownFormError, Writer

if TYPE_CHECKING:
    import onnx


def needs_body(node: onnx.NodeProto) -> bool:
    """Whether a node has one of these forms."""
    import onnx

    numbers = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute if a.type == onnx.AttributeProto.INT}
    if node.op_type == "BatchNormalization":
        return bool(numbers.get("training_mode", 0))
    if node.op_type == "Dropout":
        return len(node.output) > 1 or len(node.input) > 2
    return node.op_type == "ReduceLogSumExp" or bool(numbers.get("block_size", 0))


def _batch_normalization(w: Writer) -> None:
    """Batch normalisation with the batch's own mean and variance; the running ones are more results."""
    momentum, epsilon = w.attribute("momentum", 0.9), w.attribute("epsilon", 1e-5)
    axes = w.axes(*(axis for axis in range(w.rank(0)) if axis != 1))
    mean = w.emit("ReduceMean", "in0", axes, keepdims=1)
    centred = w.emit("Sub", "in0", mean)
    found = [
        w.emit("Reshape", statistic, w.axes(-1))
        for statistic in (mean, w.emit("ReduceMean", w.emit("Mul", centred, centred), axes, keepdims=1))
    ]
    w.result(0, w.emit("BatchNormalization", "in0", "in1", "in2", *found, epsilon=epsilon))
    for position, statistic in enumerate(found):
        old = w.emit("Mul", w.input(3 + position), w.like(momentum, 3 + position))
        new = w.emit("Mul", w.emit("CastLike", statistic, w.input(3 + position)), w.like(1 - momentum, 3 + position))
        w.result(1 + position, w.emit("Add", old, new))


def _dropout(w: Writer) -> None:
    """Dropout that drops nothing: a copy, and a mask of ones."""
    training, ratio = w.value(2), w.value(1)
    drops = w.input(2) and (training is None or bool(training.any()))
    if drops and (ratio is None or bool(ratio.any())):
        raise UnknownFormError("it drops elements at random")
    w.result(0, w.emit("Identity", "in0"))
    if w.wants(1):
        w.result(1, w.constant(np.ones(w.shape(0)), np.bool_))


def _per_block(w: Writer, position: int, axis: int, size: int, computed: int) -> str:
    """A tensor with one value per block, converted and repeated along an axis."""
    places = np.arange(w.shape(0)[axis]) // size
    values = w.emit("Cast", w.input(position), to=computed)
    return w.emit("Gather", values, w.constant(places, np.int64), axis=axis)


def _quantize(w: Writer) -> None:
    """QuantizeLinear with a scale per block: ``saturate(round(x / scale) + zero_point)``."""
    import onnx

    axis, size = w.attribute("axis", 1) % w.rank(0), w.attribute("block_size", 0)
    target = w.element(2) if w.input(2) else w.attribute("output_dtype", 0) or onnx.TensorProto.UINT8
    computed = w.element(1)
    scaled = w.emit("Div", w.emit("Cast", "in0", to=computed), _per_block(w, 1, axis, size, computed))
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(target))
    if dtype.name.startswith("float"):
        w.result(0, w.emit("Cast", scaled, to=target, saturate=w.attribute("saturate", 1)))
        return
    value = w.emit("Round", scaled)
    if w.input(2):
        value = w.emit("Add", value, _per_block(w, 2, axis, size, computed))
    bits, unsigned = int("".join(filter(str.isdigit, dtype.name))), dtype.name.startswith("u")
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    w.result(0, w.emit("Cast", w.emit("Clip", value, w.like(low, 1), w.like(high, 1)), to=target))


def _dequantize(w: Writer) -> None:
    """DequantizeLinear with a scale per block: ``(x - zero_point) * scale``."""
    axis, size, result = w.attribute("axis", 1) % w.rank(0), w.attribute("block_size", 0), w.element(1)
    value = w.emit("Cast", "in0", to=result)
    if w.input(2):
        value = w.emit("Sub", value, _per_block(w, 2, axis, size, result))
    w.result(0, w.emit("Mul", value, _per_block(w, 1, axis, size, result)))


def _log_sum_exp(w: Writer) -> None:
    """ReduceLogSumExp in float64 as the standard's body, but from the largest value: no exponential overflows."""
    import onnx

    axes, keep = w.attribute("axes", None), w.attribute("keepdims", 1)
    if axes is not None or w.dtype(0).kind != "f":
        raise UnknownFormError("opsets before 18 and integers keep the standard's body")
    if not keep and w.input(1) and w.value(1) is None:
        raise UnknownFormError("only the model states the shape of the result, so all steps must have that shape")
    given = ["in1"] if w.input(1) else []
    empty = {"noop_with_empty_axes": w.attribute("noop_with_empty_axes", 0)}
    x = w.emit("Cast", "in0", to=onnx.TensorProto.DOUBLE)
    top = w.emit("ReduceMax", x, *given, keepdims=1, **empty)
    top = w.emit("Where", w.emit("IsInf", top), w.constant(0, np.float64), top)
    total = w.emit("ReduceSum", w.emit("Exp", w.emit("Sub", x, top)), *given, keepdims=keep, **empty)
    result = w.emit("Add", w.emit("Log", total), w.emit("ReduceMax", top, *given, keepdims=keep, **empty))
    w.result(0, w.emit("Cast", result, to=w.element(0)))


STANDARD: Mapping[str, Callable[[Writer], None]] = {
    "BatchNormalization": _batch_normalization,
    "Dropout": _dropout,
    "ReduceLogSumExp": _log_sum_exp,
    "QuantizeLinear": _quantize,
    "DequantizeLinear": _dequantize,
}
