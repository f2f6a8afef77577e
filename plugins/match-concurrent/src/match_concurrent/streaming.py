"""Turns a concurrent mapping into a plan; constants are streamed from the Soc's store if that is faster than swapping
activations, or the only way to fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.contract.errors import InfeasibleError
from match_core.contract.planning import Plan
from match_core.map.objective import weighting_of
from match_core.plan.streaming import Problem, choose_streaming
from match_core.plan.variants import resident_bytes, variants_of

from match_concurrent.planning.answers import Answers
from match_concurrent.planning.build import build, caller_bytes
from match_concurrent.planning.demand import arena_demands
from match_concurrent.planning.plan import Begun, begin
from match_concurrent.planning.planning_effort import PlanOptions

if TYPE_CHECKING:
    from match_core.contract.mapping import Assignment, Mapping
    from match_core.contract.planning import PlanRequest


def planned(request: PlanRequest, options: PlanOptions | None = None) -> Plan:
    """The plan of a mapping. InfeasibleError MATCH-M001 if it does not fit even with streaming and swaps."""
    begun = _Planner(request).chosen()
    return Plan(begun.mapping, begun.program(options or PlanOptions(), Answers.on_disk(request.code)))


@dataclass(frozen=True)
class _Planner:
    request: PlanRequest

    def begun(self, mapping: Mapping) -> Begun:
        request, needs = self.request, self.request.measure(mapping.assignments)
        given = (request.model, mapping, request.scheduling.soc, needs.constants, needs.scratch, needs.stored)
        return begin(*given, request.overflow, request.scheduling.blocking_units)

    def chosen(self) -> Begun:
        """The mapping itself if it fits without swaps; else, of it and those that stream constants, the one with the
        fastest first draft. If none fits, the error of the mapping itself."""
        refused: InfeasibleError | None = None
        fastest: Begun | None = None
        for attempt in self._attempts():
            try:
                begun = self.begun(attempt)
            except InfeasibleError as error:
                refused = refused or error
                continue
            if fastest is None or begun.draft.cycles < fastest.draft.cycles:
                fastest = begun
            if attempt is self.request.mapping and not begun.swaps:
                break
        if fastest is None:
            assert refused is not None
            raise refused
        return fastest

    def _attempts(self) -> Iterator[Mapping]:
        request, mapping = self.request, self.request.mapping
        yield mapping
        scheduling, soc = request.scheduling, request.scheduling.soc
        if soc.store is None:
            return
        variants = variants_of(mapping, mapping.assignments, scheduling, weighting_of(mapping))
        if all(len(task) == 1 for task in variants.assignments):
            return
        needs, home = request.measure(mapping.assignments), soc.memory(soc.home)
        blocking = scheduling.blocking_units
        built = build(request.model, mapping, soc, home.size_bytes, needs.scratch, 0, request.overflow, blocking)
        units = sum(resident_bytes(assignment, soc) for assignment in mapping.assignments)
        others = sum(size for _, size in needs.constants) - units
        capacity = home.size_bytes - caller_bytes(built) - others
        seen: set[tuple[int, ...]] = set()
        for live in arena_demands(built.problem):
            found = choose_streaming(Problem(variants.costs, (live,) * len(mapping.assignments), capacity))
            if found is not None and found.chosen not in seen:
                seen.add(found.chosen)
                yield self._with(variants.pick(found.chosen), found.solver.solver)

    def _with(self, assignments: tuple[Assignment, ...], solver: str) -> Mapping:
        """The mapping with these schedules; the bound for resident constants stays valid."""
        mapping = self.request.mapping
        status = replace(mapping.solver, solver=f"{mapping.solver.solver}, streaming by {solver}", status="feasible")
        return replace(mapping, assignments=assignments, solver=status)
