"""Groups of nodes that candidates can run as one: what a cover is made of, and which of them may be worth a change.

A linear program over all covers at once (each node in groups that add up to one, each queue busy for at most the
makespan) prices nodes and queues. The reduced cost of a group is what a cover with it pays more, at these prices, than
the best mixture: groups that pay much more are left out of the search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from match_core.ir.groups import readers
from match_core.ir.topology import Topology
from match_core.map.dataflow import flow_of
from match_map.ways import has_one_way_out, is_convex

from match_concurrent.mapping.bounds import rates_of
from match_concurrent.mapping.network import SharedOperator, nodes_of, runners

if TYPE_CHECKING:
    from match_core.contract.mapping import Assignment
    from match_core.map.dataflow import Flow

    from match_concurrent.mapping.evaluate import Evaluator
    from match_concurrent.mapping.network import Network

#: A queue that is this many times slower than another one is ignored, as in ``bounds``.
_USELESS = 1e7


@dataclass(frozen=True, slots=True)
class Group:
    """``nodes``: positions in the topology, ascending; ``offers``: as for SharedOperator, or the one view."""

    nodes: tuple[int, ...]
    offers: tuple[int, ...]
    flow: Flow

    @property
    def operator(self) -> SharedOperator:
        """As an operator without a place in a cover."""
        return SharedOperator(-1, self.offers, ())


@dataclass(frozen=True)
class Groups:
    """All groups of a model that never cause cyclic waits."""

    topology: Topology
    read_by: tuple[tuple[int, ...], ...]
    all: tuple[Group, ...]

    @classmethod
    def of(cls, network: Network) -> Groups:
        """The groups of the network's offered candidates, and views."""
        model, offered = network.model, network.offered
        topology = Topology.of(model.graph)
        read_by, found = readers(topology), []
        for nodes, offers in sorted(runners(topology, offered).items()):
            if is_convex(nodes, read_by) and has_one_way_out(nodes, read_by):
                found.append(Group(nodes, offers, flow_of(topology, offered[offers[0]])))
        views: dict[tuple[int, ...], int] = {}
        for index, assignment in enumerate(offered):
            if assignment.candidate.pattern.view:
                views.setdefault(nodes_of(topology, assignment), index)
        found += [Group(nodes, (index,), flow_of(topology, offered[index])) for nodes, index in sorted(views.items())]
        return cls(topology, read_by, tuple(found))

    def nodes(self, assignment: Assignment) -> tuple[int, ...]:
        """Positions of an assignment's nodes, ascending."""
        return nodes_of(self.topology, assignment)

    def flow(self, assignment: Assignment) -> Flow:
        """What an assignment reads and makes."""
        return flow_of(self.topology, assignment)


@dataclass(frozen=True, slots=True)
class Prices:
    """``cycles``: the least makespan of all work over all covers, in fractions; ``excess``: for each group, the priced
    cycles by which every cover with it exceeds the best mixture; ``worth``: the price of each node; ``of_queue``: of a
    cycle on each queue."""

    cycles: float
    excess: tuple[float, ...]
    worth: tuple[float, ...]
    of_queue: Mapping[int, float]


def prices_of(known: Groups, evaluator: Evaluator) -> Prices | None:
    """Solve the linear program; None if it has no solution."""
    groups, nodes = known.all, len(known.topology.nodes)
    rates = [{} if g.flow.view else rates_of(g.operator, evaluator) for g in groups]
    total = sum(min(by_queue.values(), default=0.0) for by_queue in rates)
    if not total:
        return None
    # Imported here because the import takes a second.
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver("GLOP")
    finish = solver.NumVar(0, solver.infinity(), "finish")
    covered: list[list[Any]] = [[] for _ in range(nodes)]
    loads: dict[int, list[Any]] = {}
    for number, (group, by_queue) in enumerate(zip(groups, rates, strict=True)):
        useful = [q for q, rate in by_queue.items() if rate <= _USELESS * min(by_queue.values())]
        parts = {queue: solver.NumVar(0, solver.infinity(), f"p{number}_{queue}") for queue in useful}
        fractions = [*parts.values()]
        if group.flow.view:
            fractions.append(solver.NumVar(0, solver.infinity(), f"v{number}"))
        for node in group.nodes:
            covered[node] += fractions
        for queue, part in parts.items():
            for each in queue:
                loads.setdefault(each, []).append(by_queue[queue] / total * part)
    once = [solver.Add(sum(parts) == 1) for parts in covered if parts]
    busy = {queue: solver.Add(finish - sum(load) >= 0) for queue, load in loads.items()}
    solver.Minimize(finish)
    if len(once) < nodes or solver.Solve() != pywraplp.Solver.OPTIMAL:
        return None
    worth = tuple(total * rule.dual_value() for rule in once)
    price = {queue: rule.dual_value() for queue, rule in busy.items()}
    excess = tuple(
        min((rate * sum(price[each] for each in queue) for queue, rate in by_queue.items()), default=0.0)
        - sum(worth[node] for node in group.nodes)
        for group, by_queue in zip(groups, rates, strict=True)
    )
    return Prices(float(finish.solution_value()) * total, excess, worth, price)
