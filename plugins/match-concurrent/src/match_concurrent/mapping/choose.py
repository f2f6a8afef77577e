"""The mapping of a concurrent program: the units that compute the parts of every operator, and the start times.

Heuristic starts that are always valid, local changes on the exact time line, CP-SAT on windows of operators, and local
changes again; then the schedules of the chosen parts are requested, and the search continues with their exact costs
until it chooses only parts with known costs (docs/mapping.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.contract.cost import Cost
from match_core.contract.mapping import Assignment, Bounds, Mapping, MappingRequest, SolverStatus
from match_map.mapper import choose

from match_concurrent.mapping.cached import CachedChoices, Found
from match_concurrent.mapping.costs import ShareCosts
from match_concurrent.mapping.evaluate import Evaluation, Evaluator
from match_concurrent.mapping.hopeless import in_concurrent_mode, is_hopeless
from match_concurrent.mapping.joint import with_joint
from match_concurrent.mapping.joint_search import jointly
from match_concurrent.mapping.mapping_effort import ConcurrentOptions
from match_concurrent.mapping.network import Network, Queues
from match_concurrent.mapping.parts import Part
from match_concurrent.mapping.repeats import expanded, find_repeat, reduced
from match_concurrent.mapping.rounds import best_of_stage, is_vain
from match_concurrent.mapping.share_options import is_shared, samples
from match_concurrent.mapping.stages import bounds_of

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate
    from match_core.contract.model import Model
    from match_core.contract.scheduling import Scheduling

#: Networks of so few operators are searched with all effort, to the end: one to two seconds (an estimate).
FEW = 4


def concurrent_mapping(request: MappingRequest) -> Mapping | None:
    """The answer to a request for units that run at the same time; None if all work of the operators, divided freely,
    takes longer than the request allows."""
    assert request.sequential is not None
    few = sum(not one.candidate.pattern.view for one in request.sequential.assignments) <= FEW
    options, scheduling = ConcurrentOptions(parallel=request.parallel, thorough=few), request.scheduling
    cached = None if request.code is None else CachedChoices.on_disk(request.code)
    if request.estimated:
        return None if _estimated(request, options, cached) else request.sequential
    limit = None if few else request.limit_cycles
    return choose_concurrent(request.model, request.offered, scheduling, request.sequential, options, cached, limit)


def _estimated(request: MappingRequest, options: ConcurrentOptions, cached: CachedChoices | None) -> bool:
    """Whether a search is hopeless, judged by the sequential schedules. To price all offers takes longer than the rest
    of a compilation from the cache, so the judgement is cached too."""
    model, scheduling, sequential, limit = request.model, request.scheduling, request.sequential, request.limit_cycles
    assert sequential is not None

    def judge() -> bool:
        offered = in_concurrent_mode(request.offered, scheduling)
        return is_hopeless(evaluators_of(model, offered, scheduling, sequential, options), limit)

    key = None if cached is None else cached.key(model, request.offered, scheduling, sequential, options, limit)
    return judge() if cached is None or key is None else cached.hopeless(key, judge)


def choose_concurrent(
    model: Model,
    offered: Sequence[Assignment],
    scheduling: Scheduling,
    sequential: Mapping,
    options: ConcurrentOptions | None = None,
    cached: CachedChoices | None = None,
    limit_cycles: int | None = None,
) -> Mapping | None:
    """The mapping with the least modelled makespan, energy, or product of both.

    ``offered``: whole operators with schedules, for the Soc in concurrent mode; ``sequential``: a mapping of the same
    model, whose cover is a start; the result is never slower than its operators in that order on the queues.
    ValueError if the Soc has no ``signalling``. Deterministic; ``cached`` choices of earlier compilations save the
    search. None if no mapping is likely to take at most ``limit_cycles`` (``HOPELESS``). If whole
    pieces take longer by more than overlap may hide, the search ends with them.
    """
    options, offered = options or ConcurrentOptions(), with_joint(offered, scheduling)
    evaluators = evaluators_of(model, offered, scheduling, sequential, options)
    if is_hopeless(evaluators, limit_cycles):
        return None
    key = cached.key(model, offered, scheduling, sequential, options, limit_cycles) if cached is not None else None
    found = cached.find(key, evaluators) if cached is not None and key is not None else None
    if found is None:
        found = _best(evaluators, options, limit_cycles)
        if cached is not None and key is not None:
            cached.keep(key, found)
    return _mapping(found.best, found.evaluator, found.bounds, sequential)


def evaluators_of(
    model: Model,
    offered: Sequence[Assignment],
    scheduling: Scheduling,
    sequential: Mapping,
    options: ConcurrentOptions,
) -> list[Evaluator]:
    """An evaluator for each cover."""
    if scheduling.soc.signalling is None:
        raise ValueError(f"soc {scheduling.soc.name}: units cannot run at the same time")
    costs, queues, found = ShareCosts(offered, scheduling), Queues.of(scheduling), []
    for cover in _covers(model, offered, scheduling, sequential):
        network = Network.of(model, offered, cover, by_region=options.pipelined)
        found.append(Evaluator(network, costs, queues, scheduling.soc.signalling, options, scheduling.objective))
    return found


def _best(evaluators: Sequence[Evaluator], options: ConcurrentOptions, limit_cycles: int | None) -> Found:
    best, evaluator = staged(evaluators, options, limit_cycles)
    if options.joint:
        best, evaluator = jointly(best, evaluator)
    tried = [*evaluators, *([] if any(evaluator is known for known in evaluators) else [evaluator])]
    return Found(evaluator, best, bounds_of(tried))


def staged(
    evaluators: Sequence[Evaluator], options: ConcurrentOptions, limit_cycles: int | None = None
) -> tuple[Evaluation, Evaluator]:
    """The best result of the covers, each searched by itself, with the evaluator of its cover."""
    found = [_found(evaluator, options.steps_max // len(evaluators), limit_cycles) for evaluator in evaluators]
    return min(zip(found, evaluators, strict=True), key=lambda pair: pair[0].value)


def _covers(
    model: Model, offered: Sequence[Assignment], scheduling: Scheduling, sequential: Mapping
) -> Iterator[tuple[Assignment, ...]]:
    """The sequential cover if all of it is offered, else the cheapest offered one; and the cover that would be cheapest
    if all units that can run the same nodes shared them ideally, if it differs."""
    known = {(a.candidate.unit, a.candidate.pattern.name, a.candidate.node_names): a for a in offered}
    ways = [[known[key] for key in _same(a.candidate) if key in known] for a in sequential.assignments]
    if all(ways):
        first = tuple(min(same, key=lambda a: a.schedule.cost.total_cycles) for same in ways)
    else:
        first = choose(model, offered, objective=scheduling.objective).assignments
    yield first
    shared = choose(model, _as_if_shared(offered)).assignments
    by_index = {assignment.candidate.index: assignment for assignment in offered}
    second = tuple(by_index[assignment.candidate.index] for assignment in shared)
    if {_group(a) for a in first} != {_group(a) for a in second}:
        yield second


def _same(candidate: Candidate) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The keys of the candidate and of the one that runs it on two units, as in a sequential program."""
    yield candidate.unit, candidate.pattern.name, candidate.node_names
    if candidate.pattern.joint is not None:
        yield *candidate.pattern.joint, candidate.node_names


