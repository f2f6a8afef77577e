"""The last changes of a choice: borders of its pieces that move, pieces that are joined, cut, or given to another unit,
in one operator or in two at once. Where all queues are busy, a change of one pays only if another one takes the work
back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import TYPE_CHECKING

from match_concurrent.mapping.improve import shifted
from match_concurrent.mapping.parts import Division, Part, cut

if TYPE_CHECKING:
    from match_concurrent.mapping.evaluate import Evaluation, Evaluator
    from match_concurrent.mapping.network import DivisibleAxis

#: Estimates: the most tiles by which a border moves, and the most effort, relative to that in vain.
TILES_MAX, TIMES_MAX = 8, 3


def exchanged(
    best: Evaluation, along: Sequence[tuple[DivisibleAxis, ...]], evaluator: Evaluator, spend: int
) -> Evaluation:
    """The best choice after such changes, near ones of two operators first, until ``spend`` tasks were put on time
    lines in vain. Sizes are priced, and the result has exact costs; never worse than ``best``."""
    costs, limit = evaluator.costs, evaluator.spent + TIMES_MAX * spend
    while evaluator.spent < limit:
        before, changes = best.value, _Changes(along, evaluator)
        costs.probe(part for n, division in enumerate(best.choice) for d in changes.all(n, division) for part in d)
        present = evaluator.evaluate(best.choice, best.starts)  # with the changed estimates of others
        found = _changed(present, changes, evaluator, spend, limit)
        costs.confirm(part for division in found.choice for part in division)
        best = min(best, evaluator.evaluate(found.choice, found.starts), key=lambda evaluation: evaluation.value)
        if best.value == before:
            break
    return best


def _changed(best: Evaluation, changes: _Changes, evaluator: Evaluator, spend: int, limit: int) -> Evaluation:
    """The choice after changes with known costs."""
    count, end = len(best.choice), min(limit, evaluator.spent + spend)
    while True:
        before = best.value
        for distance in range(count):
            for first in range(count - distance):
                numbers = dict.fromkeys((first, first + distance))
                for divisions in product(*(changes.known(number, best.choice[number]) for number in numbers)):
                    if evaluator.spent >= end:
                        return best
                    other = dict(zip(numbers, divisions, strict=True))
                    choice = tuple(other.get(number, division) for number, division in enumerate(best.choice))
                    found = evaluator.improved(choice, best)
                    if found is not None:
                        best, end = found, min(limit, evaluator.spent + spend)
        if best.value == before:
            return best


@dataclass
class _Changes:
    """The changes of an operator's division, remembered."""

    along: Sequence[tuple[DivisibleAxis, ...]]
    evaluator: Evaluator
    _all: dict[tuple[int, Division], tuple[Division, ...]] = field(default_factory=dict)
    _known: dict[tuple[int, Division], tuple[Division, ...]] = field(default_factory=dict)

    def all(self, number: int, division: Division) -> tuple[Division, ...]:
        """Those of a division that is not whole."""
        key = number, division
        if key not in self._all:
            found = dict.fromkeys(_changes(division, self.along[number]))
            found.pop(division, None)
            self._all[key] = tuple(found)
        return self._all[key]

    def known(self, number: int, division: Division) -> tuple[Division, ...]:
        """Those of sizes whose costs are no estimates."""
        key, is_known = (number, division), self.evaluator.costs.is_known
        if key not in self._known:
            self._known[key] = tuple(d for d in self.all(number, division) if all(map(is_known, d)))
        return self._known[key]


def _changes(division: Division, axes: Sequence[DivisibleAxis]) -> Iterator[Division]:
    axis = next((axis for axis in axes if any(unit[:2] == division[0][:2] for unit in axis.units)), None)
    if axis is None:
        return
    yield from shifted(division, axis, TILES_MAX)
    for place, (left, right) in enumerate(pairwise(division)):
        for kept in dict.fromkeys(part[:2] for part in (left, right)):
            joined = Part(*kept, left.first, left.size + right.size)
            whole = len(division) == 2
            yield (Part(joined.offer),) if whole else (*division[:place], joined, *division[place + 2 :])
    for place, part in enumerate(division):
        yield (*division[:place], *cut(part, 2, axis.step), *division[place + 1 :])
        for unit in axis.units:
            yield (*division[:place], part._replace(offer=unit.offer, dim=unit.dim), *division[place + 1 :])
