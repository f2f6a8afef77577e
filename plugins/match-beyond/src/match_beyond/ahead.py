"""Options of a program's constants: resident, streamed, or fetched ahead; ``fetching.py`` chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.contract.geometry import far_bytes
from match_core.map.objective import weighting_of
from match_core.plan.packing import aligned
from match_core.plan.variants import resident_bytes, variants_of

from match_beyond.fetching import Fetching, Option
from match_beyond.shared import Shared, layout_of
from match_beyond.transfers import following, times_of

if TYPE_CHECKING:
    from match_core.contract.hardware import Link, Soc
    from match_core.contract.mapping import Assignment, Mapping
    from match_core.contract.planning import PlanRequest
    from match_core.contract.scheduling import Scheduling
    from match_core.plan.draft import Draft

    from match_beyond.fetching import Found
    from match_beyond.transfers import Times, Transfer


def may_fetch(mapping: Mapping, link: Link | None, home: str) -> bool:
    """Whether fetches may make a program faster: it streams constants, and the host can copy meanwhile."""
    streams = any(assignment.schedule.streamed(home) for assignment in mapping.assignments)
    return link is not None and mapping.objective == "latency" and streams


class Ahead:
    """The groups of a mapping that fits with their options, the mapping's own first. ``constant_bytes``: of all
    constants in the home memory; ``given``: the other copies."""

    def __init__(
        self, request: PlanRequest, mapping: Mapping, draft: Draft, constant_bytes: int, given: Sequence[Transfer]
    ) -> None:
        self.scheduling, self.soc = request.scheduling, request.scheduling.soc
        resident = replace(mapping, assignments=tuple(resident_of(mapping, request.offered, self.soc)))
        self.shared = Shared.of(variants_of(resident, request.offered, self.scheduling, weighting_of(mapping)))
        self.options = tuple(tuple(self._options(mapping, group)) for group in self.shared.groups)
        self.flows, self.given, home = draft.flows, given, draft.home
        cycles = [assignment.schedule.cost.total_cycles for assignment in mapping.assignments]
        streamed = [streamed_bytes(assignment, home.name) for assignment in mapping.assignments]
        times = times_of(given, cycles, streamed, self.link)
        self.before, self.busy = times.end, busy_of(times, cycles)
        staged = [assignment.schedule.bytes_in(home.name) for assignment in mapping.assignments]
        self.live = [max(0, alive - own) for alive, own in zip(draft.live_bytes(), staged, strict=True)]
        others = constant_bytes - self.shared.resident_bytes(mapping.assignments, self.soc)
        self.capacity = home.size_bytes - draft.caller_bytes - others

    @property
    def link(self) -> Link:
        """The link to the store."""
        assert self.soc.swap_link is not None  # see may_fetch
        return self.soc.swap_link

    def found(self, slack: Sequence[int]) -> Found | None:
        """The best choice that ends earlier, and whose fetches leave ``slack`` bytes while each task runs."""
        if not any(option.fetched for options in self.options for option in options):
            return None
        return self._fetching(slack).improved([0] * len(self.options), self.before)

    def allows(self, found: Found, slack: Sequence[int]) -> bool:
        """Whether the same fetches leave ``slack`` bytes."""
        return self._fetching(slack).replayed(found.chosen) == found

    def _fetching(self, slack: Sequence[int]) -> Fetching:
        places, groups, room = following(self.flows), self.shared.groups, self.capacity
        return Fetching(groups, self.options, self.live, room, places, self.given, self.link, self.busy, slack)

    def assignments(self, found: Found) -> tuple[Assignment, ...]:
        """The assignments of a choice, in the order of the tasks."""
        picked: dict[int, Assignment] = {}
        for group, options, index in zip(self.shared.groups, self.options, found.chosen, strict=True):
            picked.update(zip(group, options[index].assignments, strict=True))
        return tuple(picked[task] for task in sorted(picked))

    def _options(self, mapping: Mapping, group: Sequence[int]) -> Iterator[Option]:
        variants = self.shared.variants.assignments
        given = tuple(mapping.assignments[task] for task in group)
        ways = [
            tuple(variants[task][n] for task, n in zip(group, way, strict=True)) for way in self.shared.choices(group)
        ]
        known: set[tuple[int, ...]] = set()
        for way in (given, *ways):
            key = tuple(id(assignment.schedule) for assignment in way)
            if key not in known:
                known.add(key)
                yield self._option(way)
        for way in ways:
            if names := fetchable(way, self.scheduling):
                yield self._option(tuple(replace(assignment, fetched=names) for assignment in way))

    def _option(self, way: tuple[Assignment, ...]) -> Option:
        home = self.soc.memory(self.soc.home)
        resident = {layout_of(a): resident_bytes(a, self.soc) for a in way}
        return Option(
            way,
            tuple(a.schedule.cost.total_cycles for a in way),
            tuple(streamed_bytes(a, home.name) for a in way),
            tuple(aligned(a.schedule.bytes_in(home.name), home.alignment_bytes) for a in way),
            sum(resident.values()),
            aligned(fetched_bytes(way[0]), home.alignment_bytes),
        )


def resident_of(mapping: Mapping, offered: Sequence[Assignment], soc: Soc) -> Iterator[Assignment]:
    """The assignments, those that stream constants replaced by the cheapest ones of the same nodes that do not."""
    weighting, cheapest = weighting_of(mapping), dict[object, "Assignment"]()
    for one in sorted(offered, key=lambda one: weighting.of(one.schedule.cost)):
        if one.schedule.memory is not None and not one.schedule.streamed(soc.home):
            cheapest.setdefault((frozenset(one.candidate.node_names), one.candidate.share), one)
    for one in mapping.assignments:
        key = (frozenset(one.candidate.node_names), one.candidate.share)
        yield cheapest.get(key, one) if one.schedule.streamed(soc.home) else one


def fetchable(way: Sequence[Assignment], scheduling: Scheduling) -> tuple[str, ...]:
    """The operand to fetch for tasks that share constants: the only large one, in one layout for all; else nothing."""
    if len({layout_of(assignment) for assignment in way}) > 1:
        return ()
    found = set()
    for assignment in way:
        if not scheduling.can_stream(assignment.candidate) or assignment.schedule.streamed(scheduling.soc.home):
            return ()
        found.add(scheduling.streamed_request(assignment.candidate, 0).streamed)
    names = found.pop() if len(found) == 1 else ()
    return names if len(names) == 1 else ()


def busy_of(times: Times, cycles: Sequence[int]) -> list[int]:
    """For each task, the cycles in which copies use the link while it runs."""
    spans = [(start, start + length) for start, length in zip(times.tasks, cycles, strict=True)]
    return [sum(max(0, min(end, done) - max(start, begun)) for begun, done in times.copies) for start, end in spans]


def fetched_bytes(assignment: Assignment) -> int:
    """Bytes of the constants that are fetched for a task."""
    return sum(far_bytes(o) for o in assignment.candidate.workload.operands if o.name in assignment.fetched)


def streamed_bytes(assignment: Assignment, home: str) -> int:
    """Bytes that a task itself copies from the store."""
    names = assignment.schedule.streamed(home)
    return sum(far_bytes(o) for o in assignment.candidate.workload.operands if o.name in names)
