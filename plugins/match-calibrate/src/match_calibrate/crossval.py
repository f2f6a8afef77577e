"""Cross-validation: how well a fit predicts layers that it has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from match_calibrate.select import determined

if TYPE_CHECKING:
    from match_calibrate.fit import Fit, Fitting
    from match_calibrate.solve import Array

FOLDS = 5


def unseen_cycles(fitting: Fitting, fit: Fit, folds: int = FOLDS) -> Array:
    """Modelled cycles of each layer by a fit without its fold, float64 (layers,).

    Layers that no constant tells apart are in one fold. Every fold chooses its constants and their values anew, in the
    linear problem around the full fit; the evaluator then prices the layers that were left out.
    """
    predictor = fitting.predictor
    groups = predictor.groups
    found = np.zeros(len(groups))
    for fold in range(folds):
        left_out = groups % folds == fold
        if not left_out.any():
            continue
        problem = fitting.problem(fit.values, predictor.used, np.flatnonzero(~left_out))
        solved = problem.solved(determined(problem), held=False)
        values = {name: round(float(value)) for name, value in zip(predictor.used, solved, strict=True)}
        found[left_out] = predictor.cycles({**predictor.start, **values})[left_out]
    return found
