"""Small graphs of operators that candidates run alone or fused, and the best of all their programs by trying all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations, product
from random import Random
from typing import Any

from match_concurrent.mapping.network import Queues
from match_concurrent.mapping.timeline import Step, simulate
from match_core.contract.candidate import Candidate
from match_core.contract.cost import Cost
from match_core.contract.hardware import Signalling
from match_core.contract.mapping import Assignment
from match_core.contract.structure import Match
from match_core.ir.topology import Topology
from match_core.map.dataflow import flow_of

from core.tests.map.rows import PATTERN, Lab, Price, lab, schedule_of, workload

#: Without the host's work the model of a window is exact.
FREE = Signalling("poll", post_cycles=0, wake_cycles=5, notify_cycles=4, task_cycles=2)
#: Nodes and offers of a group.
Chosen = tuple[tuple[int, ...], tuple[int, ...]]


def whole_lab(graph: Mapping[str, Sequence[str]], prices: Mapping[str, Price], **given: Any) -> Lab:
    """Operators that cannot be divided."""
    return lab(graph, prices, rows=4, columns=1, granularity=dict.fromkeys(prices, 4), signalling=FREE, **given)


def fused(made: Lab, costs: Mapping[tuple[str, ...], Mapping[str, int]]) -> Lab:
    """The lab with candidates that run several nodes at once; ``costs``: cycles by nodes and unit."""
    by_name = {node.name: node for node in made.model.graph.nodes}
    offered = list(made.offered)
    for group, by_unit in costs.items():
        nodes = tuple(by_name[name] for name in group)
        inner = {tensor.name for node in nodes for tensor in node.outputs}
        inputs = {tensor.name: tensor for node in nodes for tensor in node.inputs if tensor.name not in inner}
        captures = {f"in{number}": tensor for number, tensor in enumerate(inputs.values())}
        pattern = replace(PATTERN, name="+".join(group))
        for unit, cycles in by_unit.items():
            work = workload(4, 1, len(inputs), granularity=4)
            candidate = Candidate(len(offered), unit, pattern, Match(nodes, captures), work)
            offered.append(Assignment(candidate, schedule_of(Cost(compute_cycles=cycles))))
    return replace(made, offered=tuple(offered))


def random_lab(chance: Random, operators: int) -> Lab:
    """Operators on two units, some of them fused with the one that reads them. The host runs none, because the model of
    a window omits its work."""
    nodes = [f"n{number}" for number in range(operators)]
    graph = {
        name: chance.sample(["in", *nodes[:number]], min(number + 1, chance.choice((1, 1, 2))))
        for number, name in enumerate(nodes)
    }
    made = whole_lab(graph, {name: Price(100, 0) for name in ("host", "one", "two")})
    offered = tuple(
        replace(offer, schedule=schedule_of(Cost(compute_cycles=chance.randint(20, 400))))
        for offer in made.offered
        if offer.candidate.unit != "host"
    )
    costs: dict[tuple[str, ...], dict[str, int]] = {}
    for name in nodes:
        readers = [other for other, reads in graph.items() if name in reads]
        if len(readers) == 1 and chance.random() < 0.6:
            costs[name, readers[0]] = {chance.choice(("one", "two")): chance.randint(20, 400)}
    return fused(replace(made, offered=offered), costs)


def best_of_all(made: Lab) -> int:
    """The least makespan of all covers, units and orders, with whole operators; shares nothing with the search."""
    topology, queues = Topology.of(made.model.graph), Queues.of(made.scheduler)
    best = 1 << 60
    for cover in _covers(made, topology):
        for offers in product(*(offers for _, offers in cover)):
            chosen = [made.offered[offer] for offer in offers]
            flows = [flow_of(topology, assignment) for assignment in chosen]
            maker = {name: number for number, flow in enumerate(flows) for name in flow.makes}
            steps = [
                Step(
                    queues.by_unit[assignment.candidate.unit],
                    assignment.schedule.cost.total_cycles,
                    tuple(sorted({maker[name] for name in flow.reads if name in maker})),
                )
                for assignment, flow in zip(chosen, flows, strict=True)
            ]
            for order in permutations(range(len(steps))):
                place = {number: position for position, number in enumerate(order)}
                if all(place[need] < place[number] for number, step in enumerate(steps) for need in step.needs):
                    best = min(best, simulate(steps, order, FREE, best).finish)
    return best


def _covers(made: Lab, topology: Topology) -> Iterator[tuple[Chosen, ...]]:
    """All exact covers, by trying every group for the first node that is not covered."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, offer in enumerate(made.offered):
        nodes = tuple(sorted(topology.position(node) for node in offer.candidate.match.nodes))
        groups.setdefault(nodes, []).append(number)

    def extended(left: frozenset[int]) -> Iterator[tuple[Chosen, ...]]:
        if not left:
            yield ()
            return
        for nodes, offers in groups.items():
            if min(left) in nodes and left.issuperset(nodes):
                for rest in extended(left - set(nodes)):
                    yield ((nodes, tuple(offers)), *rest)

    return extended(frozenset(range(len(topology.nodes))))
