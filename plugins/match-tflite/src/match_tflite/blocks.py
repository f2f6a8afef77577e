"""Blocks of pixels as images of a batch, reversed axes, running sums, quotients that round down."""

from __future__ import annotations

import numpy as np

from match_tflite.call import Call, axis_of
from match_tflite.faults import damaged


def space_to_batch(call: Call) -> None:
    """SPACE_TO_BATCH_ND of images: pixel (row, column) of each block goes to image row * width + column."""
    (batch, height, width, channels), (rows, columns), around = _form(call, call.input(0).shape)
    height, width = height + sum(around[0]), width + sum(around[1])
    if height % rows or width % columns:
        raise damaged(call.where, f"blocks of {rows} x {columns} do not fill images of {height} x {width}")
    ends = [0, around[0][0], around[1][0], 0, 0, around[0][1], around[1][1], 0]
    padded = call.node("Pad", [call.real(0), call.constant("pads", np.array(ends, np.int64))])
    cut = call.graph.reshape(padded, [batch, height // rows, rows, width // columns, columns, channels])
    turned = call.node("Transpose", [cut], perm=[2, 4, 0, 1, 3, 5])
    call.give_real(call.reshaped(turned, batch * height * width * channels))


def batch_to_space(call: Call) -> None:
    """BATCH_TO_SPACE_ND, the reverse, with borders cut off."""
    (batch, height, width, channels), (rows, columns), around = _form(call, call.input(0).shape)
    if batch % (rows * columns):
        raise damaged(call.where, f"{batch} images are not a multiple of blocks of {rows} x {columns}")
    batch, wide = batch // (rows * columns), (height * rows, width * columns)
    x, same = call.moved(0)
    cut = call.graph.reshape(x, [rows, columns, batch, height, width, channels])
    turned = call.node("Transpose", [cut], perm=[2, 3, 0, 4, 1, 5])
    whole = call.graph.reshape(turned, [batch, *wide, channels])
    bounds = ([pair[0] for pair in around], [size - pair[1] for size, pair in zip(wide, around, strict=True)], [1, 2])
    if min(bounds[0]) < 0 or any(end < begin for begin, end in zip(bounds[0], bounds[1], strict=True)):
        raise damaged(call.where, f"it cuts {around} off images of {wide[0]} x {wide[1]}")
    inputs = [call.constant("bounds", np.array(bound, np.int64)) for bound in bounds]
    call.give_moved(call.node("Slice", [whole, *inputs]), same)


def _form(
    call: Call, shape: tuple[int, ...]
) -> tuple[tuple[int, int, int, int], tuple[int, int], list[tuple[int, int]]]:
    """Shape of the images, of the blocks, and the amounts before and after height and width."""
    blocks, amounts = call.integers(1, "blocks"), call.integers(2, "amounts")
    if len(shape) != 4 or len(blocks) != 2:
        raise call.refuse(f"it has {len(blocks)} sizes of blocks for {len(shape)} axes", "use images with two")
    if len(amounts) != 4 or min(blocks) < 1 or min(amounts) < 0 or 0 in shape:
        raise damaged(call.where, f"its blocks are {blocks}, its amounts {amounts[:8]}")
    batch, height, width, channels = shape
    pairs = list(zip(amounts[::2], amounts[1::2], strict=True))
    return (batch, height, width, channels), (blocks[0], blocks[1]), pairs


def reverse(call: Call) -> None:
    """REVERSE_V2 along constant axes."""
    rank = call.input(0).rank
    axes = sorted({axis_of(call, axis, rank) for axis in call.integers(1, "axes")})
    x, same = call.moved(0)
    steps = np.full(len(axes), -1, np.int64)
    bounds = (steps, np.full(len(axes), np.iinfo(np.int64).min + 1), np.array(axes, np.int64), steps)
    call.give_moved(call.node("Slice", [x, *(call.constant("bounds", bound) for bound in bounds)]), same)


def running_sum(call: Call) -> None:
    """CUMSUM along a constant axis."""
    values = call.integers(1, "axis")
    if len(values) != 1:
        raise damaged(call.where, f"it has {len(values)} axes")
    axis = call.constant("axis", np.array(axis_of(call, values[0], call.input(0).rank), np.int64))
    flags = {name.lower(): call.option(name, 0) for name in ("Exclusive", "Reverse")}
    call.give_real(call.node("CumSum", [call.real(0), axis], **flags))


def floor_div(call: Call) -> None:
    """FLOOR_DIV: quotients round down, of integers too."""
    a, b = (call.real(position) for position in range(2))
    if call.output().dtype.kind in "iu" and call.output().quantisation is None:
        rest = call.node("Mod", [a, b])
        call.give(call.node("Div", [call.node("Sub", [a, rest]), b]))
    else:
        call.give_real(call.node("Floor", [call.node("Div", [a, b])]))


def floor_mod(call: Call) -> None:
    """FLOOR_MOD: the rest has the sign of the divisor."""
    a, b = (call.real(position) for position in range(2))
    if call.output().dtype.kind in "iu" and call.output().quantisation is None:
        call.give(call.node("Mod", [a, b]))
    else:
        whole = call.node("Floor", [call.node("Div", [a, b])])
        call.give_real(call.node("Sub", [a, call.node("Mul", [whole, b])]))
