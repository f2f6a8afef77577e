"""The linear problem around some values, and which of its constants the counters determine.

Every constant may move from its value before the fit, but moving by that value costs as much as a residual of the size
of the noise; so constants that counters cannot tell apart share what they explain. Backward elimination then returns
constants to their values, one after another, as long as the Bayesian information criterion falls: a constant stays
fitted only if it explains more than its number of parameters would by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from match_calibrate.solve import non_negative

if TYPE_CHECKING:
    from match_calibrate.predict import Name
    from match_calibrate.solve import Array

#: Residuals that are expected of a good fit, in parts of the measured cycles, before they are known.
NOISE = 0.03
#: Smaller residuals are taken for rounding.
RESIDUAL_MIN = 1e-3
#: A value before the fit says no more about the order of magnitude than this number.
SMALL_CYCLES = 10.0


@dataclass(frozen=True)
class Problem:
    """``matrix`` (rows, constants) and ``wanted`` (rows,) in parts of the measured cycles: matrix @ values = wanted.
    ``weights`` (rows,); ``start``: the values before the fit; ``least``: the smallest ones."""

    names: tuple[Name, ...]
    matrix: Array
    wanted: Array
    weights: Array
    start: Array
    least: Array

    @cached_property
    def _holds(self) -> Array:
        return np.asarray(NOISE / np.maximum(self.start, SMALL_CYCLES), dtype=np.float64)

    def solved(self, free: Sequence[int], *, held: bool, near: Array | None = None) -> Array:
        """Values of all constants, where only those of these columns may differ from the start. ``held``: moving from
        the start has its price, so that any number of constants has a solution. ``near``: similar values, for speed."""
        columns = list(free)
        values = self.start.copy()
        wanted = self.wanted - self.matrix @ self.start + self.matrix[:, columns] @ self.start[columns]
        matrix, least = self.matrix[:, columns], self.least[columns]
        holds = self._holds[columns] if held else np.zeros(len(columns))
        rows = np.vstack([matrix * self.weights[:, None], np.diag(holds)])
        targets = np.concatenate([(wanted - matrix @ least) * self.weights, (self.start[columns] - least) * holds])
        likely = None if near is None else near[columns] > least
        values[columns] = non_negative(rows, targets, likely) + least
        return np.asarray(values, dtype=np.float64)

    def squares(self, values: Array) -> float:
        """The weighted sum of squared residuals."""
        residuals = (self.matrix @ values - self.wanted) * self.weights
        return float(residuals @ residuals)

    def errors(self, free: Sequence[int]) -> Array:
        """One standard error of each of these constants, fitted together; infinite for those that the rows do not
        determine."""
        matrix = self.matrix[:, list(free)] * self.weights[:, None]
        scale = np.linalg.norm(matrix, axis=0)
        spare, seen = len(self.wanted) - len(free), scale > 0
        errors = np.full(len(free), np.inf)
        if spare < 1 or not seen.any():
            return errors
        columns = matrix[:, seen] / scale[seen]
        variance = max(self.squares(self.solved(free, held=False)) / spare, RESIDUAL_MIN**2)
        errors[seen] = np.sqrt(variance * np.diag(np.linalg.pinv(columns.T @ columns))) / scale[seen]
        return errors

    def criterion(self, free: Sequence[int], near: Array | None = None) -> float:
        """The Bayesian information criterion of a choice of constants; lower is better."""
        rows = len(self.wanted)
        mean = self.squares(self.solved(free, held=True, near=near)) / rows + RESIDUAL_MIN**2
        return rows * float(np.log(mean)) + (len(free) + 1) * float(np.log(rows))


def determined(problem: Problem) -> tuple[int, ...]:
    """The columns of the constants that stay fitted."""
    free = list(range(len(problem.names)))
    score = problem.criterion(free)
    while free:
        near = problem.solved(free, held=True)
        trials = [(problem.criterion([c for c in free if c != column], near), column) for column in free]
        best, column = min(trials)
        if best > score and len(free) < len(problem.wanted) // 2:
            break
        score = best
        free.remove(column)
    return tuple(free)
