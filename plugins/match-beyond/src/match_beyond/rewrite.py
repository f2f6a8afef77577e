"""The model of a choice: layers in stripes, with Slice and Concat nodes that name parts of tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.editor import Editor
from match_core.ir.topology import is_constant

from match_beyond.divisible import divided
from match_beyond.rows import Rows, row_axis
from match_beyond.stripes import Stripe, crossing_of, stripes_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.model import Model
    from numpy.typing import NDArray

    from match_beyond.choice import Choice, Run
    from match_beyond.network import Network
    from match_beyond.rows import Cut


def rewritten(model: Model, network: Network, choice: Choice) -> Model:
    """A model that computes the same in the stripes of a choice."""
    return _Rewriter(model, network, choice).model()


@dataclass(frozen=True)
class _Have:
    """Rows of a tensor, along an axis, that exist as a tensor of their own."""

    tensor: gs.Variable
    rows: Rows
    axis: int


@dataclass(frozen=True)
class _Stripe:
    """A stripe while its nodes are added. ``inside``: tensors that nodes of the run make; ``again``: rows that the
    stripe before has kept; ``have``: the rows of each tensor so far; ``slices``: parts of them, by tensor and rows."""

    plan: Stripe
    number: int
    inside: frozenset[str]
    again: Mapping[str, _Have]
    have: dict[str, _Have] = field(default_factory=dict)
    slices: dict[tuple[str, Rows], gs.Variable] = field(default_factory=dict)


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
        inside = frozenset(tensor.name for _, outputs in ends.values() for tensor in outputs)
        again: Mapping[str, _Have] = {}
        for number, plan in enumerate(stripes):
            following = stripes[number + 1].kept if number + 1 < run.count else {}
            wanted: dict[str, list[tuple[str, Rows]]] = {}
            for name, rows in following.items():
                wanted.setdefault(readers[name], []).append((name, rows))
            again = self._stripe(old, ends, _Stripe(plan, number, inside, again), made, wanted)
        for name, pieces in made.items():
            self._concat(pieces, self.tensors[name])

    def _whole(self, run: Run) -> None:
        """One layer whose tensors are copied from the store before it, or there behind it."""
        layer = self.network.layers[run.first]
        nodes = [self.nodes[node.name] for node in layer.nodes]
        for name in layer.reads:
            if name in self.choice.away:
                tensor = self.tensors[name]
                near = self._slice(tensor, Rows(0, int(tensor.shape[row_axis(tensor)])), f"{name}_near", nodes)
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
        stripe: _Stripe,
        made: Mapping[str, list[gs.Variable]],
        wanted: Mapping[str, list[tuple[str, Rows]]],
    ) -> dict[str, _Have]:
        """Add a stripe, and its parts of the tensors that leave the run to ``made``. The result: the rows that it
        keeps, those that are ``wanted`` of tensors, copied before a node (their last reader, which may overwrite them).
        """
        have, kept = stripe.have, {}
        for node in nodes:
            for name, rows in wanted.get(node.name, ()):
                kept[name] = self._copied(have[name], rows, f"{name}_kept{stripe.number}", node)
            inputs, (result, *_) = ends[node.name]
            cut = stripe.plan.cuts.get(node.name)
            if cut is None:
                if result.name in stripe.again:
                    have[result.name] = stripe.again[result.name]
                continue
            have[result.name] = self._computed(node, cut, inputs, result, stripe)
            if result.name in made:
                part = self._rows(have[result.name], stripe.plan.parts[result.name], node, stripe)
                made[result.name].append(part)
        return kept

    def _computed(
        self, node: gs.Node, cut: Cut, inputs: list[gs.Tensor], result: gs.Variable, stripe: _Stripe
    ) -> _Have:
        """Add the part of a node that computes the rows of a stripe, behind those that the stripe before has kept."""
        axis = self.network.axis(result.name)
        attributes, constants = divided(self.originals[node.name], cut, axis)
        read = [self._read(node, cut, tensor, position, constants, stripe) for position, tensor in enumerate(inputs)]
        shape = [int(size) for size in result.shape]
        shape[axis] = cut.made.count
        name, origin = f"{node.name}_stripe{stripe.number}", self.editor.origin(node)
        output = self.editor.variable(f"{result.name}_stripe{stripe.number}", result.dtype, shape)
        before = stripe.again.get(result.name)
        if before is not None:
            before = self._copied(before, before.rows, f"{result.name}_again{stripe.number}", node)
        added = self.editor.add(qualified_op(node), read, [output], name=name, origin=origin, attrs=attributes)
        self.ordered.append(added)
        if before is None:
            return _Have(output, cut.made, axis)
        rows = before.rows.joined(cut.made)
        shape[axis] = rows.count
        joined = self.editor.variable(f"{result.name}_joined{stripe.number}", result.dtype, shape)
        self._concat([before.tensor, output], joined)
        return _Have(joined, rows, axis)

    def _read(
        self,
        node: gs.Node,
        cut: Cut,
        tensor: gs.Tensor,
        position: int,
        constants: Mapping[int, NDArray[np.generic]],
        stripe: _Stripe,
    ) -> gs.Tensor:
        """What the part of a node reads for an input: a constant, its part, or the rows of a tensor that it needs."""
        if position in constants:
            return self.editor.constant(f"{node.name}_{stripe.number}_{position}", constants[position])
        if is_constant(tensor) or not tensor.name:
            return tensor
        if tensor.name not in stripe.inside and tensor.name not in stripe.have:
            stripe.have[tensor.name] = self._outside(tensor, node, stripe)
        return self._rows(stripe.have[tensor.name], cut.read, node, stripe)

    def _copied(self, have: _Have, rows: Rows, name: str, node: gs.Node) -> _Have:
        """A copy of rows, which a unit makes."""
        inner = Rows(rows.first - have.rows.first, rows.end - have.rows.first)
        return _Have(self._slice(have.tensor, inner, name, [node], have.axis, copied=True), rows, have.axis)

    def _outside(self, tensor: gs.Variable, node: gs.Node, stripe: _Stripe) -> _Have:
        """Rows of a tensor that was made before the run: copied from the store, or the whole tensor."""
        axis = self.network.axis(tensor.name)
        if tensor.name in self.choice.away:
            rows = stripe.plan.rows[tensor.name]
            return _Have(self._slice(tensor, rows, f"{tensor.name}_near{stripe.number}", [node]), rows, axis)
        return _Have(tensor, Rows(0, self.network.height(tensor.name)), axis)

    def _rows(self, have: _Have, rows: Rows, node: gs.Node, stripe: _Stripe) -> gs.Variable:
        """A tensor of these rows: the one that exists, or a slice of it, which all nodes of the stripe share."""
        if have.rows == rows:
            return have.tensor
        key, name = (have.tensor.name, rows), f"{have.tensor.name}_rows{stripe.number}"
        if key not in stripe.slices:
            inner = Rows(rows.first - have.rows.first, rows.end - have.rows.first)
            stripe.slices[key] = self._slice(have.tensor, inner, name, [node], have.axis)
        return stripe.slices[key]

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
        axis = row_axis(tensor) if axis is None else axis
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
        attributes = {"axis": row_axis(whole)}
        name = f"{whole.name}_whole"
        self._part(self.editor.add("Concat", pieces, [whole], name=name, origin=origin, attrs=attributes))

    def _part(self, node: gs.Node) -> None:
        self.parts.add(node.name)
        self.ordered.append(node)
