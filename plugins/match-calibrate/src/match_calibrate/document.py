"""The figures file: what ``--figures`` reads, and where it comes from."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from match_core.deploy.figures import SCHEMA

if TYPE_CHECKING:
    from match_calibrate.calibration import Calibration
    from match_calibrate.predict import Name

_DIGITS = 4


def figures_document(made: Calibration, stated: dict[Name, float]) -> dict[str, Any]:
    """The content of the figures file. ``stated``: the values of the preset, which the file replaces where they
    differ. It holds no clock and no folder: equal counters give equal bytes."""
    soc = made.runs[0].planned.soc
    return {
        **SCHEMA,
        "target": soc.name,
        "preset": soc.preset,
        "figures": [_figure(made, name, stated) for name in made.constants if _replaced(made, name, stated)],
        "kept": _kept(made),
        "errors": {
            "layers": len(made.layers),
            "before": _rounded(made.error(made.before)),
            "after": _rounded(made.error(made.after)),
            "cross_validated": _rounded(made.error(made.unseen)),
        },
        "kernels": kernels(made),
        "counters": [
            {
                "file": Path(run.counters.file).name,
                "sha256": sha256(Path(run.counters.file).read_bytes()).hexdigest(),
                "network": run.planned.model.name,
                "model_sha256": run.planned.model.source_sha256,
                "layers": len(run.counters.rows),
            }
            for run in made.runs
        ],
    }


def figures_text(document: dict[str, Any]) -> str:
    """The document as stable text."""
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def kernels(made: Calibration) -> list[dict[str, Any]]:
    """Mean relative error of the layers of each kernel before and after, the worst first."""
    before, after = np.abs(made.errors_of(made.before)), np.abs(made.errors_of(made.after))
    names = list(dict.fromkeys((layer.unit, layer.pattern) for layer in made.layers))
    rows = []
    for unit, pattern in names:
        mine = [n for n, layer in enumerate(made.layers) if (layer.unit, layer.pattern) == (unit, pattern)]
        errors = {"before": _rounded(before[mine].mean()), "after": _rounded(after[mine].mean())}
        rows.append({"unit": unit, "pattern": pattern, "layers": len(mine), **errors})
    return sorted(rows, key=lambda row: -row["after"])


def layer_rows(made: Calibration) -> list[dict[str, Any]]:
    """All layers, the worst after the fit first."""
    return [
        {
            "program": made.layers[n].program,
            "index": made.layers[n].index,
            "title": made.layers[n].title,
            "unit": made.layers[n].unit,
            "pattern": made.layers[n].pattern,
            "measured": round(float(made.cycles[n])),
            "before": round(float(made.before[n])),
            "after": round(float(made.after[n])),
            "unseen": round(float(made.unseen[n])),
            "error_before": _rounded(made.errors_of(made.before)[n]),
            "error_after": _rounded(made.errors_of(made.after)[n]),
        }
        for n in made.worst_first
    ]


def _figure(made: Calibration, name: Name, stated: dict[Name, float]) -> dict[str, Any]:
    error = made.fit.errors.get(name, math.inf)
    return {
        "unit": name[0],
        "constant": name[1],
        "value": made.fit.values[name],
        "in": made.constants[name].unit,
        "before": made.constants[name].value,
        "preset_value": stated[name],
        "standard_error": _rounded(error) if math.isfinite(error) else None,
        "fitted": name in made.fit.errors,
    }


def _replaced(made: Calibration, name: Name, stated: dict[Name, float]) -> bool:
    return made.fit.values[name] != stated[name]


def _kept(made: Calibration) -> dict[str, list[str]]:
    """The constants that keep their values, by the reason."""
    names = [name for name in made.constants if name not in made.fit.errors]
    return {
        "not_determined": [".".join(name) for name in names if name in made.used],
        "not_in_any_layer": [".".join(name) for name in names if name not in made.used],
    }


def _rounded(number: float) -> float:
    return float(f"{float(number):.{_DIGITS}g}")
