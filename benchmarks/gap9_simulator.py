"""GAP9's model against cycles of the open simulator: `python -m benchmarks.gap9_simulator [--fit]`.

The kernels' cycles (``../shared/data/referee/kernels.csv``, column ``x_patched``: XpulpV2 instructions, runtime statics
in L1, the kernels of runtime/) are split in two halves; the figures of the preset ``open-sdk`` are fitted to one half
and checked on the other. ``--fit`` prints figures fitted anew. None of these cycles is from silicon.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from match_gap9.cluster import counted
from match_gap9.constants import values
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp
from rich.console import Console
from rich.table import Table

from benchmarks.gap9_issue import issue_table, issues

REFEREE = Path(__file__).resolve().parents[2] / "shared/data/referee"
#: What a launch takes around a kernel, which the rows include: row "empty".
LAUNCH_CYCLES = 91
PRESET = "open-sdk"

Row = Mapping[str, int]
Formula = Callable[[Mapping[str, int], Row], Any]


def referee_rows(name: str) -> list[dict[str, str]]:
    """Rows of one of the referee's files; the first line, a comment with the units, is left out."""
    text = (REFEREE / name).read_text()
    return list(csv.DictReader(io.StringIO(text.split("\n", 1)[1])))


def _conv(t: Mapping[str, int], r: Row) -> Any:
    return counted.conv(
        t, out_y=r["oy"], out_x=r["ox"], k_out=r["k"], c_in=r["c_in"], kernel_y=r["ky"], kernel_x=r["kx"]
    )


def _pointwise(t: Mapping[str, int], r: Row) -> Any:
    return counted.pointwise(t, out_y=r["oy"], out_x=r["ox"], k_out=r["k"], c_in=r["c_in"])


def _linear(t: Mapping[str, int], r: Row) -> Any:
    return counted.linear(t, rows=r["oy"], c_in=r["c_in"], k_out=r["k"])


def _window(r: Row) -> dict[str, int]:
    """Rows and columns that the windows of a tile cover."""
    return {"in_y": (r["oy"] - 1) * r["stride"] + r["ky"], "in_x": (r["ox"] - 1) * r["stride"] + r["kx"]}


def _depthwise(t: Mapping[str, int], r: Row) -> Any:
    return counted.depthwise(
        t, **_window(r), out_y=r["oy"], out_x=r["ox"], channels=r["k"], kernel_y=r["ky"], kernel_x=r["kx"]
    )


def _turn(t: Mapping[str, int], r: Row) -> Any:
    """The first part of a depthwise kernel alone."""
    return counted.turn(t, **_window(r), channels=r["k"])


def _wide(t: Mapping[str, int], r: Row) -> Any:
    return counted.wide_conv(
        t,
        pixels=r["oy"] * r["ox"],
        k_out=r["k"],
        c_in=r["c_in"],
        kernel_y=r["ky"],
        kernel_x=r["kx"],
        direct=r["ky"] == r["kx"] == 1 and r["c_in"] % 4 == 0,
        shift=_shift(r),
    )


def _shift(r: Row) -> int:
    return 31 if r["shift_below_32"] else 32


def _wide_depthwise(t: Mapping[str, int], r: Row) -> Any:
    return counted.wide_depthwise(
        t,
        out_y=r["oy"],
        out_x=r["ox"],
        channels=r["k"],
        kernel_y=r["ky"],
        kernel_x=r["kx"],
        stride_x=r["stride"],
        shift=_shift(r),
    )


def _pool(average: bool) -> Formula:
    return lambda t, r: counted.pool(
        t, out_y=r["oy"], out_x=r["ox"], channels=r["k"], kernel_y=r["ky"], kernel_x=r["kx"], average=average
    )


def _requant(t: Mapping[str, int], r: Row) -> Any:
    return counted.wide_requant(t, pixels=r["oy"] * r["ox"], channels=r["k"], shift=_shift(r))


#: Kernels that share figures are fitted together. Not `quantize`: the simulated cores have no floating-point unit.
FAMILIES: tuple[Mapping[str, Formula], ...] = (
    MappingProxyType({"conv2d": _conv, "pointwise": _pointwise}),
    MappingProxyType({"linear": _linear}),
    MappingProxyType({"depthwise": _depthwise, "hwc_to_chw": _turn}),
    MappingProxyType({"wide_conv2d": _wide, "wide_pointwise": _wide, "wide_linear": _wide}),
    MappingProxyType({"wide_depthwise": _wide_depthwise}),
    MappingProxyType({"ne16_requant": _requant}),
    MappingProxyType({"avgpool": _pool(True), "avgpool_even": _pool(True)}),
    MappingProxyType({"maxpool": _pool(False)}),
    MappingProxyType({"add": lambda t, r: counted.add(t, elements=r["oy"] * r["ox"] * r["k"])}),
    MappingProxyType(
        {
            "flip": lambda t, r: counted.flip(t, elements=r["ox"]),
            "clip": lambda t, r: counted.clip(t, elements=r["ox"]),
        }
    ),
    MappingProxyType({"transpose": lambda t, r: counted.transpose(t, rows=r["oy"], columns=r["ox"])}),
)


