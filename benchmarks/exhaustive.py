"""The engine's choice against the best schedule of the whole space, found by brute force.

For every distinct layer of the MLPerf Tiny networks and of the micro-benchmark grid, on every unit that can do it:
kernel tiles of all products of prime factors and of the sizes that the engine adds, all orders of the loops (also
with dimensions cut twice, where that stays within --points), all depths and one or two buffers per operand. Only what
does not fit the unit's memory is left out. Prices come from a second implementation of the step formula (pricing.py);
in the same run random points are priced by the engine's own evaluator as well, and random points of the space with
all its needless copies are checked to be no cheaper than the best.

``ratio`` is the engine's cycles over the least ones: 1.000 is the optimum, less is possible where the engine knows
sizes or nests that the space had to leave out. Exit code 1 where the two evaluators disagree, a schedule is refused
by the validator, or one side finds nothing that fits and the other does.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from match_core.contract.loops import LoopSchedule, ScheduleRequest
from match_core.schedule.timeline import cost_of
from match_core.validate.schedule import schedule_faults
from match_schedule.engine import schedule

from benchmarks.brute_force import search
from benchmarks.layer_requests import Named, about, chosen, parser
from benchmarks.pricing import Pricer
from benchmarks.runs import told
from benchmarks.schedule_space import Buffers, Choice, Point, Space, placements_of
from benchmarks.tables import Cell, Column, Table

COMMAND = "benchmarks.exhaustive"
#: Most points of a space that is searched.
POINTS_MAX = 10_000_000
#: Points per layer that are priced by both evaluators, and points drawn from the space with needless copies.
SAMPLES = 100


@dataclass(frozen=True, slots=True)
class Compared:
    """One layer. ``cycles`` None: nothing fits; ``points`` with ``best`` None: the space was too large."""

    named: Named
    space: str
    points: int
    cycles: int | None
    best: int | None
    our_seconds: float
    brute_seconds: float
    fault: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours over the least."""
        return self.cycles / self.best if self.cycles is not None and self.best is not None else None


def price(request: ScheduleRequest, point: Point) -> int:
    """A point's cycles by the engine's evaluator."""
    tile = {dim.name: dim.size for dim in request.workload.dims}
    tile.update({loop.dim: loop.tile for loop in point.loops})
    return cost_of(request, point.loops, tile, placements_of(request, point)).total_cycles


def spaces(request: ScheduleRequest) -> list[tuple[str, Space]]:
    """All spaces of a layer, with their names, the largest first."""
    return [
        ("all sizes, split loops", Space(request, extra=True, splits=True)),
        ("all sizes", Space(request, extra=True, splits=False)),
        ("divisors", Space(request, extra=False, splits=False)),
    ]


def chosen_space(request: ScheduleRequest, points_max: int) -> tuple[str, Space]:
    """The largest space within the limit; the smallest one if none is."""
    found = spaces(request)
    return next((entry for entry in found if entry[1].points() <= points_max), found[-1])


def needless_points(request: ScheduleRequest, space: Space, count: int, seed: int) -> list[Point]:
    """Random points with any depths and buffers, also those that the space leaves out as never cheaper."""
    random = np.random.default_rng(seed)
    pricer, nests = Pricer(request, space), list(space.nests())
    found: list[Point] = []
    for loops in (nests[int(n)] for n in random.integers(len(nests), size=count)):
        for _ in range(10):
            choices = tuple(_choice(random, len(loops)) for _ in request.workload.operands)
            if pricer.runs(loops, choices):
                found.append(Point(loops, choices, 0))
                break
    return found


def _choice(random: np.random.Generator, loops: int) -> Choice:
    buffers: Buffers = 2 if random.integers(2) else 1
    return int(random.integers(loops + 1)), buffers


