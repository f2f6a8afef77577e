"""Check a mapping against the graph, sharing nothing with the mapper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

from match_core.validate.touched import Touch, touches

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.candidate import Candidate, Share
    from match_core.contract.mapping import Assignment, Mapping


class InvalidMappingError(RuntimeError):
    """A mapping breaks its contract; the mapper's fault, not the user's."""


def validate_mapping(graph: gs.Graph, mapping: Mapping) -> None:
    """InvalidMappingError with all faults, if there are any."""
    faults = mapping_faults(graph, mapping)
    if faults:
        raise InvalidMappingError("; ".join(faults))


def mapping_faults(
    graph: gs.Graph, mapping: Mapping, conversions: Sequence[Assignment] | None = None
) -> tuple[str, ...]:
    """All faults of a mapping; empty if it is correct: each node is in exactly one assignment, or in the shares of one
    operator, which cover one of its dimensions once; each assignment is legal (all rules of its pattern hold) and comes
    after those it reads from; a tree pattern exposes its result only; in a concurrent mapping a task starts after the
    tasks that write the bytes it reads have ended, and tasks of one unit do not overlap; tensors are read in the stored
    form in which they were written, and are plain at the graph's inputs and outputs. ``conversions``: between stored
    forms that are not in the graph yet; forms are then not checked."""
    whole, aside = mapping, {id(assignment) for assignment in conversions or ()}
    if aside:
        mapping = replace(mapping, assignments=tuple(a for a in mapping.assignments if id(a) not in aside))
    faults = [*_cover_faults(graph, mapping)]
    if not faults:
        faults += _order_faults(graph, mapping)
        faults += _escape_faults(graph, mapping)
        faults += _time_faults(graph, mapping)
        faults += _form_faults(graph, mapping) if conversions is None else ()
    for assignment in mapping.assignments:
        faults += _legality_faults(assignment)
    faults += _objective_faults(whole)
    return tuple(faults)


def _cover_faults(graph: gs.Graph, mapping: Mapping) -> Iterator[str]:
    times = {node.name: 0 for node in graph.nodes}
    if len(times) != len(graph.nodes):
        yield "two nodes share a name"
    operators: dict[tuple[str, ...], list[Candidate]] = {}
    for assignment in mapping.assignments:
        operators.setdefault(tuple(sorted(assignment.candidate.node_names)), []).append(assignment.candidate)
    for names, parts in operators.items():
        shared = all(part.share is not None for part in parts)
        if shared:
            yield from _share_faults(names, parts)
        for name in names:
            if name not in times:
                yield f"{name!r} is not in the graph"
            times[name] = times.get(name, 0) + (1 if shared else len(parts))
    for name, count in times.items():
        if count != 1:
            yield f"node {name!r} is in {count} assignments"


def _share_faults(names: tuple[str, ...], parts: Sequence[Candidate]) -> Iterator[str]:
    """Shares of an operator follow each other along one axis of the output, from its first index to its last."""
    reached, along = 0, set()
    for part in sorted(parts, key=lambda part: part.share.first if part.share else -1):
        share = part.share
        if share is None:
            continue
        if share.first != reached or share.size <= 0:
            yield f"shares of {names}: one has {share.size} from {share.first}, the previous one ends at {reached}"
        reached = share.first + share.size
        along.add(divided_axis(share))
    if len(along) != 1 or {size for _, size in along} != {reached}:
        yield f"shares of {names} are along (stride, size) {sorted(along)} and end at {reached}"


def divided_axis(share: Share) -> tuple[int, int]:
    """Elements from one index to the next of the output's axis that the share's dimension runs over (0 if none does),
    and the size of the axis. Units of different packages may have different names for the same dimension."""
    return _stride(share), share.whole.dim(share.dim).size


def _stride(share: Share) -> int:
    outputs = [operand for operand in share.whole.operands if operand.role == "output"]
    found = [(o, n) for o in outputs for n, axis in enumerate(o.axes) if axis.terms == ((share.dim, 1),)]
    if len(outputs) != 1 or len(found) != 1:
        return 0
    output, number = found[0]
    return prod(axis.size for axis in output.axes[number + 1 :])


def _homes(mapping: Mapping) -> dict[str, int]:
    return {name: number for number, a in enumerate(mapping.assignments) for name in a.candidate.node_names}


def _makers(graph: gs.Graph) -> dict[str, str]:
    return {tensor.name: node.name for node in graph.nodes for tensor in node.outputs if tensor.name}


def _order_faults(graph: gs.Graph, mapping: Mapping) -> Iterator[str]:
    """An order in which every value is computed before it is read also proves that there is no cycle."""
    home, maker = _homes(mapping), _makers(graph)
    for node in graph.nodes:
        for tensor in node.inputs:
            if tensor.name in maker and home[maker[tensor.name]] > home[node.name]:
                yield f"{node.name!r} comes before {maker[tensor.name]!r}, which it reads from"


def _escape_faults(graph: gs.Graph, mapping: Mapping) -> Iterator[str]:
    home, maker = _homes(mapping), _makers(graph)
    read_outside = [tensor.name for tensor in graph.outputs if tensor.name in maker]
    for node in graph.nodes:
        for tensor in node.inputs:
            if tensor.name in maker and home[maker[tensor.name]] != home[node.name]:
                read_outside.append(tensor.name)
    for name in read_outside:
        candidate = mapping.assignments[home[maker[name]]].candidate
        if candidate.pattern.search is None and maker[name] != candidate.node_names[-1]:
            yield f"{name!r} is read outside, but is hidden inside {candidate.pattern.name}"


def _time_faults(graph: gs.Graph, mapping: Mapping) -> Iterator[str]:
    """Start times against the bytes that tasks read, and against the units."""
    if not mapping.starts:
        return
    if len(mapping.starts) != len(mapping.assignments):
        yield f"{len(mapping.starts)} starts for {len(mapping.assignments)} assignments"
        return
    timed = [
        (start, start + a.schedule.cost.total_cycles, a)
        for start, a in zip(mapping.starts, mapping.assignments, strict=True)
        if not a.candidate.pattern.view
    ]
    by_unit: dict[str, list[tuple[int, int]]] = {}
    for start, end, assignment in timed:
        for unit in assignment.candidate.units:
            by_unit.setdefault(unit, []).append((start, end))
        if end > mapping.finish_cycles:
            yield f"{assignment.candidate.node_names} end at {end}, the program at {mapping.finish_cycles}"
    for unit, spans in by_unit.items():
        spans.sort()
        for before, after in pairwise(spans):
            if after[0] < before[1]:
                yield f"{unit} starts a task at {after[0]}, the previous one ends at {before[1]}"
    yield from _early_faults(graph, timed)


def _early_faults(graph: gs.Graph, timed: Sequence[tuple[int, int, Assignment]]) -> Iterator[str]:
    touched = [(start, end, assignment, touches(assignment, graph)) for start, end, assignment in timed]
    makers: dict[str, list[tuple[int, Touch]]] = {}
    for _, end, _, found in touched:
        for touch in found:
            if touch.writes:
                makers.setdefault(touch.tensor, []).append((end, touch))
    for start, _, reader, found in touched:
        for read in found:
            for end, made in makers.get(read.tensor, ()) if not read.writes else ():
                if end > start and read.meets(made):
                    yield f"{reader.candidate.node_names} start at {start}, {read.tensor!r} is written until {end}"


def _form_faults(graph: gs.Graph, mapping: Mapping) -> Iterator[str]:
    """Operands of kernels state their form; all other tensors are plain."""
    stored = {tensor.name: "" for tensor in graph.inputs}
    ends = {tensor.name for tensor in graph.outputs}
    for assignment in mapping.assignments:
        candidate = assignment.candidate
        made = [tensor.name for node in candidate.match.nodes for tensor in node.outputs if tensor.name]
        forms = {_operand_tensor(candidate, o.name, o.role): o.form for o in candidate.workload.operands if o.form}
        for name in sorted({t.name for node in candidate.match.nodes for t in node.inputs} - set(made)):
            if name in stored and stored[name] != forms.get(name, ""):
                yield f"{candidate.node_names} reads {name!r} as {forms.get(name, '')!r}, its form is {stored[name]!r}"
        stored.update((name, forms.get(name, "")) for name in made)
        wrong = sorted(name for name in made if name in ends and stored[name])
        if wrong:
            yield f"{candidate.node_names} writes graph outputs {wrong} in a form"


def _operand_tensor(candidate: Candidate, operand: str, role: str) -> str:
    """The name of the tensor of an operand with a form; conversions have one input."""
    if role == "output":
        made = [known.name for known in candidate.workload.operands if known.role == "output"]
        results = candidate.match.results or candidate.match.nodes[-1].outputs
        return str(results[made.index(operand)].name)
    if operand in candidate.match.captures:
        return str(candidate.match.captures[operand].name)
    return str(candidate.match.nodes[0].inputs[0].name)


def _objective_faults(mapping: Mapping) -> Iterator[str]:
    costs = [assignment.schedule.cost for assignment in mapping.assignments]
    cycles, energy = sum(cost.total_cycles for cost in costs), sum(round(cost.energy_pj or 0.0) for cost in costs)
    cycles = mapping.finish_cycles if mapping.starts else cycles
    value = {"latency": cycles, "energy": energy, "edp": cycles * energy}[mapping.objective]
    if mapping.solver.objective != value or mapping.solver.bound > value:
        yield f"solver reports {mapping.solver}, the sum is {cycles} cycles and {energy} pJ"


def _legality_faults(assignment: Assignment) -> Iterator[str]:
    candidate = assignment.candidate
    for rule in candidate.pattern.constraints:
        value = rule.check(candidate.match)
        if value is not None:
            yield f"{candidate.node_names} on {candidate.unit}: {rule.description}, but {value}"
    if assignment.schedule.cost.total_cycles < 0:
        yield f"{candidate.node_names} on {candidate.unit}: negative cost"
