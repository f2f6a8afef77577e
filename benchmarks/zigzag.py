"""The engine against ZigZag's LOMA on the same layers and the same hierarchy.

LOMA's best mapping is converted into a schedule of ours (zigzag_convert.py), checked by the validator, and priced by
our evaluator. LOMA runs once for single and once for double buffers, between which it does not choose itself: the
better result counts, and the time of both runs. Neither side cuts reductions: ZigZag gets them unrolled in space.
Layers without weights have no form in ZigZag.

``make bench-zigzag`` installs ZigZag into an environment of its own. Exit code 1 where ours is above ZigZag's, a
converted schedule is refused, or our search is less than 50 times faster than ZigZag's for any layer.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from match_core.contract.loops import LoopSchedule, ScheduleRequest
from match_core.validate.schedule import schedule_faults
from match_schedule.engine import schedule

from benchmarks.exhaustive import price
from benchmarks.layer_requests import Named, about, chosen, parser
from benchmarks.runs import told
from benchmarks.schedule_space import Point
from benchmarks.tables import ROOT, Cell, Column, Table
from benchmarks.zigzag_convert import best_point, schedule_of
from benchmarks.zigzag_problem import LPF_LIMIT, has_problem, kept_bytes, problem_of

COMMAND = "benchmarks.zigzag"
WORKER = Path(__file__).with_name("zigzag_worker.py")
#: The environment that `make bench-zigzag` makes.
PYTHON = ROOT / "build" / "zigzag" / "bin" / "python"
SPEEDUP_MIN = 50
#: Our search is timed so often; the least counts.
REPEATS = 3
#: Shares of the unit's memory that ZigZag gets, one after the other until its mapping fits with the scratch.
SHARES = (1.0, 0.8, 0.6, 0.4)


@dataclass(frozen=True, slots=True)
class Compared:
    """One layer. ``theirs`` None: no mapping of ZigZag fits; ``note`` says why."""

    named: Named
    ours: int | None
    theirs: int | None
    our_seconds: float
    their_seconds: float
    note: str = ""
    fault: str = ""

    @property
    def ratio(self) -> float | None:
        """ZigZag's cycles over ours."""
        return self.theirs / self.ours if self.theirs is not None and self.ours else None

    @property
    def speedup(self) -> float | None:
        """ZigZag's time over ours."""
        return self.their_seconds / self.our_seconds if self.theirs is not None else None


