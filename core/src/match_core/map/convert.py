"""Conversions between stored forms as candidates: requested while choosing, then inserted into the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from match_core.contract.candidate import Candidate
from match_core.contract.mapping import Assignment
from match_core.contract.structure import Match
from match_core.ir.editor import Editor
from match_core.ir.groups import readers, sorted_groups
from match_core.ir.topology import Topology
from match_core.map.forms import forms_made, forms_read, stored_forms
from match_core.map.rebind import Rebind
from match_core.match.candidates import find_candidates

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.mapping import Mapping as UnitMapping
    from match_core.contract.model import Model
    from match_core.contract.pattern import Pattern
    from match_core.schedule.candidates import Scheduler

OPERATOR = "match.form::Convert"


@dataclass
class Conversions:
    """Finds, for each shape, type and pair of forms, the unit of the scheduler that converts fastest. Most programs
    need none, so that patterns for ``soc`` are requested late."""

    scheduler: Scheduler
    soc: Soc
    _known: dict[tuple[object, ...], Assignment | None] = field(default_factory=dict)

    def __call__(self, tensor: gs.Tensor, source: str, target: str) -> Assignment | None:
        """The conversion of a tensor like this one, on a graph of its own; None if a form does not support the shape or
        no unit can convert."""
        shape = tuple(int(size) for size in tensor.shape)
        key = (shape, str(tensor.dtype), source, target)
        if key not in self._known:
            self._known[key] = self._found(tensor, shape, source, target)
        return self._known[key]

    def _found(self, tensor: gs.Tensor, shape: tuple[int, ...], source: str, target: str) -> Assignment | None:
        import onnx_graphsurgeon as gs

        attributes = self.attributes(len(shape), source, target)
        if attributes is None or not all(self.scheduler.soc.form(n, len(shape)).takes(shape) for n in (source, target)):
            return None
        read, made = (gs.Variable(name, dtype=tensor.dtype, shape=list(shape)) for name in ("x", "y"))
        domain, _, op = OPERATOR.rpartition("::")
        node = gs.Node(op, "convert", attributes, [read], [made], domain=domain)
        graph = gs.Graph(nodes=[node], inputs=[read], outputs=[made])
        offered, _ = self.scheduler.schedule_all(find_candidates(graph, self._patterns))
        return min(offered, key=lambda assignment: assignment.schedule.cost.total_cycles, default=None)

    @cached_property
    def _patterns(self) -> list[tuple[Unit, tuple[Pattern, ...]]]:
        return [(unit, self.scheduler.plugins.patterns(self.soc, unit)) for unit in self.scheduler.units]

    @property
    def given(self) -> tuple[Assignment, ...]:
        """All requested conversions that exist."""
        return tuple(assignment for assignment in self._known.values() if assignment is not None)

    def attributes(self, rank: int, source: str, target: str) -> dict[str, object] | None:
        """The node's attributes; None if a form has another rank."""
        forms = [self.scheduler.soc.form(name, rank) for name in (source, target)]
        if any(form.rank != rank for form in forms):
            return None
        return {**forms[0].attributes("source"), **forms[1].attributes("target")}


@dataclass(frozen=True)
class Converted:
    """The model with the mapping's conversions and bodies of regions, and the mapping and offers for its nodes."""

    model: Model
    mapping: UnitMapping
    offered: tuple[Assignment, ...]


def converted(model: Model, mapping: UnitMapping, offered: Sequence[Assignment], conversions: Conversions) -> Converted:
    """Put the conversions that ``mapping`` uses into a copy of the model. Of the other ``offered`` candidates, those
    whose forms are the chosen ones are kept."""
    known = {node.name for node in model.graph.nodes}
    placed = [a for a in mapping.assignments if known.issuperset(a.candidate.node_names)]
    required = _required(model.graph, placed)
    if not required:
        return Converted(model, mapping, tuple(offered))
    editor = Editor(model)
    onto = Rebind.of(editor.graph)
    tensors = onto.tensors
    made: dict[tuple[str, str], gs.Variable] = {}
    inserted: list[Assignment] = []
    for (name, target), source in required.items():
        tensor = tensors[name]
        like = conversions(tensor, source, target)
        if like is None:
            raise ValueError(f"nothing converts {name!r} from form {source!r} to {target!r}")
        rank = len(tensor.shape)
        made[name, target] = editor.node(
            OPERATOR,
            [tensor],
            tensor.dtype,
            tensor.shape,
            name=f"{name}_{target or 'plain'}",
            origin=(),
            attrs=conversions.attributes(rank, source, target),
        )
        inserted.append(_placed(like, made[name, target]))
    rebind = _Forms(onto, made, _forms_at_home(model.graph, placed))
    chosen = [rebind.edges(assignment) for assignment in placed]
    kept = tuple(found for assignment in offered if (found := rebind.bound(assignment)) is not None)
    _end(editor, tensors, made, required)
    changed = editor.finish()
    return Converted(changed, replace(mapping, assignments=_sorted(changed, [*chosen, *inserted])), (*kept, *inserted))


