"""Whether a concurrent mapping can be fast enough at all, judged before its layers are scheduled for the Soc in
concurrent mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.schedule.candidates import plain
from match_core.schedule.evaluate import price

from match_concurrent.mapping.bounds import path_cycles, rates_of
from match_concurrent.mapping.joint import joint_offers

if TYPE_CHECKING:
    from match_core.contract.loops import LoopSchedule
    from match_core.contract.mapping import Assignment
    from match_core.contract.scheduling import Scheduling

    from match_concurrent.mapping.bounds import Rates
    from match_concurrent.mapping.evaluate import Evaluator

#: The part of the work bound that decides, before the search, that no mapping is fast enough: the search tries more
#: sizes of shares, which may have better rates. They lowered the bound by at most 11.6 % in 32 pairs of networks and
#: targets (GAP9, Carfield, ITA), in 24 by less than 1.5 %; and no program of these came nearer to its bound than 12 %.
#: An estimate: more is possible in others.
HOPELESS = 0.92
#: The part of the path bound that decides, before parts are scheduled. The bound then assumes that layers of a chain
#: follow each other, each divided ideally among all queues. Parts that start before the layer ahead has ended made
#: programs faster than that, by at most 27 % in 14 pairs of networks and targets (GAP9, Carfield, ITA). An estimate.
HOPELESS_PATH = 0.65
#: Steps of the ascent of ``least_work``. Its result is a bound after any number.
STEPS = 80


def is_hopeless(evaluators: Sequence[Evaluator], limit_cycles: int | None) -> bool:
    """Whether all work of the operators, divided freely among the queues, or the longest chain of operators is likely
    to take longer than the limit, in each of the covers."""
    return limit_cycles is not None and all(_exceeds(evaluator, limit_cycles) for evaluator in evaluators)


def _exceeds(evaluator: Evaluator, limit_cycles: int) -> bool:
    rates = [rates_of(operator, evaluator) for operator in evaluator.network.operators]
    return least_work(rates) * HOPELESS > limit_cycles or path_cycles(evaluator) * HOPELESS_PATH > limit_cycles


def least_work(rates: Sequence[Rates]) -> float:
    """A lower bound of the makespan of operators that may be divided freely, with ``rates`` as in ``ideal_shares``.

    Every price per cycle of the queues, in sum 1, gives a bound: each operator pays at least the price of its cheapest
    queues, and nobody can earn more than the makespan. Prices of overloaded queues rise step by step.
    """
    if not rates:
        return 0.0
    kinds = sorted({kind for by_queue in rates for kind in by_queue})  # queues that one candidate keeps busy
    queues = sorted({queue for kind in kinds for queue in kind})
    keeps = np.array([[queue in kind for queue in queues] for kind in kinds], dtype=float)
    cycles = np.array([[by_queue.get(kind, np.inf) for kind in kinds] for by_queue in rates])
    price_of, best, numbers = np.full(len(queues), 1 / len(queues)), 0.0, np.arange(len(rates))
    for step in range(STEPS):
        paid = cycles * (keeps @ price_of)
        chosen = paid.argmin(axis=1)
        best = max(best, float(paid[numbers, chosen].sum()))
        load = np.bincount(chosen, weights=cycles[numbers, chosen], minlength=len(kinds)) @ keeps
        if not load.any():
            return 0.0
        price_of = price_of * np.exp((load / load.max() - 0.5) / (2 + step / 4))
        price_of = price_of / price_of.sum()
    return best


def in_concurrent_mode(offered: Sequence[Assignment], scheduling: Scheduling) -> tuple[Assignment, ...]:
    """The candidates, also those that occupy two units, with their schedules of the sequential program at their cost in
    a concurrent one. The parts of memories that units have there, and better schedules for this mode, are ignored."""
    known: dict[object, LoopSchedule] = {}
    made = []
    for assignment in (*offered, *joint_offers(offered, scheduling)):
        candidate = assignment.candidate
        key = (candidate.unit, candidate.pattern.name, plain(candidate.workload), assignment.schedule)
        if key not in known:
            request = scheduling.request(candidate)
            if assignment.schedule.streamed(scheduling.soc.home):
                request = scheduling.streamed_request(candidate, scheduling.soc.memory(scheduling.soc.home).size_bytes)
            try:
                known[key] = replace(assignment.schedule, cost=price(request, assignment.schedule))
            except ValueError:  # not a schedule in this mode
                known[key] = assignment.schedule
        made.append(replace(assignment, schedule=known[key]))
    return tuple(made)
