"""Lower bounds of the makespan: the work of all units together, and the longest chain of operators."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from match_core.map.dataflow import tensor_bytes

from match_concurrent.mapping.costs import IMPOSSIBLE
from match_concurrent.mapping.parts import Part
from match_concurrent.share import divisible

if TYPE_CHECKING:
    from match_concurrent.mapping.evaluate import Evaluator
    from match_concurrent.mapping.network import DivisibleAxis, SharedOperator, Source

#: The queues that a candidate keeps busy; the first one runs it.
Queue = tuple[int, ...]
Rates = Mapping[Queue, float]
#: Relative rounding error of the linear program's solver.
ACCURACY = 1e-6
#: A queue that is this many times slower than another one: its contribution is below the solver's rounding error.
_USELESS = 1e7
#: From this number on, the tiles of an axis have two in the middle that touch no border.
ENOUGH_TILES = 6


def work_cycles(evaluator: Evaluator) -> int:
    """The least makespan of all work with the division of ``ideal_work``."""
    return ideal_work(evaluator)[0]


def ideal_work(evaluator: Evaluator) -> tuple[int, tuple[dict[Queue, float], ...]]:
    """Divide all operators freely, in fractions, among the queues that can run them, at their best rates: returns the
    least makespan of this linear program, and for each operator the fraction of every queue, or set of queues that one
    candidate keeps busy."""
    finish, shares = ideal_shares([rates_of(operator, evaluator) for operator in evaluator.network.operators])
    return int(finish * (1 - ACCURACY)), shares


def ideal_shares(rates: Sequence[Rates]) -> tuple[float, tuple[dict[Queue, float], ...]]:
    """The least makespan of operators that may be divided freely, and each one's fraction of every queue.

    ``rates``: cycles of each whole operator by the queues that are busy. Without a solution the makespan is 0."""
    total = sum(min(by_queue.values()) for by_queue in rates)
    best = tuple({min(by_queue, key=by_queue.__getitem__): 1.0} for by_queue in rates)
    if not total:
        return 0.0, best
    # Imported here because the import takes a second, which programs without concurrency can save.
    from ortools.linear_solver import pywraplp

    # Relative to the total: the solver fails on numbers of cycles, which reach a billion.
    solver = pywraplp.Solver.CreateSolver("GLOP")
    finish = solver.NumVar(0, solver.infinity(), "finish")
    loads: dict[int, list[Any]] = {}
    fractions: list[dict[Queue, Any]] = []
    for number, by_queue in enumerate(rates):
        useful = [queue for queue, rate in by_queue.items() if rate <= _USELESS * min(by_queue.values())]
        parts = {queue: solver.NumVar(0, 1, f"p{number}_{queue}") for queue in useful}
        fractions.append(parts)
        solver.Add(sum(parts.values()) == 1)
        for queue, part in parts.items():
            for each in queue:
                loads.setdefault(each, []).append(by_queue[queue] / total * part)
    for load in loads.values():
        solver.Add(finish >= sum(load))
    solver.Minimize(finish)
    if solver.Solve() != pywraplp.Solver.OPTIMAL:
        return 0.0, best
    shares = tuple({queue: float(part.solution_value()) for queue, part in parts.items()} for parts in fractions)
    return float(finish.solution_value()) * total, shares


def path_cycles(evaluator: Evaluator) -> int:
    """The longest chain of operators, each shared by all queues at their best rates. A reader that may overlap with its
    producer (its parts do not read all of it) ends at least one task after it and starts at least one after its
    start."""
    begin: list[float] = []
    end: list[float] = []
    known: dict[Hashable, tuple[bool, bool]] = {}  # layers repeat
    for operator in evaluator.network.operators:
        ideal, task = _ideal_cycles(operator, evaluator), _least_task(operator, evaluator)
        first = last = 0.0
        for source in operator.sources:
            sign = _reading(operator, source, evaluator)
            if sign not in known:
                overlaps = may_overlap(operator, source, evaluator)
                known[sign] = (overlaps, overlaps and is_read_whole(operator, source, evaluator))
            overlaps, read_whole = known[sign]
            if overlaps:
                maker = evaluator.network.operators[source.operator]
                first = max(first, begin[source.operator] + _least_task(maker, evaluator))
                if read_whole:
                    last = max(last, end[source.operator] + task)
            else:
                first = max(first, end[source.operator])
        begin.append(first)
        end.append(max(last, first + ideal))
    return int(max(end, default=0.0) * (1 - ACCURACY))


def overlapping_cycles(choice: Sequence[Sequence[Part]], evaluator: Evaluator) -> int:
    """Cycles of the operators, as ``choice`` divides them, of which a part may start before a source has ended: more
    pieces of the same tasks can hide no more."""
    total = 0
    for operator, division in zip(evaluator.network.operators, choice, strict=True):
        if any(may_overlap(operator, source, evaluator) for source in operator.sources):
            total += evaluator.cycles_alone(tuple(division))
    return total


def rates_of(operator: SharedOperator, evaluator: Evaluator) -> dict[Queue, float]:
    """Cycles of the whole operator in each queue, or set of queues that one candidate keeps busy, at the best rate of
    its units there."""
    rates: dict[Queue, float] = {}
    for offer in operator.offers:
        queue = evaluator.queues_of(offer)
        rate = max(0.0, evaluator.costs.least_rate(offer))
        if rate < IMPOSSIBLE:
            rates[queue] = min(rates.get(queue, rate), rate)
    return rates


def _ideal_cycles(operator: SharedOperator, evaluator: Evaluator) -> float:
    """Cycles if all queues work on the operator at their best rates."""
    by_queue = rates_of(operator, evaluator)
    if any(len(queues) > 1 for queues in by_queue):
        return ideal_shares([by_queue])[0]
    rates = by_queue.values()
    if any(rate == 0 for rate in rates):
        return 0.0
    return 1 / sum(1 / rate for rate in rates) if rates else 0.0


def _least_task(operator: SharedOperator, evaluator: Evaluator) -> int:
    """A lower bound of the cycles of any task of the operator."""
    return max(0, min(evaluator.costs.least_cycles(offer) for offer in operator.offers))


def _reading(operator: SharedOperator, source: Source, evaluator: Evaluator) -> Hashable:
    """A key that is equal for operators whose parts read the same bytes of a source."""
    network, found = evaluator.network, []
    for offer in operator.offers:
        candidate = network.offered[offer].candidate
        # Only parts read by operand.
        operands = candidate.workload.operands if divisible(candidate.workload) else ()
        inputs = (operand for operand in operands if operand.role == "input")
        read = ((o.name, o.base) for o in inputs if candidate.match.tensor(o.name).name == source.read)
        found.append((evaluator.costs.alike(offer), *read))
    return tuple(found), tensor_bytes(network.tensors[source.made]), tensor_bytes(network.tensors[source.read])


def may_overlap(operator: SharedOperator, source: Source, evaluator: Evaluator) -> bool:
    """Whether a part of the operator may start before its source has ended: the smallest part at either end does not
    read all of it."""
    network = evaluator.network
    if not network.by_region:
        return False
    ends = [(unit, first) for along in network.along(operator) for unit in along.units for first in _ends(along)]
    return any(not network.reads_all(source, [Part(u.offer, u.dim, first, size)]) for u, (first, size) in ends)


def _ends(along: DivisibleAxis) -> tuple[tuple[int, int], ...]:
    last = (along.tiles - 1) * along.step
    return (0, along.step), (last, along.size - last)


def is_read_whole(operator: SharedOperator, source: Source, evaluator: Evaluator) -> bool:
    """Whether all parts together read every byte of the source (strides may skip some)."""
    along, network = evaluator.network.along(operator)[0], evaluator.network
    unit, tile = along.units[0], along.step
    if along.tiles >= ENOUGH_TILES:
        # Tiles are alike: if two in the middle read what one in their place reads, no tiles skip bytes between them.
        middle = along.tiles // 2 * tile
        pair = [Part(unit.offer, unit.dim, middle - tile, tile), Part(unit.offer, unit.dim, middle, tile)]
        together = [Part(unit.offer, unit.dim, middle - tile, 2 * tile)]
        if network.read(source, pair) == network.read(source, together):
            return network.reads_all(source, [Part(unit.offer, unit.dim, 0, along.size)])
    firsts = range(0, along.size, tile)
    return network.reads_all(
        source, [Part(unit.offer, unit.dim, first, min(tile, along.size - first)) for first in firsts]
    )
