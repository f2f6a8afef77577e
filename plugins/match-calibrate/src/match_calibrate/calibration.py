"""The whole calibration: runs in, fitted constants with residuals out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from match_calibrate.assess import check_amount, check_result, check_spread, check_totals
from match_calibrate.crossval import unseen_cycles
from match_calibrate.fit import Fitting
from match_calibrate.predict import Predictor, fittable
from match_calibrate.programs import measured

if TYPE_CHECKING:
    from match_core.contract.hardware import Constant
    from match_core.plugin.facade import Plugins

    from match_calibrate.fit import Fit
    from match_calibrate.predict import Name
    from match_calibrate.programs import Measured, Run
    from match_calibrate.solve import Array


@dataclass(frozen=True)
class Calibration:
    """``before``, ``after``, ``unseen``: modelled cycles of each layer with the constants before the fit, with the
    fitted ones, and by a fit that has not seen the layer. ``constants``: those that may be fitted, with their values
    before; ``used``: those that a measured layer depends on."""

    runs: tuple[Run, ...]
    layers: tuple[Measured, ...]
    constants: Mapping[Name, Constant]
    used: tuple[Name, ...]
    fit: Fit
    before: Array
    after: Array
    unseen: Array

    @property
    def cycles(self) -> Array:
        """Measured cycles of each layer."""
        return np.array([layer.cycles for layer in self.layers])

    def error(self, modelled: Array) -> float:
        """Mean over the layers of |modelled - measured| / measured."""
        return float(np.mean(np.abs(modelled - self.cycles) / self.cycles))

    def errors_of(self, modelled: Array) -> Array:
        """(modelled - measured) / measured of each layer."""
        return np.asarray((modelled - self.cycles) / self.cycles, dtype=np.float64)

    @property
    def worst_first(self) -> tuple[int, ...]:
        """Numbers of the layers by the size of their error after the fit, the largest first."""
        return tuple(int(n) for n in np.argsort(-np.abs(self.errors_of(self.after)), kind="stable"))


def calibrated(runs: Sequence[Run], plugins: Plugins) -> Calibration:
    """The fit to all runs. UsageError MATCH-U074 if a file does not belong to its program, MATCH-U075 if there are too
    few counters, MATCH-U076 if they are contradictory."""
    by_run = [measured(run, plugins) for run in runs]
    layers = tuple(layer for mine in by_run for layer in mine)
    check_totals(runs, by_run)
    planned = runs[0].planned
    constants = fittable(planned.soc, plugins.units_of(planned.soc))
    predictor = Predictor(tuple(item.layer for item in layers), constants, plugins)
    groups = predictor.groups.tolist()
    check_amount(layers, groups)
    check_spread(layers, groups)
    fitting = Fitting(predictor, np.array([layer.cycles for layer in layers]))
    fit = fitting.fit()
    made = Calibration(
        tuple(runs),
        layers,
        constants,
        predictor.used,
        fit,
        predictor.cycles(predictor.start),
        predictor.cycles(fit.values),
        unseen_cycles(fitting, fit),
    )
    errors = (made.error(made.before), made.error(made.after), made.error(made.unseen))
    check_result(layers, made.before, made.after, errors)
    return made
