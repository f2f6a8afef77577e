"""What no program can be faster than: the work of all units together, and the longest chain of operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from match_core.mapping.concurrent.costs import IMPOSSIBLE
from match_core.mapping.concurrent.parts import Part
from match_core.mapping.result import Bounds

if TYPE_CHECKING:
    from match_core.mapping.concurrent.evaluate import Evaluator
    from match_core.mapping.concurrent.network import Along, Operator, Source

#: Rounding of the linear program's solver, as a part of its value.
_ACCURACY = 1e-6
#: So many times as long as on another queue: what such a queue can take over is less than the solver's rounding.
_USELESS = 1e7


def bounds_of(networks: Sequence[Evaluator]) -> Bounds:
    """The least bounds of several covers, so that they hold for any program made of one of them.

    They assume the cost tables: that no part of an operator costs less, for its size, than the cheapest size that was
    asked for (between two of those costs are taken to lie on a line), and signals and the host's posts to be free.
    """
    work = min(work_cycles(evaluator) for evaluator in networks)
    return Bounds(work, min(path_cycles(evaluator) for evaluator in networks))


def work_cycles(evaluator: Evaluator) -> int:
    """The least makespan of all work, divided as ``ideal_work``."""
    return ideal_work(evaluator)[0]


def ideal_work(evaluator: Evaluator) -> tuple[int, tuple[dict[int, float], ...]]:
    """All operators divided freely, in fractions, among the queues that can run them, at their best rates: the least
    makespan of that linear program, and for each operator the fraction of every queue."""
    finish, shares = ideal_shares([_rates(operator, evaluator) for operator in evaluator.network.operators])
    return int(finish * (1 - _ACCURACY)), shares


def ideal_shares(rates: Sequence[Mapping[int, float]]) -> tuple[float, tuple[dict[int, float], ...]]:
    """The least makespan of operators that may be divided freely, and each one's fraction of every queue.

    ``rates``: cycles of each whole operator by queue. Without a solution the makespan is 0."""
    total = sum(min(by_queue.values()) for by_queue in rates)
    best = tuple({min(by_queue, key=by_queue.__getitem__): 1.0} for by_queue in rates)
    if not total:
        return 0.0, best
    # Imported here because it takes a second, which programs without concurrency need not spend.
    from ortools.linear_solver import pywraplp

    # In parts of the total: on numbers of cycles, which are up to a billion, the solver gives up.
    solver = pywraplp.Solver.CreateSolver("GLOP")
    finish = solver.NumVar(0, solver.infinity(), "finish")
    loads: dict[int, list[Any]] = {}
    fractions: list[dict[int, Any]] = []
    for number, by_queue in enumerate(rates):
        useful = [queue for queue, rate in by_queue.items() if rate <= _USELESS * min(by_queue.values())]
        parts = {queue: solver.NumVar(0, 1, f"p{number}_{queue}") for queue in useful}
        fractions.append(parts)
        solver.Add(sum(parts.values()) == 1)
        for queue, part in parts.items():
            loads.setdefault(queue, []).append(by_queue[queue] / total * part)
    for load in loads.values():
        solver.Add(finish >= sum(load))
    solver.Minimize(finish)
    if solver.Solve() != pywraplp.Solver.OPTIMAL:
        return 0.0, best
    shares = tuple({queue: float(part.solution_value()) for queue, part in parts.items()} for parts in fractions)
    return float(finish.solution_value()) * total, shares


def path_cycles(evaluator: Evaluator) -> int:
    """The longest chain of operators, each shared by all queues at their best rates. A reader that may run beside its
    maker (its parts do not read all of it) ends at least one task behind it and begins at least one behind its
    beginning."""
    begin: list[float] = []
    end: list[float] = []
    for operator in evaluator.network.operators:
        ideal, task = _ideal_cycles(operator, evaluator), _least_task(operator, evaluator)
        first = last = 0.0
        for source in operator.sources:
            if _is_beside(operator, source, evaluator):
                maker = evaluator.network.operators[source.operator]
                first = max(first, begin[source.operator] + _least_task(maker, evaluator))
                if _is_read_whole(operator, source, evaluator):
                    last = max(last, end[source.operator] + task)
            else:
                first = max(first, end[source.operator])
        begin.append(first)
        end.append(max(last, first + ideal))
    return int(max(end, default=0.0) * (1 - _ACCURACY))


def _rates(operator: Operator, evaluator: Evaluator) -> dict[int, float]:
    """Cycles of the whole operator in each queue at the best rate of its units there."""
    rates: dict[int, float] = {}
    for offer in operator.offers:
        queue = evaluator.queue_of(offer)
        rate = max(0.0, evaluator.costs.least_rate(offer))
        if rate < IMPOSSIBLE:
            rates[queue] = min(rates.get(queue, rate), rate)
    return rates


def _ideal_cycles(operator: Operator, evaluator: Evaluator) -> float:
    """Cycles where all queues work on the operator at their best rates."""
    rates = _rates(operator, evaluator).values()
    if any(rate == 0 for rate in rates):
        return 0.0
    return 1 / sum(1 / rate for rate in rates) if rates else 0.0


def _least_task(operator: Operator, evaluator: Evaluator) -> int:
    """What no task of the operator falls below."""
    return max(0, min(evaluator.costs.least_cycles(offer) for offer in operator.offers))


def _is_beside(operator: Operator, source: Source, evaluator: Evaluator) -> bool:
    """Whether a part of the operator may start before its source has ended: some smallest part, at either end, does not
    read all of it."""
    network = evaluator.network
    if not network.by_region:
        return False
    ends = [(unit, first) for along in network.along(operator) for unit in along.units for first in _ends(along)]
    return any(not network.reads_all(source, [Part(u.offer, u.dim, first, size)]) for u, (first, size) in ends)


def _ends(along: Along) -> tuple[tuple[int, int], ...]:
    last = (along.tiles - 1) * along.step
    return (0, along.step), (last, along.size - last)


def _is_read_whole(operator: Operator, source: Source, evaluator: Evaluator) -> bool:
    """Whether all parts together read every byte of the source (strides may leave some out)."""
    along = evaluator.network.along(operator)[0]
    unit = along.units[0]
    firsts = range(0, along.size, along.step)
    parts = [Part(unit.offer, unit.dim, first, min(along.step, along.size - first)) for first in firsts]
    return evaluator.network.reads_all(source, parts)
