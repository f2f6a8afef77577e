"""From candidates to a deployed program: one task after another, units side by side, and which of the two is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from match_core.errors import InfeasibleError, UnsupportedError

if TYPE_CHECKING:
    from match_core.emit.lower import Title
    from match_core.hardware import Soc, Unit
    from match_core.ir.model import Model
    from match_core.mapping.concurrent.kept import Choices
    from match_core.mapping.convert import Converted
    from match_core.mapping.result import Assignment, Candidates, Mapping, Refusal
    from match_core.observe import Facts, StageObserver
    from match_core.options import CompileOptions
    from match_core.planning.deploy import Deployer, Deployment
    from match_core.plugin.host import Plugins
    from match_core.schedule.cache import ScheduleCache
    from match_core.schedule.candidates import Scheduler

T = TypeVar("T")


def stage(observer: StageObserver, name: str, work: Callable[[], T], facts: Callable[[T], Facts]) -> T:
    """Do some work between the observer's notes of its start and its end."""
    observer.stage_started(name)
    result = work()
    observer.stage_finished(name, facts(result))
    return result


@dataclass(frozen=True)
class Deployed:
    """The program that was chosen and the model whose nodes it runs (with the conversions between stored forms and the
    bodies of regions), all refusals, all candidates with schedules that it was chosen from (of the model without
    these), and what one task after another would cost (None: not made, or it does not fit)."""

    model: Model
    deployment: Deployment
    refused: tuple[Refusal, ...]
    offered: tuple[Assignment, ...]
    sequential_cycles: int | None


@dataclass(frozen=True)
class _Sequential:
    """A mapping of the candidates for one task after another and the model of its program; ``deployment`` None where it
    does not fit, ``error`` says why; ``far``: tensors that had to move to the overflow memory."""

    model: Model
    mapping: Mapping
    refused: tuple[Refusal, ...]
    offered: tuple[Assignment, ...]
    far: frozenset[str]
    deployment: Deployment | None
    error: InfeasibleError | None = None


