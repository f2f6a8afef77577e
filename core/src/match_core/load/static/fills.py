"""Operators that fill a tensor from a few numbers. If the numbers are known, the result is a constant. If the numbers
come from data and the model states the size of the result, run-time operators of that size replace the node."""

from __future__ import annotations

from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from match_core.load.static.pieces import concat, integers
from match_core.load.static.values import Array, Call, Value

if TYPE_CHECKING:
    from match_core.load.static.walk import Walk

#: The program computes larger results.
_MOST_ELEMENTS = 1 << 20
#: Accumulator types that differ from the element type, as in the standard's body of Range.
_SUMMED = {"float16": "float32", "bfloat16": "float32", "int16": "int32"}


def take_range(walk: Walk, call: Call) -> list[Value] | None:
    """Range as repeated addition of the step, like ONNX Runtime and the standard's body: float sums depend on it."""
    import onnx

    names = [walk.tensor(value, call) for value in call.inputs]
    given = [walk.values(name) for name in names]
    if len(names) != 3 or any(values is not None and values.size != 1 for values in given):
        return None
    start, limit, step = (None if values is None else values.reshape(()) for values in given)
    if start is not None and limit is not None and step is not None:
        count = range_length(start, limit, step)
        if count is None or count > _MOST_ELEMENTS:
            return None
        return [walk.constant(_added(start, step, count), f"{call.path}/range")]
    shape = call.stated(0)
    kind = walk.types.get(names[0])
    if shape is None or len(shape) != 1 or kind is None or shape[0] > _MOST_ELEMENTS:
        return None
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type))
    if shape[0] == 0:
        return [walk.constant(np.zeros(0, dtype), f"{call.path}/range")]
    summed = _SUMMED.get(dtype.name, dtype.name)
    parts = [_vector(walk, call, names[0], 1, dtype.name, summed)]
    if shape[0] > 1:
        parts.append(_vector(walk, call, names[2], shape[0] - 1, dtype.name, summed))
    joined = concat(walk, call, parts, 0)
    total = walk.emit(call, "CumSum", [joined, integers(walk, call, 0, "axis")], "sums")[0]
    return [_cast(walk, call, total, summed, dtype.name)]


def range_length(start: Array, limit: Array, step: Array) -> int | None:
    """The number of values in a Range; None if that is not finite."""
    first, last, by = (float(values) for values in (start, limit, step))
    count = (last - first) / by if by else float("nan")
    return max(0, ceil(count)) if np.isfinite(count) else None


def _added(start: Array, step: Array, count: int) -> Array:
    dtype = start.dtype
    wide = np.dtype(_SUMMED.get(dtype.name, dtype.name))
    values = np.full(count, step.astype(wide))
    values[:1] = start.astype(wide)
    with np.errstate(all="ignore"):
        return np.cumsum(values, dtype=wide).astype(dtype)


def _vector(walk: Walk, call: Call, name: str, count: int, dtype: str, summed: str) -> str:
    """A vector of ``count`` copies of a number that the program computes."""
    single = walk.emit(call, "Reshape", [name, integers(walk, call, [1], "shape")], "single")[0]
    single = _cast(walk, call, single, dtype, summed)
    if count == 1:
        return single
    return walk.emit(call, "Expand", [single, integers(walk, call, [count], "count")], "steps")[0]


def _cast(walk: Walk, call: Call, name: str, dtype: str, wanted: str) -> str:
    import ml_dtypes
    import onnx

    if dtype == wanted:
        return name
    to = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(getattr(ml_dtypes, wanted, wanted)))
    return walk.emit(call, "Cast", [name], "cast", to=to)[0]


def take_constant_of_shape(walk: Walk, call: Call) -> list[Value] | None:
    """ConstantOfShape as a constant of known or stated size; a large result repeats one number at run time."""
    import onnx

    values = walk.values(call.input(0))
    shape = call.stated(0) if values is None else tuple(int(size) for size in values.reshape(-1))
    if shape is None or any(size < 0 for size in shape):
        return None
    value = call.attribute("value")
    fill = onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.zeros(1, np.float32)
    if fill.size != 1:
        return None
    if prod(shape) <= _MOST_ELEMENTS >> 8 or len(shape) == 0:
        return [walk.constant(np.full(shape, fill.reshape(())), f"{call.path}/fill")]
    single = walk.constant(fill.reshape(1), f"{call.path}/value")
    return [*walk.emit(call, "Expand", [single, integers(walk, call, shape, "shape")], "fill")]
