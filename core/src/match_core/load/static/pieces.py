"""Small groups of operators that replace loops and sequences."""

from __future__ import annotations

from collections.abc import Sequence as Many
from typing import TYPE_CHECKING

import numpy as np

from match_core.load.static.values import Call, Value

if TYPE_CHECKING:
    from match_core.load.static.walk import Walk


def integers(walk: Walk, call: Call, values: Many[int] | int, what: str) -> str:
    """A constant of int64."""
    return walk.constant(np.array(values, np.int64), f"{call.path}/{what}")


def element(walk: Walk, call: Call, value: Value, index: int, axis: int) -> str:
    """The slice at an index of an axis, without the axis."""
    where = integers(walk, call, index, "index")
    return walk.emit(call, "Gather", [walk.tensor(value, call), where], "element", axis=axis)[0]


def unsqueeze(walk: Walk, call: Call, value: Value, axis: int) -> str:
    """The tensor with one more axis of size 1. ``axis`` is a position in the result; a negative one requires a known
    rank if the opset does not allow negative axes."""
    name = walk.tensor(value, call)
    if walk.version >= 13:
        return walk.emit(call, "Unsqueeze", [name, integers(walk, call, [axis], "axis")], "row")[0]
    shape = walk.shape(name)
    axis += len(shape) + 1 if axis < 0 and shape is not None else 0
    return walk.emit(call, "Unsqueeze", [name], "row", axes=[axis])[0]


def squeeze(walk: Walk, call: Call, value: Value, axis: int) -> str:
    """The tensor without an axis of size 1."""
    name = walk.tensor(value, call)
    if walk.version >= 13:
        return walk.emit(call, "Squeeze", [name, integers(walk, call, [axis], "axis")], "single")[0]
    shape = walk.shape(name)
    axis += len(shape) if axis < 0 and shape is not None else 0
    return walk.emit(call, "Squeeze", [name], "single", axes=[axis])[0]


def concat(walk: Walk, call: Call, names: Many[str], axis: int) -> str:
    """The tensors concatenated along an axis."""
    if len(names) == 1:
        return names[0]
    shape = walk.shape(names[0])
    axis += len(shape) if axis < 0 and shape is not None else 0
    return walk.emit(call, "Concat", names, "rows", axis=axis)[0]


def stack(walk: Walk, call: Call, values: Many[Value], axis: int, output: str = "") -> str:
    """The tensors stacked along a new axis; without any, an empty one of the type that the body states for it."""
    if values:
        return concat(walk, call, [unsqueeze(walk, call, value, axis) for value in values], axis)
    import onnx

    body = next(attribute.g for attribute in call.node.attribute if attribute.HasField("g"))
    stated = next((value.type.tensor_type for value in body.output if value.name == output), None)
    element_type = stated.elem_type if stated is not None and stated.elem_type else onnx.TensorProto.FLOAT
    sizes = [dim.dim_value for dim in stated.shape.dim] if stated is not None else []
    sizes.insert(axis if axis >= 0 else axis + len(sizes) + 1, 0)
    return walk.constant(np.zeros(sizes, onnx.helper.tensor_dtype_to_np_dtype(element_type)), f"{call.path}/no_rows")


def select(walk: Walk, call: Call, flag: str, then: str, other: str) -> str:
    """One of two tensors of the same shape, selected by a single truth value of any rank."""
    if walk.shape(flag) != ():
        flag = walk.emit(call, "Reshape", [flag, integers(walk, call, [], "scalar")], "flag")[0]
    return walk.emit(call, "Where", [flag, then, other], "select")[0]
