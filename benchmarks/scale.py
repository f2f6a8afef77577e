"""Time and memory of a compilation against the number of operators: ``python -m benchmarks.scale``.

Networks of each kind (``sized_networks``) on each target: processor time by stage, peak memory, and the exponent of a
power of the size that fits the times best. ``--curve NAME`` writes a chart of the totals.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.charts import Axes, lines
from benchmarks.compile_cost import CompileCost, compile_cost
from benchmarks.sized_networks import KINDS, write

SIZES = (10, 50, 160, 500, 1600, 5000)
TARGETS = ("host", "gap9", "carfield")
#: Sizes from which exponents are fitted: below, the start-up dominates.
FITTED_MIN = 50
#: A stage below this share of the total has no exponent.
SHOWN_MIN = 0.02


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=sorted(KINDS), default=sorted(KINDS))
    parser.add_argument("--targets", nargs="+", default=TARGETS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--curve", metavar="NAME", help="write a chart of this name")
    chosen = parser.parse_args()
    totals: dict[str, list[tuple[float, float]]] = {}
    for target in chosen.targets:
        for kind in chosen.kinds:
            costs = measured(kind, target, chosen.sizes, chosen.seed)
            for size, cost in costs.items():
                print(row(kind, target, size, cost), flush=True)
            print(f"{kind} on {target}: exponents {exponents(costs)}\n", flush=True)
            points = [(float(size), cost.seconds) for size, cost in costs.items() if not cost.error]
            if points:
                totals[f"{kind} on {target}"] = points
    if chosen.curve:
        lines(chosen.curve, Axes("compile time", "operators", "processor seconds"), totals)


def measured(kind: str, target: str, sizes: Sequence[int], seed: int = 1) -> dict[int, CompileCost]:
    """The cost of each size."""
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for size in sizes:
            model = Path(folder) / f"{kind}_{size}.onnx"
            write(kind, size, model, seed)
            found[size] = compile_cost(model, target, output=Path(folder) / f"out_{size}")
    return found


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
