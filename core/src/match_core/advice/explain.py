"""Why a node runs where it runs: what was considered, what it costs, by how much the winner wins, and what would change
it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from match_core.advice.flip import FlipSearch, find_flip
from match_core.advice.nearest import Obstacle, obstacles
from match_core.advice.runner import runner
from match_core.errors import InfeasibleError, UnsupportedError, UsageError
from match_core.mapping.result import Candidates
from match_core.observe import NullObserver
from match_core.pipeline import decide, prepare
from match_core.report.titles import SILENT, source_operators

if TYPE_CHECKING:
    from match_core.mapping.result import Assignment
    from match_core.observe import StageObserver
    from match_core.pipeline import CompileRequest, Planned, Prepared
    from match_core.plugin.host import Plugins
    from match_core.schedule.loops import LoopSchedule


@dataclass(frozen=True)
class Considered:
    """A legal way to run the node or a part of it (``macs`` tells: a pad in front of a convolution has none), with the
    best schedule of its unit; ``tilings``: how many ways to cut the layer that schedule was chosen from;
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
    """The best schedule of the winner that cuts ``dim`` into tiles of ``tile``: its modelled cycles, None where none
    fits; ``chosen``: the winner's schedule does so."""

    dim: str
    tile: int
    cycles: int | None
    chosen: bool


@dataclass(frozen=True)
class Margin:
    """What the network costs if the winner's unit may not run the node; ``unit`` then runs it. Modelled cycles."""

    unit: str
    cycles: int
    cycles_without: int


@dataclass(frozen=True)
class Explanation:
    """``considered``: what does the most of the work first, then the cheapest; ``refused``: units that cannot run it at
    all, with the rules that are broken; ``without_pattern``: units that have no pattern for it; ``margin`` None where
    nothing else runs it; ``tilings``: what other tile sizes of the winner would cost; ``folded``: the node is computed
    when compiling, or became part of others, and no step runs it."""

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


def explain_node(
    request: CompileRequest, node: str, plugins: Plugins, observer: StageObserver | None = None, flips: bool = True
) -> Explanation:
    """Explain one node of the source network, for a program that runs one task after another. UsageError MATCH-U035
    where there is no such node; the errors of ``match check`` where the model cannot run."""
    request = replace(request, execution="sequential")
    prepared = prepare(request, plugins, observer or NullObserver())
    operators = source_operators(prepared.source)
    _check_known(node, operators, request)
    planned, _ = decide(prepared, plugins, observer or NullObserver())
    considered = _considered(planned, node)
    decided = prepared.candidates
    if request.regions == "largest":  # others lose their candidates to regions once these have schedules
        decided = Candidates(tuple(offered.candidate for offered in planned.offered), planned.refused)
    places = tuple(place for place in obstacles(prepared.model, decided) if node in place.onnx_names)
    units = {entry.unit for entry in considered} | {place.unit for place in places}
    winner = runner(planned, node)
    search = None
    if winner is not None and flips:
        names = planned.model.origin(winner.candidate.match.nodes)
        search = find_flip(prepared.source, _telling(node, names, operators), request, plugins)
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
    )


def _check_known(node: str, operators: dict[str, str], request: CompileRequest) -> None:
    if node in operators:
        return
    close = get_close_matches(node, operators, n=3, cutoff=0.4) or list(operators)[:3]
    raise UsageError(
        code="MATCH-U035",
        what=f"there is no node {node!r} to explain",
        where=str(request.model),
        why=f"the model has {len(operators)} nodes, and none of this name",
        help=(f"did you mean {', '.join(close)}?", "match check lists the nodes with the units that run them"),
    )


def _telling(node: str, names: tuple[str, ...], operators: dict[str, str]) -> list[str]:
    """The names of a layer, one that computes something first: the asked one if it does."""
    computing = [name for name in names if operators.get(name) not in SILENT]
    first = node if node in computing or not computing else computing[0]
    return [first, *(name for name in names if name != first)]


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
    """Tile sizes of all dimensions that may be cut, multiplied."""
    from match_core.schedule.space import cuts_of

    if offered.schedule.memory is None:
        return 1
    count = 1
    for cut in cuts_of(offered.candidate.workload):
        count *= len(cut.tiles)
    return count


def _tilings_of(winner: Assignment, planned: Planned, plugins: Plugins) -> tuple[Tiling, ...]:
    """Every tile size that the search had for every dimension, each with the best choice of all else."""
    from match_core.schedule.cache import ScheduleCache
    from match_core.schedule.candidates import Scheduler
    from match_core.schedule.optimum import best_with_tile
    from match_core.schedule.space import cuts_of

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
