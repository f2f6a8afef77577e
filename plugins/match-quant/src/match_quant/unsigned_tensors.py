"""The uint8 tensor that stores each int8 tensor: u = q + 128."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, shape_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

OFFSET = 128


class UnsignedTensors:
    """The state of one run of ``unsigned_activations``."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self._stored: dict[int, gs.Variable] = {}

    @property
    def changed(self) -> bool:
        """Whether the type of any tensor changed."""
        return bool(self._stored)

    def get(self, tensor: gs.Tensor) -> gs.Variable | None:
        """The uint8 counterpart of a tensor that has one."""
        return self._stored.get(id(tensor))

    def of(self, tensor: gs.Tensor, reader: gs.Node) -> gs.Variable | None:
        """The uint8 counterpart of an int8 tensor, created if there is none; None for other types and constants."""
        if constant(tensor) is not None or tensor.dtype is None or np.dtype(tensor.dtype) != np.int8:
            return None
        if id(tensor) not in self._stored:
            self._stored[id(tensor)] = self.editor.node(
                "match.arith::OffsetI8ToU8",
                [tensor],
                np.uint8,
                shape_of(tensor),
                name=f"{tensor.name}_unsigned",
                origin=self.editor.origin(*(tensor.inputs or [reader])),
            )
        return self._stored[id(tensor)]

    def replace(self, node: gs.Node, new: gs.Variable) -> None:
        """Replace the result of ``node`` with ``new``, or with its uint8 counterpart; other readers then get int8
        back."""
        old = node.outputs[0]
        if np.dtype(new.dtype) == np.dtype(old.dtype):
            self.editor.replace(old, new)
            return
        back = self.editor.node(
            "match.arith::OffsetU8ToI8",
            [new],
            np.int8,
            shape_of(old),
            name=f"{node.name}_signed",
            origin=self.editor.origin(node),
        )
        self.editor.replace(old, back)
        self._stored[id(back)] = new
