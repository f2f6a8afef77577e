"""From a mapping to a planned program that fits; constants are streamed from the Soc's store if necessary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.contract.mapping import SolverStatus
from match_core.deploy.deployment import Code, Deployment, Lowering
from match_core.map.dataflow import tensor_bytes
from match_core.map.objective import weighting_of
from match_core.plan.draft import Draft, draft_of
from match_core.plan.overflow import overflowing
from match_core.plan.plan import program_of
from match_core.plan.shortage import check_fit
from match_core.plan.streaming import Problem, choose_streaming
from match_core.plan.variants import Variants, resident_bytes, variants_of
from match_core.validate.sequential_program import validate_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from match_core.contract.candidate import Candidate
    from match_core.contract.mapping import Assignment
    from match_core.contract.mapping import Mapping as UnitMapping
    from match_core.schedule.candidates import Scheduler

#: How often the available home memory is reduced because gaps between tensors were larger than expected.
ROUNDS_MAX = 8


@dataclass(frozen=True)
class _Measured:
    """The code of a mapping in its order, and the draft of the home memory."""

    code: Code
    draft: Draft

    @property
    def over_bytes(self) -> int:
        """Missing bytes of the home memory; at most 0 if the program fits."""
        return self.draft.need_bytes(self.code.constant_bytes) - self.draft.home.size_bytes


@dataclass(frozen=True)
class Deployer:
    """Deploys mappings of one model; ``offered`` are all candidates with schedules; ``overflow``: tensors in the Soc's
    overflow memory."""

    lowering: Lowering
    offered: tuple[Assignment, ...]
    overflow: frozenset[str] = frozenset()

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler of the Soc in sequential mode."""
        return self.lowering.scheduler

    def deploy(self, mapping: UnitMapping) -> Deployment:
        """The program of a mapping. InfeasibleError MATCH-M001 if it does not fit, streamed or not."""
        measured, soc = self._measure(mapping), self.scheduler.soc
        if measured.over_bytes > 0 and soc.store is not None:
            mapping, measured = self._streamed(mapping, measured)
            measured = self._measure(mapping, measured.code)  # the draft was made with little effort
        needs = measured.code.needs
        check_fit(self.lowering.model, soc, measured.draft, needs.constants, needs.stored)
        program = program_of(soc, measured.draft, needs.constants, needs.stored)
        validate_program(self.lowering.model.graph, program, needs.overlaps)
        return self.lowering.deployment(mapping, program, measured.code)

    def overflowing(self, mapping: UnitMapping, spare_bytes: int = 0) -> frozenset[str]:
        """The tensors that should move to the Soc's overflow memory next; empty if there are none, or if all fits and
        leaves ``spare_bytes``."""
        if self.scheduler.soc.overflow is None:
            return frozenset()
        measured = self._measure(mapping, thorough=False)
        return overflowing(measured.draft, measured.code.constant_bytes + spare_bytes)

    def replaceable(self, mapping: UnitMapping, offered: Sequence[Assignment]) -> frozenset[int]:
        """Half of the candidates that need scratch in the home memory or write tensors that wider ones keep inside,
        those with the most, of units that work there, and whose nodes others of ``offered`` compute."""
        scratch = self.lowering.code(mapping.assignments).needs.scratch
        memories = {unit.name: unit.memory for unit in self.scheduler.units}
        used = [(scratch.get(at, 0), one.candidate) for at, one in enumerate(mapping.assignments)]
        spent = [(size, one) for size, one in used if size and _others(one, offered)]
        spent += _inner([one for _, one in used], offered)
        found = sorted((-size, one.index) for size, one in spent if memories[one.unit] is None)
        return frozenset(index for _, index in found[: -(-len(found) // 2)])

    def _measure(self, mapping: UnitMapping, code: Code | None = None, *, thorough: bool = True) -> _Measured:
        code, soc = code or self.lowering.code(mapping.assignments), self.scheduler.soc
        home, needs = soc.memory(soc.home), code.needs
        given = (self.lowering.model, mapping, home, code.constant_bytes, needs.scratch, self.overflow, needs.overlaps)
        draft = draft_of(*given, thorough=thorough)
        return _Measured(code, draft)

    def _streamed(self, mapping: UnitMapping, measured: _Measured) -> tuple[UnitMapping, _Measured]:
        """The mapping with the cheapest choice of streamed constants that fits; if none fits, the one that requires
        least, for the report."""
        variants = variants_of(mapping, self.offered, self.scheduler, weighting_of(mapping))
        if all(len(task) == 1 for task in variants.assignments):
            return mapping, measured
        problem = self._problem(mapping, measured, variants)
        for _ in range(ROUNDS_MAX):
            found = choose_streaming(problem)
            if found is None:
                break
            chosen = self._with(mapping, variants.pick(found.chosen), found.solver.solver)
            now = self._measure(chosen, thorough=False)  # room for gaps that a search would close costs little
            if now.over_bytes <= 0:
                return chosen, now
            problem = replace(problem, capacity_bytes=problem.capacity_bytes - now.over_bytes)
        least = self._with(mapping, variants.pick(variants.smallest()), "least bytes")
        return least, self._measure(least)

    def _problem(self, mapping: UnitMapping, measured: _Measured, variants: Variants) -> Problem:
        soc, draft = self.scheduler.soc, measured.draft
        units = sum(resident_bytes(assignment, soc) for assignment in mapping.assignments)
        others = measured.code.constant_bytes - units
        staged = [assignment.schedule.bytes_in(soc.home) for assignment in mapping.assignments]
        live = tuple(max(0, alive - own) for alive, own in zip(draft.live_bytes(), staged, strict=True))
        return Problem(variants.costs, live, draft.home.size_bytes - draft.caller_bytes - others)

    def _with(self, mapping: UnitMapping, assignments: tuple[Assignment, ...], solver: str) -> UnitMapping:
        """The mapping with these schedules, checked; a bound proven for resident constants stays valid."""
        self.scheduler.validate(assignments)
        changed = replace(mapping, assignments=assignments)
        value, before = changed.objective_value, mapping.solver
        status = SolverStatus(f"{before.solver}, streaming by {solver}", "feasible", value, min(before.bound, value))
        return replace(changed, solver=status)


def _others(candidate: Candidate, offered: Sequence[Assignment]) -> bool:
    """Whether it is one of those offered, and others of them compute all of its nodes and no more."""
    nodes = set(candidate.node_names)
    rest = [item.candidate.node_names for item in offered if item.candidate is not candidate]
    return len(rest) < len(offered) and nodes == {name for names in rest if nodes.issuperset(names) for name in names}


def _inner(used: Sequence[Candidate], offered: Sequence[Assignment]) -> Iterator[tuple[int, Candidate]]:
    """Candidates whose outputs, of so many bytes, stay inside of a wider one, which computes exactly what several of
    those used do. These wider ones do not overlap, so that together they replace a part of the cover."""
    owner, taken = {name: one for one in used for name in one.node_names}, set[str]()
    found: list[tuple[int, int, Candidate, list[tuple[int, Candidate]]]] = []
    for wider in (item.candidate for item in offered):
        parts = {one.index: one for one in map(owner.get, wider.node_names) if one is not None}.values()
        last = wider.node_names[-1]  # a mapping's tensors may be those of a rewritten model; names of nodes stay
        inner = [(tensor_bytes(one.match.output), one) for one in parts if one.node_names[-1] != last]
        if inner and sum(len(one.node_names) for one in parts) == len(wider.node_names):
            found.append((-sum(size for size, _ in inner), wider.index, wider, inner))
    for _, _, wider, inner in sorted(found, key=lambda one: one[:2]):
        if taken.isdisjoint(wider.node_names):
            taken.update(wider.node_names)
            yield from inner
