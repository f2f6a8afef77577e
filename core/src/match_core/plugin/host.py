"""The typed facade through which the core reaches plugins; no other module does."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from match_core.board.document import is_board_file, read_board
from match_core.board.renamed import renamed_api, renamed_cost
from match_core.errors import PluginError
from match_core.plugin import answers as check
from match_core.plugin import choose
from match_core.plugin.code import code_digest
from match_core.plugin.discovery import Found, Selection, built_in_plugins, find_plugins
from match_core.plugin.guard import Guard, unguarded
from match_core.plugin.records import STAGE_CODES, Answer, PluginFault, PluginInfo, Status
from match_core.plugin.registry import Registry
from match_core.plugin.targets import Targets, merge

if TYPE_CHECKING:
    from match_core.board.compose import Board
    from match_core.board.document import BoardDocument
    from match_core.cost import CostModel
    from match_core.emit.api import UnitApi
    from match_core.hardware import Hardware, Soc, Unit
    from match_core.patterns.language import Pattern
    from match_core.schedule.infeasible import ScheduleInfeasible
    from match_core.schedule.loops import LoopSchedule, ScheduleRequest
    from match_core.transforms.base import Pass, PassContext

#: The core's own sources.
CORE = Path(__file__).resolve().parents[1]

_NamedItem = TypeVar("_NamedItem", "Pass", "Pattern")


class Plugins:
    """All plugins of this process. Make one with :meth:`load`."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._targets: Targets | None = None
        self._boards: dict[str, Board] = {}

    @classmethod
    def load(
        cls,
        extra: Sequence[Found] = (),
        *,
        installed: bool = True,
        environment: Mapping[str, str] | None = None,
    ) -> Plugins:
        """Find, import and register the installed plugins and the core's own.

        Never raises for a broken plugin: it becomes one of :attr:`faults`, and an error once it is needed.
        ``extra`` plugins come first (for tests and tools), ``installed`` False leaves out the entry points,
        ``environment`` replaces ``os.environ`` as the source of the two variables that switch plugins off.
        """
        selection = Selection.from_environment(os.environ if environment is None else environment)
        return cls(Registry((*extra, *(find_plugins() if installed else built_in_plugins())), selection))

    @property
    def faults(self) -> tuple[PluginFault, ...]:
        """Every fault found so far, once per plugin and stage, in the order they were found."""
        return self._registry.faults

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Which plugin answered what so far, without repeats, in the order of the first call."""
        return self._registry.answers

    def plugins(self) -> tuple[PluginInfo, ...]:
        """One row per plugin in calling order, the disabled and the refused ones too."""
        targets = self._merged()
        return tuple(
            PluginInfo(
                name=found.name,
                distribution=found.distribution,
                version=found.version,
                status=self._status(found),
                hooks=self._registry.hooks_of.get(found.key, ()),
                targets=tuple(name for name, owned in targets.socs.items() if owned.owner is found),
                units=tuple(name for name, owned in targets.units.items() if owned.owner is found),
            )
            for found in self._registry.found
        )

    def owner_of(self, target: str) -> PluginInfo:
        """The plugin that defines a target (KeyError if nobody does)."""
        owner = self._merged().socs[target].owner
        found = self._registry.found
        return self.plugins()[next(index for index, plugin in enumerate(found) if plugin is owner)]

    def hardware(self) -> Hardware:
        """All usable units and Socs (hook ``match_hardware``)."""
        from match_core.hardware import Hardware

        targets = self._merged()
        return Hardware(
            units=tuple(owned.item for owned in targets.units.values()),
            socs=tuple(owned.item for owned in targets.socs.values()),
        )

    def soc(self, name: str | None = None) -> Soc:
        """The target of that name, or of a board file; None: the only one installed. UsageError MATCH-U022 to U024
        where there is no such target, MATCH-U060 to U064 where a board cannot be composed, PluginError where a broken
        plugin is the reason."""
        if name is not None and is_board_file(name):
            return self.compose(read_board(Path(name))).soc
        if name in self._boards:
            return self._boards[name].soc
        soc = choose.soc(name, self._merged(), self.faults)
        self.units_of(soc)
        return soc

    def compose(self, document: BoardDocument) -> Board:
        """The board that a file describes, from now on known by its name. Errors as :meth:`soc`."""
        from match_core.board.compose import compose

        board = compose(document, self._merged())
        self._boards[board.soc.name] = board
        return board

    def board_of(self, soc: Soc) -> Board | None:
        """The board that a Soc is of, None for the Soc of a package."""
        return self._boards.get(soc.name)

    def units_of(self, soc: Soc) -> tuple[Unit, ...]:
        """The units of a Soc in its order. PluginError MATCH-H007 or H009 where one of them is not to be
        had."""
        board = self.board_of(soc)
        units = board.units if board is not None else choose.units(soc, self._merged(), self.faults)
        machine = soc.host_machine or soc.preset
        return tuple(replace(unit, machine=machine) if unit.name == soc.host else unit for unit in units)

    def transforms(self, soc: Soc) -> tuple[Pass, ...]:
        """The passes that plugins add for a target (hook ``match_transforms``), in calling order, not
        sorted."""
        needed = self._owners(soc, None)
        asked = self._registry.ask("match_transforms", soc.name, check.passes, needed, soc=soc)
        collected = _collected(asked, "pass", f"target {soc.name}")
        return tuple(self._guard(found, "match_transforms").graph_pass(item) for found, item in collected)

    def patterns(self, unit: Unit, context: PassContext | None = None) -> tuple[Pattern, ...]:
        """All patterns of a unit (hook ``match_patterns``). ``context``: what the unit's own passes on regions are told
        of the target; None where no body of a region is asked for."""
        needed = self._owners(None, unit)
        asked = self._registry.ask("match_patterns", unit.name, check.patterns, needed, unit=unit)
        collected = _collected(asked, "pattern", f"unit {unit.name}")
        if context is not None:
            from match_core.regions.body import with_passes

            collected = tuple((found, with_passes(item, context)) for found, item in collected)
        return tuple(self._guard(found, "match_patterns").pattern(item) for found, item in collected)

    def cost(self, soc: Soc, unit: Unit, pattern: Pattern) -> CostModel:
        """The cost model of a pattern (hook ``match_cost``). PluginError MATCH-H010 if nobody gives one."""
        argument = f"{soc.name}/{unit.name}/{pattern.name}"
        needed = self._owners(soc, unit)
        for found, model in self._registry.ask(
            "match_cost", argument, check.cost_model, needed, soc=soc, unit=unit, pattern=pattern
        ):
            return self._guard(found, "match_cost").cost_model(renamed_cost(model, self._memory_names(soc, unit)))
        raise self._nobody("match_cost", f"pattern {pattern.name} of unit {unit.name} has no cost model", unit)

    def schedule(self, request: ScheduleRequest) -> LoopSchedule | ScheduleInfeasible:
        """A schedule, or the report of the last search that found none (hook ``match_schedule``)."""
        from match_core.schedule.loops import LoopSchedule

        argument = f"{request.soc.name}/{request.unit.name}/{request.pattern}"
        needed = self._owners(request.soc, request.unit)
        infeasible: ScheduleInfeasible | None = None
        for _, answer in self._registry.ask("match_schedule", argument, check.schedule, needed, request=request):
            if isinstance(answer, LoopSchedule):
                return answer
            infeasible = answer
        if infeasible is None:
            raise self._nobody("match_schedule", f"pattern {request.pattern} has no schedule", request.unit)
        return infeasible

    @property
    def schedules_by_core(self) -> bool:
        """Whether the core's engine alone makes schedules, so that another process can do it without plugins."""
        return all(found.built_in for found, _ in self._registry.implementers("match_schedule"))

    @staticmethod
    def portable(request: ScheduleRequest) -> ScheduleRequest:
        """The request with the plugin's own cost model, which another process can be sent."""
        return replace(request, cost_model=unguarded(request.cost_model))

    def schedule_code(self) -> str | None:
        """Digest of all code that decides schedules: the core's engine, and the packages that give cost models or
        schedules. None where a plugin has no source to look at."""
        parts = ("schedule", "cost.py", "host/cost.py", "board/renamed.py")
        return self._code(tuple(CORE / part for part in parts))

    def choice_code(self) -> str | None:
        """As ``schedule_code``, for what decides which units run side by side: all of the core."""
        return self._code((CORE,))

    def _code(self, core: tuple[Path, ...]) -> str | None:
        asked = (*self._registry.implementers("match_cost"), *self._registry.implementers("match_schedule"))
        return code_digest((target for found, target in asked if not found.built_in), core)

    def emit_api(self, soc: Soc, unit: Unit) -> UnitApi:
        """How a unit is called in C (hook ``match_emit_api``). PluginError MATCH-H010 if nobody tells."""
        argument = f"{soc.name}/{unit.name}"
        needed = self._owners(soc, unit)
        for found, api in self._registry.ask("match_emit_api", argument, check.unit_api, needed, soc=soc, unit=unit):
            return self._guard(found, "match_emit_api").unit_api(renamed_api(api, self._memory_names(soc, unit)))
        raise self._nobody("match_emit_api", f"unit {unit.name} has no C interface", unit)

    def _memory_names(self, soc: Soc, unit: Unit) -> Mapping[str, str]:
        """What the unit's package calls memories of a board, where it calls them otherwise."""
        board = self.board_of(soc)
        return board.packages[unit.name] if board is not None else {}

    def _guard(self, found: Found, hook: str) -> Guard:
        return Guard(self._registry, found, hook)

    def _merged(self) -> Targets:
        if self._targets is None:
            self._targets = merge(self._registry.ask("match_hardware", "", check.hardware, frozenset()))
            causes: dict[str, list[str]] = {}
            for clash in self._targets.clashes:
                for owner in clash.faulty:
                    causes.setdefault(owner.key, []).append(clash.cause())
            for found in self._registry.found:
                if found.key in causes:
                    self._registry.fault(found, "names", "; ".join(causes[found.key]))
        return self._targets

    def _status(self, found: Found) -> Status:
        if found.key in self._registry.disabled:
            return "disabled"
        if found.key not in self._registry.registered:
            return "refused"
        return "faulty" if self._registry.is_faulty(found) else "active"

    def _owners(self, soc: Soc | None, unit: Unit | None) -> frozenset[str]:
        """Keys of the plugins that a question about these cannot do without."""
        targets = self._merged()
        units = (*(soc.units if soc else ()), *((unit.name,) if unit else ()))
        owners = [targets.units[name].owner for name in units if name in targets.units]
        if soc is not None and soc.name in targets.socs:
            owners.append(targets.socs[soc.name].owner)
        return frozenset(owner.key for owner in owners)

    def _nobody(self, hook: str, what: str, unit: Unit) -> PluginError:
        owned = self._merged().units.get(unit.name)
        package = f"{owned.owner.distribution} {owned.owner.version}" if owned else "an unknown package"
        return PluginError(
            code="MATCH-H010",
            what=what,
            where=f"unit {unit.name} of {package}",
            why=f"none of the {len(self._registry.registered)} plugins in use answers {hook} for it",
            help=(f"implement {hook} in {package}", "compile without the unit: --without-unit " + unit.name),
        )


def _collected(
    asked: Iterable[tuple[Found, tuple[_NamedItem, ...]]], kind: str, where: str
) -> tuple[tuple[Found, _NamedItem], ...]:
    """All answers in one tuple, each with its plugin; PluginError MATCH-H007 where two plugins use one name."""
    items: dict[str, tuple[Found, _NamedItem]] = {}
    for found, answer in asked:
        for item in answer:
            if item.name in items:
                other = items[item.name][0]
                both = f"{other.distribution} {other.version} and {found.distribution} {found.version}"
                raise PluginError(
                    code=STAGE_CODES["names"],
                    what=f"{where} cannot be used",
                    where=f"{kind} {item.name!r}",
                    why=f"{both} define it",
                    help=(other.how_to_disable, found.how_to_disable),
                )
            items[item.name] = (found, item)
    return tuple(items.values())
