"""The mapping of a concurrent program: which units compute which parts of every operator, and when.

Heuristic starts that are always valid, local changes on the exact time line, CP-SAT on windows of operators, and local
changes again; then the schedules of the chosen parts are asked for, and the search goes on with what they really cost
until it chooses what it knows (docs/mapping.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.cost import Cost
from match_core.mapping.concurrent.bounds import bounds_of
from match_core.mapping.concurrent.costs import ShareCosts
from match_core.mapping.concurrent.evaluate import Evaluation, Evaluator
from match_core.mapping.concurrent.exact import WINDOW, solve_windows
from match_core.mapping.concurrent.improve import improve
from match_core.mapping.concurrent.kept import Found
from match_core.mapping.concurrent.menu import Menu, menu_of, near, samples
from match_core.mapping.concurrent.network import Network, Queues
from match_core.mapping.concurrent.options import ConcurrentOptions
from match_core.mapping.concurrent.parts import Division, Part
from match_core.mapping.concurrent.repeats import expanded, find_repeat, reduced
from match_core.mapping.concurrent.start import starts
from match_core.mapping.mapper import choose
from match_core.mapping.result import Assignment, Bounds, Mapping, SolverStatus

if TYPE_CHECKING:
    from match_core.ir.model import Model
    from match_core.mapping.concurrent.kept import Choices
    from match_core.mapping.concurrent.network import Along
    from match_core.schedule.candidates import Scheduler
    from match_core.schedule.loops import Objective

#: So many heuristic starts are improved, the best ones as they are.
STARTS = 3
#: Operators up to which windows of all improved starts are solved: beyond, the effort is too little for several.
OTHERS_MAX = 128


def choose_concurrent(
    model: Model,
    offered: Sequence[Assignment],
    scheduler: Scheduler,
    sequential: Mapping,
    options: ConcurrentOptions | None = None,
    choices: Choices | None = None,
) -> Mapping:
    """The mapping with the least modelled makespan, or with the least energy (or product) within the latency limit.

    ``offered``: whole operators with schedules, from the scheduler of the Soc in concurrent mode; ``sequential``: a
    mapping of the same model, whose cover is a start; it is never slower than that one's operators in their order on
    the queues. Where nothing that was found meets the latency limit, the quickest is returned: callers compare its
    ``finish_cycles``. ValueError where the Soc has no ``signalling``. Deterministic; ``choices`` of earlier
    compilations save the search.
    """
    options = options or ConcurrentOptions()
    if scheduler.soc.signalling is None:
        raise ValueError(f"soc {scheduler.soc.name}: units cannot run side by side")
    costs = ShareCosts(offered, scheduler)
    queues = Queues.of(scheduler)
    evaluators = []
    for cover in _covers(model, offered, scheduler, sequential):
        network = Network.of(model, offered, cover, by_region=options.parallel == "pipeline")
        evaluators.append(Evaluator(network, costs, queues, scheduler.soc.signalling, options, scheduler.objective))
    key = choices.key(model, offered, scheduler, sequential, options) if choices is not None else None
    found = choices.find(key, evaluators) if choices is not None and key is not None else None
    if found is None:
        found = _best(evaluators, options)
        if choices is not None and key is not None:
            choices.keep(key, found, evaluators)
    best, evaluator = found.best, evaluators[found.cover]
    limit = options.latency_limit_cycles
    if limit is not None and scheduler.objective != "latency" and best.finish > limit:
        # Covers that are no use for energy may be the quickest.
        unlimited = replace(options, latency_limit_cycles=None)
        in_turn = choose(model, offered, sequential.refused)
        quickest = choose_concurrent(model, offered, replace(scheduler, objective="latency"), in_turn, unlimited)
        if quickest.finish_cycles < best.finish:
            return _as_of(quickest, scheduler.objective)
    return _mapping(best, evaluator, found.bounds, sequential)


def _best(evaluators: Sequence[Evaluator], options: ConcurrentOptions) -> Found:
    found = [_found(evaluator, options.steps_max // len(evaluators)) for evaluator in evaluators]
    cover = min(range(len(found)), key=lambda number: found[number].value)
    return Found(cover, found[cover], bounds_of(evaluators))


def _covers(
    model: Model, offered: Sequence[Assignment], scheduler: Scheduler, sequential: Mapping
) -> Iterator[tuple[Assignment, ...]]:
    """The sequential cover, where all of it is on offer, else the cheapest one that is; and the one that would be the
    cheapest if all units that can run the same nodes shared them ideally, where that is another one."""
    known = {(a.candidate.unit, a.candidate.pattern.name, a.candidate.node_names): a for a in offered}
    keys = [(a.candidate.unit, a.candidate.pattern.name, a.candidate.node_names) for a in sequential.assignments]
    if all(key in known for key in keys):
        first = tuple(known[key] for key in keys)
    else:
        first = choose(model, offered, objective=scheduler.objective).assignments
    yield first
    shared = choose(model, _as_if_shared(offered)).assignments
    by_index = {assignment.candidate.index: assignment for assignment in offered}
    second = tuple(by_index[assignment.candidate.index] for assignment in shared)
    if {_group(a) for a in first} != {_group(a) for a in second}:
        yield second


def _group(assignment: Assignment) -> tuple[tuple[str, ...], bool]:
    return assignment.candidate.node_names, assignment.candidate.pattern.view


def _as_if_shared(offered: Sequence[Assignment]) -> tuple[Assignment, ...]:
    """The candidates at the cost of all units together that can run the same nodes: no energy, no signals."""
    rates: dict[tuple[tuple[str, ...], bool], dict[str, float]] = {}
    for assignment in offered:
        by_unit = rates.setdefault(_group(assignment), {})
        rate = 1 / max(1, assignment.schedule.cost.total_cycles)
        by_unit[assignment.candidate.unit] = max(rate, by_unit.get(assignment.candidate.unit, 0.0))
    made = []
    for assignment in offered:
        if not assignment.candidate.pattern.view:
            cycles = round(1 / sum(rates[_group(assignment)].values()))
            assignment = replace(assignment, schedule=replace(assignment.schedule, cost=Cost(compute_cycles=cycles)))
        made.append(assignment)
    return tuple(made)


def _found(evaluator: Evaluator, spend: int) -> Evaluation:
    """The best that is found. Of many equal layers one is mapped, and the others like it, run by run; not where a limit
    holds for all of them together."""
    network = evaluator.network
    repeat = find_repeat(network, evaluator.costs) if evaluator.options.latency_limit_cycles is None else None
    small = reduced(network, repeat) if repeat is not None else None
    if repeat is None or small is None:
        return _search(evaluator, spend)
    choice, starts = expanded(network, repeat, _found(evaluator.of(small), spend))
    evaluator.costs.confirm(part for division in choice for part in division)
    whole = _whole(evaluator)
    candidates = (evaluator.evaluate(choice, starts), evaluator.evaluate(whole, [[0] * len(parts) for parts in whole]))
    return min(candidates, key=lambda evaluation: evaluation.value)


def _search(evaluator: Evaluator, spend: int) -> Evaluation:
    """Starts from the sequential program on queues; then one task for each unit that takes part in an operator; then,
    with pipelining, several."""
    network, costs, options = evaluator.network, evaluator.costs, evaluator.options
    along = [network.along(operator) for operator in network.operators]
    if options.parallel != "whole":
        costs.confirm(part for axes in along for part in samples(axes))
    whole = _whole(evaluator)
    best = evaluator.evaluate(whole, [[0] * len(division) for division in whole])
    if evaluator.objective != "latency" and options.latency_limit_cycles is not None:
        unlimited = replace(evaluator.options, latency_limit_cycles=None)
        quickest = _found(replace(evaluator, objective="latency", options=unlimited), spend)
        best = min(best, evaluator.evaluate(quickest.choice, quickest.starts), key=lambda evaluation: evaluation.value)
    stages = (False, True) if options.parallel == "pipeline" else (False,)
    for cuts in stages:
        best = _stage(best, along, evaluator, spend // len(stages), cuts=cuts)
    return best


def _stage(
    best: Evaluation, along: Sequence[tuple[Along, ...]], evaluator: Evaluator, spend: int, *, cuts: bool
) -> Evaluation:
    """Rounds of optimising with what is known of the costs and asking what the choice, and what is near it, really
    costs, nearer with every round. Only the first round may choose what is not known: else the search would go from one
    cost that is estimated too low to the next."""
    costs, rounds = evaluator.costs, evaluator.options.rounds_max
    spend //= 1 + rounds  # the first round gets two parts
    for number in range(rounds):
        menus = [
            menu_of(operator, axes, evaluator, cuts=cuts, only_known=number > 0)
            for operator, axes in zip(evaluator.network.operators, along, strict=True)
        ]
        if number == 0:
            found = _optimised(best, menus, evaluator, spend)
        else:
            found = improve(best, menus, evaluator, spend, only_known=True)
        unknown = costs.confirm(
            part
            for division, axes in zip(found.choice, along, strict=True)
            for part in (*division, *_near(division, axes, number))
        )
        actual = evaluator.evaluate(found.choice, found.starts)
        best = min(best, actual, key=lambda evaluation: evaluation.value)
        told = {"round": number + 1, "of": rounds, "cycles": best.finish}
        costs.scheduler.progress({"pieces": "pipelined" if cuts else "whole", **told})
        if not unknown and number > 0:
            break
    return best


def _near(division: Division, alongs: Sequence[Along], halvings: int) -> Iterator[Part]:
    for along in alongs:
        if any(unit[:2] == division[0][:2] for unit in along.units):
            yield from near(division, along, halvings)


def _whole(evaluator: Evaluator) -> tuple[tuple[Part, ...], ...]:
    """Every operator where the cover has it: the sequential program on queues."""
    network = evaluator.network
    index = {id(assignment): number for number, assignment in enumerate(network.offered)}
    return tuple((Part(index[id(network.cover[operator.place])]),) for operator in network.operators)


def _optimised(best: Evaluation, menus: Sequence[Menu], evaluator: Evaluator, spend: int) -> Evaluation:
    """The best choice under the costs as they are known now: the most promising starts are improved, then the best; in
    a large graph, of which windows see a part each, the others too, as better starts may end in worse choices."""
    begun = sorted((evaluator.evaluate(choice) for choice in starts(menus, evaluator)), key=lambda e: e.value)
    improved = [improve(start, menus, evaluator, spend // (STARTS + 1)) for start in (best, *begun[:STARTS])]
    first, *others = sorted(improved, key=lambda evaluation: evaluation.value)
    found, seconds = [first], evaluator.options.solver_seconds
    if WINDOW < len(menus) <= OTHERS_MAX:  # half of the effort for the best, half for the others together
        found.append(solve_windows(first, menus, evaluator, seconds / 2))
        found += [solve_windows(other, menus, evaluator, seconds / 2 / len(others)) for other in others]
    elif len(menus) > 1:
        found.append(solve_windows(first, menus, evaluator, seconds))
    best = min(found, key=lambda evaluation: evaluation.value)
    return improve(best, menus, evaluator, spend)


def _mapping(best: Evaluation, evaluator: Evaluator, bounds: Bounds, sequential: Mapping) -> Mapping:
    """Operators in topological order, their parts in the order of their indices."""
    value = best.value[1]
    bound = min(value, bounds.cycles) if evaluator.objective == "latency" else 0
    status = "optimal" if bound == value else "feasible"
    tasks = list(_tasks(best, evaluator))
    return Mapping(
        assignments=tuple(assignment for assignment, _ in tasks),
        solver=SolverStatus("shares: local search + cp-sat", status, value, bound),
        refused=sequential.refused,
        objective=evaluator.objective,
        starts=tuple(start for _, start in tasks),
        bounds=bounds,
        finish_cycles=best.finish,
    )


def _as_of(quickest: Mapping, objective: Objective) -> Mapping:
    """The quickest mapping, with the value that it has for another objective, of which no bound is known."""
    assert quickest.energy_pj is not None
    energy, finish = round(quickest.energy_pj), quickest.finish_cycles
    value = energy if objective == "energy" else energy * finish
    return replace(quickest, objective=objective, solver=replace(quickest.solver, objective=value, bound=0))


def _tasks(best: Evaluation, evaluator: Evaluator) -> Iterator[tuple[Assignment, int]]:
    """Assignments with their starts. A view is there as soon as the first task of what it shows is done."""
    network = evaluator.network
    operator_at = {operator.place: number for number, operator in enumerate(network.operators)}
    done: list[int] = []
    for place, assignment in enumerate(network.cover):
        if place not in operator_at:
            yield assignment, max((done[maker] for maker in network.views[place]), default=0)
            continue
        number = operator_at[place]
        tasks = []
        for part, start in zip(best.choice[number], best.starts[number], strict=True):
            chosen = evaluator.costs.assignment(part)
            if chosen is None:
                raise ValueError(f"{part} has no schedule")
            tasks.append((chosen, start))
        done.append(min(start + chosen.schedule.cost.total_cycles for chosen, start in tasks))
        yield from tasks
