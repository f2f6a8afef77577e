"""The typed facade through which the core reaches plugins; no other module does."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from match_core.contract.errors import PluginError
from match_core.contract.hardware import Hardware
from match_core.contract.loops import LoopSchedule
from match_core.contract.unit_api import PlatformApi, UnitApi
from match_core.plugin import answers as check
from match_core.plugin import choose
from match_core.plugin.code import code_digest, packages_of
from match_core.plugin.discovery import Found, Selection, find_plugins
from match_core.plugin.estimates import with_estimate
from match_core.plugin.guard import Guard, unguarded
from match_core.plugin.records import FALSE_CLAIM, GivenAnswer, PluginFault, PluginInfo, Status
from match_core.plugin.registry import HOOKS, Registry
from match_core.plugin.renamed import renamed_api, renamed_cost
from match_core.plugin.targets import Targets, merge

if TYPE_CHECKING:
    from match_core.contract.board import Board
    from match_core.contract.commands import Command
    from match_core.contract.cost import CostModel
    from match_core.contract.exactness import ExactChoice, ExactRequest
    from match_core.contract.fitting import Fit, FitRequest
    from match_core.contract.front_end import FrontEnd
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.loops import ScheduleRequest
    from match_core.contract.mapping import Mapping as UnitMapping
    from match_core.contract.mapping import MappingRequest
    from match_core.contract.passes import Pass
    from match_core.contract.pattern import Pattern
    from match_core.contract.planning import Plan, PlanRequest
    from match_core.contract.runner import Runner
    from match_core.contract.scheduling import Answer

#: The core's own sources.
CORE = Path(__file__).resolve().parents[1]


class Plugins:
    """All plugins of this process. Make one with :meth:`load`."""

    def __init__(self, registry: Registry, *, reloadable: bool = False) -> None:
        self._registry = registry
        #: Whether :meth:`load` in another process finds the same plugins.
        self.reloadable = reloadable
        self._boards: dict[str, Board] = {}

    @classmethod
    def load(
        cls, extra: Sequence[Found] = (), *, installed: bool = True, environment: Mapping[str, str] | None = None
    ) -> Plugins:
        """Find, import and register the installed plugins.

        Never raises for a broken plugin: it becomes one of :attr:`faults`, and an error once it is required.
        ``extra`` plugins come first (for tests and tools), ``installed`` False omits the entry points,
        ``environment`` replaces ``os.environ`` as the source of the two variables that select plugins.
        """
        selection = Selection.from_environment(os.environ if environment is None else environment)
        registry = Registry((*extra, *(find_plugins() if installed else ())), selection)
        return cls(registry, reloadable=installed and not extra and environment is None)

    @property
    def faults(self) -> tuple[PluginFault, ...]:
        """Every fault found so far, once per plugin and stage, in the order they were found."""
        return self._registry.faults

    @property
    def answers(self) -> tuple[GivenAnswer, ...]:
        """Which plugin answered which hook so far, without repeats, in the order of the first call."""
        return self._registry.answers

    def plugins(self) -> tuple[PluginInfo, ...]:
        """One row per plugin in calling order, including the disabled and the refused ones."""
        return tuple(self._info(found) for found in self._registry.found)

    def owner_of(self, target: str) -> PluginInfo:
        """The plugin that defines a target (KeyError if none does)."""
        owner = self.targets.socs[target].owner
        found = self._registry.found
        return self.plugins()[next(index for index, plugin in enumerate(found) if plugin is owner)]

    def hardware(self) -> Hardware:
        """All usable units and Socs (hook ``match_hardware``)."""
        return Hardware(
            units=tuple(owned.item for owned in self.targets.units.values()),
            socs=tuple(owned.item for owned in self.targets.socs.values()),
        )

    @cached_property
    def targets(self) -> Targets:
        """All usable units and Socs with their plugins, and the names that clash (hook ``match_hardware``)."""
        merged = merge(self._registry.ask("match_hardware", "", check.hardware, frozenset()))
        causes: dict[str, list[str]] = {}
        for clash in merged.clashes:
            for owner in clash.owners:
                causes.setdefault(owner.key, []).append(clash.cause())
        for found in self._registry.found:
            if found.key in causes:
                self._registry.fault(found, "names", "; ".join(causes[found.key]))
        return merged

    def soc(self, name: str | None = None) -> Soc:
        """The target of that name; None: the only one that is a chip. UsageError MATCH-U022 to U024 if there is no such
        target, PluginError if a broken plugin is the reason."""
        if name in self._boards:
            return self._boards[name].soc
        soc = choose.soc(name, self.targets, self.faults)
        self.units_of(soc)
        return soc

    def add_board(self, board: Board) -> None:
        """Make the board available by the name of its Soc."""
        self._boards[board.soc.name] = board

    def board_of(self, soc: Soc) -> Board | None:
        """The board that a Soc belongs to, None for the Soc of a package."""
        return self._boards.get(soc.name)

    def units_of(self, soc: Soc) -> tuple[Unit, ...]:
        """The units of a Soc in its order. PluginError MATCH-H007 or H009 if one of them is not available."""
        board = self.board_of(soc)
        return board.units if board is not None else choose.units(soc, self.targets, self.faults)

    def front_ends(self) -> tuple[FrontEnd, ...]:
        """The front ends for model files that are not ONNX (hook ``match_load``), in calling order."""
        answered = self._registry.ask("match_load", "", check.front_ends, frozenset())
        collected = choose.collected(answered, "format", "match_load")
        return tuple(self._guard(found, "match_load").front_end(item) for found, item in collected)

    def runners(self) -> tuple[Runner, ...]:
        """Where programs can run besides the twin (hook ``match_runners``), in calling order."""
        answered = self._registry.ask("match_runners", "", check.runners, frozenset())
        collected = choose.collected(answered, "runner", "match_runners")
        return tuple(self._guard(found, "match_runners").runner(item) for found, item in collected)

    def commands(self) -> tuple[Command, ...]:
        """The verbs that packages add to the command line (hook ``match_commands``). A verb that two packages add is a
        fault of both and is omitted."""
        answers = self._registry.ask("match_commands", "", check.commands, frozenset())
        answered = [(found, item) for found, answer in answers for item in answer]
        owners: dict[str, list[Found]] = {}
        for found, item in answered:
            owners.setdefault(item.name, []).append(found)
        for name, several in owners.items():
            for found in several if len(several) > 1 else ():
                packages = " and ".join(owner.distribution for owner in several)
                self._registry.fault(found, "names", f"the verb {name!r} is defined by {packages}")
        single = [(found, item) for found, item in answered if len(owners[item.name]) == 1]
        return tuple(self._guard(found, "match_commands").command(item) for found, item in single)

    def transforms(self, soc: Soc) -> tuple[Pass, ...]:
        """The passes that plugins add for a target (hook ``match_transforms``), in calling order, not
        sorted."""
        answered = self._registry.ask("match_transforms", soc.name, check.passes, self._owners(soc, None), soc=soc)
        collected = choose.collected(answered, "pass", f"target {soc.name}")
        return tuple(self._guard(found, "match_transforms").graph_pass(item) for found, item in collected)

    def patterns(
        self, soc: Soc, unit: Unit, prepare: Callable[[Pattern], Pattern] = lambda pattern: pattern
    ) -> tuple[Pattern, ...]:
        """All patterns of a unit of a Soc (hook ``match_patterns``). ``prepare`` changes each pattern before its
        functions are guarded, so that faults in added functions are attributed to the package too."""
        needed = self._owners(None, unit)
        answered = self._registry.ask("match_patterns", unit.name, check.patterns, needed, soc=soc, unit=unit)
        collected = choose.collected(answered, "pattern", f"unit {unit.name}")
        return tuple(self._guard(found, "match_patterns").pattern(prepare(item)) for found, item in collected)

    def cost(self, soc: Soc, unit: Unit, pattern: Pattern) -> CostModel:
        """The cost model of a pattern (hook ``match_cost``). PluginError MATCH-H010 if no plugin returns one."""
        argument = f"{soc.name}/{unit.name}/{pattern.name}"
        needed = self._owners(soc, unit)
        for found, model in self._registry.ask(
            "match_cost", argument, check.cost_model, needed, soc=soc, unit=unit, pattern=pattern
        ):
            return self._guard(found, "match_cost").cost_model(renamed_cost(model, self._memory_names(soc, unit)))
        raise self._unit_lacks("match_cost", f"pattern {pattern.name} of unit {unit.name} has no cost model", unit)

    def schedule(self, request: ScheduleRequest, fault: Callable[[Answer], str] = lambda answer: "") -> Answer:
        """A schedule, or the last ScheduleInfeasible (hook ``match_schedule``). ``fault`` returns the fault of an
        answer, empty if there is none; a faulty answer is PluginError MATCH-H011."""
        argument = f"{request.soc.name}/{request.unit.name}/{request.pattern}"
        needed = self._owners(request.soc, request.unit)
        infeasible: Answer | None = None
        for found, answer in self._registry.ask("match_schedule", argument, check.schedule, needed, request=request):
            self._believe(found, "match_schedule", f"the schedule of {argument}", fault(answer))
            if isinstance(answer, LoopSchedule):
                return with_estimate(request, answer)
            infeasible = answer
        if infeasible is None:
            raise self._unit_lacks("match_schedule", f"pattern {request.pattern} has no schedule", request.unit)
        return infeasible

    def mapping(self, request: MappingRequest, fault: Callable[[UnitMapping], str]) -> UnitMapping | None:
        """The mapping of the first package that returns one (hook ``match_map``); None if none does. ``fault`` as for
        :meth:`schedule`."""
        needed = self._owners(request.soc, None)
        for found, answer in self._registry.ask("match_map", request.soc.name, check.mapping, needed, request=request):
            self._believe(found, "match_map", f"the mapping for {request.soc.name}", fault(answer))
            return answer
        return None

    def plan(self, request: PlanRequest, fault: Callable[[Plan], str]) -> Plan | None:
        """The plan of the first package that returns one (hook ``match_plan``); None if none does. ``fault`` as for
        :meth:`schedule`."""
        soc = request.scheduling.soc
        needed = self._owners(soc, None)
        for found, answer in self._registry.ask("match_plan", soc.name, check.plan, needed, request=request):
            self._believe(found, "match_plan", f"the plan for {soc.name}", fault(answer))
            return answer
        return None

    def fit(self, request: FitRequest) -> Fit | None:
        """How a model is made to fit (hook ``match_fit``); None if no package answers."""
        needed = self._owners(request.soc, None)
        for _, answer in self._registry.ask("match_fit", request.soc.name, check.fit, needed, request=request):
            return answer
        return None

    def exact(self, request: ExactRequest, soc: Soc) -> ExactChoice:
        """The nodes that keep exact arithmetic (hook ``match_exact``). PluginError MATCH-H010 if no plugin answers."""
        for _, answer in self._registry.ask("match_exact", soc.name, check.exact, frozenset(), request=request):
            return answer
        raise self.no_answer("match_exact", "nobody chooses what is to be exact for --max-loss", soc)

    def no_answer(self, hook: str, what: str, soc: Soc) -> PluginError:
        """PluginError MATCH-H010: no plugin answers a hook that the target requires."""
        targets = self.targets
        owned = [targets.socs.get(soc.name), *(targets.units.get(name) for name in soc.units)]
        return self._nobody(hook, what, f"target {soc.name}", next((item.owner for item in owned if item), None))

    def missing(self, soc: Soc) -> tuple[str, ...]:
        """Help that names required packages of a target that are not installed, and packages that are not active."""
        owned = self.targets.socs.get(soc.name)
        passive = (info for info in self.plugins() if info.status != "active")
        idle = (f"{info.distribution} is {info.status}: enable it" for info in passive)
        return (*(choose.missing_requirements(owned.owner.distribution) if owned else ()), *idle)

    def _believe(self, found: Found, hook: str, what: str, fault: str) -> None:
        if fault:
            raise self._registry.fault(found, hook, f"{what}: {fault}", FALSE_CLAIM).as_error(f"{what} cannot be used")

    @staticmethod
    def portable(request: ScheduleRequest) -> ScheduleRequest:
        """The request with the plugin's own cost model, so that it can be sent to another process."""
        return replace(request, cost_model=unguarded(request.cost_model))

    def sources(self) -> tuple[Path, ...] | None:
        """The files of all active plugins; None if one has no file."""
        targets = [target for hook in HOOKS for _, target in self._registry.implementers(hook)]
        modules = [sys.modules.get(getattr(target, "__name__", type(target).__module__)) for target in targets]
        files = [getattr(module, "__file__", None) for module in modules]
        return None if None in files else tuple(dict.fromkeys(Path(str(file)) for file in files))

    def packages(self) -> set[Path] | None:
        """The folders of the core and of all packages with active plugins; None if one has none."""
        places = packages_of(target for hook in HOOKS for _, target in self._registry.implementers(hook))
        return None if places is None else places | {CORE}

    @cached_property
    def code(self) -> str | None:
        """Digest of all code that decides schedules and mappings: the core, and the packages that provide cost models,
        schedules or mappings. None if a plugin has no source file. Read once: a plan for each trial asks for it."""
        hooks = ("match_cost", "match_schedule", "match_map", "match_plan")
        return code_digest((target for hook in hooks for _, target in self._registry.implementers(hook)), (CORE,))

    def emit_api(self, soc: Soc, unit: Unit) -> UnitApi:
        """How a unit is called in C (hook ``match_emit_api``). PluginError MATCH-H010 if no plugin answers."""
        argument = f"{soc.name}/{unit.name}"
        needed = self._owners(soc, unit)
        for found, api in self._registry.ask("match_emit_api", argument, check.unit_api, needed, soc=soc, unit=unit):
            return self._guard(found, "match_emit_api").unit_api(renamed_api(api, self._memory_names(soc, unit)))
        if unit.name == soc.host:
            return UnitApi(PlatformApi(), None, {})  # it runs the program, but no kernels
        raise self._unit_lacks("match_emit_api", f"unit {unit.name} has no C interface", unit)

    def _memory_names(self, soc: Soc, unit: Unit) -> Mapping[str, str]:
        """The unit's package's names of a board's memories, if they differ."""
        board = self.board_of(soc)
        return board.packages[unit.name] if board is not None else {}

    def _guard(self, found: Found, hook: str) -> Guard:
        return Guard(self._registry, found, hook)

    def _info(self, found: Found) -> PluginInfo:
        targets = self.targets
        return PluginInfo(
            name=found.name,
            distribution=found.distribution,
            version=found.version,
            status=self._status(found),
            hooks=self._registry.hooks_of.get(found.key, ()),
            targets=tuple(name for name, owned in targets.socs.items() if owned.owner is found),
            units=tuple(name for name, owned in targets.units.items() if owned.owner is found),
        )

    def _status(self, found: Found) -> Status:
        if found.key in self._registry.disabled:
            return "disabled"
        if found.key not in self._registry.registered:
            return "refused"
        return "faulty" if self._registry.is_faulty(found) else "active"

    def _owners(self, soc: Soc | None, unit: Unit | None) -> frozenset[str]:
        """Keys of the plugins that must work for a hook call about these."""
        targets = self.targets
        units = (*(soc.units if soc else ()), *((unit.name,) if unit else ()))
        owners = [targets.units[name].owner for name in units if name in targets.units]
        if soc is not None and soc.name in targets.socs:
            owners.append(targets.socs[soc.name].owner)
        return frozenset(owner.key for owner in owners)

    def _unit_lacks(self, hook: str, what: str, unit: Unit) -> PluginError:
        owned = self.targets.units.get(unit.name)
        return self._nobody(
            hook, what, f"unit {unit.name}", owned.owner if owned else None, f"--without-unit {unit.name}"
        )

    def _nobody(self, hook: str, what: str, whose: str, owner: Found | None, option: str = "") -> PluginError:
        package = f"{owner.distribution} {owner.version}" if owner else "an unknown package"
        return PluginError(
            code="MATCH-H010",
            what=what,
            where=f"{whose} of {package}",
            why=f"none of the {len(self._registry.registered)} active plugins implements {hook} for it",
            help=(
                *(choose.missing_requirements(owner.distribution) if owner else ()),
                f"implement {hook} in {package}",
                *((f"compile without the unit: {option}",) if option else ()),
            ),
        )
