"""Operators that only move elements: transposing, slicing, splitting, concatenating, padding, tiling. Each is one or
more strided copies, with contiguous rows copied as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.contract.model import qualified_op
from match_core.ir.reader import shape_of
from match_core.ir.topology import is_constant

from match_host.graph import axis_of, constant_at, dtype_of, elements, integer, integers, integers_at, text
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, inline_code, literal
from match_host.kernels.movement.bordered import build_bordered_pad, has_borders
from match_host.kernels.nest import MEMCPY_BYTES, broadcast_strides, merge, row_major
from match_host.kernels.scalar import stored
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Side of the square tiles of a transposition.
TILE = 8


@dataclass(frozen=True, slots=True)
class Copy:
    """Elements at ``source_offset + sum(index * source_strides)`` of input ``source`` go to
    ``target_offset + sum(index * target_strides)`` of output ``target``, for all indices of ``shape``."""

    shape: tuple[int, ...]
    source_strides: tuple[int, ...]
    target_strides: tuple[int, ...]
    source: int = 0
    target: int = 0
    source_offset: int = 0
    target_offset: int = 0


def _dot(indices: Sequence[int], strides: Sequence[int]) -> int:
    return sum(i * s for i, s in zip(indices, strides, strict=True))


def _transpose(node: gs.Node) -> list[Copy]:
    shape = shape_of(node.inputs[0])
    order = integers(node, "perm", tuple(reversed(range(len(shape)))))
    strides = row_major(shape)
    out = shape_of(node.outputs[0])
    return [Copy(out, tuple(strides[axis] for axis in order), row_major(out))]


def slice_bounds(node: gs.Node) -> tuple[tuple[int, int], ...]:
    """(first index, step) of a Slice along every axis of its input."""
    shape = shape_of(node.inputs[0])
    starts = integers_at(node, 1) or ()
    axes = integers_at(node, 3) or tuple(range(len(starts)))
    steps = integers_at(node, 4) or (1,) * len(starts)
    bounds = [(0, 1)] * len(shape)
    for start, axis, step in zip(starts, axes, steps, strict=True):
        size = shape[axis]
        first = start + size if start < 0 else start
        bounds[axis % len(shape)] = (min(max(first, 0), size if step > 0 else size - 1), step)
    return tuple(bounds)


def _slice(node: gs.Node) -> list[Copy]:
    strides, out = row_major(shape_of(node.inputs[0])), shape_of(node.outputs[0])
    bounds = slice_bounds(node)
    steps = tuple(stride * step for stride, (_, step) in zip(strides, bounds, strict=True))
    return [Copy(out, steps, row_major(out), source_offset=_dot([first for first, _ in bounds], strides))]


def _split(node: gs.Node) -> list[Copy]:
    shape = shape_of(node.inputs[0])
    axis, strides = axis_of(node, 0, len(shape)), row_major(shape)
    copies, first = [], 0
    for number, output in enumerate(node.outputs):
        out = shape_of(output)
        copies.append(Copy(out, strides, row_major(out), target=number, source_offset=first * strides[axis]))
        first += out[axis]
    return copies


def _concat(node: gs.Node) -> list[Copy]:
    out = shape_of(node.outputs[0])
    axis, strides = axis_of(node, 0, len(out)), row_major(out)
    copies, first = [], 0
    for number, tensor in enumerate(node.inputs):
        shape = shape_of(tensor)
        copies.append(Copy(shape, row_major(shape), strides, source=number, target_offset=first * strides[axis]))
        first += shape[axis]
    return copies


def pad_amounts(node: gs.Node) -> tuple[tuple[int, int], ...]:
    """(before, after) of a Pad or CenterCropPad for every axis of its input; negative amounts crop."""
    if node.op == "CenterCropPad":
        return _centred(node)
    rank = len(shape_of(node.inputs[0]))
    pads = integers_at(node, 1) or ()
    axes = integers_at(node, 3) or tuple(range(rank))
    amounts = [(0, 0)] * rank
    for position, axis in enumerate(axes):
        amounts[axis % rank] = (pads[position], pads[position + len(axes)])
    return tuple(amounts)


def _centred(node: gs.Node) -> tuple[tuple[int, int], ...]:
    """(before, after) of a CenterCropPad for every axis; the target is the result's shape."""
    amounts = []
    for size, out in zip(shape_of(node.inputs[0]), shape_of(node.outputs[0]), strict=True):
        half = abs(out - size) // 2
        amounts.append((half, out - size - half) if out >= size else (-half, out - size + half))
    return tuple(amounts)


def _pad(node: gs.Node) -> list[Copy]:
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    amounts = pad_amounts(node)
    source, target = row_major(shape), row_major(out)
    kept = tuple(size + min(before, 0) + min(after, 0) for size, (before, after) in zip(shape, amounts, strict=True))
    if elements(tuple(max(size, 0) for size in kept)) == 0:
        return []
    return [
        Copy(
            kept,
            source,
            target,
            source_offset=_dot([max(-before, 0) for before, _ in amounts], source),
            target_offset=_dot([max(before, 0) for before, _ in amounts], target),
        )
    ]


