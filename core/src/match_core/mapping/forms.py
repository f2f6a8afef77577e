"""Stored forms in the choice: which form candidates read and make, and what conversions between them would cost.

A tensor lies at home in the form in which its maker wrote it; graph inputs, graph outputs and views are plain. Where a
reader wants another form, one conversion makes it, for all readers that want the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.patterns.topology import is_constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.forms import Form
    from match_core.hardware import Soc
    from match_core.mapping.cover import Option
    from match_core.mapping.objective import Weighting
    from match_core.mapping.result import Assignment, Candidate, Candidates

#: The conversion of a tensor between two forms (names) with its schedule; None where no unit can do it.
Converter = Callable[["gs.Tensor", str, str], "Assignment | None"]


@dataclass(frozen=True, slots=True)
class Conversion:
    """What it costs if the options ``makers`` make the tensor in form ``source`` and one of ``readers`` wants it in
    ``target``; ``made``, ``read``: that is so whatever is chosen (graph inputs and outputs). ``assignment`` None: it
    cannot be."""

    tensor: str
    source: str
    target: str
    makers: tuple[int, ...]
    readers: tuple[int, ...]
    made: bool
    read: bool
    cost: int
    assignment: Assignment | None

    def needed(self, chosen: frozenset[int]) -> bool:
        """Whether the chosen options (indices) need it."""
        return (self.made or not chosen.isdisjoint(self.makers)) and (self.read or not chosen.isdisjoint(self.readers))

    def within(self, indices: frozenset[int]) -> Conversion | None:
        """The same among these options only; None where none of them makes or reads it."""
        makers = tuple(index for index in self.makers if index in indices)
        wants = tuple(index for index in self.readers if index in indices)
        if not (makers or self.made) or not (wants or self.read):
            return None
        return replace(self, makers=makers, readers=wants)


def has_forms(candidate: Candidate) -> bool:
    """Whether the candidate reads or makes anything that is not plain."""
    return any(operand.form for operand in candidate.workload.operands)


def forms_read(candidate: Candidate) -> dict[str, str]:
    """The form in which the candidate wants each tensor that it reads, by name."""
    members = {tensor.name for node in candidate.match.nodes for tensor in node.outputs}
    inputs = (tensor for node in candidate.match.nodes for tensor in node.inputs)
    wanted = {t.name: "" for t in inputs if not t.is_empty() and not is_constant(t) and t.name not in members}
    for operand in candidate.workload.operands:
        if operand.role == "input" and operand.form:
            wanted[_tensor(candidate, operand.name).name] = operand.form
    return wanted


def forms_made(candidate: Candidate) -> dict[str, str]:
    """The form of each tensor that the candidate makes, by name: other than plain those of operands only."""
    made = {tensor.name: "" for node in candidate.match.nodes for tensor in node.outputs if not tensor.is_empty()}
    for operand in candidate.workload.operands:
        if operand.role == "output" and operand.form:
            made[candidate.result(operand.name).name] = operand.form
    return made


def _tensor(candidate: Candidate, operand: str) -> gs.Tensor:
    if candidate.match.has(operand):
        return candidate.match.tensor(operand)
    (node,) = candidate.match.nodes  # a conversion
    return node.inputs[0]


def conversions_of(
    graph: gs.Graph,
    offered: Sequence[Assignment],
    options: Sequence[Option],
    weighting: Weighting,
    convert: Converter,
) -> tuple[Conversion, ...]:
    """All conversions that some choice of options needs, in the order of the tensors in the graph."""
    reads: dict[str, dict[str, list[int]]] = {tensor.name: {"": []} for tensor in graph.outputs}
    makes: dict[str, dict[str, list[int]]] = {tensor.name: {"": []} for tensor in graph.inputs}
    ends = frozenset(tensor.name for tensor in graph.outputs)
    for option in options:
        candidate = offered[option.index].candidate
        for name, form in forms_read(candidate).items():
            reads.setdefault(name, {}).setdefault(form, []).append(option.index)
        for name, form in forms_made(candidate).items():
            makes.setdefault(name, {}).setdefault(form, []).append(option.index)
    sources = frozenset(tensor.name for tensor in graph.inputs)
    return tuple(
        Conversion(
            tensor=tensor.name,
            source=source,
            target=target,
            makers=tuple(makers),
            readers=tuple(readers),
            made=tensor.name in sources,
            read=not target and tensor.name in ends,
            cost=weighting.of(assignment.schedule.cost) if assignment is not None else 0,
            assignment=assignment,
        )
        for tensor in _tensors(graph)
        for source, makers in makes.get(tensor.name, {}).items()
        for target, readers in reads.get(tensor.name, {}).items()
        if source != target and (makers or tensor.name in sources) and (readers or (not target and tensor.name in ends))
        for assignment in [convert(tensor, source, target)]
    )


def _tensors(graph: gs.Graph) -> Iterator[gs.Tensor]:
    yield from graph.inputs
    for node in graph.nodes:
        yield from (tensor for tensor in node.outputs if not tensor.is_empty())


def stored_forms(assignments: Sequence[Assignment]) -> Mapping[str, str]:
    """The form in which each tensor that is made lies at home."""
    return {name: form for a in assignments for name, form in forms_made(a.candidate).items()}


def check_forms(candidates: Candidates, soc: Soc) -> None:
    """ValueError where a pattern describes other bytes than its forms have: a fault of its package."""
    for candidate in candidates.legal:
        fault = form_fault(candidate, soc.forms)
        if fault:
            raise ValueError(f"{candidate.unit}, pattern {candidate.pattern.name}, {candidate.node_names}: {fault}")


def form_fault(candidate: Candidate, forms: Sequence[Form]) -> str:
    """What is wrong with the operands' sizes in their forms; empty if nothing is."""
    from match_core.schedule.geometry import far_bytes

    by_name = {form.name: form for form in forms}
    for operand in candidate.workload.operands:
        if not operand.form:
            continue
        if operand.form not in by_name:
            return f"operand {operand.name} has the form {operand.form!r}, which the Soc does not list"
        made = operand.role == "output"
        tensor = candidate.result(operand.name) if made else _tensor(candidate, operand.name)
        shape, form = tuple(int(size) for size in tensor.shape), by_name[operand.form]
        if not form.takes(shape):
            return f"operand {operand.name} of shape {shape} cannot have the form {form.name!r}"
        stored = -(-form.elements(shape) * operand.element_bits // 8)
        if far_bytes(operand) < stored if made else far_bytes(operand) > stored:
            few_or_many = "only " if made else ""
            return f"operand {operand.name} has {few_or_many}{far_bytes(operand)} bytes, form {form.name!r} {stored}"
    return ""
