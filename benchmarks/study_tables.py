"""Tables of docs/benchmarks.md from the studies of benchmarks/studies, after `match explore` has computed them.

    make bench-studies
    python -m benchmarks.study_tables [--update]

Prints modelled cycles: a row for each network, a column for each value of the axis. Exit code 1 if a program takes more
cycles with more memory.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.tables import ROOT, Cell, Column, Table


@dataclass(frozen=True, slots=True)
class Sweep:
    """A study with the field of its table whose values become columns, and the fields that tell rows apart."""

    name: str
    axis: str
    rows: tuple[str, ...]


SWEEPS = (
    Sweep("match_l1", "memory", ("model", "preset")),
    Sweep("match_diana_l1", "memory", ("model",)),
    Sweep("match_units", "units", ("model", "preset")),
    Sweep("matcha_parallel", "parallel", ("model", "target")),
    Sweep("gap9_l2", "memory", ("model",)),
)


def points_of(sweep: Sweep) -> list[dict[str, str]]:
    """The rows of a study's table."""
    with (ROOT / "build" / "studies" / sweep.name / "study.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table_of(sweep: Sweep, points: list[dict[str, str]]) -> Table:
    """Cycles, or the code of what went wrong."""
    values = tuple(dict.fromkeys(point[sweep.axis] for point in points))
    cells: dict[tuple[str, ...], dict[str, Cell]] = {}
    for point in points:
        cell = f"{int(point['cycles']):,}" if point["status"] == "ok" else point["code"]
        cells.setdefault(tuple(point[field] for field in sweep.rows), {})[point[sweep.axis]] = cell
    headings = [Column(field) for field in sweep.rows] + [Column(_heading(value), ",") for value in values]
    rows = tuple((*key, *(found.get(value) for value in values)) for key, found in sorted(cells.items()))
    about = f"*modelled cycles, `match explore benchmarks/studies/{sweep.name}.toml`*"
    return Table(f"study-{sweep.name.replace('_', '-')}", about, tuple(headings), rows)


def _heading(value: str) -> str:
    memory, equals, size = value.partition("=")
    return f"{memory} {int(size):,}" if equals else value


def slower_with_more(sweep: Sweep, points: list[dict[str, str]]) -> Iterator[str]:
    """Programs that take more cycles than with less memory."""
    best: dict[tuple[str, ...], int] = {}
    for point in sorted(points, key=lambda point: int(point["memory"].partition("=")[2])):
        if point["status"] == "ok":
            key, cycles = tuple(point[field] for field in sweep.rows), int(point["cycles"])
            if cycles > best.get(key, cycles):
                yield f"{' '.join(key)}: {point['memory']} takes {cycles:,} cycles, with less memory {best[key]:,}"
            best[key] = min(cycles, best.get(key, cycles))


def main() -> int:
    """Print the tables, and put them into the page if asked to."""
    faults: list[str] = []
    for sweep in SWEEPS:
        points = points_of(sweep)
        table = table_of(sweep, points)
        sys.stdout.write(f"{table.markdown()}\n\n")
        if sweep.axis == "memory":
            faults += slower_with_more(sweep, points)
        if "--update" in sys.argv[1:]:
            table.put()
    sys.stdout.writelines(f"{fault}\n" for fault in faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
