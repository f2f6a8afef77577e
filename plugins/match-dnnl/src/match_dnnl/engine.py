"""The engine's own graph: nodes of domain dnnl that compute a region, on tensors without names of the model.

``runtime/match_dnnl.c`` builds one primitive of oneDNN for each node when the program is initialised. Attributes:
``own``: the number of inputs of the operator itself (later ones belong to post-operations); ``last``: channels are the
last axis of its tensors; ``post``, ``post_alpha``, ``post_beta``: operations on the result before it is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from match_core import Region
from match_core.ir.reader import constant, shape_of
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Post:
    """A post-operation: "sum", a function of two values ("add"; ``operand`` is the second one), or of one ("relu")."""

    name: str
    alpha: float = 0.0
    beta: float = 0.0
    operand: gs.Tensor | None = None


@dataclass
class Engine:
    """Grows node by node. ``of`` looks up tensors of the model; all other tensors are its own. ``winograd``: whether
    convolutions may be computed through Winograd's transformation."""

    region: Region
    winograd: bool = True
    nodes: list[gs.Node] = field(default_factory=list)
    _tensors: dict[str, gs.Tensor] = field(default_factory=dict)
    _count: int = 0

    def of(self, tensor: gs.Tensor) -> gs.Tensor:
        """The engine's tensor for one of the model."""
        known = self._tensors.get(tensor.name)
        if known is None:
            values = constant(tensor)
            known = self.variable(shape_of(tensor)) if values is None else self.constant(values)
            self._tensors[tensor.name] = known
        return known

    def variable(self, sizes: Sequence[int]) -> gs.Variable:
        """A new tensor."""
        import onnx_graphsurgeon as gs

        return gs.Variable(self._name(), np.dtype(np.float32), [int(size) for size in sizes])

    def constant(self, values: NDArray[np.generic]) -> gs.Constant:
        """A new constant."""
        import onnx_graphsurgeon as gs

        array = np.asarray(values, np.float32)
        return gs.Constant(self._name(), np.ascontiguousarray(array).reshape(array.shape))

    def emit(
        self,
        op: str,
        inputs: Sequence[gs.Tensor | None],
        output: gs.Variable,
        posts: Sequence[Post] = (),
        /,
        **attributes: object,
    ) -> None:
        """A node that makes ``output``. None is an absent input."""
        import onnx_graphsurgeon as gs

        operands = [post.operand for post in posts if post.operand is not None]
        attrs = {"own": len(inputs), **attributes}
        if posts:
            attrs["post"] = [post.name for post in posts]
            attrs["post_alpha"] = [post.alpha for post in posts]
            attrs["post_beta"] = [post.beta for post in posts]
        tensors = [gs.Variable.empty() if tensor is None else tensor for tensor in (*inputs, *operands)]
        node = gs.Node(op, self._name(), attrs, tensors, [output])
        node.domain = "dnnl"
        self.nodes.append(node)

    def reshaped(self, tensor: gs.Tensor, sizes: Sequence[int]) -> gs.Tensor:
        """The same elements in another shape."""
        if shape_of(tensor) == tuple(sizes):
            return tensor
        values = constant(tensor)
        if values is not None:
            return self.constant(values.reshape(tuple(sizes)))
        view = self.variable(sizes)
        self.emit("reshape", [tensor], view)
        return view

    def transposed(self, tensor: gs.Tensor, order: Sequence[int]) -> gs.Tensor:
        """The tensor with its axes in another order."""
        values = constant(tensor)
        if values is not None:
            return self.constant(values.transpose(tuple(order)))
        sizes = shape_of(tensor)
        view = self.variable([sizes[axis] for axis in order])
        self.emit("transpose", [tensor], view, order=[int(axis) for axis in order])
        return view

    def finished(self) -> Region:
        """The region that the engine computes, without unread nodes."""
        outputs = [self.of(tensor) for tensor in self.region.outputs]
        needed = {tensor.name for tensor in outputs}
        kept: list[gs.Node] = []
        for node in reversed(self.nodes):
            if node.outputs[0].name in needed:
                kept.append(node)
                needed |= {tensor.name for tensor in node.inputs if not tensor.is_empty()}
        made = Region.of(tuple(reversed(kept)), outputs)
        return Region(made.nodes, tuple(self.of(tensor) for tensor in self.region.inputs), made.outputs, made.constants)

    def _name(self) -> str:
        self._count += 1
        return f"t{self._count}"
