"""A search over pieces of operators: their borders, their number and the unit of each.

Where units specialise, several operators run at a time, each in a few pieces. No single change of a balanced division
leads there without a loss, so this search accepts losses: at first up to a few per cent, then less and less (simulated
annealing). Changes and thresholds come from a fixed sequence of random numbers; thresholds need only products, so that
they are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from random import Random
from typing import TYPE_CHECKING

from match_concurrent.mapping.exchange import exchanged
from match_concurrent.mapping.improve import improve
from match_concurrent.mapping.parts import Cuttable, Division, Part, cut
from match_concurrent.mapping.share_options import share_options_of
from match_concurrent.mapping.start import specialised, specialised_runs

if TYPE_CHECKING:
    from match_concurrent.mapping.evaluate import Choice, Evaluation, Evaluator, Value
    from match_concurrent.mapping.network import DivisibleAxis
    from match_concurrent.mapping.share_options import ShareOptions

#: Of each round, the mean loss that is accepted at first, relative to the finish, and how often the coarse tiles are
#: halved. Estimates: tried on a few networks on Carfield only.
ROUNDS = ((0.02, 0), (0.01, 0), (0.01, 0), (0.005, 0), (0.005, 0), (0.005, 1), (0.003, 2))
#: Behind these, with ``parallel`` "long": with fine borders. Estimates: tried on MobileNet on Carfield only.
FINE = ((0.002, 3), (0.001, 4), (0.001, 4), (0.001, 4))
#: How many starts get many local changes, if there are more: those that are best after a few.
IMPROVED = 6
#: How much more effort starts with a specialised run of operators get than a round: an estimate, as are the others.
RUNS_TIMES = 3
#: The rounds that an improved run of operators gets no more.
HOT = 4
#: How much effort the last changes may get in vain, relative to a round's: an estimate.
EXCHANGED = 2
#: How often the mean loss is reduced in a round, and to what part.
COOLINGS, COOLING = 40, 0.91
#: Losses that are accepted, relative to the mean: quantiles of the exponential distribution.
LOSSES = (0.03, 0.1, 0.17, 0.25, 0.33, 0.42, 0.52, 0.63, 0.76, 0.9, 1.07, 1.27, 1.52, 1.86, 2.37, 3.47)
#: Numbers of pieces that a unit gets an operator in.
COUNTS = (1, 2, 3, 4, 6, 8)
#: Tiles by which a border moves.
STEPS = (1, 1, 2, 3, 4, 8)
#: The part of the changes that concern two operators.
TWO = 0.3
#: Of the changes of an operator, the parts that divide it anew, move a border, cut a piece, or join two, in sums; the
#: others give a piece to another unit.
ANEW, MOVE, CUT, JOIN = 0.1, 0.35, 0.6, 0.75


@dataclass
class Pieces:
    """Changes of the divisions of an evaluator's operators."""

    evaluator: Evaluator
    random: Random
    #: The axes of each operator, with the tiles at whose borders pieces begin.
    _along: list[list[DivisibleAxis]] = field(default_factory=list)

    def improved(self, best: Evaluation, spend: int) -> Evaluation:
        """The best choice after rounds that put about ``spend`` tasks on time lines, and as many for runs of operators;
        never worse than ``best``. Costs are real after each round; within it, those of unknown sizes are prices or lie
        between them."""
        network, costs = self.evaluator.network, self.evaluator.costs
        own = [network.along(operator) for operator in network.operators]
        if not any(own):
            return best
        costs.probe(chain.from_iterable(_sizes(axis.coarse) for axis in chain(*own)))
        options = [
            share_options_of(operator, axes, self.evaluator, cuts=True, only_known=False)
            for operator, axes in zip(network.operators, own, strict=True)
        ]
        rounds = (*ROUNDS, *FINE) if self.evaluator.options.parallel == "long" else ROUNDS
        spend //= len(rounds) + 1
        present = self._best_of(specialised(options, self.evaluator), options, spend)
        best = self._in_rounds(best, present, rounds, own, spend)
        runs = specialised_runs(best.choice, options, self.evaluator)
        run = self._best_of(chain([best.choice], runs), options, RUNS_TIMES * spend)
        if run.finish < best.finish:
            best = self._in_rounds(best, run, rounds[HOT:], own, spend)
        return exchanged(best, own, self.evaluator, EXCHANGED * spend)

    def _in_rounds(
        self,
        best: Evaluation,
        present: Evaluation,
        rounds: Sequence[tuple[float, int]],
        own: Sequence[tuple[DivisibleAxis, ...]],
        spend: int,
    ) -> Evaluation:
        """The best of what was found and of rounds that begin with another choice."""
        best = min(best, present, key=_value)
        for heat, halvings in rounds:
            self._along = [[_halved(axis, halvings) for axis in axes] for axes in own]
            start = best if halvings else present
            choice = self._annealed(start, heat, spend)
            present = start if choice == start.choice else self._real(choice)
            best = min(best, present, key=_value)
        return best

    def _real(self, choice: Choice) -> Evaluation:
        """The choice with real costs, in its present order if that is better: with costs that differ a little, list
        scheduling may find an order that is much worse."""
        starts = self.evaluator.evaluate(choice).starts
        self.evaluator.costs.confirm(part for division in choice for part in division)
        return self.evaluator.evaluate(choice, starts)

    def _best_of(self, starts: Iterable[Choice], options: Sequence[ShareOptions], spend: int) -> Evaluation:
        """The best of some starts after local changes; these are repeated with real costs. Of many starts only those
        that are best after a few changes."""
        found = [self.evaluator.evaluate(start) for start in dict.fromkeys(starts)]
        if len(found) > IMPROVED:
            found = [improve(each, options, self.evaluator, spend // len(found)) for each in found]
            found = sorted(found, key=_value)[:IMPROVED]
        for _ in range(2):
            improved = [improve(each, options, self.evaluator, spend // len(found) // 2) for each in found]
            found = [self._real(each.choice) for each in improved]
        return min(found, key=_value)

    def _annealed(self, begun: Evaluation, heat: float, spend: int) -> Choice:
        choice, finish = best, least = begun.choice, begun.finish
        mean, spent = heat * finish, self.evaluator.spent
        for cooling in range(1, COOLINGS + 1):
            while self.evaluator.spent < spent + spend * cooling // COOLINGS:
                limit = finish + int(mean * self.random.choice(LOSSES))
                changed = self._changed(choice)
                self.evaluator.spent += sum(map(len, changed))
                found = limit + 1 if changed == choice else self.evaluator.finish(changed, limit)
                if found <= limit:
                    choice, finish = changed, found
                    if finish < least:
                        best, least = choice, finish
            mean *= COOLING
        return best

    def _changed(self, choice: Choice) -> Choice:
        made = list(choice)
        for _ in range(2 if self.random.random() < TWO else 1):
            number = self.random.randrange(len(made))
            if self._along[number]:
                made[number] = self._moved(made[number], self._along[number])
        return tuple(made)

    def _moved(self, division: Division, axes: Sequence[DivisibleAxis]) -> Division:
        """One change; the division itself if the drawn one is impossible."""
        kind = self.random.random()
        axis = next((axis for axis in axes if any(unit[:2] == division[0][:2] for unit in axis.units)), None)
        if axis is None or kind < ANEW:
            axis = self.random.choice(axes)
            return _in_pieces(self.random.choice(axis.units), axis, self.random.choice(COUNTS))
        parts, place = list(division), self.random.randrange(len(division))
        pair = parts[place : place + 2]
        if kind < MOVE:
            parts[place : place + 2] = self._with_other_border(pair, axis.step)
        elif kind < CUT:
            parts[place : place + 1] = cut(parts[place], 2, axis.step)
        elif kind < JOIN:
            kept = self.random.choice(pair)
            parts[place : place + 2] = [kept._replace(first=pair[0].first, size=sum(part.size for part in pair))]
        else:
            unit = self.random.choice(axis.units)
            parts[place] = parts[place]._replace(offer=unit.offer, dim=unit.dim)
        return (Part(parts[0].offer),) if len(parts) == 1 else tuple(parts)

    def _with_other_border(self, pair: Sequence[Part], step: int) -> Sequence[Part]:
        if len(pair) < 2:
            return pair
        left, right = pair
        border = (right.first // step + self.random.choice(STEPS) * self.random.choice((1, -1))) * step
        if not left.first < border < right.first + right.size:
            return pair
        return left._replace(size=border - left.first), right._replace(
            first=border, size=right.first + right.size - border
        )


def _value(evaluation: Evaluation) -> Value:
    return evaluation.value


def _halved(axis: DivisibleAxis, halvings: int) -> DivisibleAxis:
    """With coarse tiles, halved so often."""
    return replace(axis, step=max(axis.step, axis.coarse.step >> halvings))


def _sizes(axis: DivisibleAxis) -> Iterator[Part]:
    """A part of every number of tiles on every unit."""
    for size in range(axis.step, axis.size, axis.step):
        yield from (Part(unit.offer, unit.dim, 0, size) for unit in axis.units)


def _in_pieces(unit: Cuttable, axis: DivisibleAxis, count: int) -> Division:
    parts = cut(Part(unit.offer, unit.dim, 0, axis.size), count, axis.step)
    return (Part(unit.offer),) if len(parts) == 1 else parts
