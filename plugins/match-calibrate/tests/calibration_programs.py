"""The measured programs of the tests, and counters that they make up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from match_calibrate.predict import Name, Predictor, fittable
from match_calibrate.programs import Measured, Run, digests, measured, runs
from match_core.contract.observe import NullObserver
from match_core.plugin.facade import Plugins

from tests.conftest import ROOT

DEMO = ROOT / "examples" / "demo" / "resnet8_shapes.onnx"
PRECISIONS = ("fast", "exact")


class Programs:
    """The measured programs, and counters of them with other constants."""

    def __init__(self, folder: Path, plugins: Plugins) -> None:
        self.folder, self.plugins = folder, plugins
        pairs = [(folder / name, folder / f"{name}.csv") for name in PRECISIONS]
        self.runs: tuple[Run, ...] = runs(pairs, digests([DEMO], plugins), plugins, NullObserver(), "gap9")
        self.layers: list[tuple[Measured, ...]] = [measured(run, plugins) for run in self.runs]
        soc = self.runs[0].planned.soc
        flat = tuple(item.layer for mine in self.layers for item in mine)
        self.predictor = Predictor(flat, fittable(soc, plugins.units_of(soc)), plugins)

    def repeated(self, times: int) -> Predictor:
        """Of as many runs of each program."""
        return Predictor(self.predictor.layers * times, self.predictor.constants, self.plugins)

    def true_cycles(self, true: dict[Name, int]) -> np.ndarray:
        return self.predictor.cycles({**self.predictor.start, **true})

    def write(self, cycles: np.ndarray, folder: Path) -> list[str]:
        """Counter files, as values of ``--counters``."""
        left, options = list(cycles), []
        for name, mine in zip(PRECISIONS, self.layers, strict=True):
            rows = [f"{item.index},{item.unit},{item.pattern},{left.pop(0):.0f}" for item in mine]
            path = folder / f"{name}.csv"
            path.write_text("\n".join(("index,unit,pattern,cycles", *rows, "")), "utf-8")
            options += ["--counters", f"{self.folder / name}={path}"]
        return options