def solve(python: Path, problems: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """ZigZag's answers."""
    with tempfile.TemporaryDirectory(prefix="match-zigzag-") as folder:
        asked, answered = Path(folder) / "problems.json", Path(folder) / "answers.json"
        asked.write_text(json.dumps(problems), encoding="utf-8")
        command = [str(python), "-I", str(WORKER), str(asked), str(answered)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"the worker failed:\n{done.stderr[-2000:]}")
        answers: list[dict[str, Any]] = json.loads(answered.read_text(encoding="utf-8"))
        return answers


def search_zigzag(request: ScheduleRequest, python: Path) -> tuple[Point | None, float, str]:
    """ZigZag's best mapping as a point, the seconds of the search, and what went wrong."""
    have, note = request.memory_bytes - kept_bytes(request), ""
    for share in SHARES:
        size = int(have * share)
        answers = solve(python, [problem_of(request, double, size) for double in (False, True)])
        found: list[Point] = []
        for answer in answers:
            if "error" in answer:
                note = answer["error"]
                continue
            point = best_point(request, answer["levels"])
            if point is not None:
                found.append(point)
        if found:
            seconds = sum(answer.get("seconds", 0.0) for answer in answers)
            return min(found, key=lambda point: point.cycles), seconds, ""
    return None, 0.0, note or "no mapping fits"


def compare(named: Named, python: Path) -> Compared:
    """One layer, both ways."""
    request = named.request
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        answer = schedule(request)
        times.append(time.perf_counter() - started)
    ours = answer.cost.total_cycles if isinstance(answer, LoopSchedule) else None
    point, seconds, note = search_zigzag(request, python)
    if point is None:
        return Compared(named, ours, None, min(times), seconds, note)
    theirs, faults = price(request, point), []
    if theirs != point.cycles:
        faults.append(f"{theirs} and {point.cycles} cycles for {point}")
    faults += schedule_faults(request.workload, schedule_of(request, point), request.unit, request.soc)
    if ours is None or ours > theirs:
        faults.append(f"ours {ours}, ZigZag's {theirs} with {point}")
    return Compared(named, ours, theirs, min(times), seconds, note, "; ".join(faults))


def speedup_in_all(results: Sequence[Compared]) -> float:
    """Time of all of ZigZag's searches over that of ours."""
    some = [r for r in results if r.speedup is not None]
    return sum(r.their_seconds for r in some) / sum(r.our_seconds for r in some) if some else 0.0


def slow_layers(results: Sequence[Compared]) -> list[Compared]:
    """The layers on which ours is not so much faster as it should be."""
    return [r for r in results if r.speedup is not None and r.speedup < SPEEDUP_MIN]


def table_of(results: Sequence[Compared], arguments: Sequence[str]) -> Table:
    """One row per layer."""
    rows = tuple(
        (
            r.named.request.soc.preset,
            r.named.model,
            r.named.title,
            r.ours,
            r.theirs,
            r.ratio,
            1000 * r.our_seconds,
            r.their_seconds,
            r.speedup,
            r.note or "reductions whole on both sides",
        )
        for r in results
    )
    columns = (
        Column("preset"),
        Column("first in"),
        Column("layer"),
        Column("our cycles", ",d"),
        Column("ZigZag cycles", ",d"),
        Column("ZigZag / ours", ".3f"),
        Column("our ms", ".1f"),
        Column("ZigZag s", ".2f"),
        Column("times faster", ",.0f"),
        Column("note"),
    )
    return Table("zigzag", about(COMMAND, arguments, [r.named for r in results]), columns, rows)


def summary(results: Sequence[Compared], arguments: Sequence[str]) -> Table:
    """One row per preset."""
    rows: list[tuple[Cell, ...]] = []
    for preset in dict.fromkeys(r.named.request.soc.preset for r in results):
        some = [r for r in results if r.named.request.soc.preset == preset]
        ratios = sorted(r.ratio for r in some if r.ratio is not None)
        speedups = sorted(r.speedup for r in some if r.speedup is not None)
        if ratios and speedups:
            middle = len(ratios) // 2
            figures = (*(ratios[n] for n in (0, middle, -1)), speedups[0], speedups[middle], speedup_in_all(some))
            rows.append((preset, len(ratios), *figures))
    columns = (
        Column("preset"),
        Column("layers", "d"),
        Column("ZigZag / ours, least", ".3f"),
        Column("median", ".3f"),
        Column("largest", ".3f"),
        Column("times faster, least", ",.0f"),
        Column("median", ",.0f"),
        Column("in all", ",.0f"),
    )
    told_how = f"{about(COMMAND, arguments, [r.named for r in results])}, zigzag-dse 3.9.1, LPF limit {LPF_LIMIT}"
    return Table("zigzag-summary", told_how, columns, tuple(rows))


def main(arguments: Sequence[str]) -> int:
    """Print the tables and write CSV."""
    made = parser(__doc__)
    made.add_argument("--python", type=Path, default=PYTHON, help="interpreter with ZigZag; default: build/zigzag")
    options = made.parse_args(arguments)
    if not options.python.exists():
        made.exit(1, f"there is no {options.python}: run make bench-zigzag\n")
    results: list[Compared] = []
    for named in chosen(options, has_problem):
        results.append(compare(named, options.python))
        told(_line(results[-1]))
    if not results:
        made.error("there are no layers")
    tables = [summary(results, arguments), table_of(results, arguments)]
    for table in tables:
        table.write_csv()
        sys.stdout.write(f"{table.markdown()}\n\n")
    if options.update:
        tables[0].put()
    return 1 if any(r.fault for r in results) or slow_layers(results) else 0


def _line(r: Compared) -> str:
    if r.ratio is None or r.speedup is None:
        return f"{r.named.title}: {r.note}"
    line = f"{r.named.title}: ours {r.ours}, ZigZag {r.theirs}, ratio {r.ratio:.3f}, {r.speedup:,.0f} times faster"
    return f"{line}\n  WRONG: {r.fault}" if r.fault else line


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
