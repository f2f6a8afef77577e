"""What a window of the joint search may choose: groups of nodes, and divisions of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_concurrent.mapping.costs import IMPOSSIBLE
from match_concurrent.mapping.covers import Group
from match_concurrent.mapping.improve import shifted
from match_concurrent.mapping.parts import Part
from match_concurrent.mapping.share_options import samples, share_options_of
from match_concurrent.mapping.windows import Member, Outside

if TYPE_CHECKING:
    from match_core.map.dataflow import Flow

    from match_concurrent.mapping.covers import Groups, Prices
    from match_concurrent.mapping.evaluate import Evaluation, Evaluator
    from match_concurrent.mapping.network import SharedOperator
    from match_concurrent.mapping.parts import Division

#: Divisions of a group beyond the present one and whole ones: of a group of the present cover, and of another.
PRESENT_DIVISIONS, OTHER_DIVISIONS = 8, 4
#: Divisions with a moved border among those of the present cover.
MOVED = 4
#: The part of its window's price by which a group may exceed the best mixture, except for the first few.
EXCESS, CHEAPEST = 0.1, 12


@dataclass
class Members:
    """``operators``: those of the window."""

    best: Evaluation
    evaluator: Evaluator
    groups: Groups
    prices: Prices
    operators: range

    def __post_init__(self) -> None:
        network = self.evaluator.network
        self._flows: list[Flow] = [self.groups.flow(assignment) for assignment in network.cover]
        self.outside = Outside.of(network, self._flows)

    def all(self) -> tuple[Member, ...]:
        """The groups of the present cover, and others within their nodes that are not too expensive."""
        present = list(self._present())
        if not self.evaluator.options.free_covers:
            return tuple(present)
        known = {(member.group.nodes, member.group.flow.view) for member in present}
        inside = {node for nodes, _ in known for node in nodes}
        most = EXCESS * sum(self.prices.worth[node] for node in inside)
        within = [
            (excess, number)
            for number, (group, excess) in enumerate(zip(self.groups.all, self.prices.excess, strict=True))
            if inside.issuperset(group.nodes) and (group.nodes, group.flow.view) not in known
        ]
        kept = [number for n, (excess, number) in enumerate(sorted(within)) if n < CHEAPEST or excess <= most]
        others = [
            Member(group, () if group.flow.view else self._divisions(group.operator, None), None)
            for group in (self.groups.all[number] for number in sorted(kept))
        ]
        return (*present, *(member for member in others if member.divisions or member.group.flow.view))

    def _present(self) -> Iterator[Member]:
        network = self.evaluator.network
        first, last = (network.operators[number].place for number in (self.operators[0], self.operators[-1]))
        at = {operator.place: number for number, operator in enumerate(network.operators)}
        for place in range(first, last + 1):
            nodes, flow = self.groups.nodes(network.cover[place]), self._flows[place]
            if place not in at:
                index = next(n for n, offer in enumerate(network.offered) if offer is network.cover[place])
                yield Member(Group(nodes, (index,), flow), (), ())
                continue
            operator, division = network.operators[at[place]], self.best.choice[at[place]]
            starts = self.best.starts[at[place]]
            yield Member(Group(nodes, operator.offers, flow), self._divisions(operator, division), starts)

    def _divisions(self, operator: SharedOperator, present: Division | None) -> tuple[Division, ...]:
        """The present division, whole ones, and those that are fastest alone or cheapest at the prices of queues."""
        evaluator, options = self.evaluator, self.evaluator.options
        if present is not None and not options.free_tiles:
            return (present,)
        whole: list[Division] = [(Part(offer),) for offer in operator.offers]
        if all(evaluator.cycles_alone(division) >= len(whole) * self.best.finish for division in whole):
            return ()
        others: list[Division] = []
        if options.free_tiles:
            along = evaluator.network.along(operator)
            evaluator.costs.confirm(samples(along))
            entries = share_options_of(operator, along, evaluator, cuts=options.pipelined, only_known=False).entries
            found = [entry.division for entry in entries]
            pairs = zip(sorted(found, key=evaluator.cycles_alone), sorted(found, key=self._priced), strict=True)
            others = [division for pair in pairs for division in pair]
            if present is not None:
                axis = next((a for a in along if any(unit[:2] == present[0][:2] for unit in a.units)), None)
                moved = [] if axis is None else sorted(shifted(present, axis), key=evaluator.cycles_alone)
                others = [*moved[:MOVED], *others]
        most = min(IMPOSSIBLE, self.best.finish)
        kept = dict.fromkeys([*whole, *others])
        fit = [division for division in kept if division != present and evaluator.cycles_alone(division) < most]
        first = [] if present is None else [present]
        count = OTHER_DIVISIONS if present is None else PRESENT_DIVISIONS
        return (*first, *fit[: count + len(whole)])

    def _priced(self, division: Division) -> float:
        evaluator, price = self.evaluator, self.prices.of_queue
        return sum(
            price.get(queue, 0.0) * evaluator.costs.cycles(part)
            for part in division
            for queue in evaluator.queues_of(part.offer)
        )