def _group(assignment: Assignment) -> tuple[tuple[str, ...], bool]:
    return assignment.candidate.node_names, assignment.candidate.pattern.view


def _as_if_shared(offered: Sequence[Assignment]) -> tuple[Assignment, ...]:
    """The candidates at the joint cost of all units that can run the same nodes, without energy and signals."""
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


def _found(evaluator: Evaluator, spend: int, limit_cycles: int | None = None) -> Evaluation:
    """The best result. Of many equal layers one is mapped, and the others are mapped the same way, run by run."""
    network = evaluator.network
    repeat = find_repeat(network, evaluator.costs)
    small = reduced(network, repeat) if repeat is not None else None
    if repeat is None or small is None:
        return _search(evaluator, spend, limit_cycles)
    # What is decided for one layer counts as often as there are layers.
    one = evaluator.of(small, replace(evaluator.options, thorough=True))
    choice, starts = expanded(network, repeat, _found(one, spend))
    evaluator.costs.confirm(part for division in choice for part in division)
    return min(evaluator.evaluate(choice, starts), _whole(evaluator), key=lambda evaluation: evaluation.value)


def _search(evaluator: Evaluator, spend: int, limit_cycles: int | None) -> Evaluation:
    """Start from the sequential program on queues; then one task per participating unit of an operator; then, with
    pipelining, several, unless that is in vain: tasks in pieces gain by overlap with other operators only."""
    network, costs, options = evaluator.network, evaluator.costs, evaluator.options
    along = [network.along(operator) for operator in network.operators]
    if options.parallel != "whole":
        every = [axis for axes in along for axis in axes]
        shared = [axis for axis in every if options.thorough or is_shared(axis, evaluator)]
        costs.confirm(samples(shared))
        costs.probe(samples(every))
    best = _whole(evaluator)
    stages = (False, True) if options.pipelined else (False,)
    for cuts in stages:
        if cuts and is_vain(best, evaluator, limit_cycles, 0.0):
            break
        best = best_of_stage(best, along, evaluator, spend // len(stages), limit_cycles, cuts=cuts)
    return best


def _whole(evaluator: Evaluator) -> Evaluation:
    """Every operator on the unit of the cover, or on two units wherever it can: the sequential program on queues."""
    network = evaluator.network
    index = {id(assignment): number for number, assignment in enumerate(network.offered)}
    whole, joint = [], []
    for operator in network.operators:
        own = index[id(network.cover[operator.place])]
        both = (offer for offer in operator.offers if network.offered[offer].candidate.pattern.occupies)
        whole.append((Part(own),))
        joint.append((Part(next(both, own)),))
    choices = dict.fromkeys((tuple(whole), tuple(joint)))
    found = [evaluator.evaluate(choice, [[0]] * len(choice)) for choice in choices]
    return min(found, key=lambda evaluation: evaluation.value)


def _mapping(best: Evaluation, evaluator: Evaluator, bounds: Bounds, sequential: Mapping) -> Mapping:
    """Operators in topological order, their parts in the order of their indices."""
    value = best.value[0]
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


def _tasks(best: Evaluation, evaluator: Evaluator) -> Iterator[tuple[Assignment, int]]:
    """Assignments with their starts. A view starts when the first task that writes its bytes is done."""
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
