"""From candidates to a deployed program: sequential, or concurrent if that is better."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from match_core.contract.errors import InfeasibleError, MatchError, UnsupportedError
from match_core.contract.fitting import Fit, FitRequest
from match_core.contract.mapping import MappingRequest
from match_core.contract.planning import PlanRequest
from match_core.deploy.deployment import WAITS, Deployed, Lowering, Sequential, bytes_of, copies_of, stage
from match_core.deploy.sequential import Deployer
from match_core.deploy.slow import are_needed, too_slow
from match_core.map.bodies import with_bodies
from match_core.map.convert import Conversions, converted
from match_core.map.evaluate import mapping_fault, plan_fault
from match_core.map.forms import check_forms
from match_core.plan.overflow import placed
from match_core.plan.shortage import reasoned
from match_core.regions.choice import largest
from match_core.schedule.cache import ScheduleCache, schedule_directory
from match_core.schedule.candidates import Scheduler
from match_core.validate.mapping import validate_mapping
from match_core.version import __version__

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate, Candidates, Refusal
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.mapping import Assignment, Mapping
    from match_core.contract.model import Model
    from match_core.contract.observe import StageObserver
    from match_core.deploy.compile_options import CompileOptions
    from match_core.deploy.deployment import Deployment
    from match_core.lower.lower import Title
    from match_core.map.convert import Converted
    from match_core.plugin.facade import Plugins


#: So many programs in a row that are not better end the moves of tensors: one may be too few (an estimate).
IDLE = 3


@dataclass(frozen=True)
class Deploying:
    """Schedules, maps and plans one model."""

    options: CompileOptions
    soc: Soc
    units: tuple[Unit, ...]
    plugins: Plugins
    observer: StageObserver
    model: Model
    candidates: Candidates
    titles: Callable[[Model], Title]
    match: Callable[[Model], Candidates]
    parts: tuple[Assignment, ...] = ()

    def run(self) -> Deployed:
        """The program with the fewest modelled cycles that the options allow; else InfeasibleError MATCH-M001."""
        code = self.plugins.code if self.options.cache else None
        cache = ScheduleCache(schedule_directory() if code else None, __version__, code or "")
        sequential = self._sequential(self._scheduler(self.soc, cache))
        divisible = bool(self._host_copies()) or all(unit.memory is None for unit in self.units)
        fitted = self._fitted(cache, sequential) if divisible and sequential.is_slow else None
        if fitted is not None and sequential.error is not None:
            return fitted
        plain, declined = (fitted or sequential).deployment, None
        cycles = plain.program.predicted_cycles if plain is not None else None
        if self._may_run_concurrently(sequential.mapping):
            found = self._concurrent(self._scheduler(self._concurrent_soc(), cache), sequential)
            if found is not None and (plain is None or self._is_better(found.deployment, plain)):
                return found
            if found is not None and found.deployment.program.predicted_cycles < (cycles or 0):
                declined = found.deployment.program.predicted_cycles
        if plain is None:
            fitted = self._fitted(cache, sequential, divisible=False)
        if fitted is not None:
            return replace(fitted, declined_cycles=declined)
        assert plain is not None  # else MATCH-M001 was raised
        return Deployed(sequential.model, plain, sequential.refused, sequential.offered, cycles, declined)

    def _fitted(
        self, cache: ScheduleCache, sequential: Sequential, *, divisible: bool = True, bound: Fit | None = None
    ) -> Deployed | None:
        """The program of a rewritten model that fits (hook ``match_fit``), or with other candidates; None if there is
        none. InfeasibleError MATCH-M001 with a lower bound if the package proves that, or nothing else is left."""
        error, plain, store = sequential.error, sequential.deployment, self._host_copies() and self.soc.store
        made: list[tuple[Model, Deployed]] = []

        def attempt(model: Model, parts: tuple[Assignment, ...], without: frozenset[int] = frozenset()) -> int | None:
            given, offered = (self.model, self.candidates) if without else (model, self.match(model))
            legal = tuple(c for c in offered.legal if given.parts.isdisjoint(c.node_names) and c.index not in without)
            other = replace(self, model=given, candidates=replace(offered, legal=legal), parts=parts)
            found = other._sequential(self._scheduler(self.soc, cache))
            if found.deployment is None:
                return None
            cycles = found.deployment.program.predicted_cycles
            made.append((model, Deployed(found.model, found.deployment, found.refused, found.offered, cycles)))
            # If it fits only because others were left out too, more exchanges may be cheaper.
            return None if without and found.error is not None else cycles

        scheduler, model, mapping = self._scheduler(self.soc, cache), sequential.model, sequential.mapping
        overlaps = Lowering(model, scheduler, self.titles(model)).code(mapping.assignments).needs.overlaps
        ways = (attempt, overlaps, divisible, sequential.offered, self.candidates.legal, scheduler.can_stream)
        without = partial(attempt, model, ())
        fit = self.plugins.fit(FitRequest(model, self.soc, mapping, *ways, without))
        fitting = (deployed for given, deployed in made if not divisible or (fit and given is fit.model))
        found = min(fitting, key=lambda deployed: deployed.sequential_cycles or 0, default=None)
        if error is not None and plain is None and found is None and not divisible:
            stripes = "in stripes" if all(unit.memory is None for unit in self.units) else "in any program"
            raise reasoned(error, f"in stripes, and with tensors in {store}" if store else stripes, bound or fit)
        if plain is None and found is None and fit is not None and divisible:
            return self._fitted(cache, sequential, divisible=False, bound=fit)
        limit = plain.program.predicted_cycles if plain is not None else None
        return found if found is None or limit is None or (found.sequential_cycles or 0) < limit else None

    def _may_run_concurrently(self, sequential: Mapping) -> bool:
        allowed = {"auto": not sequential.final, "concurrent": True, "sequential": False}[self.options.execution]
        return allowed and self.soc.signalling is not None

    def _concurrent_soc(self) -> Soc:
        """The Soc in concurrent mode; without its store if no unit copies there and back in this mode."""
        soc = replace(self.soc, mode="concurrent")
        apis = [self.plugins.emit_api(soc, unit) for unit in self.units]
        return soc if any(api.swap is not None or api.store is not None for api in apis) else replace(soc, store=None)

    def _is_better(self, concurrent: Deployment, plain: Deployment) -> bool:
        if self.options.execution == "concurrent":
            return True
        if self.options.objective == "energy":
            energy, before = concurrent.mapping.energy_pj, plain.mapping.energy_pj
            return (energy, concurrent.program.predicted_cycles) < (before, plain.program.predicted_cycles)
        cycles = concurrent.program.predicted_cycles
        return plain.program.predicted_cycles - cycles > cycles * self.soc.uncertain_share("concurrent")

    def _sequential(self, scheduler: Scheduler) -> Sequential:
        """Repeats with more tensors in the overflow memory, then with fewer kernels that need scratch, while it does
        not fit, or streams constants and gets better. If none fits, the cheapest, with the error of the smallest."""
        overflow, barred = frozenset[str](), frozenset[int]()
        first: Sequential | None = None
        best: Sequential | None = None
        value = idle = 0  # of the best; repeats after it
        while True:
            scheduled, refused = self._scheduled(scheduler, overflow)
            allowed = tuple(item for item in scheduled if item.candidate.index not in barred)
            mapping, chosen = self._mapped(scheduler, allowed, refused)
            model = chosen.model
            deployer = Deployer(Lowering(model, scheduler, self.titles(model)), chosen.offered, overflow)
            made = Sequential(model, mapping, refused, scheduled, overflow, None, first.error if first else None)
            try:
                deployment = self._planned(chosen, deployer)
                idle += 1
                if best is None or deployment.mapping.objective_value < value:
                    best, value, idle = replace(made, deployment=deployment), deployment.mapping.objective_value, 0
                if idle == IDLE or not any(
                    task.assignment.schedule.streamed(self.soc.home) for task in deployment.program.tasks
                ):
                    return best
            except InfeasibleError as error:
                if best is not None:
                    return best
                made = replace(made, error=error)
            more, fewer = deployer.overflowing(chosen.mapping), deployer.replaceable(chosen.mapping, allowed)
            if best is None and not more:
                first = replace(first or made, error=made.error)
            if not more and not fewer:
                return best or first or made
            overflow, barred = overflow | more, barred | (frozenset() if more else fewer)

    def _concurrent(self, scheduler: Scheduler, sequential: Sequential) -> Deployed | None:
        """The fastest concurrent program. None if it does not fit, if an operator does not fit the part of a memory
        that its unit has in this mode, or if no package maps and plans it; the reason is raised if the user requested a
        concurrent program."""
        tried: list[Deployed | None] = []
        refused: MatchError | None = None
        for overflow in self._overflows(scheduler, sequential, tried):
            try:
                tried.append(self._concurrent_with(scheduler, sequential, overflow))
            except (InfeasibleError, UnsupportedError) as error:
                refused = refused or error
        found = [made for made in tried if made is not None]
        if not found and self.options.execution == "concurrent":
            fits = () if sequential.deployment is None else ("leave out --concurrent: a sequential program fits",)
            refused = refused or self.plugins.no_answer("match_plan", "units cannot run at the same time", self.soc)
            raise replace(refused, help=(*fits, *refused.help))
        return min(found, key=lambda made: made.deployment.program.predicted_cycles, default=None)

    def _overflows(
        self, scheduler: Scheduler, sequential: Sequential, tried: Sequence[Deployed | None]
    ) -> Iterator[frozenset[str]]:
        """Tensors in the overflow memory: none, then those of the sequential program, as swaps may be faster, or not
        fit. If no program fits, or all that were ``tried`` wait for memory, those that would be next move too."""
        yield from dict.fromkeys((frozenset[str](), sequential.overflow))
        programs = [made and made.deployment for made in tried]
        if all(made and made.program.predicted_cycles > WAITS * made.mapping.finish_cycles for made in programs):
            lowering = Lowering(sequential.model, scheduler, self.titles(sequential.model))
            deployer = Deployer(lowering, sequential.offered, sequential.overflow)
            if more := deployer.overflowing(sequential.mapping, self.soc.memory(self.soc.home).size_bytes):
                yield sequential.overflow | more

    def _concurrent_with(
        self, scheduler: Scheduler, sequential: Sequential, overflow: frozenset[str]
    ) -> Deployed | None:
        plain, limit = sequential.deployment, None
        if plain is not None and self.options.execution == "auto" and self.options.objective == "latency":
            limit = int(plain.program.predicted_cycles / (1 + self.soc.uncertain_share("concurrent")))
            known = (sequential.offered, sequential.refused, Conversions(scheduler, self.soc), sequential.mapping)
            if not sequential.overflow and not self._mapping(scheduler, *known, limit, estimated=True):
                return None
        latency, used = self.options.objective == "latency", sequential.mapping.assignments
        slow = too_slow(sequential.offered, used) if latency else ()
        scheduled, refused = self._scheduled(scheduler, overflow, slow)
        if are_needed(slow, scheduled):
            scheduled, refused = self._scheduled(scheduler, overflow)

        def mapped() -> Converted | None:
            conversions = Conversions(scheduler, self.soc)
            mapping = self._mapping(scheduler, scheduled, refused, conversions, sequential.mapping, limit)
            if mapping is None:
                return None
            chosen = with_bodies(self.model, replace(mapping, refused=refused), scheduled)
            self._validate(chosen, scheduler)
            return chosen

        chosen = stage(
            self.observer,
            "map concurrently",
            mapped,
            lambda chosen: {"tasks": 0 if chosen is None else len(chosen.mapping.assignments)},
        )
        if chosen is None:
            return None
        lowering = Lowering(chosen.model, scheduler, self.titles(chosen.model))
        request = PlanRequest(chosen.model, chosen.mapping, scheduler, lambda code: lowering.code(code).needs, overflow)
        deployment = stage(
            self.observer, "plan concurrently", lambda: self._by_package(request, scheduler, lowering), copies_of
        )
        if deployment is None:
            return None
        cycles = plain.program.predicted_cycles if plain is not None else None
        return Deployed(chosen.model, deployment, sequential.refused, sequential.offered, cycles)

    def _scheduled(
        self, scheduler: Scheduler, overflow: frozenset[str], without: Sequence[Candidate] = ()
    ) -> tuple[tuple[Assignment, ...], tuple[Refusal, ...]]:
        barred = {candidate.index for candidate in without}
        offered = replace(self.candidates, legal=tuple(c for c in self.candidates.legal if c.index not in barred))
        offered = placed(offered, overflow, scheduler.soc, self.units) if overflow else offered
        check_forms(offered, scheduler.soc)
        scheduled, unfit = stage(
            self.observer,
            "schedule",
            lambda: scheduler.schedule_all(offered),
            lambda answer: {"schedules": len(answer[0]), "refused": len(answer[1])},
        )
        scheduled = (*scheduled, *self.parts)
        if self.options.regions == "largest":
            scheduled, taken = largest(self.model.graph, scheduled)
            unfit = (*unfit, *taken)
        return scheduled, (*offered.refused, *unfit)

    def _mapped(
        self, scheduler: Scheduler, scheduled: tuple[Assignment, ...], refused: tuple[Refusal, ...]
    ) -> tuple[Mapping, Converted]:
        """The mapping, and the model, mapping and offers with the conversions and bodies that the mapping inserts."""

        def work() -> tuple[Mapping, Converted]:
            conversions = Conversions(scheduler, self.soc)
            mapping = self._mapping(scheduler, scheduled, refused, conversions)
            if mapping is None:
                raise self.plugins.no_answer("match_map", "the model cannot be mapped", self.soc)
            bodied = with_bodies(self.model, mapping, scheduled)
            chosen = converted(bodied.model, bodied.mapping, bodied.offered, conversions)
            names = {**bodied.model.provenance, **chosen.model.provenance}  # includes nodes that bodies replaced
            chosen = replace(chosen, model=replace(chosen.model, provenance=names))
            self._validate(chosen, scheduler)
            return mapping, chosen

        return stage(self.observer, "map", work, lambda made: {"nodes": len(made[1].mapping.assignments)})

    def _mapping(
        self,
        scheduler: Scheduler,
        scheduled: tuple[Assignment, ...],
        refused: tuple[Refusal, ...],
        conversions: Conversions,
        sequential: Mapping | None = None,
        limit_cycles: int | None = None,
        *,
        estimated: bool = False,
    ) -> Mapping | None:
        """The answer to ``match_map``, checked and priced; PluginError MATCH-H011 if it is wrong."""
        code = self.plugins.code if self.options.cache else None
        ways = (self.options.parallel, code, limit_cycles, estimated)
        goal, found = self.options.objective, (scheduled, refused, conversions, scheduler, sequential)
        request = MappingRequest(self.model, scheduler.soc, self.units, goal, *found, *ways)

        def fault(mapping: Mapping) -> str:
            return "" if estimated else mapping_fault(request, scheduler, conversions.given, mapping)

        return self.plugins.mapping(request, fault)

    def _validate(self, chosen: Converted, scheduler: Scheduler) -> None:
        """Check what bodies and conversions made of a mapping (which was checked before) and its schedules."""
        if chosen.model is not self.model:
            validate_mapping(chosen.model.graph, chosen.mapping)
        scheduler.validate(chosen.mapping.assignments)

    def _planned(self, chosen: Converted, deployer: Deployer) -> Deployment:
        """The program of the core; of a package if the model has parts, or if it fetches constants that the core's
        program streams and is faster."""
        lowering, scheduler = deployer.lowering, deployer.scheduler

        def copying(mapping: Mapping) -> Deployment | None:
            given = (chosen.model, mapping, scheduler, lambda which: lowering.code(which).needs)
            return self._by_package(PlanRequest(*given, offered=chosen.offered), scheduler, lowering)

        if chosen.model.parts:
            found = stage(self.observer, "plan", lambda: copying(chosen.mapping), copies_of)
            if found is None:
                raise self.plugins.no_answer("match_plan", "copies to the store cannot be planned", self.soc)
            return found
        made = stage(self.observer, "plan", lambda: deployer.deploy(chosen.mapping), bytes_of)
        ordered = tuple(task.assignment for task in made.program.tasks)
        if not self._host_copies() or not any(assignment.schedule.streamed(self.soc.home) for assignment in ordered):
            return made
        found = stage(self.observer, "fetch", lambda: copying(replace(made.mapping, assignments=ordered)), copies_of)
        return min((made, found or made), key=lambda one: one.program.predicted_cycles)

    def _host_copies(self) -> bool:
        """Whether the host of a sequential program can copy to the store and back while tasks run."""
        apis = [self.plugins.emit_api(self.soc, unit) for unit in self.units]
        return self.soc.swap_link is not None and any(api.swap is not None and api.swap.wait for api in apis)

    def _by_package(self, request: PlanRequest, scheduler: Scheduler, lowering: Lowering) -> Deployment | None:
        """The answer to ``match_plan``, checked and priced; None if no package plans the program."""
        request = replace(request, code=self.plugins.code if self.options.cache else None)
        plan = self.plugins.plan(request, partial(plan_fault, request, scheduler))
        if plan is None:
            return None
        scheduler.validate(plan.mapping.assignments)
        return lowering.deployment(plan.mapping, plan.program)

    def _scheduler(self, soc: Soc, cache: ScheduleCache) -> Scheduler:
        return Scheduler(soc, self.units, self.options.objective, self.plugins, cache, self.options.jobs, self.observer)