def _tile(node: gs.Node) -> list[Copy]:
    """Each axis becomes (repeat, index)."""
    shape = shape_of(node.inputs[0])
    repeats = integers_at(node, 1) or (1,) * len(shape)
    full: list[int] = []
    strides: list[int] = []
    for size, count, stride in zip(shape, repeats, row_major(shape), strict=True):
        full, strides = [*full, count, size], [*strides, 0, stride]
    return [Copy(tuple(full), tuple(strides), row_major(full))]


def _expand(node: gs.Node) -> list[Copy]:
    """Elements of axes of size 1 are read again and again."""
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    return [Copy(out, broadcast_strides((1,) * (len(out) - len(shape)) + shape), row_major(out))]


def _depth_to_space(node: gs.Node) -> list[Copy]:
    n, c, h, w = shape_of(node.inputs[0])
    b = integer(node, "blocksize", 1)
    rest, row = c // (b * b), h * w
    out = row_major(shape_of(node.outputs[0]))
    depth_first = text(node, "mode", "DCR") == "DCR"
    by, bx, channel = (b * rest * row, rest * row, row) if depth_first else (b * row, row, b * b * row)
    shape = (n, rest, h, b, w, b)
    target = (out[0], out[1], b * out[2], out[2], b, 1)
    return [Copy(shape, (c * row, channel, w, by, 1, bx), target)]


