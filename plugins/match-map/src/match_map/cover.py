"""The choice as an exact cover: every node in exactly one of the chosen options, at the least cost.

Nodes are positions in the topology. Of options with the same nodes only the cheapest remains. Nodes that no option
connects are independent: each connected component is a separate problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from match_map.option import Option

if TYPE_CHECKING:
    from match_core.contract.mapping import Assignment
    from match_core.ir.topology import Topology
    from match_core.map.objective import Weighting

    from match_map.conversions import Conversion


@dataclass(frozen=True, slots=True)
class Component:
    """Nodes that options connect. ``forbidden``: sets of option indices that must not be chosen together;
    ``conversions``: their additional costs, or choices that they exclude; ``room``: bytes by memory that the chosen
    options may hold together."""

    nodes: tuple[int, ...]
    options: tuple[Option, ...]
    forbidden: tuple[frozenset[int], ...] = ()
    conversions: tuple[Conversion, ...] = ()
    room: tuple[tuple[str, int], ...] = ()

    def exceeds(self, options: Sequence[Option]) -> bool:
        """Whether these options hold more than there is room for."""
        return any(held(options, memory) > most for memory, most in self.room)

    @property
    def bound(self) -> int:
        """A lower bound of the cost: the sum over nodes of the least cost per node of an option that covers it."""
        least: dict[int, Fraction] = {}
        for option in self.options:
            share = Fraction(option.cost, len(option.nodes))
            for node in option.nodes:
                least[node] = min(share, least.get(node, share))
        return int(-(-sum(least.values(), start=Fraction(0)) // 1))


@dataclass(frozen=True, slots=True)
class Cover:
    """Chosen options of a component and the conversions that they require; ``status`` as in SolverStatus."""

    options: tuple[Option, ...]
    solver: str
    status: str
    bound: int
    conversions: tuple[Conversion, ...] = ()

    @property
    def cost(self) -> int:
        """The cost of the cover."""
        return sum(option.cost for option in self.options) + sum(needed.cost for needed in self.conversions)


def held(options: Sequence[Option], memory: str) -> int:
    """Bytes that the options hold in a memory together."""
    return sum(size for option in options for name, size in option.holds if name == memory)


def options_of(topology: Topology, assignments: Sequence[Assignment], weighting: Weighting) -> tuple[Option, ...]:
    """The cheapest option per distinct set of nodes, forms of their inputs and outputs, and bytes that it holds, and
    another one if they can be a view; ties go to the first."""
    best: dict[tuple[object, ...], Option] = {}
    for index, assignment in enumerate(assignments):
        candidate = assignment.candidate
        nodes = tuple(sorted({topology.position(node) for node in candidate.match.nodes}))
        option = Option(index, weighting.of(assignment.schedule.cost), nodes, candidate.workload.holds)
        forms = tuple(operand.form for operand in candidate.workload.operands)
        key = (nodes, candidate.pattern.view, forms if any(forms) else (), option.holds)
        if key not in best or option.cost < best[key].cost:
            best[key] = option
    return tuple(sorted(best.values(), key=lambda option: option.index))


def components_of(
    node_count: int, options: Sequence[Option], conversions: Sequence[Conversion] = ()
) -> tuple[Component, ...]:
    """Independent components, in the order of their first nodes. Nodes without an option are components too. Producers
    and consumers of a tensor with several forms are in one component."""
    leader = list(range(node_count))

    def find(node: int) -> int:
        while leader[node] != node:
            leader[node] = leader[leader[node]]
            node = leader[node]
        return node

    by_index = {option.index: option for option in options}
    tied = [option.nodes for option in options]
    tied += [
        tuple(by_index[index].nodes[0] for index in (*conversion.makers, *conversion.readers))
        for conversion in conversions
    ]
    for group in tied:
        first = find(group[0])
        for node in group[1:]:
            leader[max(find(node), first)] = min(find(node), first)
            first = find(first)
    nodes: dict[int, list[int]] = {}
    for node in range(node_count):
        nodes.setdefault(find(node), []).append(node)
    offered: dict[int, list[Option]] = {}
    for option in options:
        offered.setdefault(find(option.nodes[0]), []).append(option)
    between: dict[int, list[Conversion]] = {}
    for conversion in conversions:
        some = (*conversion.makers, *conversion.readers)[0]
        between.setdefault(find(by_index[some].nodes[0]), []).append(conversion)
    return tuple(
        Component(tuple(nodes[root]), tuple(offered.get(root, ())), conversions=tuple(between.get(root, ())))
        for root in sorted(nodes)
    )
