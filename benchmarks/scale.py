"""Time and memory of a compilation against the number of operators: ``python -m benchmarks.scale``.

Networks of each kind (``sized_networks``) on each target: processor time by stage, peak memory, and the exponent of a
power of the size that fits the times best. Figures are kept in build/benchmarks/scale.json, so that a long measurement
can be made in parts; ``--update`` puts all of them into the page, with a chart.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.charts import Axes, lines
from benchmarks.compile_cost import CompileCost, compile_cost
from benchmarks.sized_networks import KINDS, write
from benchmarks.tables import OUTPUT, PAGE, Cell, Column, Table

SIZES = (10, 50, 160, 500, 1600, 5000)
TARGETS = ("host", "gap9", "carfield")
#: Sizes from which exponents are fitted: below, the start-up dominates.
FITTED_MIN = 50
#: Sizes from which nothing but the growth counts.
LARGE_MIN = 500
#: A stage below this share of the total has no exponent.
SHOWN_MIN = 0.02
STORED = OUTPUT / "scale.json"
CHART = "compile-time"

#: Costs of the sizes of one kind on one target.
Costs = dict[int, CompileCost]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=sorted(KINDS), default=sorted(KINDS))
    parser.add_argument("--targets", nargs="+", default=TARGETS)
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--update", action="store_true", help="put all figures so far into the page, with a chart")
    chosen = parser.parse_args()
    known = stored()
    for target in chosen.targets:
        for kind in chosen.kinds:
            costs = known.setdefault((kind, target), {})
            for size in chosen.sizes:
                costs[size] = measured(kind, target, size, chosen.seed)
                print(row(kind, target, size, costs[size]), flush=True)
                keep(known)
            print(f"{kind} on {target}: exponents {exponents(costs)}\n", flush=True)
    table(known).write_csv()
    if chosen.update:
        table(known).put(PAGE)
        totals = {f"{kind} on {target}": points(costs) for (kind, target), costs in sorted(known.items())}
        axes = Axes("compile time", "operators", "processor seconds")
        lines(CHART, axes, {name: found for name, found in totals.items() if found}, folder=PAGE.parent / "images")


def measured(kind: str, target: str, size: int, seed: int = 1) -> CompileCost:
    """The cost of a network."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / f"{kind}_{size}.onnx"
        write(kind, size, model, seed)
        return compile_cost(model, target, output=Path(folder) / "out")


def stored() -> dict[tuple[str, str], Costs]:
    """The figures of earlier runs by kind and target."""
    if not STORED.exists():
        return {}
    read = json.loads(STORED.read_text(encoding="utf-8"))
    return {
        (kind, target): {int(size): CompileCost(**cost) for size, cost in costs.items()} for kind, target, costs in read
    }


def keep(known: Mapping[tuple[str, str], Costs]) -> None:
    """Write the figures for later runs."""
    STORED.parent.mkdir(parents=True, exist_ok=True)
    content = [
        [kind, target, {size: asdict(cost) for size, cost in sorted(costs.items())}]
        for (kind, target), costs in sorted(known.items())
    ]
    STORED.write_text(json.dumps(content, indent=1), encoding="utf-8")


def points(costs: Costs) -> list[tuple[float, float]]:
    """(operators, seconds) of the sizes that compile."""
    return [(float(size), cost.seconds) for size, cost in sorted(costs.items()) if not cost.error]


def table(known: Mapping[tuple[str, str], Costs]) -> Table:
    """Seconds by size, exponents, and the peak of the largest network."""
    sizes = sorted({size for costs in known.values() for size in costs})
    rows: list[tuple[Cell, ...]] = []
    for target, kind in sorted({(target, kind) for kind, target in known}, key=lambda pair: (_place(pair[0]), pair[1])):
        costs = {size: cost for size, cost in known[kind, target].items() if not cost.error}
        if not costs:
            continue
        seconds = [costs[size].seconds if size in costs else None for size in sizes]
        slopes = [_slope(costs, least) for least in (FITTED_MIN, LARGE_MIN)]
        rows.append((target, kind, *seconds, *slopes, costs[max(costs)].peak_bytes / 1e6))
    columns = (
        Column("target"),
        Column("network"),
        *(Column(f"{size:,}", ".1f") for size in sizes),
        Column(f"exponent from {FITTED_MIN}", ".2f"),
        Column(f"from {LARGE_MIN}", ".2f"),
        Column("peak MB", ".0f"),
    )
    return Table(
        "scale",
        "*processor seconds by number of operators, `python -m benchmarks.scale --update`*",
        columns,
        tuple(rows),
    )


def _slope(costs: Costs, least: int) -> float | None:
    fitted = {size: cost.seconds for size, cost in costs.items() if size >= least}
    return exponent(fitted) if len(fitted) > 1 else None


def _place(target: str) -> tuple[int, str]:
    return TARGETS.index(target) if target in TARGETS else len(TARGETS), target


def exponents(costs: Mapping[int, CompileCost]) -> str:
    """The exponent of the total and of every stage that matters."""
    fitted = {size: cost for size, cost in costs.items() if size >= FITTED_MIN and not cost.error}
    if len(fitted) < 2:
        return "none: too few sizes"
    last = fitted[max(fitted)]
    shown = [name for name, seconds in last.stages.items() if seconds >= SHOWN_MIN * last.seconds]
    parts = [f"total {exponent({size: cost.seconds for size, cost in fitted.items()}):.2f}"]
    for name in shown:
        parts.append(f"{name} {exponent({size: cost.stages.get(name, 0.0) for size, cost in fitted.items()}):.2f}")
    return ", ".join(parts)


def exponent(seconds: Mapping[int, float]) -> float:
    """The slope of the line through the logarithms with the least squares."""
    sizes, times = np.log(list(seconds)), np.log(np.maximum(1e-3, list(seconds.values())))
    return float(np.polyfit(sizes, times, 1)[0])


def row(kind: str, target: str, size: int, cost: CompileCost) -> str:
    """One line: the total, the peak, and the stages."""
    head = f"{kind:>11} {target:>8} {size:>5} {cost.seconds:7.2f} s {cost.peak_bytes / 1e6:6.0f} MB"
    if cost.error:
        return f"{head}  {cost.error.splitlines()[0]}"
    return f"{head}  " + ", ".join(f"{name} {seconds:.2f}" for name, seconds in cost.stages.items())


if __name__ == "__main__":
    main()
