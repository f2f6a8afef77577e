"""A network as the search sees it: layers in their order, tensors between them, and where each is read."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from match_core.contract.geometry import far_bytes
from match_core.map.dataflow import tensor_bytes

from match_beyond.divisible import pointwise, rule_of, turned_axes
from match_beyond.rows import RowRule, computed, height, row_axis

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.mapping import Mapping as Mapped
    from match_core.contract.model import Model
    from match_core.contract.unit_api import Overwrite


@dataclass(frozen=True, slots=True)
class Step:
    """An operator that can be divided: the names of its node, its result and its computed inputs, and its rule."""

    node: str
    result: str
    inputs: tuple[str, ...]
    rule: RowRule


@dataclass(frozen=True)
class Layer:
    """An assignment of the mapping: its nodes in order, the tensors that it reads from others and makes for others, its
    modelled cycles and bytes of its constants. ``steps``: its operators if it can be divided along rows, else empty;
    ``view``: it has no code, and its result is where its inputs are."""

    nodes: tuple[gs.Node, ...]
    reads: tuple[str, ...]
    makes: tuple[str, ...]
    cycles: int
    constant_bytes: int
    steps: tuple[Step, ...]
    view: bool = False


@dataclass(frozen=True)
class Network:
    """``last``: the position of the last layer that reads a tensor, by name; ``made``: of the layer that makes it;
    ``ends``: graph inputs and outputs, which the caller provides in the home memory; ``leads``: by result and input,
    the bytes that the result must begin before the input to overwrite it; ``axes``: of rows, by tensor, where it is not
    the first with more than one index; ``shown``: by tensor that a view reads or makes, the one whose bytes it may
    share, through other tensors; ``lent``: views of graph inputs, which take no bytes of their own."""

    layers: tuple[Layer, ...]
    tensors: dict[str, gs.Tensor]
    sizes: dict[str, int]
    made: dict[str, int]
    last: dict[str, int]
    ends: frozenset[str]
    leads: dict[tuple[str, str], int] = field(default_factory=dict)
    axes: dict[str, int] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    lent: frozenset[str] = frozenset()

    @classmethod
    def of(cls, model: Model, mapping: Mapped, overlaps: Sequence[Overwrite] = ()) -> Network:
        """The network of a model with a sequential mapping, whose kernels allow ``overlaps``."""
        graph = model.graph
        readers: dict[str, set[str]] = {}
        for node in graph.nodes:
            for tensor in node.inputs:
                readers.setdefault(tensor.name, set()).add(node.name)
        inputs, outputs = ({tensor.name for tensor in ends} for ends in (graph.inputs, graph.outputs))
        layers: list[Layer] = []
        divisible: list[int] = []
        tensors: dict[str, gs.Tensor] = {tensor.name: tensor for tensor in graph.inputs}
        shown: dict[str, str] = {}
        lent: set[str] = set()
        for assignment in mapping.assignments:
            candidate = assignment.candidate
            nodes = candidate.match.nodes
            names = {node.name for node in nodes}
            made = [tensor for node in nodes for tensor in node.outputs if tensor.name]
            inside = {tensor.name for tensor in made}
            reads = dict.fromkeys(t.name for n in nodes for t in n.inputs if t.name in tensors and t.name not in inside)
            leaving = [t for t in made if t.name in outputs or readers.get(t.name, set()) - names]
            tensors.update((tensor.name, tensor) for tensor in made)
            constants = sum(far_bytes(o) for o in candidate.workload.operands if o.role == "constant")
            makes = tuple(tensor.name for tensor in leaving)
            if candidate.pattern.view:
                for name in (*list(reads)[1:], *makes):
                    shown[_whose(shown, name)] = _whose(shown, next(iter(reads), name))
                if len(reads) == 1 and (lent | inputs).issuperset(reads):
                    lent.update(makes)
            if len(makes) == 1:
                divisible.append(len(layers))
            cycles = assignment.schedule.cost.total_cycles
            layers.append(Layer(nodes, tuple(reads), makes, cycles, constants, (), candidate.pattern.view))
        axes = _axes(layers, divisible, readers, outputs)
        for position in divisible:
            layers[position] = replace(layers[position], steps=_steps(layers[position].nodes, axes))
        last, where = {name: len(layers) for name in outputs}, {}
        for position, layer in enumerate(layers):
            where.update(dict.fromkeys(layer.makes, position))
            for name in layer.reads:
                last[name] = max(last.get(name, position), position)
        sizes = {name: tensor_bytes(tensor) for name, tensor in tensors.items()}
        ends = frozenset((*outputs, *(tensor.name for tensor in graph.inputs)))
        leads = {(overlap.output, overlap.input): overlap.lead_bytes for overlap in overlaps}
        return cls(tuple(layers), tensors, sizes, where, last, ends, leads, axes, shown, frozenset(lent - outputs))

    def whose(self, name: str) -> str:
        """The same tensor for all tensors that may share bytes because of views."""
        return _whose(self.shown, name)

    def saved_bytes(self, position: int, dying: Container[str]) -> int:
        """The most bytes that results of a layer can share with the inputs ``dying``."""
        saved, layer = 0, self.layers[position]
        for result in (name for name in layer.makes if name not in self.ends):
            under = [name for name in layer.reads if name in dying and (result, name) in self.leads]
            most = self.sizes[result] - min((self.leads[result, name] for name in under), default=0)
            saved += max(0, min(most, sum(self.sizes[name] for name in under)))
        return saved

    def height(self, name: str) -> int:
        """Rows of a tensor."""
        return height(self.tensors[name], self.axis(name))

    def axis(self, name: str) -> int:
        """The axis of a tensor's rows."""
        return self.axes[name] if name in self.axes else row_axis(self.tensors[name])

    def row_bytes(self, name: str) -> int:
        """Bytes of a row."""
        return self.sizes[name] // self.height(name)

    def live(self, position: int) -> tuple[str, ...]:
        """The tensors that were made before a position and are read there or later, without bytes of the caller."""
        return tuple(
            name
            for name, made in self.made.items()
            if made < position <= self.last.get(name, -1) and name not in self.ends | self.lent
        )


