"""Feature maps as rows of channels: [positions, channels] instead of [1, channels, ...]."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.editor import Editor
from match_core.ir.reader import producer, shape_of
from match_quant.linear.layers import is_private

from match_ita.passes.nodes import reshaped, transposed

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def rows_of(editor: Editor, x: gs.Tensor, name: str, origin: tuple[str, ...]) -> gs.Tensor:
    """``x`` [1, C, ...] as [positions, C]: where it was made from rows, those (tables between move to them)."""
    known = known_rows(editor, x)
    if known is not None:
        return known
    channels = int(x.shape[1])
    flat = reshaped(editor, x, (channels, int(np.prod(x.shape[2:]))), f"{name}_flat", origin)
    return transposed(editor, flat, (1, 0), f"{name}_rows", origin)


def known_rows(editor: Editor, x: gs.Tensor) -> gs.Tensor | None:
    """The rows [positions, C] that ``x`` [1, C, ...] was made from, through Reshape and LutI8; None where there are
    none. Tables are copied, so what else reads ``x`` still can."""
    node = producer(x)
    if node is None:
        return None
    op = qualified_op(node)
    if op == "Transpose" and len(x.shape) == 2 and len(node.inputs[0].shape) == 2:
        source: gs.Tensor = node.inputs[0]
        return source
    if op == "Reshape":
        before, after = shape_of(node.inputs[0]), shape_of(x)
        return known_rows(editor, node.inputs[0]) if _channels(before) == _channels(after) else None
    if op == "match.arith::LutI8" and is_private(x, editor.graph.outputs):
        below = known_rows(editor, node.inputs[0])
        if below is None:
            return None
        shape, origin = shape_of(below), editor.origin(node)
        return editor.node(op, [below, node.inputs[1]], np.int8, shape, name=node.name, origin=origin)
    return None


def _channels(shape: tuple[int, ...]) -> int:
    """Channels of [C, positions] and of [1, C, ...]; 0 for other shapes."""
    if len(shape) == 2:
        return shape[0]
    return shape[1] if len(shape) > 2 and shape[0] == 1 else 0