@dataclass(frozen=True)
class Sample:
    """A row: its kernel, sizes, measured cycles without the launch, and how often each fitted figure is charged."""

    kernel: str
    row: Row
    cycles: float
    counts: Mapping[str, float]


def _is_patched(kernel: str, row: Row) -> bool:
    """Whether the kernel of the row is the one that runtime/ has now: bytes are flipped word by word."""
    return not (kernel == "flip" and -(-row["ox"] // 8) % 4)


def samples(family: Mapping[str, Formula]) -> Iterator[Sample]:
    """The rows of the kernels of a family, whose cycles are a sum of figures times counts."""
    figures = values(PRESET)
    fitted = [name for name in figures if name.startswith("sdk_")]
    for text in referee_rows("kernels.csv"):
        kernel = text["kernel"]
        row = {name: int(value) for name, value in text.items() if name not in ("kernel", "hand") and value.isdigit()}
        if kernel not in family or not _is_patched(kernel, row):
            continue
        counts = {}
        for name in fitted:
            unit = {**figures, **dict.fromkeys(fitted, 0), name: 1024}
            counts[name] = float(family[kernel](unit, row)) / 1024
        launch = 0 if kernel == "hwc_to_chw" else LAUNCH_CYCLES
        yield Sample(kernel, row, row["x_patched"] - launch, {name: n for name, n in counts.items() if n})


def halves(found: list[Sample]) -> tuple[list[Sample], list[Sample]]:
    """The rows to fit to and the rows to check on: alternately, but the first row with a figure is fitted to."""
    fit: list[Sample] = []
    check: list[Sample] = []
    known: set[str] = set()
    for sample in found:
        (fit if set(sample.counts) - known or len(fit) < len(check) else check).append(sample)
        known |= set(sample.counts)
    return fit, check


def fitted_figures(found: list[Sample]) -> dict[str, int]:
    """Whole non-negative figures with the smallest sum of relative errors (a mixed-integer program)."""
    solver = pywraplp.Solver.CreateSolver("SCIP")
    solver.SetTimeLimit(20_000)
    names = sorted({name for sample in found for name in sample.counts})
    figures = {name: solver.IntVar(0, 20_000, name) for name in names}
    error = [solver.NumVar(0, solver.infinity(), "") for _ in found]
    for sample, bound in zip(found, error, strict=True):
        off = sum(figures[name] * (n / sample.cycles) for name, n in sample.counts.items()) - 1
        solver.Add(off <= bound)
        solver.Add(-off <= bound)
    solver.Minimize(sum(error))
    if solver.Solve() not in (solver.OPTIMAL, solver.FEASIBLE):
        raise RuntimeError("the fit has no solution")
    return {name: round(figures[name].solution_value()) for name in names}


def errors(found: list[Sample], figures: Mapping[str, int]) -> NDArray[np.float64]:
    """Predicted over measured less 1, launch included."""
    predicted = np.array([sum(figures[name] * n for name, n in s.counts.items()) for s in found])
    measured = np.array([s.cycles for s in found])
    launch = np.array([0 if s.kernel == "hwc_to_chw" else LAUNCH_CYCLES for s in found])
    relative: NDArray[np.float64] = (predicted + launch) / (measured + launch) - 1
    return relative


def main(arguments: list[str]) -> None:
    """Prints the table; with ``--fit`` the figures too."""
    console = Console(width=120)
    table = Table("kernels", "rows", "fitted: median", "worst", "checked: median", "worst", title="errors of the model")
    checked: list[float] = []
    for family in FAMILIES:
        fit, check = halves(list(samples(family)))
        figures = fitted_figures(fit) if "--fit" in arguments else values(PRESET)
        if "--fit" in arguments:
            console.print("\n".join(f"{name} {value}" for name, value in fitted_figures(fit).items()))
        inside, outside = np.abs(errors(fit, figures)), np.abs(errors(check, figures))
        checked += list(outside)
        cells = [f"{100 * f(e):.1f} %" for e in (inside, outside) for f in (np.median, np.max)]
        table.add_row(", ".join(family), f"{len(fit)} + {len(check)}", *cells)
    console.print(table)
    console.print(f"rows not fitted to: median {100 * np.median(checked):.1f} %, worst {100 * max(checked):.1f} %")
    console.print(issue_table(list(issues(values(PRESET), referee_rows("issue.csv")))))


if __name__ == "__main__":
    main(sys.argv[1:])
