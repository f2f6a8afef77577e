"""Initial choices of the search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from match_concurrent.mapping.bounds import ideal_shares, ideal_work, rates_of
from match_concurrent.mapping.improve import improve
from match_concurrent.mapping.parts import Cuttable, Division, Part, cut, division_of

if TYPE_CHECKING:
    from match_concurrent.mapping.bounds import Queue, Rates
    from match_concurrent.mapping.evaluate import Choice, Evaluation, Evaluator
    from match_concurrent.mapping.network import DivisibleAxis
    from match_concurrent.mapping.share_options import ShareOptions

#: Smaller fractions of an operator do not get a task.
LITTLE = 0.02
#: The number of tasks of each unit's part if units specialise.
PIECES = (1, 2, 4, 8)
#: The same for a run of operators. Runs begin and end at any operator; from twice RUNS operators on, at every second,
#: third, ... one. Estimates.
RUN_PIECES, RUNS = (2, 4), 10
#: How much longer the start in which units specialise may take than what was found. An estimate: of seven networks on
#: Carfield it won in two, where it took 1.12 and 1.15 times as long, and in none of those from 1.19 on.
WORSE_MAX = 1.25
#: It has to shorten what was found by this part, because rounds of real costs take as long as for all other starts. An
#: estimate: in the networks on Carfield where it won it shortened that by 4 and 8 %, on ITA by 0.7 %.
GAIN_MIN = 0.01


def starts(share_options: Sequence[ShareOptions], evaluator: Evaluator) -> Iterator[Choice]:
    """For every operator the division that is fastest alone: among all, and among those along one axis with a given
    number of tasks per unit, if there are any. With pipelining also the ideal division of all work, in which units
    specialise, in several tasks."""
    alone = [
        [(evaluator.cycles_alone(e.division), n) for n, e in enumerate(own_options.entries)]
        for own_options in share_options
    ]
    preferences = {
        (entry.axis, entry.pieces) for own_options in share_options for entry in own_options.entries if entry.axis >= 0
    }
    for axis, pieces in [(-1, 0), *sorted(preferences)]:
        chosen = []
        for own_options, ranked in zip(share_options, alone, strict=True):
            wanted = [pair for pair in ranked if _form(own_options, pair[1]) == (axis, pieces)]
            chosen.append(own_options.entries[min(wanted or ranked)[1]].division)
        yield tuple(chosen)
    if evaluator.options.pipelined:
        yield from specialised(share_options, evaluator)


def specialised(share_options: Sequence[ShareOptions], evaluator: Evaluator) -> Iterator[Choice]:
    """The ideal division of all work, in several tasks; where none is near it, the division that is fastest alone."""
    _, ideal = ideal_work(evaluator)
    fastest = [
        min((evaluator.cycles_alone(entry.division), n) for n, entry in enumerate(own_options.entries))[1]
        for own_options in share_options
    ]
    for pieces in PIECES:
        yield tuple(
            _ideal(own_options, fractions, evaluator, pieces) or own_options.entries[otherwise].division
            for own_options, fractions, otherwise in zip(share_options, ideal, fastest, strict=True)
        )


def specialised_runs(choice: Choice, share_options: Sequence[ShareOptions], evaluator: Evaluator) -> Iterator[Choice]:
    """The choice with another division of a run of operators: the ideal one of their work, in several tasks. Where
    small tasks of other operators are dear, only a run is worth it."""
    rates = [rates_of(operator, evaluator) for operator in evaluator.network.operators]
    ends = sorted({*range(0, len(choice), max(1, len(choice) // RUNS)), len(choice)})
    for first, end in combinations(ends, 2):
        _, ideal = ideal_shares(rates[first:end])
        for pieces in RUN_PIECES if end - first > 1 else ():
            made = list(choice)
            for number, fractions in zip(range(first, end), ideal, strict=True):
                made[number] = _ideal(share_options[number], fractions, evaluator, pieces) or made[number]
            yield tuple(made)


def apart(
    found: Evaluation, share_options: Sequence[ShareOptions], evaluator: Evaluator, spend: int
) -> Evaluation | None:
    """The best start in which units specialise, after local changes, if that is clearly better than what was found. It
    begins worse than other starts, so that it is not among those that are improved, but changes of others do not lead
    where its changes do. It is not improved where it cannot win: if it is what was found, or much worse."""
    starts = (evaluator.evaluate(choice) for choice in specialised(share_options, evaluator))
    begun = min(starts, key=lambda evaluation: evaluation.value)
    if not found.value[0] < begun.value[0] <= WORSE_MAX * found.value[0]:
        return None
    improved = improve(begun, share_options, evaluator, spend)
    return improved if improved.value[0] <= (1 - GAIN_MIN) * found.value[0] else None


def _form(own_options: ShareOptions, number: int) -> tuple[int, int]:
    return own_options.entries[number].axis, own_options.entries[number].pieces


def _ideal(own_options: ShareOptions, fractions: Rates, evaluator: Evaluator, pieces: int) -> Division | None:
    """A division with about these fractions on each queue, along the first axis that allows it; None if none does, or
    if one keeps a queue of another busy."""
    wanted = {queue: fraction for queue, fraction in fractions.items() if fraction > LITTLE}
    busy = [queue for queues in wanted for queue in queues]
    if len(set(busy)) < len(busy):
        return None
    for along in (along.coarse for along in own_options.alongs):
        units = _one_per_queue(along, evaluator)
        if not set(wanted) <= set(units):
            continue
        chosen = [units[queue] for queue in sorted(wanted)]
        counts, left, rest = [], along.tiles, sum(wanted.values())
        for queue in sorted(wanted):
            counts.append(round(left * wanted[queue] / rest))
            left, rest = left - counts[-1], rest - wanted[queue]
        division = division_of(chosen, counts, along.step, along.size)
        if len(division) == 1 and pieces > 1:
            unit = next(unit for unit in along.units if unit.offer == division[0].offer)
            division = (Part(unit.offer, unit.dim, 0, along.size),)
        return tuple(piece for part in division for piece in _cut(part, pieces, along))
    return None


def _one_per_queue(along: DivisibleAxis, evaluator: Evaluator) -> dict[Queue, Cuttable]:
    units: dict[Queue, Cuttable] = {}
    for unit in along.units:
        units.setdefault(evaluator.queues_of(unit.offer), unit)
    return units


def _cut(part: Part, pieces: int, along: DivisibleAxis) -> Division:
    return cut(part, pieces, along.step) if part.dim and pieces > 1 else (part,)
