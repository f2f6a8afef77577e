"""Check a mapping against the graph, sharing nothing with the mapper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.mapping.result import Assignment, Mapping


class InvalidMappingError(RuntimeError):
    """A mapping breaks its contract; a fault of the mapper, not of the user."""


def validate_mapping(graph: gs.Graph, mapping: Mapping) -> None:
    """InvalidMappingError with all faults, if there are any."""
    faults = mapping_faults(graph, mapping)
    if faults:
        raise InvalidMappingError("; ".join(faults))


def mapping_faults(graph: gs.Graph, mapping: Mapping) -> tuple[str, ...]:
    """Everything that is wrong with a mapping; empty if it is right: each node is in exactly one assignment,
    each assignment may run (all rules of its pattern hold) and comes after those it reads from, and what
    leaves a tree pattern is its result only."""
    faults = [*_cover_faults(graph, mapping)]
    if not faults:
        faults += _order_faults(graph, mapping)
        faults += _escape_faults(graph, mapping)
    for assignment in mapping.assignments:
        faults += _legality_faults(assignment)
    faults += _objective_faults(mapping)
    return tuple(faults)


def _cover_faults(graph: gs.Graph, mapping: Mapping) -> Iterator[str]:
    times = {node.name: 0 for node in graph.nodes}
    if len(times) != len(graph.nodes):
        yield "two nodes share a name"
    for assignment in mapping.assignments:
        for name in assignment.candidate.node_names:
            if name not in times:
                yield f"{name!r} is not in the graph"
            times[name] = times.get(name, 0) + 1
    for name, count in times.items():
        if count != 1:
            yield f"node {name!r} is in {count} assignments"


def _homes(mapping: Mapping) -> dict[str, int]:
    return {name: number for number, a in enumerate(mapping.assignments) for name in a.candidate.node_names}


def _makers(graph: gs.Graph) -> dict[str, str]:
    return {tensor.name: node.name for node in graph.nodes for tensor in node.outputs if tensor.name}


def _order_faults(graph: gs.Graph, mapping: Mapping) -> Iterator[str]:
    """An order in which every value is made before it is read is also the proof that there is no circle."""
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
            yield f"{name!r} is read outside, but is hidden inside a {candidate.pattern.name}"


def _objective_faults(mapping: Mapping) -> Iterator[str]:
    costs = [assignment.schedule.cost for assignment in mapping.assignments]
    cycles, energy = sum(cost.total_cycles for cost in costs), sum(round(cost.energy_pj or 0.0) for cost in costs)
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
