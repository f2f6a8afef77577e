"""Modelled cycles of all stored networks on all chips, beside those of another checkout.

``python -m benchmarks.makespans --beside CHECKOUT [--update]`` compiles every network of ../shared/models for each
target with both, and prints how many programs take fewer cycles, as many or more, and how many networks one of them
refuses. Programs that take more are listed. Writes all figures as CSV.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.compile_cost import compile_cost
from benchmarks.runs import MODELS
from benchmarks.tables import Column, Table

TARGETS = ("carfield", "diana", "gap9", "host", "ita")
#: What a pair of programs is, in the order of the table's columns.
FEWER, EQUAL, MORE, NEW, LOST, NONE = "fewer cycles", "as many", "more", "refused before", "refused now", "refused"
Row = tuple[str, str, int, int]


def main(arguments: Sequence[str]) -> int:
    """Print the table, write CSV; 1 if a program takes more cycles, or a network is refused that was not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT", required=True)
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=TARGETS)
    parser.add_argument(
        "--networks", nargs="+", default=sorted(path.parent.name for path in MODELS.glob("*/model.onnx"))
    )
    parser.add_argument("--update", action="store_true", help="put the table into docs/benchmarks.md")
    chosen = parser.parse_args(arguments)
    rows: list[Row] = []
    for network in chosen.networks:
        for target in chosen.targets:
            now, before = (compile_cost(MODELS / network / "model.onnx", target, root=r) for r in (None, chosen.beside))
            rows.append((target, network, now.cycles, before.cycles))
            sys.stderr.write(f"{rows[-1]}\n")
    columns = (Column("target"), Column("network"), Column("cycles", ",d"), Column("cycles, before", ",d"))
    every = Table("makespans-all", "", columns, tuple(rows))
    every.write_csv()
    worse = [row for row in rows if verdict(row) in (MORE, LOST)]
    sys.stdout.write(f"{table(rows).markdown()}\n")
    if worse:
        sys.stdout.write(f"{Table(every.name, '', columns, tuple(worse)).markdown()}\n")
    if chosen.update:
        table(rows).put()
    return 1 if worse else 0


def verdict(row: Row) -> str:
    """What a pair of programs is; 0 cycles stand for a refusal."""
    *_, now, before = row
    if not now or not before:
        return NEW if now else LOST if before else NONE
    return FEWER if now < before else EQUAL if now == before else MORE


def table(rows: Sequence[Row]) -> Table:
    """How many networks there are of each kind, for each target."""
    counts = {target: Counter(verdict(row) for row in rows if row[0] == target) for target, *_ in rows}
    kinds = (FEWER, EQUAL, MORE, NEW, LOST, NONE)
    columns = (Column("target"), *(Column(kind, ",d") for kind in kinds))
    about = "*modelled, `python -m benchmarks.makespans --beside CHECKOUT`*"
    return Table("makespans", about, columns, tuple((t, *(found[k] for k in kinds)) for t, found in counts.items()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
