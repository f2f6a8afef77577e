"""Operators that move values: reshape, transpose, slice, join, repeat, gather."""

from __future__ import annotations

from math import prod

import numpy as np

from match_tflite.call import Call, axis_of
from match_tflite.faults import damaged
from match_tflite.graph import FROM_PLANES, TO_PLANES


def reshape(call: Call) -> None:
    """RESHAPE, SQUEEZE, EXPAND_DIMS: the result's shape is in the file."""
    flat, same = call.graph.read_flat(call.index(0)), call.same_values()
    values = flat if same else call.dequantised(flat, call.input(0))
    call.give_moved(call.reshaped(values, call.input(0).size), same)


def transpose(call: Call) -> None:
    """TRANSPOSE; planes are not transposed twice."""
    rank, planes = call.input(0).rank, call.is_planes(0)
    order = call.integers(1, "order of axes")
    if sorted(order) != list(range(rank)):
        raise damaged(call.where, f"its order of axes is {order[:8]} for {rank} axes")
    x, same = call.moved(0, planes)
    perm = [TO_PLANES.index(axis) for axis in order] if planes else order
    call.give_moved(x if perm == sorted(perm) else call.node("Transpose", [x], perm=perm), same)


def concatenation(call: Call) -> None:
    """CONCATENATION; inputs may have different scales."""
    positions = range(call.input_count)
    planes = any(call.is_planes(position) for position in positions) and call.output().rank == 4
    planes = planes and all(call.input(position).rank == 4 for position in positions)
    axis = axis_of(call, call.option("Axis"), call.output().rank)
    inputs = [call.real(position, planes) for position in positions]
    result = call.node("Concat", inputs, axis=TO_PLANES.index(axis) if planes else axis)
    call.give_real(call.activated(result), planes)


def pack(call: Call) -> None:
    """PACK: tensors of one shape, stacked along a new axis."""
    rank = call.output().rank
    axis = axis_of(call, call.option("Axis"), rank)
    inputs = []
    for position in range(call.input_count):
        shape = list(call.input(position).shape)
        one = call.graph.reshape(call.graph.read_flat(call.index(position)), [*shape[:axis], 1, *shape[axis:]])
        inputs.append(call.dequantised(one, call.input(position)))
    call.give_real(call.node("Concat", inputs, axis=axis))


def unpack(call: Call) -> None:
    """UNPACK: the slices along an axis, without it."""
    axis = axis_of(call, call.option("Axis"), call.input(0).rank)
    if call.input(0).shape[axis] != call.output_count:
        raise damaged(call.where, f"{call.input(0).shape[axis]} slices do not match {call.output_count} results")
    for position in range(call.output_count):
        x, same = call.moved(0)
        index = call.constant("index", np.array(position, np.int64))
        call.give_moved(call.node("Gather", [x, index], axis=axis), same, position=position)


