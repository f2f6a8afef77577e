"""The model of a choice: layers in stripes, with Slice and Concat nodes that name parts of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.editor import Editor
from match_core.ir.topology import is_constant

from match_beyond.rows import AXIS, Rows, divided
from match_beyond.stripes import Stripe, crossing_of, stripes_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.model import Model

    from match_beyond.choice import Choice, Run
    from match_beyond.network import Network


def rewritten(model: Model, network: Network, choice: Choice) -> Model:
    """A model that computes the same in the stripes of a choice."""
    return _Rewriter(model, network, choice).model()


@dataclass(frozen=True)
class _Have:
    """Rows of a tensor, along an axis, that exist as a tensor of their own."""

    tensor: gs.Variable
    rows: Rows
    axis: int = AXIS


@dataclass
class _Rewriter:
    source: Model
    network: Network
    choice: Choice
    ordered: list[gs.Node] = field(default_factory=list)
    parts: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.editor = Editor(self.source)
        self.nodes = {node.name: node for node in self.editor.graph.nodes}
        self.originals = {node.name: node for node in self.source.graph.nodes}
        self.tensors = self.editor.graph.tensors()

    def model(self) -> Model:
        """The rewritten model."""
        for run in self.choice.runs:
            self._run(run)
        self.editor.graph.nodes = self.ordered
        made = self.editor.finish()
        return replace(made, parts=frozenset(self.parts), away=self.choice.away)

    def _run(self, run: Run) -> None:
        layers = self.network.layers[run.first : run.end]
        touched = {name for layer in layers for name in (*layer.reads, *layer.makes)}
        if run.count == 1 and not touched & self.choice.away:
            self.ordered += [self.nodes[node.name] for layer in layers for node in layer.nodes]
            return
        if run.count == 1:
            self._whole(run)
            return
        stripes = stripes_of(self.network, run.first, run.end, run.count, run.kept)
        old = [self.nodes[node.name] for layer in layers for node in layer.nodes]
        ends = {node.name: (list(node.inputs), list(node.outputs)) for node in old}
        for node in old:
            node.inputs.clear()
            node.outputs.clear()
        crossing = crossing_of(self.network, run.first, run.end)
        made: dict[str, list[gs.Variable]] = {name: [] for name in crossing}
        readers = {name: layer.nodes[0].name for layer in layers for name in layer.reads}
        again: Mapping[str, _Have] = {}
        for number, stripe in enumerate(stripes):
            following = stripes[number + 1].kept if number + 1 < run.count else {}
            wanted = [(readers[name], name, rows) for name, rows in following.items()]
            again = self._stripe(old, ends, stripe, number, made, again, wanted)
        for name, pieces in made.items():
            self._concat(pieces, self.tensors[name])

    def _whole(self, run: Run) -> None:
        """One layer whose tensors are copied from the store before it, or there behind it."""
        layer = self.network.layers[run.first]
        nodes = [self.nodes[node.name] for node in layer.nodes]
        for name in layer.reads:
            if name in self.choice.away:
                tensor = self.tensors[name]
                near = self._slice(tensor, Rows(0, int(tensor.shape[_axis(tensor)])), f"{name}_near", nodes)
                for node in nodes:
                    node.inputs = [near if other is tensor else other for other in node.inputs]
        self.ordered += nodes
        for name in layer.makes:
            if name in self.choice.away:
                tensor = self.tensors[name]
                near = self.editor.variable(f"{name}_near", tensor.dtype, tensor.shape)
                for node in nodes:
                    node.outputs = [near if other is tensor else other for other in node.outputs]
                self._concat([near], tensor)

    def _stripe(
        self,
        nodes: list[gs.Node],
        ends: Mapping[str, tuple[list[gs.Tensor], list[gs.Variable]]],
        stripe: Stripe,
        number: int,
        made: dict[str, list[gs.Variable]],
        again: Mapping[str, _Have],
        wanted: Sequence[tuple[str, str, Rows]],
    ) -> dict[str, _Have]:
        """Add a stripe that begins with rows ``again``, which the one before has kept. The result: the rows that it
        keeps, of the tensors ``wanted``, each copied before a node (its last reader, which may overwrite it)."""
        have: dict[str, _Have] = {}
        kept: dict[str, _Have] = {}
        slices: dict[tuple[str, Rows], gs.Variable] = {}
        inside = {tensor.name for _, outputs in ends.values() for tensor in outputs}
        for node in nodes:
            inputs, outputs = ends[node.name]
            for reader, tensor_name, rows in wanted:
                if reader == node.name:
                    kept[tensor_name] = self._copied(have[tensor_name], rows, f"{tensor_name}_kept{number}", node)
            result = outputs[0]
            cut = stripe.cuts.get(node.name)
            if cut is None:
                if result.name in again:
                    have[result.name] = again[result.name]
                continue
            attributes, constants = divided(self.originals[node.name], cut)
            read: list[gs.Tensor] = []
            for position, tensor in enumerate(inputs):
                if position in constants:
                    read.append(self.editor.constant(f"{node.name}_{number}_{position}", constants[position]))
                elif is_constant(tensor) or not tensor.name:
                    read.append(tensor)
                else:
                    if tensor.name not in inside and tensor.name not in have:
                        have[tensor.name] = self._outside(tensor, stripe.rows[tensor.name], number, node)
                    read.append(self._rows(have[tensor.name], cut.read, number, node, slices))
            shape = [int(size) for size in result.shape]
            axis = self.network.axis(result.name)
            shape[axis] = cut.made.count
            name = f"{node.name}_stripe{number}"
            origin = self.editor.origin(node)
            output = self.editor.variable(f"{result.name}_stripe{number}", result.dtype, shape)
            have[result.name] = _Have(output, cut.made, axis)
            before = again.get(result.name)
            if before is not None:
                before = self._copied(before, before.rows, f"{result.name}_again{number}", node)
            added = self.editor.add(qualified_op(node), read, [output], name=name, origin=origin, attrs=attributes)
            self.ordered.append(added)
            if before is not None:
                rows = before.rows.joined(cut.made)
                shape[axis] = rows.count
                joined = self.editor.variable(f"{result.name}_joined{number}", result.dtype, shape)
                self._concat([before.tensor, output], joined)
                have[result.name] = _Have(joined, rows, axis)
            if result.name in made:
                part = self._rows(have[result.name], stripe.parts[result.name], number, node, slices)
                made[result.name].append(part)
        return kept

    def _copied(self, have: _Have, rows: Rows, name: str, node: gs.Node) -> _Have:
        """A copy of rows, which a unit makes."""
        inner = Rows(rows.first - have.rows.first, rows.end - have.rows.first)
        return _Have(self._slice(have.tensor, inner, name, [node], have.axis, copied=True), rows, have.axis)

    def _outside(self, tensor: gs.Variable, rows: Rows, number: int, node: gs.Node) -> _Have:
        """Rows of a tensor that was made before the run: copied from the store, or the whole tensor."""
        if tensor.name in self.choice.away:
            return _Have(self._slice(tensor, rows, f"{tensor.name}_near{number}", [node]), rows)
        return _Have(tensor, Rows(0, self.network.height(tensor.name)), self.network.axis(tensor.name))

    def _rows(
        self, have: _Have, rows: Rows, number: int, node: gs.Node, slices: dict[tuple[str, Rows], gs.Variable]
    ) -> gs.Variable:
        if have.rows == rows:
            return have.tensor
        key = (have.tensor.name, rows)
        if key not in slices:
            inner = Rows(rows.first - have.rows.first, rows.end - have.rows.first)
            slices[key] = self._slice(have.tensor, inner, f"{have.tensor.name}_rows{number}", [node], have.axis)
        return slices[key]

    def _slice(
        self,
        tensor: gs.Variable,
        rows: Rows,
        name: str,
        nodes: list[gs.Node],
        axis: int | None = None,
        *,
        copied: bool = False,
    ) -> gs.Variable:
        """Rows of a tensor: a part, or a node that a unit computes where they are ``copied`` or not contiguous."""
        axis = _axis(tensor) if axis is None else axis
        shape = [int(size) for size in tensor.shape]
        shape[axis] = rows.count
        ranges = [np.array([value], np.int64) for value in (rows.first, rows.end, axis, 1)]
        inputs = [tensor, *(self.editor.constant(f"{name}_range", values) for values in ranges)]
        output = self.editor.variable(name, tensor.dtype, shape)
        added = self.editor.add("Slice", inputs, [output], name=name, origin=self.editor.origin(*nodes))
        if not copied and prod(shape[:axis]) == 1:
            self.parts.add(added.name)
        self.ordered.append(added)
        return output

    def _concat(self, pieces: list[gs.Variable], whole: gs.Variable) -> None:
        makers = [piece.inputs[0] for piece in pieces]
        origin = self.editor.origin(*makers[:1])
        attributes = {"axis": _axis(whole)}
        name = f"{whole.name}_whole"
        self._part(self.editor.add("Concat", pieces, [whole], name=name, origin=origin, attrs=attributes))

    def _part(self, node: gs.Node) -> None:
        self.parts.add(node.name)
        self.ordered.append(node)


def _axis(tensor: gs.Tensor) -> int:
    """The axis along which parts are contiguous: rows of pictures, else the first axis with more than one index."""
    sizes = [int(size) for size in tensor.shape]
    if len(sizes) == 4 and sizes[0] == 1:
        return AXIS
    return next((axis for axis, size in enumerate(sizes) if size > 1), len(sizes) - 1)
