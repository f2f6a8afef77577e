"""The fit: which constants the counters determine, and their values.

The cycles of a layer are not linear in all constants (quotients are rounded, copies hide behind work), so the evaluator
is linearised by differences around the present values, the linear problem is solved by non-negative least squares on
relative residuals, and both are repeated until the values, which are whole numbers, stay the same: first with all
constants that change a layer, then with those that the counters determine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from match_calibrate.select import Problem, determined

if TYPE_CHECKING:
    from match_calibrate.predict import Name, Predictor, Values
    from match_calibrate.solve import Array

_ROUNDS_MAX = 12
#: Differences are taken over this part of a value, at least 1.
_STEP_PART = 0.125
_POLISH_ROUNDS = 20


@dataclass(frozen=True)
class Fit:
    """``values`` of all constants; ``errors``: one standard error of each fitted one."""

    values: Mapping[Name, int]
    errors: Mapping[Name, float]


@dataclass(frozen=True)
class Fitting:
    """A fit of the cycles that were ``measured`` for the predictor's layers, float64 (layers,)."""

    predictor: Predictor
    measured: Array

    def fit(self) -> Fit:
        """The fit to all layers."""
        predictor = self.predictor
        values = self._converged(predictor.start, predictor.used, held=True)
        names = tuple(predictor.used[column] for column in determined(self.problem(values, predictor.used)))
        kept = {name: value for name, value in predictor.start.items() if name not in names}
        values = self._polished(self._converged({**values, **kept}, names, held=False), names)
        errors = self.problem(values, names).errors(range(len(names)))
        return Fit(values, dict(zip(names, errors.tolist(), strict=True)))

    def problem(self, values: Values, names: Sequence[Name], rows: NDArray[np.intp] | None = None) -> Problem:
        """The linear problem around some values: one row for each group of layers, or of the layers in ``rows``."""
        rows = np.arange(len(self.measured)) if rows is None else rows
        at = self.predictor.cycles(values)
        slopes = np.zeros((len(at), len(names)))
        for column, name in enumerate(names):
            slopes[:, column] = self._slope(values, name, at)
        groups = self.predictor.groups[rows]
        _, first, where, counts = np.unique(groups, return_index=True, return_inverse=True, return_counts=True)
        mean = np.bincount(where, weights=self.measured[rows]) / counts
        layers = rows[first]
        now = np.array([values[name] for name in names], dtype=np.float64)
        return Problem(
            names=tuple(names),
            matrix=slopes[layers] / mean[:, None],
            wanted=(mean - at[layers] + slopes[layers] @ now) / mean,
            weights=np.sqrt(counts),
            start=np.array([self.predictor.start[name] for name in names], dtype=np.float64),
            least=np.array([self._least(name) for name in names], dtype=np.float64),
        )

    def _least(self, name: Name) -> int:
        """The smallest value: a rate is a divisor."""
        return 0 if self.predictor.constants[name].unit == "cycles" else 1

    def _slope(self, values: Values, name: Name, at: Array) -> Array:
        step = max(1, round(values[name] * _STEP_PART))
        return (self.predictor.cycles({**values, name: values[name] + step}) - at) / step

    def _loss(self, values: Values) -> float:
        residuals = (self.predictor.cycles(values) - self.measured) / self.measured
        return float(residuals @ residuals)

    def _converged(self, values: Values, names: Sequence[Name], *, held: bool) -> dict[Name, int]:
        """Steps to the solution of the linear problem, or a part of the way, as long as residuals fall."""
        found, loss = dict(values), self._loss(values)
        for _ in range(_ROUNDS_MAX if names else 0):
            problem = self.problem(found, names)
            target = dict(zip(names, problem.solved(range(len(names)), held=held), strict=True))
            trials = (self._between(found, target, part) for part in (1.0, 0.5, 0.25))
            better = next(((t, self._loss(t)) for t in trials if self._loss(t) < loss), None)
            if better is None:
                break
            found, loss = better
        return found

    def _between(self, values: Values, target: Mapping[Name, float], part: float) -> dict[Name, int]:
        moved = {n: round(values[n] + part * (float(v) - values[n])) for n, v in target.items()}
        return {**values, **{n: max(self._least(n), v) for n, v in moved.items()}}

    def _polished(self, values: Values, names: Sequence[Name]) -> dict[Name, int]:
        """Whole numbers near the solution that fit better than its rounded values."""
        found, best = dict(values), self._loss(values)
        for _ in range(_POLISH_ROUNDS):
            trials = [{**found, n: max(self._least(n), found[n] + d)} for n in names for d in (-1, 1)]
            losses = [self._loss(trial) for trial in trials]
            if not losses or min(losses) >= best:
                break
            best, found = min(losses), trials[losses.index(min(losses))]
        return found