def _space_to_depth(node: gs.Node) -> list[Copy]:
    n, c, h, w = shape_of(node.inputs[0])
    b = integer(node, "blocksize", 1)
    source = (c * h * w, 1, b, w, h * w, b * w)  # n, x in block, x, y in block, channel, y
    out = row_major(shape_of(node.outputs[0]))
    shape = (n, b, w // b, b, c, h // b)
    if text(node, "mode", "DCR") == "DCR":
        target = (out[0], c * out[1], 1, b * c * out[1], out[1], out[2])
    else:
        target = (out[0], out[1], 1, b * out[1], b * b * out[1], out[2])
    order = (0, 3, 1, 4, 5, 2)  # block row, block column, channel, y, x: the output's order
    return [Copy(tuple(shape[i] for i in order), tuple(source[i] for i in order), tuple(target[i] for i in order))]


def _whole(node: gs.Node) -> list[Copy]:
    """A copy of all bytes under another shape, if they cannot be shared."""
    shape = shape_of(node.outputs[0])
    return [Copy(shape, row_major(shape), row_major(shape))]


#: Operators that do not change the bytes.
SAME_BYTES = ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout")

MOVERS = {
    **dict.fromkeys(SAME_BYTES, _whole),
    "Transpose": _transpose,
    "Slice": _slice,
    "Split": _split,
    "Concat": _concat,
    "Pad": _pad,
    "CenterCropPad": _pad,
    "Tile": _tile,
    "Expand": _expand,
    "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth,
}


def build_movement(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The kernel of one operator that moves elements."""
    (node,), code, uses = nodes, Code(), Uses()
    name = qualified_op(node)
    if _is_computed(node):
        from match_host.kernels.movement.computed import COMPUTED

        return COMPUTED[name](node, function)
    if _repeats(node):
        return build_bordered_pad(node, function, pad_amounts(node))
    copies = MOVERS[name](node)
    arguments = tuple(node.inputs) if name == "Concat" else (node.inputs[0],)
    if not any(elements(copy.shape) for copy in copies):
        arguments = ()  # there is nothing to read
    dtype = dtype_of(node.outputs[0])
    work = Work()
    if name in ("Pad", "CenterCropPad") and any(before > 0 or after > 0 for before, after in pad_amounts(node)):
        work += _fill(node, code, uses)
    for copy in copies:
        if elements(copy.shape) == 0:
            continue
        work += write_copy(copy, dtype, code, uses)
    shapes = "x".join(map(str, shape_of(node.inputs[0])))
    comment = f"{node.op}: {shapes} to {'x'.join(map(str, shape_of(node.outputs[0])))}"
    told = loops_of(copies[0]) if len(copies) == 1 else {}
    return Built(arguments, inline_code(function, comment, arguments, node.outputs, code.text, uses), work, told=told)


def _is_computed(node: gs.Node) -> bool:
    """Whether a parameter is known only at run time, or padding repeats elements from further than an axis is long."""
    if node.op not in ("Slice", "Pad", "Tile"):
        return False
    ends = 2 if node.op == "Slice" else None  # the size of the result implies it
    parameters = [tensor for index, tensor in enumerate(node.inputs) if index and index != ends]
    if any(not tensor.is_empty() and not is_constant(tensor) for tensor in parameters):
        return True
    return _repeats(node) and not has_borders(node, pad_amounts(node))


def _repeats(node: gs.Node) -> bool:
    """Whether padding repeats elements."""
    return node.op == "Pad" and text(node, "mode", "constant") != "constant"


def _fill(node: gs.Node, code: Code, uses: Uses) -> Work:
    dtype, count = dtype_of(node.outputs[0]), elements(shape_of(node.outputs[0]))
    value = constant_at(node, 2)
    number = value.reshape(-1)[0].item() if value is not None else 0
    if dtype.itemsize == 1:
        uses.include("string.h")
        byte = int(np.array(number).astype(dtype).view(np.uint8))
        code.line(f"memset(out0, {byte}, {count});")
        return Work(memory=-(-count // 4), steps=-(-count // 4))
    text = stored(literal(number, dtype), dtype)
    with code.loop("i", count) as i:
        code.line(f"out0[{i or 0}] = {text};")
    return Work(memory=count, steps=count)


def _crossed(
    variables: Sequence[tuple[str, int]], source: Sequence[tuple[str, int]], target: Sequence[tuple[str, int]]
) -> tuple[int, int] | None:
    """The loops along which source and target are contiguous, if these are two different long ones."""
    along_source, along_target = (
        [index for index, (_, stride) in enumerate(terms) if stride == 1] for terms in (source, target)
    )
    if not along_source or not along_target or along_source == along_target:
        return None
    pair = along_source[0], along_target[0]
    return pair if min(variables[index][1] for index in pair) >= 2 * TILE else None


def _write_tiles(variables: Sequence[tuple[str, int]], crossed: tuple[int, int], text: str, code: Code) -> Work:
    """A transposition in small square tiles, so that the cache holds the lines of both sides."""
    outer = [variable for index, variable in enumerate(variables) if index not in crossed]
    pair = [variables[index] for index in crossed]
    with ExitStack() as stack:
        stack.enter_context(code.loops(outer))
        for name, size in pair:
            stack.enter_context(code.block(f"for (int32_t {name}0 = 0; {name}0 < {size}; {name}0 += {TILE})"))
        for name, size in pair:
            end = f"{name}0 + {TILE}"
            if size % TILE:
                code.line(f"const int32_t {name}1 = {end} < {size} ? {end} : {size};")
                end = f"{name}1"
            stack.enter_context(code.block(f"for (int32_t {name} = {name}0; {name} < {end}; {name}++)"))
        code.line(text)
    count = elements(tuple(size for _, size in variables))
    return Work(memory=2, steps=1).times(count) + Work(steps=1).times(count // TILE)


def loops_of(copy: Copy) -> dict[str, int]:
    """The number of loops of a copy, turns of the ``inner`` one and of the one ``outer`` to it, how far apart the
    elements are that an inner loop reads, and turns of the loop that goes ``along`` neighbours of the source."""
    nest = merge(copy.shape, [copy.source_strides, copy.target_strides])
    sizes, strides = [size for _, size in nest.variables], [stride for _, stride in nest.terms(copy.source_strides)]
    along = next((size for size, stride in zip(sizes, strides, strict=True) if stride == 1), 1)
    outer, inner = [1, 1, *sizes][-2:]
    return {"loops": len(sizes), "inner": inner, "outer": outer, "apart": [0, *strides][-1], "along": along}


def write_copy(copy: Copy, dtype: np.dtype[np.generic], code: Code, uses: Uses) -> Work:
    """Write the C of one strided copy; returns its work."""
    nest = merge(copy.shape, [copy.source_strides, copy.target_strides])
    variables, count = list(nest.variables), elements(copy.shape)
    source, target = list(nest.terms(copy.source_strides)), list(nest.terms(copy.target_strides))
    run = 1
    rows = bool(variables) and source[-1][1] == 1 and target[-1][1] == 1
    if rows and variables[-1][1] * dtype.itemsize >= MEMCPY_BYTES:
        run = variables.pop()[1]
        source.pop()
        target.pop()
    source_index, target_index = affine(source, copy.source_offset), affine(target, copy.target_offset)
    if run == 1 and (crossed := _crossed(variables, source, target)):
        text = f"out{copy.target}[{target_index}] = in{copy.source}[{source_index}];"
        return _write_tiles(variables, crossed, text, code)
    with code.loops(variables):
        if run > 1:
            uses.include("string.h")
            pointers = f"&out{copy.target}[{target_index}], &in{copy.source}[{source_index}]"
            code.line(f"memcpy({pointers}, {run} * sizeof({c_type(dtype)}));")
        else:
            code.line(f"out{copy.target}[{target_index}] = in{copy.source}[{source_index}];")
    if run > 1:
        words = -(-run * dtype.itemsize // 4) * (count // run)
        return Work(memory=2 * words, steps=words)
    return Work(memory=2 * count, steps=count)
