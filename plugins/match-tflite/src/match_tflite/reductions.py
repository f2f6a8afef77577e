"""Reductions along axes."""

from __future__ import annotations

import numpy as np

from match_tflite.call import Call, axis_of
from match_tflite.faults import damaged

#: Reductions that have another name in ONNX.
REDUCTIONS = {
    "MEAN": "ReduceMean",
    "SUM": "ReduceSum",
    "REDUCE_MAX": "ReduceMax",
    "REDUCE_MIN": "ReduceMin",
    "REDUCE_PROD": "ReduceProd",
}


def reduce(call: Call) -> None:
    """A reduction; the mean over an image becomes a pooling."""
    tensor, kept = call.input(0), bool(call.option("KeepDims"))
    axes = sorted({axis_of(call, axis, tensor.rank) for axis in call.integers(1, "axes")})
    if call.operator.kind == "MEAN" and tensor.rank == 4 and axes == [1, 2]:
        _mean_over_image(call, kept)
        return
    inputs = [call.real(0), call.constant("axes", np.array(axes, np.int64))]
    operator = REDUCTIONS[call.operator.kind]
    call.give_real(call.node(operator, inputs, keepdims=int(kept), noop_with_empty_axes=1))


def _mean_over_image(call: Call, kept: bool) -> None:
    """The mean over height and width, with or without these axes in the result."""
    result, tensor = call.node("GlobalAveragePool", [call.real(0, planes=True)]), call.output()
    if kept:
        call.give_real(result, planes=True)
        return
    image = call.input(0).shape
    call.give(call.reshaped(call.quantised(result, tensor), image[0] * image[3]))


def arg(call: Call) -> None:
    """ARG_MAX and ARG_MIN, of the stored integers if the input is quantised."""
    import onnx

    values = call.integers(1, "axis")
    if len(values) != 1:
        raise damaged(call.where, f"it has {len(values)} axes")
    operator = "ArgMax" if call.operator.kind == "ARG_MAX" else "ArgMin"
    axis = axis_of(call, values[0], call.input(0).rank)
    index = call.node(operator, [call.stored(0)], axis=axis, keepdims=0)
    if call.output().dtype != np.int64:
        index = call.node("Cast", [index], to=int(onnx.helper.np_dtype_to_tensor_dtype(call.output().dtype)))
    call.give(index)
