"""What a table says: how much each axis matters, which target to buy, why points failed."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from match_explore.results.rows import Row, values_of

if TYPE_CHECKING:
    from match_explore.points import Point
    from match_explore.study import Study

#: Columns that every study varies, besides its axes.
_ALWAYS = ("model", "target")
_OPTIONS = {"precision": "--precision", "preset": "--preset", "regions": "--regions", "parallel": "--parallel"}


def sensitivity(study: Study, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For each axis and objective: the largest figure over the smallest one among rows that differ in this axis only,
    as the median and the maximum over all such groups, and the value that most often is best."""
    axes = [*_ALWAYS, *(axis.name for axis in study.axes)]
    able = [row for row in rows if row["status"] == "ok"]
    found = []
    for axis in axes:
        others = [name for name in axes if name != axis]
        groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        for row in able:
            groups[tuple(row[name] for name in others)].append(row)
        for figure in study.objectives:
            ratios, best = [], Counter[str]()
            for group in groups.values():
                known = [row for row in group if row[figure]]
                if len(known) > 1:
                    low, high = min(known, key=lambda r: r[figure]), max(known, key=lambda r: r[figure])
                    ratios.append(high[figure] / low[figure])
                    best[str((high if figure == "accuracy" else low)[axis])] += 1
            if ratios:
                found.append(
                    {
                        "axis": axis,
                        "objective": figure,
                        "median_ratio": round(median(ratios), 6),
                        "largest_ratio": round(max(ratios), 6),
                        "often_best": min(best, key=lambda value: (-best[value], value)),
                        "groups": len(ratios),
                    }
                )
    return found


def to_buy(study: Study, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For each target that exists and meets all constraints with every model: its price, and its best point for each
    model (by the first objective). The cheapest first, then those without a price; among equals the one with the best
    figures."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    chosen: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        values = values_of(study, row)
        if row["status"] == "ok" and row["meets"] and not row["what_if"] and values is not None:
            best = chosen[row["target"]].get(row["model"])
            if best is None or values < (values_of(study, best) or ()):
                chosen[row["target"]][row["model"]] = row
    found = []
    for target, best in chosen.items():
        if len(best) == len(models):
            facts = study.facts.get(target)
            total = sum((values_of(study, row) or (0.0,))[0] for row in best.values())
            found.append(
                {
                    "target": target,
                    "price": None if facts is None else facts.price,
                    "source": "" if facts is None else facts.source,
                    "points": {model: best[model]["point"] for model in models},
                    "total": total,
                }
            )
    return sorted(found, key=lambda e: (e["price"] is None, e["price"] or 0.0, e["total"], e["target"]))


def failures(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Codes with the number of points, and the first reason of each."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["status"] == "failed":
            found[row["code"]].append(row)
    return [
        {"code": code, "count": len(some), "why": some[0]["why"], "points": [row["point"] for row in some]}
        for code, some in sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    ]


def compile_command(study: Study, point: Point) -> str:
    """The command that compiles a point of hardware that exists."""
    options: Mapping[str, Any] = dict(point.options)
    model = next(model for model in study.models if model.sha256 == point.sha256 and model.name == point.model)
    target = next((name for name in study.targets if name.endswith(".toml")), "") if point.board else point.target
    words = ["match", "compile", str(model.path), "-t", target]
    words += [word for name, size in options["memory"].items() for word in ("--memory", f"{name}={size}")]
    words += [word for unit in options.get("only_units", ()) for word in ("--only-unit", unit)]
    words += [word for name, option in _OPTIONS.items() if name in options for word in (option, options[name])]
    words += ["--objective", options["objective"]] if "objective" in options else []
    words += {"sequential": ["--sequential"], "concurrent": ["--concurrent"]}.get(options.get("execution", ""), [])
    words += ["--quantized-io"] if options.get("quantized_io") else []
    return shlex.join([*words, "-o", f"build/{point.model}-{point.target}"])
