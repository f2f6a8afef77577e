"""The stored counters of a simulator of GAP9: the model's error falls from about 40 % to less than 10 %.

They are of programs of an earlier version: layers that are cut into other tiles now are left out.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from match_calibrate.calibration import calibrated
from match_calibrate.programs import digests, runs
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins

from tests.conftest import ROOT

LAYERS = ROOT.parent / "shared" / "data" / "referee" / "layers.csv"
#: The build whose runtime is in the cluster's memory, as the runtime is made for.
BUILD = "x_l1"
NETWORKS = ("resnet8", "autoencoder")


def test_stored_counters(tmp_path: Path, installed: Plugins, shared_model: Callable[[str], Path]) -> None:
    if not LAYERS.is_file():
        pytest.skip("../shared/data/referee is not on this machine")
    lines = [line for line in LAYERS.read_text("utf-8").splitlines() if not line.startswith("#")]
    models = [shared_model(f"mlperf_{network}_int8_qdq") / "model.onnx" for network in NETWORKS]
    pairs, kept = [], 0
    for network, model in zip(NETWORKS, models, strict=True):
        for precision in ("fast", "exact"):
            folder, file = tmp_path / f"{network}_{precision}", tmp_path / f"{network}_{precision}.csv"
            options = {"preset": "engine", "precision": precision, "execution": "sequential"}
            made = compile_model(CompileRequest(model, "gap9", folder, **options), installed).compilation.program
            tasks = [task for task in made.tasks if not task.assignment.candidate.pattern.view]
            mine = [r for r in csv.DictReader(lines) if (r["network"], r["precision"]) == (network, precision)]
            with file.open("w", encoding="utf-8", newline="") as stream:
                writer = csv.writer(stream)
                writer.writerow(("layer", "unit", "pattern", "tiles", "cycles"))
                for r, task in zip(mine[:-1], tasks, strict=True):  # the last row is the total
                    found = (task.assignment.candidate.unit, task.assignment.candidate.pattern.name)
                    if (*found, str(task.assignment.schedule.steps)) == (r["unit"], r["pattern"], r["tiles"]):
                        writer.writerow((r["node"], *found, r["tiles"], r[BUILD]))
                        kept += 1
            pairs.append((folder, file))
    fitted = calibrated(runs(pairs, digests(models, installed), installed, NullObserver(), None), installed)
    assert len(fitted.layers) == kept > 35
    assert fitted.error(fitted.after) < 0.10 < fitted.error(fitted.before)
    assert fitted.error(fitted.unseen) < fitted.error(fitted.before)
