"""Edits a graph with provenance: new nodes, constants and replacements under unique, deterministic names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike, NDArray

from match_core.contract.model import Model
from match_core.ir.copying import copied
from match_core.ir.functions import ensure_functions

if TYPE_CHECKING:
    import onnx
    import onnx_graphsurgeon as gs


class Editor:
    """Edits a copy of ``model``; ``finish`` returns the changed Model (dead nodes removed, topological order, functions
    and provenance complete). ``graph`` may also be changed directly."""

    def __init__(self, model: Model) -> None:
        self.model = replace(model, graph=copied(model.graph), provenance=dict(model.provenance))
        self.graph: gs.Graph = self.model.graph
        self.notes: list[str] = []
        self._functions: list[onnx.FunctionProto] = []
        self._origins: dict[str, tuple[str, ...]] = {}
        self._node_names = {node.name for node in self.graph.nodes}
        self._tensor_names = set(self.graph.tensors())
        self._tensor_names |= {tensor.name for tensor in (*self.graph.inputs, *self.graph.outputs)}

    def origin(self, *nodes: gs.Node) -> tuple[str, ...]:
        """Source names of nodes, old or new, without duplicates."""
        seen: dict[str, None] = {}
        for node in nodes:
            known = self._origins.get(node.name) or self.model.provenance.get(node.name, (node.name,))
            seen.update(dict.fromkeys(known))
        return tuple(seen)

    def constant(self, hint: str, values: NDArray[np.generic]) -> gs.Constant:
        """A new constant tensor."""
        import onnx_graphsurgeon as gs

        return gs.Constant(_unique(hint, self._tensor_names), np.ascontiguousarray(values).reshape(values.shape))

    def variable(self, hint: str, dtype: DTypeLike, shape: Sequence[int]) -> gs.Variable:
        """A new tensor without producer."""
        import onnx_graphsurgeon as gs

        name = _unique(hint, self._tensor_names)
        return gs.Variable(name, dtype=np.dtype(dtype), shape=[int(size) for size in shape])

    def node(
        self,
        op: str,
        inputs: Sequence[gs.Tensor],
        dtype: DTypeLike,
        shape: Sequence[int],
        *,
        name: str,
        origin: Sequence[str],
        attrs: Mapping[str, object] | None = None,
    ) -> gs.Variable:
        """A new node (``op`` may be ``domain::Op``) with one output; returns that output. ``name`` is made unique."""
        domain, _, short = op.rpartition("::")
        node_name = _unique(name, self._node_names)
        output = self.variable(node_name, dtype, shape)
        self._add(node_name, short, domain, inputs, [output], attrs or {}, origin)
        return output

    def add(
        self,
        op: str,
        inputs: Sequence[gs.Tensor],
        outputs: Sequence[gs.Tensor],
        *,
        name: str,
        origin: Sequence[str],
        attrs: Mapping[str, object] | None = None,
    ) -> gs.Node:
        """A new node with existing output tensors; ``op`` and ``name`` as for ``node``."""
        domain, _, short = op.rpartition("::")
        return self._add(_unique(name, self._node_names), short, domain, inputs, outputs, attrs or {}, origin)

    def _add(
        self,
        name: str,
        op: str,
        domain: str,
        inputs: Sequence[gs.Tensor],
        outputs: Sequence[gs.Tensor],
        attrs: Mapping[str, object],
        origin: Sequence[str],
    ) -> gs.Node:
        import onnx_graphsurgeon as gs

        node = gs.Node(op, name, dict(attrs), list(inputs), list(outputs), domain=domain or None)
        self.graph.nodes.append(node)
        self._origins[name] = tuple(origin)
        return node

    def define(self, protos: Iterable[onnx.FunctionProto]) -> None:
        """Register bodies of a target's operators; ``finish`` adds those that a node calls."""
        self._functions += protos

    def rename(self, tensor: gs.Tensor, name: str) -> None:
        """Rename a tensor; the new name is made unique."""
        tensor.name = _unique(name, self._tensor_names)

    def redirect(self, old: gs.Tensor, new: gs.Tensor) -> None:
        """Make every consumer of ``old`` read ``new``."""
        for consumer in list(old.outputs):
            for position, tensor in enumerate(consumer.inputs):
                if tensor is old:
                    consumer.inputs[position] = new

    def replace(self, old: gs.Variable, new: gs.Tensor) -> None:
        """``redirect``; if ``old`` is a graph output, ``new`` also takes its position and its name."""
        self.redirect(old, new)
        positions = [i for i, tensor in enumerate(self.graph.outputs) if tensor is old]
        if not positions:
            return
        producer = new.inputs[0] if new.inputs else None
        if producer is None or any(tensor is new for tensor in self.graph.outputs):
            # A graph output needs its own node: graph inputs, constants and other outputs are copied.
            makers = list(old.inputs)
            old.inputs.clear()
            name = makers[0].name if makers else old.name
            copy = self.node("Identity", [new], new.dtype, new.shape, name=f"{name}_copy", origin=self.origin(*makers))
            new = copy
        old_name = old.name
        old.name = _unique(f"{old_name}_replaced", self._tensor_names)
        new.name = old_name
        for position in positions:
            self.graph.outputs[position] = new

    def add_origin(self, node: gs.Node, *others: gs.Node) -> None:
        """Record that ``node`` also does the work of ``others``."""
        self._origins[node.name] = tuple(dict.fromkeys((*self.origin(node), *self.origin(*others))))

    def finish(self) -> Model:
        """The changed model."""
        self.graph.cleanup(recurse_functions=False)
        sort_nodes(self.graph)
        ensure_functions(self.graph, self._functions)
        model = self.model.with_origin(self._origins)
        return replace(model, notes=tuple(dict.fromkeys((*model.notes, *self.notes)))) if self.notes else model


def sort_nodes(graph: gs.Graph) -> None:
    """Sort nodes topologically and close to their present order (each node directly after its producers)."""
    ordered: list[gs.Node] = []
    state: dict[int, bool] = {}  # id of node -> done
    for root in graph.nodes:
        stack = [root]
        while stack:
            node = stack[-1]
            if state.get(id(node)):
                stack.pop()
                continue
            state[id(node)] = False
            waiting = [p for tensor in node.inputs for p in tensor.inputs if not state.get(id(p), False)]
            cycle = [p for p in waiting if id(p) in state]
            if cycle:
                raise ValueError(f"the graph has a cycle through {cycle[0].name!r}")
            if waiting:
                stack.append(waiting[0])
                continue
            state[id(node)] = True
            ordered.append(node)
            stack.pop()
    known = {id(node) for node in graph.nodes}
    graph.nodes = [node for node in ordered if id(node) in known]


def _unique(hint: str, taken: set[str]) -> str:
    base = hint or "n"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    taken.add(name)
    return name
