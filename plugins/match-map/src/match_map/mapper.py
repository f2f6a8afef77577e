"""Chooses the candidates that run the graph globally: the cheapest cover of all nodes by disjoint candidates.

Candidates in which all paths end in the result never cause cyclic waits. A region with several outputs may; the
mapper finds such cycles in the result and forbids them until there are none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.contract.candidate import Refusal
from match_core.contract.mapping import Assignment, Mapping, SolverStatus
from match_core.ir.groups import circles, readers, sorted_groups
from match_core.ir.topology import Topology
from match_core.map.objective import WEIGHTINGS, Weighting

from match_map.aliases import shared_outputs
from match_map.conversions import conversions_of
from match_map.cover import Component, Cover, components_of, held, options_of
from match_map.exact import solve
from match_map.least_product import least_product
from match_map.missing import no_room, uncoverable, unsupported
from match_map.option import Option
from match_map.ways import has_one_way_out, is_convex

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate
    from match_core.contract.loops import Objective
    from match_core.contract.mapping import Converter
    from match_core.contract.model import Model

    from match_map.conversions import Conversion

#: Rounds of forbidding cycles; after them, components that still have cycles do without such regions.
ROUNDS_MAX = 64


def choose(
    model: Model,
    offered: Sequence[Assignment],
    refused: Sequence[Refusal] = (),
    objective: Objective = "latency",
    convert: Converter | None = None,
    room: Sequence[tuple[str, int]] = (),
) -> Mapping:
    """The mapping with the least predicted cycles, energy, or product of both.

    ``offered``: all legal candidates with their schedules; ``refused``: earlier refusals, for messages and for the
    result. ``convert``: costs of conversions between stored forms, required if candidates have any; conversions that
    the choice requires are the last assignments, on their own graphs (``mapping.convert.converted`` inserts them).
    ``room``: bytes of the memories in which candidates hold something as long as the program lives; the choice shares
    them out.
    Deterministic; ties go to fewer candidates, then to those offered first. UnsupportedError MATCH-P001 if nodes are
    in no candidate, MATCH-P002 if candidates overlap in every combination; InfeasibleError
    MATCH-M001 if every combination holds more than there is room for.
    """
    ask = _Question(model, tuple(offered), tuple(refused), convert, tuple(room))
    if objective != "edp":
        return replace(_choose(ask, WEIGHTINGS[objective]), objective=objective)
    best = least_product(lambda weighting: _choose(ask, weighting))
    best = replace(best, objective=objective)
    bound = best.objective_value if best.solver.status == "optimal" else 0
    return replace(best, solver=replace(best.solver, objective=best.objective_value, bound=bound))


@dataclass(frozen=True)
class _Question:
    """The input of a choice."""

    model: Model
    offered: tuple[Assignment, ...]
    refused: tuple[Refusal, ...]
    convert: Converter | None
    room: tuple[tuple[str, int], ...]


def _choose(ask: _Question, weighting: Weighting) -> Mapping:
    model, offered = ask.model, ask.offered
    topology = Topology.of(model.graph)
    read_by = readers(topology)
    options = options_of(topology, offered, weighting)
    non_convex = {option.index for option in options if not is_convex(option.nodes, read_by)}
    refused = (*ask.refused, *(_non_convex_refusal(offered[index]) for index in sorted(non_convex)))
    options = tuple(option for option in options if option.index not in non_convex)
    _check_all_offered(model, topology, options, refused)
    between = _conversions(ask, options, weighting)
    covers = _cover(ask, topology, options, between, read_by)
    while copied := _views_to_copy(model, topology, offered, options, covers):
        options = tuple(option for option in options if option.index not in copied)
        between = _conversions(ask, options, weighting)
        covers = _cover(ask, topology, options, between, read_by)
    chosen = [option for cover in covers for option in cover.options]
    order = sorted_groups([option.nodes for option in chosen], read_by)
    assignments = [offered[chosen[number].index] for number in order]
    assignments += [c.assignment for cover in covers for c in cover.conversions if c.assignment is not None]
    return Mapping(tuple(assignments), _status(covers), refused)


def _conversions(ask: _Question, options: Sequence[Option], weighting: Weighting) -> tuple[Conversion, ...]:
    if not any(_has_forms(ask.offered[option.index].candidate) for option in options):
        return ()
    if ask.convert is None:
        raise ValueError("candidates have stored forms, but the request has no costs of conversions")
    return conversions_of(ask.model.graph, ask.offered, options, weighting, ask.convert)


def _non_convex_refusal(assignment: Assignment) -> Refusal:
    candidate = assignment.candidate
    rule, value = (
        "the nodes are convex: no path leaves them and returns",
        "nodes on such a path are not in the candidate",
    )
    return Refusal(candidate.unit, candidate.pattern.name, candidate.node_names, rule, value)


def _check_all_offered(model: Model, topology: Topology, options: Sequence[Option], refused: Sequence[Refusal]) -> None:
    known = {node for option in options for node in option.nodes}
    missing = [node for position, node in enumerate(topology.nodes) if position not in known]
    if missing:
        raise unsupported(model, missing, refused)


def _cover(
    ask: _Question,
    topology: Topology,
    options: Sequence[Option],
    between: Sequence[Conversion],
    read_by: Sequence[tuple[int, ...]],
) -> tuple[Cover, ...]:
    """Covers of all components without cycles between the chosen options. Components that hold more of a memory than
    there is are solved as one."""
    model = ask.model
    parts = components_of(len(topology.nodes), options, between)
    solved = [(part, _solve(model, topology, part)) for part in parts]
    for _ in range(ROUNDS_MAX):
        if short := _short(solved, ask.room):
            together, apart = _sharing(solved, short)
            solved = [*apart, (together, _solve(model, topology, together))]
            continue
        waits = _waits(solved, read_by)
        if not waits:
            return tuple(cover for _, cover in solved)
        joined = _joined(solved, waits)
        solved = [(part, _solve(model, topology, part) if cover is None else cover) for part, cover in joined]
    return _without_circles(model, topology, solved, read_by)


def _short(solved: Sequence[tuple[Component, Cover]], room: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """The memories of which the covers hold more than there is."""
    chosen = [option for _, cover in solved for option in cover.options]
    return tuple((memory, most) for memory, most in room if held(chosen, memory) > most)


def _sharing(
    solved: Sequence[tuple[Component, Cover]], short: Sequence[tuple[str, int]]
) -> tuple[Component, list[tuple[Component, Cover]]]:
    """One component of all those with options that hold something in these memories, and the other ones."""
    memories = {memory for memory, _ in short}
    parts: tuple[list[Component], list[tuple[Component, Cover]]] = ([], [])
    for part, cover in solved:
        if any(name in memories for option in part.options for name, _ in option.holds):
            parts[0].append(part)
        else:
            parts[1].append((part, cover))
    together = _join(parts[0])
    return replace(together, room=tuple(dict.fromkeys((*together.room, *short)))), parts[1]


def _waits(solved: Sequence[tuple[Component, Cover]], read_by: Sequence[tuple[int, ...]]) -> tuple[frozenset[int], ...]:
    """Sets of chosen options with cyclic waits."""
    chosen = [option for _, cover in solved for option in cover.options]
    found = circles([option.nodes for option in chosen], read_by)
    return tuple(frozenset(chosen[number].index for number in circle) for circle in found)


def _joined(
    solved: Sequence[tuple[Component, Cover]], waits: Sequence[frozenset[int]]
) -> tuple[tuple[Component, Cover | None], ...]:
    """The components; those whose choices depend on each other through a newly forbidden cycle are joined and have no
    cover yet."""
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
    """Covers for the case that another round would not remove all cycles: components with cycles are solved again from
    options that never cause any."""
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
    """The component without options that have several outputs, except those that are a node's only option."""
    rivals = Counter(node for option in part.options for node in option.nodes)
    kept = tuple(
        option
        for option in part.options
        if has_one_way_out(option.nodes, read_by) or any(rivals[node] == 1 for node in option.nodes)
    )
    indices = frozenset(option.index for option in kept)
    between = tuple(inner for outer in part.conversions if (inner := outer.within(indices)) is not None)
    return Component(part.nodes, kept, tuple(wait for wait in part.forbidden if wait <= indices), between, part.room)


