"""Nodes that move values, written in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import producer, shape_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.ir.editor import Editor


def append(
    editor: Editor,
    op: str,
    inputs: Sequence[gs.Tensor],
    shape: Sequence[int],
    name: str,
    origin: Sequence[str],
    **attrs: object,
) -> gs.Variable:
    """A node whose result has the type of its first input."""
    return editor.node(op, inputs, inputs[0].dtype, shape, name=name, origin=origin, attrs=attrs)


def reshape(editor: Editor, x: gs.Variable, shape: Sequence[int], name: str, origin: Sequence[str]) -> gs.Variable:
    """``x`` in another shape; the tensor before it if that has this shape."""
    before = producer(x)
    if before is not None and before.op == "Reshape" and shape_of(before.inputs[0]) == tuple(shape):
        return before.inputs[0]
    target = editor.constant(f"{name}_shape", np.array(shape, np.int64))
    return append(editor, "Reshape", [x, target], shape, name, origin)


def reshape_image(
    editor: Editor, x: gs.Variable, plane: Sequence[int], channels_last: bool, name: str, origin: Sequence[str]
) -> gs.Variable:
    """An image [N, C, rows, columns] with another number of rows. ``channels_last``: the bytes are in this order, in
    which the elements keep their places too; the outer transposes vanish."""
    batch, channels, *before = shape_of(x)
    if not channels_last:
        return reshape(editor, x, (batch, channels, *plane), name, origin)
    last = append(editor, "Transpose", [x], (batch, *before, channels), f"{name}_last", origin, perm=[0, 2, 3, 1])
    moved = reshape(editor, last, (batch, *plane, channels), name, origin)
    shape = (batch, channels, *plane)
    return append(editor, "Transpose", [moved], shape, f"{name}_first", origin, perm=[0, 3, 1, 2])