@dataclass(frozen=True)
class _Beside:
    """A program for units side by side and the model that it is for."""

    model: Model
    deployment: Deployment


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

    def run(self) -> Deployed:
        """The program with fewer modelled cycles of those that the options allow. InfeasibleError MATCH-M001 where none
        fits."""
        cache = self._cache()
        sequential = self._sequential(self._scheduler(self.soc, cache))
        plain = sequential.deployment
        cycles = plain.program.predicted_cycles if plain is not None else None
        if self.options.execution != "sequential" and self.soc.signalling is not None:
            beside = self._concurrent(self._scheduler(self._soc_beside(), cache), sequential)
            if beside is not None and (plain is None or self._is_better(beside.deployment, plain)):
                return Deployed(beside.model, beside.deployment, sequential.refused, sequential.offered, cycles)
        if plain is None:
            assert sequential.error is not None
            raise sequential.error
        return Deployed(sequential.model, plain, sequential.refused, sequential.offered, cycles)

    def _soc_beside(self) -> Soc:
        """The Soc with units side by side; without its store where nothing copies there and back then."""
        soc = replace(self.soc, mode="concurrent")
        apis = [self.plugins.emit_api(soc, unit) for unit in self.units]
        return soc if any(api.swap is not None or api.store is not None for api in apis) else replace(soc, store=None)

    def _is_better(self, beside: Deployment, plain: Deployment) -> bool:
        if self.options.execution == "concurrent":
            return True
        if self.options.objective == "energy":
            energy, before = beside.mapping.energy_pj, plain.mapping.energy_pj
            return (energy, beside.program.predicted_cycles) < (before, plain.program.predicted_cycles)
        return beside.program.predicted_cycles < plain.program.predicted_cycles

    def _sequential(self, scheduler: Scheduler) -> _Sequential:
        """As long as tensors do not fit, again with more of them in the overflow memory."""
        from match_core.planning.deploy import Deployer

        far: frozenset[str] = frozenset()
        while True:
            scheduled, refused = self._scheduled(scheduler, far)
            mapping, chosen = self._mapped(scheduler, scheduled, refused)
            model = chosen.model
            deployer = Deployer(model, scheduler, chosen.offered, self.titles(model), far)
            try:
                return _Sequential(model, mapping, refused, scheduled, far, self._planned(deployer, chosen.mapping))
            except InfeasibleError as error:
                more = deployer.overflowing(chosen.mapping)
                if not more:
                    return _Sequential(model, mapping, refused, scheduled, far, None, error)
                far |= more

    def _concurrent(self, scheduler: Scheduler, sequential: _Sequential) -> _Beside | None:
        """None where it does not fit, or an operator does not fit the part of a memory that its unit has then, unless
        nothing else was asked for. Where tensors had to move to the overflow memory, swapping may be faster, or what
        does not need it may fit side by side."""
        found: list[_Beside] = []
        refused: InfeasibleError | UnsupportedError | None = None
        for far in dict.fromkeys((frozenset[str](), sequential.far)):
            try:
                found.append(self._beside(scheduler, sequential.mapping, far))
            except (InfeasibleError, UnsupportedError) as error:
                refused = refused or error
        if not found and self.options.execution == "concurrent":
            assert refused is not None
            raise refused
        return min(found, key=lambda made: made.deployment.program.predicted_cycles, default=None)

    def _beside(self, scheduler: Scheduler, sequential: Mapping, far: frozenset[str]) -> _Beside:
        from match_core.mapping.concurrent.choose import choose_concurrent
        from match_core.mapping.concurrent.options import ConcurrentOptions
        from match_core.mapping.validate import validate_mapping
        from match_core.planning.deploy_concurrent import deploy_concurrent
        from match_core.regions.apply import with_bodies

        scheduled, refused = self._scheduled(scheduler, far)
        options = ConcurrentOptions(parallel=self.options.parallel)

        def mapped() -> Converted:
            mapping = choose_concurrent(self.model, scheduled, scheduler, sequential, options, self._choices())
            chosen = with_bodies(self.model, replace(mapping, refused=refused), scheduled)
            validate_mapping(chosen.model.graph, chosen.mapping)
            scheduler.validate(chosen.mapping.assignments)
            return chosen

        chosen = stage(
            self.observer, "map side by side", mapped, lambda chosen: {"tasks": len(chosen.mapping.assignments)}
        )
        model = chosen.model
        deployment = stage(
            self.observer,
            "plan side by side",
            lambda: deploy_concurrent(model, scheduler, self.titles(model), chosen.mapping, far=far),
            lambda made: {"cycles": made.program.predicted_cycles, "swaps": len(made.program.swaps)},
        )
        return _Beside(model, deployment)

    def _scheduled(
        self, scheduler: Scheduler, far: frozenset[str]
    ) -> tuple[tuple[Assignment, ...], tuple[Refusal, ...]]:
        from match_core.mapping.forms import check_forms
        from match_core.planning.overflow import placed
        from match_core.regions.choice import largest

        offered = placed(self.candidates, far, scheduler.soc, self.units) if far else self.candidates
        check_forms(offered, scheduler.soc)
        scheduled, unfit = stage(
            self.observer,
            "schedule",
            lambda: scheduler.schedule_all(offered),
            lambda answer: {"schedules": len(answer[0]), "refused": len(answer[1])},
        )
        if self.options.regions == "largest":
            scheduled, taken = largest(self.model.graph, scheduled)
            unfit = (*unfit, *taken)
        return scheduled, (*offered.refused, *unfit)

    def _mapped(
        self, scheduler: Scheduler, scheduled: tuple[Assignment, ...], refused: tuple[Refusal, ...]
    ) -> tuple[Mapping, Converted]:
        """The choice, and the model, its mapping and the offers with what the choice puts into the model."""
        from match_core.mapping.convert import Conversions, converted
        from match_core.mapping.mapper import choose
        from match_core.mapping.validate import validate_mapping
        from match_core.regions.apply import with_bodies

        def work() -> tuple[Mapping, Converted]:
            conversions = Conversions(scheduler, [(unit, self.plugins.patterns(unit)) for unit in self.units])
            mapping = choose(self.model, scheduled, refused, scheduler.objective, conversions)
            bodied = with_bodies(self.model, mapping, scheduled)
            chosen = converted(bodied.model, bodied.mapping, bodied.offered, conversions)
            names = {**bodied.model.provenance, **chosen.model.provenance}  # also of nodes that bodies replaced
            chosen = replace(chosen, model=replace(chosen.model, provenance=names))
            validate_mapping(chosen.model.graph, chosen.mapping)
            scheduler.validate(chosen.mapping.assignments)
            return mapping, chosen

        return stage(self.observer, "map", work, lambda made: {"nodes": len(made[1].mapping.assignments)})

    def _planned(self, deployer: Deployer, mapping: Mapping) -> Deployment:
        return stage(
            self.observer,
            "plan",
            lambda: deployer.deploy(mapping),
            lambda made: {f"{use.memory}_bytes": use.used_bytes for use in made.program.memory},
        )

    def _cache(self) -> ScheduleCache:
        from match_core import __version__
        from match_core.schedule.cache import ScheduleCache, schedule_directory

        code = self.plugins.schedule_code() if self.options.cache else None
        return ScheduleCache(schedule_directory() if code else None, __version__, code or "")

    def _choices(self) -> Choices | None:
        from match_core import __version__
        from match_core.io.cache_dir import cache_directory
        from match_core.io.entries import Entries
        from match_core.mapping.concurrent.kept import FORMAT, Choices

        code = self.plugins.choice_code() if self.options.cache else None
        return Choices(Entries(cache_directory("mappings"), FORMAT, __version__), code) if code else None

    def _scheduler(self, soc: Soc, cache: ScheduleCache) -> Scheduler:
        from match_core.schedule.candidates import Scheduler

        return Scheduler(soc, self.units, self.options.objective, self.plugins, cache, self.options.jobs, self.observer)