def _views_to_copy(
    model: Model,
    topology: Topology,
    offered: Sequence[Assignment],
    options: Sequence[Option],
    covers: Sequence[Cover],
) -> frozenset[int]:
    """Views to exclude so that every graph output gets its own bytes: for each output without them, the nearest view
    that another option can run. If there is none, the planner reports it."""
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
    if cover is None and part.room and (free := solve(replace(part, room=()))) is not None:
        for memory, have in part.room:
            if (need := held(free.options, memory)) > have:
                raise no_room(model, memory, need, have)
    if cover is None:
        raise uncoverable(model, [topology.nodes[position] for position in part.nodes])
    return cover


def _join(parts: Sequence[Component], *forbidden: frozenset[int]) -> Component:
    """One component made of several whose choices depend on each other."""
    return Component(
        nodes=tuple(sorted(node for part in parts for node in part.nodes)),
        options=tuple(sorted((option for part in parts for option in part.options), key=lambda option: option.index)),
        forbidden=(*(known for part in parts for known in part.forbidden), *forbidden),
        conversions=tuple(conversion for part in parts for conversion in part.conversions),
        room=tuple(dict.fromkeys(entry for part in parts for entry in part.room)),
    )


def _status(covers: Sequence[Cover]) -> SolverStatus:
    solvers = sorted({cover.solver for cover in covers}) or ["exact cover"]
    worst = next((s for s in ("heuristic", "feasible") if any(c.status == s for c in covers)), "optimal")
    cost = sum(cover.cost for cover in covers)
    bound = cost if worst == "optimal" else sum(cover.bound for cover in covers)
    return SolverStatus(" + ".join(solvers), worst, cost, bound)


def _has_forms(candidate: Candidate) -> bool:
    """Whether the candidate reads or writes a tensor that is not plain."""
    return any(operand.form for operand in candidate.workload.operands)
