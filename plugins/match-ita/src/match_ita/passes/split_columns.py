"""Columns of an activation as separate tensors, without a copy if its producer can compute them separately."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, producer, shape_of
from match_quant.linear.layers import Ints, is_private, linear_layer

from match_ita.functions import GELU
from match_ita.passes.nodes import Label, product, reshaped, sliced, strided

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: First column and the one after the last.
Range = tuple[int, int]


def grain(x: gs.Tensor) -> int:
    """How many columns at the least stay together: those of a gathered row, or of a row that a Transpose moves as a
    whole; else 1."""
    gather = _gather_behind(x)
    if gather is not None:
        return int(gather.outputs[0].shape[-1])
    reshape = producer(x)
    turn = producer(reshape.inputs[0]) if reshape is not None and reshape.op == "Reshape" else None
    width = int(turn.outputs[0].shape[-1]) if turn is not None and turn.op == "Transpose" else 1
    return width if int(x.shape[-1]) % width == 0 else 1


def columns(editor: Editor, x: gs.Tensor, ranges: Sequence[Range], name: str) -> list[gs.Tensor]:
    """The ranges of the last axis of ``x``: made apart where ``x`` comes from a linear layer, a table behind one or a
    Gather and nothing else reads it; else by Slice."""
    if _divisible(editor, x):
        return [_made(editor, x, part) for part in ranges]
    origin = editor.origin(*x.inputs)
    return [sliced(editor, x, *part, f"{name}_columns_{index}", origin) for index, part in enumerate(ranges)]


def _divisible(editor: Editor, x: gs.Tensor) -> bool:
    node, outputs = producer(x), editor.graph.outputs
    if node is None or not is_private(x, outputs):
        return False
    op = qualified_op(node)
    if op == "Reshape":
        before = node.inputs[0]
        same = int(before.shape[-1]) == int(x.shape[-1])
        return _divisible(editor, before) if same else _gather_behind(x) is not None and is_private(before, outputs)
    if op in ("match.arith::LutI8", GELU):
        return _divisible(editor, node.inputs[0])
    return linear_layer(node, outputs) is not None


def _gather_behind(x: gs.Tensor) -> gs.Node | None:
    """The Gather of n rows [T, n, C] that ``x`` [T, n * C] lays behind each other."""
    reshape = producer(x)
    if reshape is None or qualified_op(reshape) != "Reshape" or len(x.shape) != 2:
        return None
    gather = producer(reshape.inputs[0])
    if gather is None or qualified_op(gather) != "Gather" or constant(gather.inputs[1]) is None:
        return None
    shape = shape_of(gather.outputs[0])
    fits = int(gather.attrs.get("axis", 0)) == 0 and len(shape) == 3 and shape[0] == int(x.shape[0])
    return gather if fits and gather.outputs[0].dtype == np.int8 else None


def _made(editor: Editor, x: gs.Tensor, part: Range) -> gs.Tensor:
    """The range of ``x``, made by a copy of its producer."""
    node = producer(x)
    if node is None:
        raise ValueError(f"nothing makes {x.name!r}")
    shape = (*shape_of(x)[:-1], part[1] - part[0])
    op, origin = qualified_op(node), editor.origin(node)
    if op == "Reshape" and (gather := _gather_behind(x)) is not None:
        return _gathered(editor, gather, part, shape)
    if op == "Reshape":
        return reshaped(editor, _made(editor, node.inputs[0], part), shape, node.name, origin)
    if op in ("match.arith::LutI8", GELU):
        below = _made(editor, node.inputs[0], part)
        return editor.node(op, [below, *node.inputs[1:]], np.int8, shape, name=node.name, origin=origin)
    return _layer(editor, node, part)


def _gathered(editor: Editor, gather: gs.Node, part: Range, shape: tuple[int, ...]) -> gs.Tensor:
    width = int(gather.outputs[0].shape[-1])
    index = np.asarray(constant(gather.inputs[1]))[:, part[0] // width : part[1] // width]
    origin, taken = editor.origin(gather), (*index.shape, width)
    rows = _evenly(index, int(gather.inputs[0].shape[0]))
    if rows is not None:  # which the DMA finds without an index
        return strided(editor, gather.inputs[0], rows, gather.name, origin)
    given = [gather.inputs[0], editor.constant(f"{gather.name}_index", index)]
    taps = editor.node("Gather", given, np.int8, taken, name=gather.name, origin=origin, attrs={"axis": 0})
    return reshaped(editor, taps, shape, f"{gather.name}_windows", origin)


def _evenly(index: Ints, rows: int) -> range | None:
    """The rows that an index [T, 1] names, where they are as far from each other."""
    if index.shape[1] != 1 or len(index) < 2:
        return None
    first, second, last = (int(index[place, 0]) for place in (0, 1, -1))
    if not 0 <= first < second or last >= rows:
        return None
    found = range(first, last + 1, second - first)
    return found if np.array_equal(index[:, 0], found) else None


def _layer(editor: Editor, requant: gs.Node, part: Range) -> gs.Tensor:
    matmul = producer(requant.inputs[0])
    if matmul is None:
        raise ValueError(f"{requant.name!r} is no linear layer")
    some = slice(*part)
    weight = editor.constant(f"{matmul.name}_weight", np.asarray(constant(matmul.inputs[1]))[:, some])
    constants = list(requant.inputs[1:])
    for position in (0, 1):
        values = np.asarray(constant(constants[position]))
        if values.size > 1:
            constants[position] = editor.constant(constants[position].name, values[..., some])
    labels = (Label(node.name, editor.origin(node)) for node in (matmul, requant))
    return product(editor, matmul.inputs[0], weight, constants, *labels)
