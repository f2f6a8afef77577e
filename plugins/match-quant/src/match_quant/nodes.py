"""Nodes that move values, written in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

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
    """``x`` in another shape."""
    target = editor.constant(f"{name}_shape", np.array(shape, np.int64))
    return append(editor, "Reshape", [x, target], shape, name, origin)
