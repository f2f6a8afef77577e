"""From a mapping to a planned program that fits, with constants streamed from the Soc's store where it must be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.emit.constants import ConstantPool
from match_core.emit.lower import Lowered, lower
from match_core.mapping.objective import weighting_of
from match_core.mapping.result import SolverStatus
from match_core.planning.draft import Draft, draft_of
from match_core.planning.overflow import overflowing
from match_core.planning.plan import plan
from match_core.planning.shortage import Shortage
from match_core.planning.streaming import Problem, choose_streaming
from match_core.planning.validate import validate_program
from match_core.planning.variants import Variants, resident_bytes, variants_of

if TYPE_CHECKING:
    from match_core.emit.api import UnitApi
    from match_core.emit.lower import Title
    from match_core.ir.model import Model
    from match_core.mapping.result import Assignment
    from match_core.mapping.result import Mapping as UnitMapping
    from match_core.planning.program import Program
    from match_core.schedule.candidates import Scheduler

#: How often less is asked of the home memory after gaps between tensors needed more than was thought.
ROUNDS_MAX = 8

Sizes = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Deployment:
    """The mapping as it is deployed, the program, its code without addresses, and the units' interfaces."""

    mapping: UnitMapping
    program: Program
    lowered: tuple[Lowered | None, ...]
    pool: ConstantPool
    apis: Mapping[str, UnitApi]


@dataclass(frozen=True)
class _Measured:
    """What a mapping needs: its code in the mapping's order with the constants that it uses, scratch by task, and the
    draft of the home memory."""

    lowered: tuple[Lowered | None, ...]
    pool: ConstantPool
    scratch: Mapping[int, int]
    draft: Draft

    @property
    def constants(self) -> Sizes:
        """(what it is, bytes) of the constants of the home memory."""
        return self.pool.sizes()

    @property
    def stored(self) -> Sizes:
        """The same of the store."""
        return self.pool.stored_sizes()

    @property
    def over_bytes(self) -> int:
        """Bytes of the home memory that are missing; at most 0 where it fits."""
        fixed = sum(size for _, size in self.constants)
        return self.draft.need_bytes(fixed) - self.draft.home.size_bytes


@dataclass(frozen=True)
class Deployer:
    """Deploys mappings of one model; ``offered`` are all candidates with schedules; ``title`` names a task; ``far``:
    tensors that lie in the Soc's overflow memory."""

    model: Model
    scheduler: Scheduler
    offered: tuple[Assignment, ...]
    title: Title
    far: frozenset[str] = frozenset()

    def deploy(self, mapping: UnitMapping) -> Deployment:
        """The program of a mapping. InfeasibleError MATCH-M001 where it does not fit, streamed or not."""
        measured = self._measure(mapping)
        soc = self.scheduler.soc
        draft: Draft | None = measured.draft
        if measured.over_bytes > 0 and soc.store is not None:
            mapping, measured = self._streamed(mapping, measured)
            draft = None  # that of streamed constants was made with little effort
        if measured.over_bytes > 0:
            raise Shortage(measured.draft, measured.constants, soc.store).error(self.model)
        sizes = (measured.constants, measured.scratch, measured.stored)
        program = plan(self.model, mapping, soc, *sizes, self.far, draft)
        validate_program(self.model.graph, program)
        apis, lowered, pool = self._apis(mapping), measured.lowered, measured.pool
        ordered = tuple(task.assignment for task in program.tasks)
        if any(one is not other for one, other in zip(ordered, mapping.assignments, strict=True)):
            # Again in the planned order, so that functions and constants are numbered as the program runs.
            pool = ConstantPool(self.model.name)
            lowered = lower(self.model.name, ordered, apis, pool, self.title, soc)
        return Deployment(mapping, program, lowered, pool, apis)

    def overflowing(self, mapping: UnitMapping) -> frozenset[str]:
        """The tensors that should move to the Soc's overflow memory next; empty where there is none, or no need."""
        if self.scheduler.soc.overflow is None:
            return frozenset()
        measured = self._measure(mapping, thorough=False)
        return overflowing(measured.draft, sum(size for _, size in measured.constants))

    def _apis(self, mapping: UnitMapping) -> dict[str, UnitApi]:
        plugins, soc = self.scheduler.plugins, self.scheduler.soc
        return {unit.name: plugins.emit_api(soc, unit) for unit in self.scheduler.units if unit.name in mapping.units}

    def _measure(self, mapping: UnitMapping, *, thorough: bool = True) -> _Measured:
        soc, pool = self.scheduler.soc, ConstantPool(self.model.name)
        lowered = lower(self.model.name, mapping.assignments, self._apis(mapping), pool, self.title, soc)
        scratch = {i: low.scratch_bytes for i, low in enumerate(lowered) if low is not None and low.scratch_bytes}
        fixed = sum(size for _, size in pool.sizes())
        draft = draft_of(self.model, mapping, soc.memory(soc.home), fixed, scratch, self.far, thorough=thorough)
        return _Measured(lowered, pool, scratch, draft)

    def _streamed(self, mapping: UnitMapping, measured: _Measured) -> tuple[UnitMapping, _Measured]:
        """The mapping with the cheapest choice of streamed constants that fits; where none does, the one that needs
        least, for the report."""
        weighting = weighting_of(mapping)
        variants = variants_of(mapping, self.offered, self.scheduler, weighting)
        if all(len(task) == 1 for task in variants.assignments):
            return mapping, measured
        problem = self._problem(mapping, measured, variants)
        for _ in range(ROUNDS_MAX):
            found = choose_streaming(problem)
            if found is None:
                break
            chosen = self._with(mapping, variants.pick(found.chosen), found.solver.solver)
            now = self._measure(chosen, thorough=False)  # gaps that search would close cost little to leave room for
            if now.over_bytes <= 0:
                return chosen, now
            problem = replace(problem, capacity_bytes=problem.capacity_bytes - now.over_bytes)
        least = self._with(mapping, variants.pick(variants.smallest()), "least bytes")
        return least, self._measure(least)

    def _problem(self, mapping: UnitMapping, measured: _Measured, variants: Variants) -> Problem:
        soc, draft = self.scheduler.soc, measured.draft
        units = sum(resident_bytes(assignment, soc) for assignment in mapping.assignments)
        others = sum(size for _, size in measured.constants) - units
        staged = [assignment.schedule.bytes_in(soc.home) for assignment in mapping.assignments]
        live = tuple(max(0, alive - own) for alive, own in zip(draft.live_bytes(), staged, strict=True))
        return Problem(variants.costs, live, draft.home.size_bytes - draft.caller_bytes - others)

    def _with(self, mapping: UnitMapping, assignments: tuple[Assignment, ...], solver: str) -> UnitMapping:
        """The mapping with these schedules, checked; what was proven for resident constants stays a bound."""
        self.scheduler.validate(assignments)
        changed = replace(mapping, assignments=assignments)
        value, before = changed.objective_value, mapping.solver
        status = SolverStatus(f"{before.solver}, streaming by {solver}", "feasible", value, min(before.bound, value))
        return replace(changed, solver=status)
