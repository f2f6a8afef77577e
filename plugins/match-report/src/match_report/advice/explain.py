"""Explains why a unit runs a node: the alternatives, their costs, the margin of the chosen one, and what would change
the choice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from match_core.contract.candidate import Candidates
from match_core.contract.errors import InfeasibleError, UnsupportedError, UsageError
from match_core.contract.observe import NullObserver
from match_core.ir.titles import SILENT, source_operators
from match_core.pipeline import chosen_options, decide, prepare
from match_core.summary.document import report_document

from match_report.advice.commands import command_of
from match_report.advice.flip import FlipSearch, find_flip
from match_report.advice.nearest import Obstacle, obstacles
from match_report.advice.runner import runner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from match_core.contract.compilation import Planned
    from match_core.contract.loops import LoopSchedule
    from match_core.contract.mapping import Assignment
    from match_core.contract.observe import StageObserver
    from match_core.pipeline import CompileRequest, Prepared
    from match_core.plugin.facade import Plugins

#: Names that are suggested for one that does not exist.
_NEAR_MAX = 3


@dataclass(frozen=True)
class Considered:
    """A legal way to run the node or a part of it (``macs`` 0 for a part such as a pad before a convolution), with the
    best schedule of its unit; ``tilings``: the number of tilings that this schedule was chosen from;
    ``onnx_names``: all source nodes that it would run together."""

    unit: str
    pattern: str
    onnx_names: tuple[str, ...]
    macs: int
    schedule: LoopSchedule
    tilings: int
    chosen: bool


@dataclass(frozen=True)
class Tiling:
    """The best schedule on the chosen unit with tiles of ``tile`` in ``dim``: its modelled cycles, None if none fits;
    ``chosen``: whether the program uses this tile size."""

    dim: str
    tile: int
    cycles: int | None
    chosen: bool


@dataclass(frozen=True)
class Margin:
    """Modelled cycles of the network if the chosen unit may not run the node; ``unit`` then runs it."""

    unit: str
    cycles: int
    cycles_without: int


@dataclass(frozen=True)
class Explanation:
    """``considered``: ordered by most work, then lowest cost; ``refused``: units that cannot run the node, with the
    rules that it breaks; ``without_pattern``: units that have no pattern for it; ``margin``: None if no other unit
    runs it; ``tilings``: costs of other tile sizes on the chosen unit; ``folded``: the node is computed at compile
    time or became part of others, and no step runs it; ``report``: the report document
    of the program."""

    node: str
    operator: str
    target: str
    preset: str
    folded: bool
    considered: tuple[Considered, ...]
    refused: tuple[Obstacle, ...]
    without_pattern: tuple[str, ...]
    margin: Margin | None
    tilings: tuple[Tiling, ...]
    flips: FlipSearch | None
    report: dict[str, Any]


def explain_node(
    request: CompileRequest, node: str, plugins: Plugins, observer: StageObserver | None = None, flips: bool = True
) -> Explanation:
    """Explain one node of the source network, for a program that runs one task after another. UsageError MATCH-U035 if
    there is no such node; the errors of ``match check`` if the model cannot run."""
    asked, request = request, replace(request, execution="sequential")
    prepared = prepare(request, plugins, observer or NullObserver())
    operators = source_operators(prepared.source)
    _check_known(node, operators, asked)
    planned, _ = decide(prepared, plugins, observer or NullObserver())
    considered = _considered(planned, node)
    decided = prepared.candidates
    if request.regions == "largest":  # other units lose their candidates to regions that have schedules
        decided = Candidates(tuple(offered.candidate for offered in planned.offered), planned.refused)
    places = tuple(place for place in obstacles(prepared.model, decided) if node in place.onnx_names)
    units = {entry.unit for entry in considered} | {place.unit for place in places}
    winner = runner(planned, node)
    search = None
    if winner is not None and flips:
        names = planned.model.origin(winner.candidate.match.nodes)
        search = find_flip(prepared.source, computing_first(names, operators, node), request, plugins)
    return Explanation(
        node=node,
        operator=operators[node],
        target=planned.soc.name,
        preset=planned.soc.preset,
        folded=winner is None,
        considered=considered,
        refused=places,
        without_pattern=tuple(unit.name for unit in prepared.units if unit.name not in units),
        tilings=() if winner is None else _tilings_of(winner, planned, plugins),
        margin=None if winner is None else _margin(prepared, planned, node, winner.candidate.unit, plugins),
        flips=search,
        report=report_document(planned, chosen_options(request, planned.soc)),
    )


def _check_known(node: str, operators: dict[str, str], request: CompileRequest) -> None:
    if node in operators:
        return
    inside = [name for name in operators if node and node.casefold() in name.casefold()]
    close = inside[:_NEAR_MAX] or get_close_matches(node[:80], operators, n=_NEAR_MAX)
    raise UsageError(
        code="MATCH-U035",
        what=f"there is no node {node!r}",
        where=str(request.model),
        why=f"none of the model's {len(operators)} nodes has this name",
        help=(
            *(f"did you mean: {command_of('explain', request, name)}" for name in close),
            f"see all nodes: {command_of('check', request)}",
        ),
    )


def computing_first(names: Sequence[str], operators: Mapping[str, str], node: str = "") -> list[str]:
    """The names of a layer with a computing node first: ``node`` if it computes."""
    computing = [name for name in names if operators.get(name) not in SILENT]
    first = node if node in computing or not computing else computing[0]
    return [first, *(name for name in names if name != first)] if first else list(names)


def _considered(planned: Planned, node: str) -> tuple[Considered, ...]:
    chosen = {task.assignment.candidate.index for task in planned.program.tasks}
    found = [offered for offered in planned.offered if node in planned.model.origin(offered.candidate.match.nodes)]
    found.sort(key=_order)
    return tuple(_entry(planned, offered, offered.candidate.index in chosen) for offered in found)


def _order(offered: Assignment) -> tuple[int, int, int]:
    candidate = offered.candidate
    return (-candidate.workload.macs, offered.schedule.cost.total_cycles, candidate.index)


def _entry(planned: Planned, offered: Assignment, chosen: bool) -> Considered:
    candidate = offered.candidate
    names = planned.model.origin(candidate.match.nodes)
    return Considered(
        candidate.unit,
        candidate.pattern.name,
        names,
        candidate.workload.macs,
        offered.schedule,
        _tilings(offered),
        chosen,
    )


def _tilings(offered: Assignment) -> int:
    """The product of the numbers of tile sizes of all dimensions that can be tiled."""
    from match_schedule.space import cuts_of

    if offered.schedule.memory is None:
        return 1
    count = 1
    for cut in cuts_of(offered.candidate.workload):
        count *= len(cut.tiles)
    return count


def _tilings_of(winner: Assignment, planned: Planned, plugins: Plugins) -> tuple[Tiling, ...]:
    """Every tile size of every dimension in the search, each with the best choice for everything else."""
    from match_core.schedule.cache import ScheduleCache
    from match_core.schedule.candidates import Scheduler
    from match_schedule.optimum import best_with_tile
    from match_schedule.space import cuts_of

    memory, soc = winner.schedule.memory, planned.soc
    if memory is None:
        return ()
    scheduler = Scheduler(soc, planned.units, planned.objective, plugins, ScheduleCache())
    streamed = winner.schedule.streamed(soc.home)
    request = scheduler.request(winner.candidate, streamed, soc.memory(soc.home).size_bytes if streamed else 0)
    chosen = dict(winner.schedule.tile)
    found = []
    for cut in cuts_of(request.workload):
        for tile in cut.tiles:
            best = best_with_tile(request, memory, cut.dim.name, tile)
            cycles = None if best is None else best.cost.total_cycles
            found.append(Tiling(cut.dim.name, tile, cycles, chosen.get(cut.dim.name) == tile))
    return tuple(found)


def _margin(prepared: Prepared, planned: Planned, node: str, unit: str, plugins: Plugins) -> Margin | None:
    """Choose again without the unit's candidates for this node."""
    model = prepared.model
    legal = tuple(
        candidate
        for candidate in prepared.candidates.legal
        if candidate.unit != unit or node not in model.origin(candidate.match.nodes)
    )
    without = replace(prepared, candidates=Candidates(legal, prepared.candidates.refused))
    try:
        other, _ = decide(without, plugins, NullObserver())
    except (UnsupportedError, InfeasibleError):
        return None
    instead = runner(other, node)
    unit_after = "" if instead is None else instead.candidate.unit
    return Margin(unit_after, planned.program.predicted_cycles, other.program.predicted_cycles)
