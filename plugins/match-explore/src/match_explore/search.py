"""The strategy "search": Optuna proposes points in batches; bounds decide which of them need a compilation.

A batch has a fixed size, so the result depends on the seed and not on the number of workers. The first batches are the
points that sketch the front; then the sampler learns from all outcomes. A proposal that was evaluated before becomes
the untried point that is most similar to it.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from match_explore.front import dominates
from match_explore.order import sketching
from match_explore.results.rows import figures_of, meets, values_of

if TYPE_CHECKING:
    import optuna

    from match_explore.evaluating import Engine
    from match_explore.points import Point
    from match_explore.study import Study
    from match_explore.task import Outcome

#: The share of the points that sketch the front before the sampler chooses.
_SKETCH = 0.25
#: What an infeasible point counts as, in each objective: worse than all others.
_WORST = 1e30
_TARGET = "target"


def searched(study: Study, points: Sequence[Point], engine: Engine) -> None:
    """Evaluate ``study.strategy.points`` of the points; each model (all models, if accuracy is an objective) has a
    sampler of its own, and they take turns."""
    groups: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        groups["" if "accuracy" in study.objectives else point.model].append(point)
    left = min(study.strategy.points, len(points))
    samplers = [Sampler(study, group, left // len(groups)) for group in groups.values()]
    while left > 0:
        before = left
        for sampler in samplers:
            batch = sampler.ask(min(study.strategy.batch, left))
            left -= len(batch)
            sampler.tell(_outcomes(study, sampler, batch, engine))
        if left == before:  # every point is known
            return


def _outcomes(study: Study, sampler: Sampler, batch: Sequence[Point], engine: Engine) -> list[tuple[Point, Outcome]]:
    """Of a batch in its order; points whose bounds are worse than the front are pruned."""
    found: dict[int, Outcome] = {}
    rest = list(batch)
    if study.strategy.prune and study.evaluate == "compile" and sampler.best:
        for point, bound in engine.evaluate([replace(point, evaluate="bounds") for point in batch]):
            if bound["status"] == "ok" and sampler.beaten(point, bound):
                found[point.index] = engine.outcomes[point.index] = {**bound, "status": "pruned"}
        rest = [point for point in batch if point.index not in found]
    found.update({point.index: outcome for point, outcome in engine.evaluate(rest)})
    return [(point, found[point.index]) for point in batch]


class Sampler:
    """Proposes points of one group. ``best``: the front so far, as values to be minimised."""

    def __init__(self, study: Study, points: Sequence[Point], budget: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.study = study
        self.best: list[tuple[float, ...]] = []
        self._left = {self._coordinates(point): point for point in points}
        self._sketch = list(sketching(points))[: max(study.strategy.batch, int(_SKETCH * budget))]
        columns = list(zip(*self._left, strict=True))
        self._spread = [max(1, max(column) - min(column)) if number else 1 for number, column in enumerate(columns)]
        self._targets = {name: place for place, name in enumerate(dict.fromkeys(p.target for p in points))}
        self._distributions = self._made(columns)
        with warnings.catch_warnings():  # experimental and, from version 5 on, deprecated: both still work
            warnings.simplefilter("ignore")
            sampler = optuna.samplers.TPESampler(
                seed=study.strategy.seed, multivariate=True, n_startup_trials=1, constraints_func=_excess
            )
        self._optuna = optuna.create_study(directions=["minimize"] * len(study.objectives), sampler=sampler)

    def _coordinates(self, point: Point) -> tuple[int, ...]:
        targets = self.__dict__.setdefault("_order", {})
        return (targets.setdefault(point.target, len(targets)), *point.places)

    def _made(self, columns: Sequence[Sequence[int]]) -> dict[str, optuna.distributions.BaseDistribution]:
        from optuna.distributions import CategoricalDistribution, IntDistribution

        made: dict[str, optuna.distributions.BaseDistribution] = {}
        for number, column in enumerate(columns):
            values = sorted(set(column))
            ordered = number > 0 and self._ordered(number - 1)
            made[f"x{number}"] = IntDistribution(values[0], values[-1]) if ordered else CategoricalDistribution(values)
        return made

    def _ordered(self, axis: int) -> bool:
        """Whether the values of an axis are sizes or numbers, so that neighbours are similar."""
        return self.study.axes[axis].name.startswith(("memory.", "capacity.", "figure.", "clock_hz"))

    def ask(self, count: int) -> list[Point]:
        """Untried points, fewer than ``count`` only if there are no more."""
        self._trials: list[tuple[Point, Any]] = []
        while len(self._trials) < count and self._left:
            if self._sketch:
                point = self._sketch.pop(0)
                trial = None
            else:
                trial = self._optuna.ask(self._distributions)
                point = self._nearest(tuple(trial.params[name] for name in self._distributions))
            self._left.pop(self._coordinates(point), None)
            self._trials.append((point, trial))
        return [point for point, _ in self._trials]

    def _nearest(self, wanted: tuple[int, ...]) -> Point:
        def distance(there: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
            parts = zip(wanted, there, self._spread, strict=True)
            far = sum(abs(a - b) / s if n and self._ordered(n - 1) else a != b for n, (a, b, s) in enumerate(parts))
            return far, there

        return self._left[min(self._left, key=distance)]

    def tell(self, outcomes: Sequence[tuple[Point, Outcome]]) -> None:
        """Learn from the outcomes of the last batch."""
        import optuna

        for (point, outcome), (_, asked) in zip(outcomes, self._trials, strict=True):
            figures = figures_of(self.study, point, outcome)
            values = values_of(self.study, figures) or (_WORST,) * len(self.study.objectives)
            able = outcome["status"] != "failed" and meets(self.study, figures)
            if able and outcome["status"] == "ok" and not any(dominates(other, values) for other in self.best):
                self.best = [other for other in self.best if not dominates(values, other)] + [values]
            if asked is not None:
                self._optuna.tell(asked, state=optuna.trial.TrialState.FAIL)
            parameters = dict(zip(self._distributions, self._coordinates(point), strict=True))
            self._optuna.add_trial(
                optuna.trial.create_trial(
                    params=parameters,
                    distributions=self._distributions,
                    values=list(values),
                    system_attrs={"constraints": [0.0 if able else 1.0]},
                )
            )

    def beaten(self, point: Point, bound: Outcome) -> bool:
        """Whether a point that reached its bounds would still be worse than the front, or break a limit."""
        figures = figures_of(self.study, point, bound)
        over = (c for c in self.study.constraints if figures[c.figure] is not None and figures[c.figure] > c.most)
        if any(True for _ in over):
            return True
        known = [0.0 if figures[name] is None else figures[name] for name in self.study.objectives]
        return any(dominates(other, tuple(known)) for other in self.best)


def _excess(trial: optuna.trial.FrozenTrial) -> Sequence[float]:
    """How far a trial breaks the constraints; 0 if it does not."""
    found: Sequence[float] = trial.system_attrs.get("constraints", (0.0,))
    return found
