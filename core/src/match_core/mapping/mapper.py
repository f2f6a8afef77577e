"""Choose globally which candidates run the graph: the cheapest cover of all nodes by candidates that do not
overlap.

A candidate that is one tree (everything in it ends in its result) never makes two candidates wait for each
other. A region with several ways out may; such circles are looked for in the result and forbidden until there
are none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.mapping.aliases import shared_outputs
from match_core.mapping.cover import Component, Cover, Option, components_of, options_of
from match_core.mapping.exact import solve
from match_core.mapping.forms import conversions_of, has_forms
from match_core.mapping.missing import uncoverable, unsupported
from match_core.mapping.objective import WEIGHTINGS, Weighting, least_product
from match_core.mapping.order import circles, has_one_way_out, is_convex, readers, sorted_groups
from match_core.mapping.result import Assignment, Mapping, Refusal, SolverStatus
from match_core.patterns.topology import Topology

if TYPE_CHECKING:
    from match_core.ir.model import Model
    from match_core.mapping.forms import Conversion, Converter
    from match_core.schedule.loops import Objective

#: Rounds of forbidding circles before regions with several ways out are given up where there still are some.
ROUNDS_MAX = 64


def choose(
    model: Model,
    offered: Sequence[Assignment],
    refused: Sequence[Refusal] = (),
    objective: Objective = "latency",
    convert: Converter | None = None,
) -> Mapping:
    """The mapping with the least predicted cycles, energy, or product of both.

    ``offered``: all legal candidates with their schedules; ``refused``: everything that was refused before,
    for messages and kept in the result. ``convert``: what conversions between stored forms would cost, wanted where
    candidates have any; those that the choice needs are the last assignments, on graphs of their own
    (``mapping.convert.converted`` gives them their places). Deterministic; ties go to fewer candidates, then to those
    offered first. UnsupportedError MATCH-P001 where nodes are in no candidate, MATCH-P002 where candidates only
    overlap.
    """
    ask = _Question(model, tuple(offered), tuple(refused), convert)
    if objective != "edp":
        return replace(_choose(ask, WEIGHTINGS[objective]), objective=objective)
    best = least_product(lambda weighting: _choose(ask, weighting))
    best = replace(best, objective=objective)
    bound = best.objective_value if best.solver.status == "optimal" else 0
    return replace(best, solver=replace(best.solver, objective=best.objective_value, bound=bound))


@dataclass(frozen=True)
class _Question:
    """What is chosen from."""

    model: Model
    offered: tuple[Assignment, ...]
    refused: tuple[Refusal, ...]
    convert: Converter | None


def _choose(ask: _Question, weighting: Weighting) -> Mapping:
    model, offered = ask.model, ask.offered
    topology = Topology.of(model.graph)
    read_by = readers(topology)
    options = options_of(topology, offered, weighting)
    torn = {option.index for option in options if not is_convex(option.nodes, read_by)}
    refused = (*ask.refused, *(_torn_refusal(offered[index]) for index in sorted(torn)))
    options = tuple(option for option in options if option.index not in torn)
    _check_all_offered(model, topology, options, refused)
    between = _conversions(ask, options, weighting)
    covers = _cover(model, topology, options, between, read_by)
    while copied := _views_to_copy(model, topology, offered, options, covers):
        options = tuple(option for option in options if option.index not in copied)
        between = _conversions(ask, options, weighting)
        covers = _cover(model, topology, options, between, read_by)
    chosen = [option for cover in covers for option in cover.options]
    order = sorted_groups([option.nodes for option in chosen], read_by)
    assignments = [offered[chosen[number].index] for number in order]
    assignments += [c.assignment for cover in covers for c in cover.conversions if c.assignment is not None]
    return Mapping(tuple(assignments), _status(covers), refused)


def _conversions(ask: _Question, options: Sequence[Option], weighting: Weighting) -> tuple[Conversion, ...]:
    if not any(has_forms(ask.offered[option.index].candidate) for option in options):
        return ()
    if ask.convert is None:
        raise ValueError("candidates have stored forms, but nothing says what converting them costs")
    return conversions_of(ask.model.graph, ask.offered, options, weighting, ask.convert)


def _torn_refusal(assignment: Assignment) -> Refusal:
    candidate = assignment.candidate
    rule, value = "no path leaves the nodes and comes back", "nodes between them are not part of the candidate"
    return Refusal(candidate.unit, candidate.pattern.name, candidate.node_names, rule, value)


def _check_all_offered(model: Model, topology: Topology, options: Sequence[Option], refused: Sequence[Refusal]) -> None:
    known = {node for option in options for node in option.nodes}
    missing = [node for position, node in enumerate(topology.nodes) if position not in known]
    if missing:
        raise unsupported(model, missing, refused)


def _cover(
    model: Model,
    topology: Topology,
    options: Sequence[Option],
    between: Sequence[Conversion],
    read_by: Sequence[tuple[int, ...]],
) -> tuple[Cover, ...]:
    """Covers of all components without circles between the chosen options."""
    parts = components_of(len(topology.nodes), options, between)
    solved = [(part, _solve(model, topology, part)) for part in parts]
    for _ in range(ROUNDS_MAX):
        waits = _waits(solved, read_by)
        if not waits:
            return tuple(cover for _, cover in solved)
        joined = _joined(solved, waits)
        solved = [(part, _solve(model, topology, part) if cover is None else cover) for part, cover in joined]
    return _without_circles(model, topology, solved, read_by)


def _waits(solved: Sequence[tuple[Component, Cover]], read_by: Sequence[tuple[int, ...]]) -> tuple[frozenset[int], ...]:
    """Sets of chosen options that wait for each other in circles."""
    chosen = [option for _, cover in solved for option in cover.options]
    found = circles([option.nodes for option in chosen], read_by)
    return tuple(frozenset(chosen[number].index for number in circle) for circle in found)


def _joined(
    solved: Sequence[tuple[Component, Cover]], waits: Sequence[frozenset[int]]
) -> tuple[tuple[Component, Cover | None], ...]:
    """The components, those joined (and without a cover) whose choices depend on each other because of a circle that is
    forbidden now."""
    left: dict[int, tuple[Component, Cover | None]] = dict(enumerate(solved))
    home = {option.index: number for number, (part, _) in enumerate(solved) for option in part.options}
    for new, wait in enumerate(waits, start=len(solved)):
        part = _join([left.pop(number)[0] for number in sorted({home[index] for index in wait})], wait)
        left[new] = part, None
        home.update((option.index, new) for option in part.options)
    return tuple(left.values())


def _without_circles(
    model: Model,
    topology: Topology,
    solved: Sequence[tuple[Component, Cover]],
    read_by: Sequence[tuple[int, ...]],
) -> tuple[Cover, ...]:
    """Covers that a round more would not free of circles, with the components of these circles solved again from what
    never makes any."""
    solved = list(solved)
    while waits := _waits(solved, read_by):
        waiting = frozenset(index for wait in waits for index in wait)
        tied = [number for number, (_, cover) in enumerate(solved) if any(o.index in waiting for o in cover.options)]
        plain = {number: _plain(solved[number][0], read_by) for number in tied}
        if all(len(part.options) == len(solved[number][0].options) for number, part in plain.items()):
            raise uncoverable(model, [topology.nodes[place] for number in tied for place in plain[number].nodes])
        for number, part in plain.items():
            solved[number] = part, replace(_solve(model, topology, part), status="heuristic", bound=0)
    return tuple(cover for _, cover in solved)


def _plain(part: Component, read_by: Sequence[tuple[int, ...]]) -> Component:
    """The component without options that have several ways out, but for those that a node has nothing else than."""
    rivals = Counter(node for option in part.options for node in option.nodes)
    kept = tuple(
        option
        for option in part.options
        if has_one_way_out(option.nodes, read_by) or any(rivals[node] == 1 for node in option.nodes)
    )
    indices = frozenset(option.index for option in kept)
    between = tuple(inner for outer in part.conversions if (inner := outer.within(indices)) is not None)
    return Component(part.nodes, kept, tuple(wait for wait in part.forbidden if wait <= indices), between)


def _views_to_copy(
    model: Model,
    topology: Topology,
    offered: Sequence[Assignment],
    options: Sequence[Option],
    covers: Sequence[Cover],
) -> frozenset[int]:
    """Views to do without, so that every graph output gets bytes of its own: for each output that lacks them the
    nearest view that something else can run. Where nothing can, the planner tells the user."""
    chosen = [option for cover in covers for option in cover.options]
    rivals: dict[int, int] = {}
    for option in options:
        for node in option.nodes:
            rivals[node] = rivals.get(node, 0) + 1
    copied = set()
    for views in shared_outputs(model.graph, topology, [offered[option.index] for option in chosen]):
        for place in views:
            if all(rivals[node] > 1 for node in chosen[place].nodes):
                copied.add(chosen[place].index)
                break
    return frozenset(copied)


def _solve(model: Model, topology: Topology, part: Component) -> Cover:
    cover = solve(part)
    if cover is None:
        raise uncoverable(model, [topology.nodes[position] for position in part.nodes])
    return cover


def _join(parts: Sequence[Component], forbidden: frozenset[int]) -> Component:
    """One component out of several whose choices depend on each other."""
    return Component(
        nodes=tuple(sorted(node for part in parts for node in part.nodes)),
        options=tuple(sorted((option for part in parts for option in part.options), key=lambda option: option.index)),
        forbidden=(*(known for part in parts for known in part.forbidden), forbidden),
        conversions=tuple(conversion for part in parts for conversion in part.conversions),
    )


def _status(covers: Sequence[Cover]) -> SolverStatus:
    solvers = sorted({cover.solver for cover in covers}) or ["exact cover"]
    worst = next((s for s in ("heuristic", "feasible") if any(c.status == s for c in covers)), "optimal")
    cost = sum(cover.cost for cover in covers)
    bound = cost if worst == "optimal" else sum(cover.bound for cover in covers)
    return SolverStatus(" + ".join(solvers), worst, cost, bound)
