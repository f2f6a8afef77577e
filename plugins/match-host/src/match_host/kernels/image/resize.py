"""Resize: nearest elements are copied; interpolation processes one axis after another.

A table holds the elements that each result reads along an axis; it is computed at compile time if the scales are known.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import shape_of

from match_host.graph import elements
from match_host.kernels.built import Built
from match_host.kernels.code import affine
from match_host.kernels.image.resize_axis import nearest_table
from match_host.kernels.image.resize_passes import write_passes
from match_host.kernels.image.resize_writer import Writer
from match_host.kernels.movement.movement import Copy, loops_of, write_copy
from match_host.kernels.nest import row_major
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def build_resize(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The kernel of one Resize."""
    (node,) = nodes
    writer = Writer(node)
    if writer.modes.mode != "nearest":
        return writer.built(function, write_passes(writer))
    copy = as_copy(node, writer)
    if copy is not None:
        work = write_copy(copy, writer.dtype, writer.code, writer.uses)
        return replace(writer.built(function, work), told=loops_of(copy))
    return writer.built(function, _write_gather(writer))


def as_copy(node: gs.Node, writer: Writer) -> Copy | None:
    """The strided copy for nearest elements if all are repeated equally often or evenly spaced."""
    if not all(axis.known for axis in writer.axes):
        return None
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    resized = {axis.axis: nearest_table(axis, writer.modes) for axis in writer.axes}
    full: list[int] = []
    strides: list[int] = []
    offset = 0
    for axis, stride in enumerate(row_major(shape)):
        first, size, count = resized.get(axis), shape[axis], out[axis]
        if first is None:
            full, strides = [*full, size], [*strides, stride]
            continue
        step = int(first[1] - first[0]) if count > 1 else 0
        if count % size == 0 and np.array_equal(first, np.arange(count) // (count // size)):
            full, strides = [*full, size, count // size], [*strides, stride, 0]
        elif first.min() >= 0 and np.array_equal(first, first[0] + step * np.arange(count)):
            full, strides, offset = [*full, count], [*strides, step * stride], offset + int(first[0]) * stride
        else:
            return None
    return Copy(tuple(full), tuple(strides), row_major(full), source_offset=offset)


def _write_gather(writer: Writer) -> Work:
    """Nearest elements by the tables' indices; axes between resized ones are one loop."""
    code, node = writer.code, writer.node
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    tables = {table.axis.axis: table for table in writer.tables()}
    source: list[tuple[str, int]] = []
    target: list[tuple[str, int]] = []
    outside: list[str] = []
    with ExitStack() as stack:
        for axes in _groups(len(shape), set(tables)):
            first, last = axes[0], axes[-1]
            step, size = elements(shape[last + 1 :]), elements(out[first : last + 1])
            name = stack.enter_context(code.loop(f"i{first}", size))
            target.append((name, elements(out[last + 1 :])))
            if first not in tables:
                source.append((name, step))
                continue
            code.line(f"const int32_t at{first} = {tables[first].first}[{name or 0}];")
            source.append((f"at{first}", step))
            outside += [f"at{first} < 0"] if tables[first].leaves else []
        value = f"in0[{affine(source)}]"
        if outside:
            value = f"{' || '.join(outside)} ? {writer.outside(writer.dtype)} : {value}"
        code.line(f"out0[{affine(target)}] = {value};")
    return Work(memory=2, integer=2 * len(tables), steps=1).times(elements(out))


def _groups(rank: int, alone: set[int]) -> list[list[int]]:
    """The axes in order, with neighbours grouped except those in ``alone``."""
    groups: list[list[int]] = []
    for axis in range(rank):
        if groups and axis not in alone and axis - 1 not in alone:
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return groups
