"""Makespans of concurrent programs against lower bounds: the simple ones of the mapping, and the strong one of
``strong_bound``, whose docstring says what it holds for.

Per network: makespans as the mapper models them, before memory is planned, of the mapper's stages and of the joint
search with the cover that they chose; the higher simple bound; the strong bound, the least over the covers that the
stages try; and whether it is the optimum of its model (otherwise what the solver or the sum over stages proves). With
``--long`` the joint search is that of ``--parallel long``. With ``--segments`` also what ``segment_bound`` proves,
up to the joint search's makespan divided by that number.

Exit code 1 if a makespan is below a bound.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from match_concurrent.mapping.choose import evaluators_of, staged
from match_concurrent.mapping.joint import with_joint
from match_concurrent.mapping.joint_search import jointly
from match_concurrent.mapping.stages import bounds_of
from match_core.contract.mapping import Parallel

from benchmarks.beside_runs import NETWORKS_OF, Case
from benchmarks.beside_tables import short
from benchmarks.joint_search import JOINT, captured
from benchmarks.segment_bound import segment_bound
from benchmarks.strong_bound import strong_bound
from benchmarks.tables import Cell, Column, Table

#: Deterministic seconds of the solver for a cover.
SECONDS = 30.0


def measure(
    case: Case,
    seconds: float = SECONDS,
    *,
    branched: bool = True,
    ratio: float | None = None,
    joint: Parallel = "joint",
) -> tuple[Cell, ...]:
    """One row; the solver's effort and whether there are models of branches as in ``strong_bound``; ``ratio`` of the
    makespan and the bound that segments are to prove, None: none; ``joint``: "joint" or "long"."""
    request = captured(case)
    assert request.sequential is not None
    offered = with_joint(request.offered, request.scheduling)
    covers = evaluators_of(request.model, offered, request.scheduling, request.sequential, JOINT)
    best, evaluator = staged(covers, JOINT)
    simple = bounds_of(covers).cycles
    joined, _ = jointly(best, evaluator.of(evaluator.network, replace(JOINT, parallel=joint, free_covers=False)))
    found = [strong_bound(each, joined.finish, seconds, branched=branched) for each in covers]
    strong = min(bound for bound, _ in found)
    if ratio is not None:
        most = ceil(joined.finish / ratio)
        strong = max(strong, min(segment_bound(each, most, report=_reported) for each in covers))
    solved = "yes" if all(ended for _, ended in found) else "no"
    gaps = (best.finish / simple, best.finish / strong, joined.finish / strong)
    row = (short(case.network), best.finish, joined.finish, simple, strong, solved, *gaps)
    sys.stderr.write(f"{row}\n")
    return row


def _reported(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def table(target: str, rows: Sequence[tuple[Cell, ...]], joint: Parallel = "joint") -> Table:
    """One row per network."""
    columns = [Column("network"), Column("stages", ",d"), Column(joint, ",d")]
    columns += [Column("simple bound", ",d"), Column("strong bound", ",d"), Column("solved")]
    columns += [Column(f"{what} bound", ".2f") for what in ("stages / simple", "stages / strong", f"{joint} / strong")]
    command = f"python -m benchmarks.bound_gaps{'' if target == 'carfield' else f' --target {target}'}"
    command += " --long" if joint == "long" else ""
    return Table(f"bound-gaps-{target}", f"*target {target}, modelled, `{command}`*", tuple(columns), tuple(rows))


def main(arguments: Sequence[str]) -> int:
    """Print a table, write CSV."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=tuple(NETWORKS_OF), default="carfield")
    parser.add_argument("--network", action="append", help="short name; may be repeated")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="deterministic ones of the solver for a cover")
    parser.add_argument("--whole", action="store_true", help="no model for each choice of axes")
    parser.add_argument("--segments", type=float, metavar="RATIO", help="prove that the gap is at most this")
    parser.add_argument(
        "--long", dest="joint", action="store_const", const="long", default="joint", help="the joint search is long"
    )
    parser.add_argument("--update", action="store_true", help="put the table into docs/benchmarks.md")
    options = parser.parse_args(arguments)
    networks = [name for name in NETWORKS_OF[options.target] if not options.network or short(name) in options.network]
    made = table(
        options.target,
        [
            measure(
                Case(network, options.target),
                options.seconds,
                branched=not options.whole,
                ratio=options.segments,
                joint=options.joint,
            )
            for network in networks
        ],
        options.joint,
    )
    sys.stdout.write(f"{made.markdown()}\n\n")
    made.write_csv()
    if options.update:
        made.put()
    wrong = [row for row in made.rows if min(int(str(cell)) for cell in row[1:3]) < max(int(str(c)) for c in row[3:5])]
    sys.stdout.write("".join(f"FAILURE: {row[0]}: a makespan below a bound\n" for row in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
