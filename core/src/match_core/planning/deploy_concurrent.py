"""From a mapping to a planned program whose units run side by side, with constants streamed from the Soc's store where
that is faster than swapping activations, or the only way to fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from match_core.emit.constants import ConstantPool
from match_core.emit.lower import lower
from match_core.errors import InfeasibleError
from match_core.mapping.objective import weighting_of
from match_core.planning.concurrent.build import build, caller_bytes
from match_core.planning.concurrent.demand import arena_demands
from match_core.planning.concurrent.options import PlanOptions
from match_core.planning.concurrent.plan import plan_concurrent
from match_core.planning.deploy import Deployment
from match_core.planning.streaming import Problem, choose_streaming
from match_core.planning.validate_concurrent import validate_concurrent
from match_core.planning.variants import resident_bytes, variants_of

if TYPE_CHECKING:
    from match_core.emit.api import UnitApi
    from match_core.emit.lower import Title
    from match_core.ir.model import Model
    from match_core.mapping.result import Assignment
    from match_core.mapping.result import Mapping as UnitMapping
    from match_core.planning.program import Program
    from match_core.schedule.candidates import Scheduler

Sizes = tuple[tuple[str, int], ...]


def deploy_concurrent(
    model: Model,
    scheduler: Scheduler,
    title: Title,
    mapping: UnitMapping,
    options: PlanOptions | None = None,
    far: frozenset[str] = frozenset(),
) -> Deployment:
    """The program of a mapping whose units run side by side. InfeasibleError MATCH-M001 where it does not fit, streamed
    and swapped or not; ``title`` names a task; ``far``: tensors that lie in the Soc's overflow memory."""
    return _Deployer(model, scheduler, title, options or PlanOptions(), far).deploy(mapping)


@dataclass(frozen=True)
class _Measured:
    """What a mapping needs in memories: (name, bytes) of constants, and scratch by task."""

    constants: Sizes
    stored: Sizes
    scratch: Mapping[int, int]


@dataclass(frozen=True)
class _Deployer:
    model: Model
    scheduler: Scheduler
    title: Title
    options: PlanOptions
    far: frozenset[str]

    def deploy(self, mapping: UnitMapping) -> Deployment:
        mapping = self._chosen(mapping)
        program = self._plan(mapping, self.options)
        validate_concurrent(self.model.graph, program)
        # Lowered again in the planned order, so that functions and constants are numbered as the program runs.
        pool, apis = ConstantPool(self.model.name), self._apis(mapping)
        ordered = tuple(task.assignment for task in program.tasks)
        lowered = lower(self.model.name, ordered, apis, pool, self.title, self.scheduler.soc)
        return Deployment(mapping, program, lowered, pool, apis)

    def _chosen(self, mapping: UnitMapping) -> UnitMapping:
        """The mapping itself where it fits without swaps; else the one with the fastest first plan among it and those
        that stream constants. Raises what the mapping itself raises where none fits."""
        refused: InfeasibleError | None = None
        fastest: tuple[int, UnitMapping] | None = None
        for attempt in self._attempts(mapping):
            try:
                program = self._plan(attempt, PlanOptions(deterministic_seconds=0.0))
            except InfeasibleError as error:
                refused = refused or error
                continue
            if fastest is None or program.predicted_cycles < fastest[0]:
                fastest = (program.predicted_cycles, attempt)
            if attempt is mapping and not program.swaps:
                break
        if fastest is None:
            assert refused is not None
            raise refused
        return fastest[1]

    def _attempts(self, mapping: UnitMapping) -> Iterator[UnitMapping]:
        yield mapping
        soc, weighting = self.scheduler.soc, weighting_of(mapping)
        if soc.store is None:
            return
        variants = variants_of(mapping, mapping.assignments, self.scheduler, weighting)
        if all(len(task) == 1 for task in variants.assignments):
            return
        measured = self._measure(mapping)
        home = soc.memory(soc.home)
        built = build(self.model, mapping, soc, home.size_bytes, measured.scratch, 0, self.far, self.blocking)
        units = sum(resident_bytes(assignment, soc) for assignment in mapping.assignments)
        others = sum(size for _, size in measured.constants) - units
        capacity = home.size_bytes - caller_bytes(built) - others
        seen: set[tuple[int, ...]] = set()
        for live in arena_demands(built.problem):
            found = choose_streaming(Problem(variants.costs, (live,) * len(mapping.assignments), capacity))
            if found is not None and found.chosen not in seen:
                seen.add(found.chosen)
                yield self._with(mapping, variants.pick(found.chosen), found.solver.solver)

    def _with(self, mapping: UnitMapping, assignments: tuple[Assignment, ...], solver: str) -> UnitMapping:
        """The mapping with these schedules, checked; what was proven for resident constants stays a bound."""
        self.scheduler.validate(assignments)
        before = mapping.solver
        status = replace(before, solver=f"{before.solver}, streaming by {solver}", status="feasible")
        return replace(mapping, assignments=assignments, solver=status)

    def _plan(self, mapping: UnitMapping, options: PlanOptions) -> Program:
        m = self._measure(mapping)
        soc, far, blocking = self.scheduler.soc, self.far, self.blocking
        return plan_concurrent(self.model, mapping, soc, m.constants, m.scratch, m.stored, options, far, blocking)

    def _measure(self, mapping: UnitMapping) -> _Measured:
        soc, pool = self.scheduler.soc, ConstantPool(self.model.name)
        lowered = lower(self.model.name, mapping.assignments, self._apis(mapping), pool, self.title, soc)
        scratch = {i: low.scratch_bytes for i, low in enumerate(lowered) if low is not None and low.scratch_bytes}
        return _Measured(pool.sizes(), pool.stored_sizes(), scratch)

    def _apis(self, mapping: UnitMapping) -> dict[str, UnitApi]:
        plugins, soc, used = self.scheduler.plugins, self.scheduler.soc, set(mapping.units)
        if used & self.blocking:
            used.add(soc.host)
        return {unit.name: plugins.emit_api(soc, unit) for unit in self.scheduler.units if unit.name in used}

    @cached_property
    def blocking(self) -> frozenset[str]:
        """The units whose tasks the host runs."""
        return self.scheduler.blocking_units