def _whose(shown: Mapping[str, str], name: str) -> str:
    while (other := shown.get(name, name)) != name:
        name = other
    return name


def _axes(
    layers: Sequence[Layer], divisible: Sequence[int], readers: Mapping[str, set[str]], outputs: Container[str]
) -> dict[str, int]:
    """The axis of rows of tensors that layers transpose, and of those in the layers before that compute them element by
    element; nothing else reads them. They are inputs of the network, or begin behind a layer that cannot be divided."""
    made = {name: position for position, layer in enumerate(layers) for name in layer.makes}
    axes: dict[str, int] = {}
    for layer in (layers[position] for position in divisible):
        found, reader = turned_axes(layer.nodes), layer
        if not found or len(layer.reads) != 1:
            continue
        axis = next(iter(found.values()))
        while (name := reader.reads[0]) not in outputs and readers[name] <= {node.name for node in reader.nodes}:
            position = made.get(name)
            if position is None or position not in divisible or not _steps(layers[position].nodes, {}):
                axes.update(found)
                break
            reader = layers[position]
            if len(reader.reads) != 1 or not pointwise(reader.nodes):
                break
            found.update((tensor.name, axis) for node in reader.nodes for tensor in computed(node))
    return axes


def _steps(nodes: tuple[gs.Node, ...], axes: Mapping[str, int]) -> tuple[Step, ...]:
    steps = []
    for node in nodes:
        rule = rule_of(node, axes)
        if rule is None:
            return ()
        steps.append(Step(node.name, node.outputs[0].name, tuple(t.name for t in computed(node)), rule))
    result = nodes[-1].outputs[0]
    return tuple(steps) if height(result, row_axis(result)) > 1 else ()