def split(call: Call) -> None:
    """SPLIT (axis, tensor) into equal parts."""
    axis = _single(call, 0, "axis")
    _split(call, 1, axis, [call.input(1).shape[axis_of(call, axis, call.input(1).rank)] // call.output_count])


def split_v(call: Call) -> None:
    """SPLIT_V (tensor, sizes, axis)."""
    _split(call, 0, _single(call, 2, "axis"), call.integers(1, "sizes"))


def _split(call: Call, position: int, given: int, sizes: list[int]) -> None:
    tensor = call.input(position)
    axis = axis_of(call, given, tensor.rank)
    sizes = sizes * call.output_count if len(sizes) == 1 else sizes
    rest = tensor.shape[axis] - sum(size for size in sizes if size >= 0)
    sizes = [rest if size == -1 else size for size in sizes]
    if len(sizes) != call.output_count or sum(sizes) != tensor.shape[axis] or min(sizes) < 0:
        raise damaged(call.where, f"{tensor.shape[axis]} elements are split into {sizes[:8]}")
    start = 0
    for part, size in enumerate(sizes):
        begin, end = [0] * tensor.rank, list(tensor.shape)
        begin[axis], end[axis] = start, start + size
        _cut(call, position, (begin, end, [1] * tensor.rank), part)
        start += size


def _cut(call: Call, position: int, bounds: tuple[list[int], list[int], list[int]], part: int = 0) -> None:
    """Elements from ``bounds``[0] to [1] in steps of [2]; a result with fewer axes is reshaped."""
    planes = call.is_planes(position)
    tensor, result = call.input(position), call.output(part)
    same = call.same_values(range(position, position + 1))
    x = call.stored(position, planes) if same else call.real(position, planes)
    order = TO_PLANES if planes else tuple(range(tensor.rank))
    if not order:
        raise damaged(call.where, "its input is a scalar")
    rows = {name: [values[axis] for axis in order] for name, values in zip(("starts", "ends"), bounds, strict=False)}
    inputs = [x, *(call.constant(name, np.array(row, np.int64)) for name, row in rows.items())]
    inputs.append(call.constant("axes", np.arange(tensor.rank, dtype=np.int64)))
    inputs.append(call.constant("steps", np.array([bounds[2][axis] for axis in order], np.int64)))
    name = call.node("Slice", inputs)
    if result.rank == tensor.rank:
        call.give_moved(name, same, planes, part)
        return
    if planes:
        name = call.node("Transpose", [name], perm=list(FROM_PLANES))
    taken = prod(len(range(b, e if e >= 0 else -1, s)) for b, e, s in zip(*bounds, strict=True))
    call.give_moved(call.reshaped(name, taken, part), same, position=part)


def slice_(call: Call) -> None:
    """SLICE: begins and sizes; size -1 means the rest of the axis."""
    shape = call.input(0).shape
    begin, sizes = call.integers(1, "begins"), call.integers(2, "sizes")
    if not len(begin) == len(sizes) == len(shape):
        raise damaged(call.where, f"it has {len(begin)} begins and {len(sizes)} sizes for {len(shape)} axes")
    end = [length if size == -1 else b + size for b, size, length in zip(begin, sizes, shape, strict=True)]
    if any(not 0 <= b <= e <= length for b, e, length in zip(begin, end, shape, strict=True)):
        raise damaged(call.where, f"it reads elements {begin[:8]} to {end[:8]} of shape {list(shape)[:8]}")
    _cut(call, 0, (begin, end, [1] * len(shape)))


def strided_slice(call: Call) -> None:
    """STRIDED_SLICE with its masks, except masks that create axes."""
    shape = call.input(0).shape
    if call.option("EllipsisMask") or call.option("NewAxisMask") or call.option("Offset"):
        raise call.refuse("it has a mask for new axes or an ellipsis, or ends relative to begins")
    begin, end, steps = (call.integers(i, what) for i, what in ((1, "begins"), (2, "ends"), (3, "strides")))
    if not len(begin) == len(end) == len(steps) <= len(shape) or 0 in steps:
        raise damaged(
            call.where, f"it has begins {begin[:8]}, ends {end[:8]}, strides {steps[:8]} for {len(shape)} axes"
        )
    masks = [call.option(name) for name in ("BeginMask", "EndMask", "ShrinkAxisMask")]
    bounds: list[tuple[int, int, int]] = []
    for axis, length in enumerate(shape):
        if axis >= len(begin):
            bounds.append((0, length, 1))
            continue
        open_begin, open_end, shrinks = (bool(mask >> axis & 1) for mask in masks)
        if shrinks:
            start = begin[axis] % length if -length <= begin[axis] < length else length
            bounds.append((start, start + 1, 1))
            continue
        given = slice(None if open_begin else begin[axis], None if open_end else end[axis], steps[axis])
        start, stop, step = given.indices(length)
        # Backwards to the first element: ONNX reads an end of -1 as the last element.
        bounds.append((start, stop if stop >= 0 else -length - 1, step))
    _cut(call, 0, ([b for b, _, _ in bounds], [e for _, e, _ in bounds], [s for _, _, s in bounds]))


def gather(call: Call) -> None:
    """GATHER along one axis."""
    if call.option("BatchDims", 0):
        raise call.refuse("it gathers in each batch separately", "gather along one axis of the whole tensor")
    x, same = call.moved(0)
    indices = call.stored(1)
    axis = axis_of(call, call.option("Axis", 0), call.input(0).rank)
    call.give_moved(call.node("Gather", [x, indices], axis=axis), same)


def tile(call: Call) -> None:
    """TILE."""
    counts = np.array(call.integers(1, "counts"), np.int64)
    x, same = call.moved(0)
    call.give_moved(call.node("Tile", [x, call.constant("counts", counts)]), same)


def broadcast_to(call: Call) -> None:
    """BROADCAST_TO, and FILL (shape, value): the result's shape is in the file."""
    position = 1 if call.operator.kind == "FILL" else 0
    same = call.same_values(range(position, position + 1))
    x = call.stored(position) if same else call.real(position)
    shape = call.constant("shape", np.array(call.output().shape, np.int64))
    call.give_moved(call.node("Expand", [x, shape]), same)


def shape(call: Call) -> None:
    """SHAPE: sizes are in the file."""
    call.fold(np.array(call.input(0).shape, call.output().dtype))


def rank(call: Call) -> None:
    """RANK."""
    call.fold(np.array(call.input(0).rank, call.output().dtype))


def _single(call: Call, position: int, what: str) -> int:
    values = call.integers(position, what)
    if len(values) != 1:
        raise damaged(call.where, f"it has {len(values)} values for its {what}")
    return values[0]