def compare(named: Named, points_max: int) -> Compared:
    """Search one layer both ways and check one against the other."""
    request = named.request
    started = time.perf_counter()
    answer = schedule(request)
    ours = time.perf_counter() - started
    cycles = answer.cost.total_cycles if isinstance(answer, LoopSchedule) else None
    name, space = chosen_space(request, points_max)
    size = space.points()
    if size > points_max:
        return Compared(named, f"skipped, {name}", size, cycles, None, ours, 0.0)
    started = time.perf_counter()
    found = search(request, space, SAMPLES, seed=size)
    brute = time.perf_counter() - started
    best = found.best.cycles if found.best is not None else None
    faults: list[str] = []
    if isinstance(answer, LoopSchedule):
        faults += schedule_faults(request.workload, answer, request.unit, request.soc)
        repriced = cost_of(request, answer.loops, dict(answer.tile), answer.placements).total_cycles
        faults += [f"the engine says {cycles}, its evaluator {repriced}"] if repriced != cycles else []
    if (best is None) != (cycles is None):
        faults.append("only one side finds a schedule that fits")
    for point in found.samples:
        if price(request, point) != point.cycles:
            faults.append(f"{price(request, point)} and {point.cycles} cycles for {point}")
    if best is not None:
        needless = needless_points(request, space, SAMPLES, seed=size)
        faults += [f"not in the space, and cheaper: {p}" for p in needless if price(request, p) < best]
    return Compared(named, name, found.points, cycles, best, ours, brute, "; ".join(faults))


def table_of(results: Sequence[Compared], arguments: Sequence[str]) -> Table:
    """One row per layer."""
    rows = tuple(
        (
            r.named.request.soc.preset,
            r.named.model,
            r.named.title,
            r.space,
            r.points,
            r.cycles,
            r.best,
            r.ratio,
            1000 * r.our_seconds,
            r.brute_seconds,
        )
        for r in results
    )
    columns = (
        Column("preset"),
        Column("first in"),
        Column("layer"),
        Column("space"),
        Column("points", ",d"),
        Column("our cycles", ",d"),
        Column("least cycles", ",d"),
        Column("ratio", ".3f"),
        Column("our ms", ".1f"),
        Column("brute force s", ".1f"),
    )
    return Table("exhaustive", about(COMMAND, arguments, [r.named for r in results]), columns, rows)


def summary(results: Sequence[Compared], arguments: Sequence[str]) -> Table:
    """One row per preset."""
    rows: list[tuple[Cell, ...]] = []
    for preset in dict.fromkeys(r.named.request.soc.preset for r in results):
        some = [r for r in results if r.named.request.soc.preset == preset]
        ratios = [r.ratio for r in some if r.ratio is not None]
        if not ratios:
            continue
        times = sorted(r.our_seconds for r in some)
        rows.append(
            (
                preset,
                len(ratios),
                sum(r.best is None and r.cycles is not None for r in some),
                sum(r.points for r in some if r.ratio is not None),
                sum(round(ratio, 3) <= 1 for ratio in ratios) / len(ratios),
                max(ratios),
                1000 * times[len(times) // 2],
                sum(r.brute_seconds for r in some),
            )
        )
    columns = (
        Column("preset"),
        Column("layers", "d"),
        Column("skipped", "d"),
        Column("points", ",d"),
        Column("ratio 1.000", ".1%"),
        Column("largest ratio", ".3f"),
        Column("our ms, median", ".1f"),
        Column("brute force s, all", ".0f"),
    )
    return Table("exhaustive-summary", about(COMMAND, arguments, [r.named for r in results]), columns, tuple(rows))


def main(arguments: Sequence[str]) -> int:
    """Print the tables and write CSV."""
    made = parser(__doc__)
    made.add_argument("--points", type=int, default=POINTS_MAX, help=f"largest space that is searched: {POINTS_MAX:,}")
    made.add_argument("--above", type=int, default=0, help="only layers whose smallest space has more points")
    options = made.parse_args(arguments)
    results: list[Compared] = []
    for named in chosen(options, lambda request: spaces(request)[-1][1].points() > options.above):
        results.append(compare(named, options.points))
        told(_line(results[-1]))
    if not results:
        made.error("there are no layers")
    tables = [summary(results, arguments), table_of(results, arguments)]
    for table in tables:
        table.write_csv()
        sys.stdout.write(f"{table.markdown()}\n\n")
    if options.update:
        tables[0].put()
    return 1 if any(r.fault for r in results) else 0


def _line(r: Compared) -> str:
    ratio = "-" if r.ratio is None else f"{r.ratio:.3f}"
    line = f"{r.named.title}: {r.space}, {r.points:,} points in {r.brute_seconds:.1f} s, ratio {ratio}"
    return f"{line}\n  WRONG: {r.fault}" if r.fault else line


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
