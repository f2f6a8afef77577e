"""The greedy rule: the next node that can run goes to the candidate with the fewest cycles per node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from match_core.contract.mapping import Assignment, Mapping, MappingRequest, SolverStatus

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def greedy_mapping(request: MappingRequest) -> Mapping | None:
    """A mapping by the rule; None for another objective than latency, and where the rule reaches a dead end."""
    if request.objective != "latency":
        return None
    graph = request.model.graph
    offers = [offer for offer in request.offered if _suits(offer, graph)]
    made = {tensor.name for tensor in graph.inputs}
    made |= {tensor.name for node in graph.nodes for tensor in node.inputs if not tensor.inputs}  # constants
    waiting = {node.name: node for node in graph.nodes}
    chosen: list[Assignment] = []
    while waiting:
        best = next(_best(offers, waiting, made), None)
        if best is None:
            return None
        chosen.append(best)
        for name in best.candidate.node_names:
            made |= {tensor.name for tensor in waiting.pop(name).outputs}
    cycles = sum(assignment.schedule.cost.total_cycles for assignment in chosen)
    return Mapping(tuple(chosen), SolverStatus("greedy", "heuristic", objective=cycles, bound=0))


def _best(offers: list[Assignment], waiting: dict[str, gs.Node], made: set[str]) -> Iterator[Assignment]:
    """The best ready offer for each node in topological order, without the nodes that have none."""
    for name in waiting:
        ready = [offer for offer in offers if name in offer.candidate.node_names and _is_ready(offer, waiting, made)]
        if ready:
            yield min(ready, key=_cycles_per_node)


def _is_ready(offer: Assignment, waiting: dict[str, gs.Node], made: set[str]) -> bool:
    """Whether no chosen assignment covers its nodes, and all that it reads exists. Earlier assignments then make all that
    it reads: the order of choices is an order of the program, and no path leaves the nodes and comes back."""
    nodes = offer.candidate.match.nodes
    own = {tensor.name for node in nodes for tensor in node.outputs}
    reads = {tensor.name for node in nodes for tensor in node.inputs if tensor.name}
    return all(node.name in waiting for node in nodes) and reads <= made | own


def _cycles_per_node(offer: Assignment) -> float:
    return offer.schedule.cost.total_cycles / len(offer.candidate.node_names)


def _suits(offer: Assignment, graph: gs.Graph) -> bool:
    """Whether the rule can judge the offer: one without stored forms, whose conversions have a cost too, and no view of
    a graph output, which needs bytes of its own."""
    candidate = offer.candidate
    ends = {tensor.name for tensor in graph.outputs}
    is_end = candidate.pattern.view and any(tensor.name in ends for tensor in candidate.match.outputs)
    return not is_end and not any(operand.form for operand in candidate.workload.operands)
