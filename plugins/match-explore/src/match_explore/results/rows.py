"""The table of a study: one row for each point, in the order of the points, the same in every run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from match_core.version import __version__

from match_explore.front import front
from match_explore.points import Point, what_if_text
from match_explore.study import MAXIMISED, Study
from match_explore.task import Outcome

Row = dict[str, Any]
#: Figures of a row, in the order of the columns.
FIGURES = (
    *("cycles", "milliseconds", "peak_bytes", "near_bytes", "energy_pj", "accuracy", "twin_cycles", "bit_exact"),
    *("area_mm2", "price"),
)


@dataclass(frozen=True)
class Provenance:
    """What a table was made with. ``code``: the digest of the code; ``versions``: of packages by name."""

    code: str
    versions: Mapping[str, str]


def rows_of(study: Study, points: Sequence[Point], outcomes: Mapping[int, Outcome], made: Provenance) -> list[Row]:
    """The rows of all points that have an outcome. ``status``: ok, failed, or pruned (its bounds were enough);
    ``meets``: whether all constraints hold; ``front``: whether no other row of its group that meets them is better."""
    rows = [
        _row(study, p, outcomes[p.index], made) for p in sorted(points, key=lambda p: p.index) if p.index in outcomes
    ]
    for group in _groups(study, rows).values():
        able = [row for row in group if row["meets"] and values_of(study, row) is not None]
        values = [value for row in able if (value := values_of(study, row)) is not None]
        for place in front(values):
            able[place]["front"] = True
    return rows


def group_of(study: Study, row: Mapping[str, Any]) -> str:
    """Rows are compared within a model; with accuracy as an objective, models are compared too."""
    return "" if "accuracy" in study.objectives else str(row["model"])


def values_of(study: Study, row: Mapping[str, Any]) -> tuple[float, ...] | None:
    """The objectives of a row, all to be minimised; None if one is not known."""
    found = [row[name] for name in study.objectives]
    if any(value is None for value in found):
        return None
    signs = (-1.0 if name in MAXIMISED else 1.0 for name in study.objectives)
    return tuple(sign * value for sign, value in zip(signs, found, strict=True))


def figures_of(study: Study, point: Point, outcome: Outcome) -> dict[str, Any]:
    """The figures of a point by name, None if not known."""
    facts, hertz = study.facts.get(point.target), outcome.get("clock_hz")
    cycles = outcome.get("twin_cycles") or outcome.get("cycles")
    made = {name: outcome.get(name) for name in FIGURES}
    made["milliseconds"] = round(1e3 * cycles / hertz, 9) if cycles is not None and hertz else None
    made.update({name: value for name, value in point.axes if name in study.objectives})
    made["area_mm2"] = None if facts is None else facts.area_mm2
    made["price"] = None if facts is None else facts.price
    return made


def meets(study: Study, figures: Mapping[str, Any]) -> bool:
    """Whether all constraints of the study hold."""
    return all(constraint.holds(figures[constraint.figure]) for constraint in study.constraints)


def _row(study: Study, point: Point, outcome: Outcome, made: Provenance) -> Row:
    figures, options = figures_of(study, point, outcome), dict(point.options)
    ok = outcome["status"] == "ok"
    axes = {name: " ".join(value) if isinstance(value, tuple) else value for name, value in point.axes}
    sizes = " ".join(f"{name}={size}" for name, size in sorted(options["memory"].items()))
    return {
        "point": point.index,
        "model": point.model,
        "target": point.target,
        **axes,
        "memory": sizes,
        "what_if": what_if_text(point),
        "status": outcome["status"],
        "meets": ok and meets(study, figures),
        "front": False,
        **{name: figures[name] for name in FIGURES},
        "figures": "lower bound" if study.evaluate == "bounds" or outcome["status"] == "pruned" else "modelled",
        "runs_on": " ".join(outcome.get("runs_on", ())),
        "code": outcome.get("code", ""),
        "why": "; ".join(filter(None, (outcome.get(part, "") for part in ("what", "where", "why")))),
        "key": point.key(made.code),
        "model_sha256": point.sha256,
        "study_sha256": study.sha256,
        "seed": study.strategy.seed,
        "match": __version__,
        "code_sha256": made.code,
    }


def _groups(study: Study, rows: Sequence[Row]) -> Mapping[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[group_of(study, row)].append(row)
    return groups