def _end(
    editor: Editor,
    tensors: Mapping[str, gs.Tensor],
    made: Mapping[tuple[str, str], gs.Variable],
    required: Mapping[tuple[str, str], str],
) -> None:
    """Graph outputs are plain: if one has another form, the conversion's result takes its position and name."""
    for position, output in enumerate(editor.graph.outputs):
        name = output.name
        if (name, "") in made:
            editor.rename(tensors[name], f"{name}_{required[name, '']}")
            made[name, ""].name = name
            editor.graph.outputs[position] = made[name, ""]


def _forms_at_home(graph: gs.Graph, assignments: Sequence[Assignment]) -> dict[str, str]:
    return {**{tensor.name: "" for tensor in graph.inputs}, **stored_forms(assignments)}


def _required(graph: gs.Graph, assignments: Iterable[Assignment]) -> dict[tuple[str, str], str]:
    """(tensor, required form) -> stored form, for all tensors whose forms differ."""
    chosen = tuple(assignments)
    stored = _forms_at_home(graph, chosen)
    reads = [(name, form) for a in chosen for name, form in forms_read(a.candidate).items()]
    reads += [(tensor.name, "") for tensor in graph.outputs]
    return {(name, form): stored[name] for name, form in reads if name in stored and stored[name] != form}


def _placed(like: Assignment, output: gs.Variable) -> Assignment:
    """The conversion, bound to its nodes in the graph."""
    (node,) = output.inputs
    (twin,) = like.candidate.match.nodes
    places = {id(twin): node, id(twin.inputs[0]): node.inputs[0], id(twin.outputs[0]): output}
    captures = {name: places[id(value)] for name, value in like.candidate.match.captures.items()}
    return replace(like, candidate=replace(like.candidate, match=Match((node,), captures)))


@dataclass(frozen=True)
class _Forms:
    """Assignments of the old graph on the new one. ``made``: (tensor, form) -> converted tensor; ``stored``: the form
    of each tensor."""

    onto: Rebind
    made: Mapping[tuple[str, str], gs.Variable]
    stored: Mapping[str, str]

    def bound(self, assignment: Assignment) -> Assignment | None:
        """The assignment on the new graph; None if it requires or writes forms that do not exist there."""
        candidate = assignment.candidate
        if any(self.stored[name] != form for name, form in forms_made(candidate).items()):
            return None
        read = self._read(candidate)
        return None if read is None else replace(assignment, candidate=self.onto.candidate(candidate, read))

    def edges(self, assignment: Assignment) -> Assignment:
        """The same for a chosen assignment, whose nodes then read the converted tensors."""
        read = self._read(assignment.candidate)
        if read is None:
            raise ValueError(f"{assignment.candidate.node_names} reads a form that no task writes")
        for name in assignment.candidate.node_names:
            node = self.onto.nodes[name]
            for position, tensor in enumerate(node.inputs):
                if tensor.name in read:
                    node.inputs[position] = read[tensor.name]
        return replace(assignment, candidate=self.onto.candidate(assignment.candidate, read))

    def _read(self, candidate: Candidate) -> dict[str, gs.Tensor] | None:
        """Converted tensors that the candidate reads, by the old name."""
        required = {name: form for name, form in forms_read(candidate).items() if self.stored[name] != form}
        if any((name, form) not in self.made for name, form in required.items()):
            return None
        return {name: self.made[name, form] for name, form in required.items()}


def _sorted(model: Model, assignments: Sequence[Assignment]) -> tuple[Assignment, ...]:
    topology = Topology.of(model.graph)
    groups = [tuple(sorted(topology.position(node) for node in a.candidate.match.nodes)) for a in assignments]
    return tuple(assignments[number] for number in sorted_groups(groups, readers(topology)))
