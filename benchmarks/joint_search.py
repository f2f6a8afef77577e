"""One search over covers, units and tiles (``--parallel joint``) against the mapper's stages.

Per stored network: makespans as the mapper models them, before memory is planned: of the stages; of the stages in the
time of the joint search, the best of runs with more and more effort, the last of which takes at least as long (or has
64 times the effort); and of the joint search with covers fixed, with tiles fixed, and with both free, each from the
result of the stages.
``--random``: random networks of operators that candidates fuse in several ways, small enough to try everything.

Exit code 1 if the joint search is worse than the stages, with their effort or in its own time, or misses an optimum
that was enumerated.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from match_concurrent.mapping.choose import evaluators_of, staged
from match_concurrent.mapping.covers import Groups, prices_of
from match_concurrent.mapping.evaluate import Evaluation, Evaluator
from match_concurrent.mapping.joint import with_joint
from match_concurrent.mapping.joint_search import jointly
from match_concurrent.mapping.mapping_effort import ConcurrentOptions
from match_core.contract.errors import MatchError
from match_core.contract.mapping import Mapping, MappingRequest
from match_core.contract.passes import Precision
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins
from match_core.plugin.markers import hookimpl
from match_map.mapper import choose

from benchmarks.beside_runs import NETWORKS_OF, Case, make
from benchmarks.beside_tables import short
from benchmarks.tables import Cell, Column, Table
from core.tests.map.random_covers import best_of_all, random_lab

COMMAND = "python -m benchmarks.joint_search"
#: Targets and precisions of the table.
CASES: tuple[tuple[str, Precision], ...] = (("carfield", "exact"), ("gap9", "fast"))
JOINT = ConcurrentOptions(parallel="joint")
#: The most times the effort of the stages.
TIMES_MAX = 64
#: What is varied: the heading of a column, and the options.
FREEDOMS: tuple[tuple[str, ConcurrentOptions], ...] = (
    ("covers fixed", replace(JOINT, free_covers=False)),
    ("tiles fixed", replace(JOINT, free_tiles=False)),
    ("all free", JOINT),
)


@dataclass
class Capture:
    """A plugin that keeps the request for a concurrent mapping and ends the compilation there."""

    match_contract = 1
    requests: list[MappingRequest] = field(default_factory=list)

    @hookimpl(tryfirst=True)
    def match_map(self, request: MappingRequest) -> Mapping | None:
        """Sequential mappings are left to others."""
        if request.soc.mode == "concurrent" and not request.estimated:
            self.requests.append(request)
            raise RuntimeError("captured")
        return None


def captured(case: Case) -> MappingRequest:
    """The request for the concurrent mapping of a network."""
    plugin = Capture()
    plugins = Plugins.load([Found("capture", "benchmarks", "0", lambda: plugin)])
    with suppress(MatchError):
        make(case, "concurrent", plugins, run=False)
    return plugin.requests[0]


@dataclass(frozen=True, slots=True)
class Timed:
    """A result, and seconds of processor time to find it."""

    best: Evaluation
    evaluator: Evaluator
    seconds: float


@dataclass(frozen=True, slots=True)
class Longer:
    """The best makespan of several runs; how many times the effort and how many seconds the last one took."""

    finish: int
    times: int
    seconds: float


def timed(work: Callable[[], tuple[Evaluation, Evaluator]]) -> Timed:
    """The result of a search."""
    begun = time.process_time()
    best, evaluator = work()
    return Timed(best, evaluator, time.process_time() - begun)


def more(times: int) -> ConcurrentOptions:
    """The stages with so many times the effort."""
    return replace(JOINT, steps_max=times * JOINT.steps_max, solver_seconds=times * JOINT.solver_seconds)


def as_long(work: Callable[[ConcurrentOptions], tuple[Evaluation, Evaluator]], first: float, seconds: float) -> Longer:
    """The stages, which took ``first`` seconds, with more and more effort until they take at least so many."""
    least, times = 1 << 60, 1
    while 2 * times * first < seconds:
        times *= 2
    while True:
        found = timed(partial(work, more(times)))
        least = min(least, found.best.finish)
        if found.seconds >= seconds or times >= TIMES_MAX:
            return Longer(least, times, found.seconds)
        times *= 2


def measure(case: Case) -> tuple[tuple[Cell, ...], list[str]]:
    """One row, and faults."""
    request = captured(case)
    assert request.sequential is not None
    offered = with_joint(request.offered, request.scheduling)
    given = (request.model, offered, request.scheduling, request.sequential)
    first = timed(lambda: staged(evaluators_of(*given, JOINT), JOINT))
    found = []
    for _, freedom in FREEDOMS:
        start = first.evaluator.of(first.evaluator.network)
        start.options = freedom
        found.append(timed(partial(jointly, first.best, start)))
    best = found[-1]
    seconds = first.seconds + best.seconds
    longer = as_long(lambda effort: staged(evaluators_of(*given, effort), effort), first.seconds, seconds)
    prices = prices_of(Groups.of(best.evaluator.network), best.evaluator)
    row: tuple[Cell, ...] = (
        case.target,
        short(case.network),
        first.best.finish,
        longer.finish,
        *(each.best.finish for each in found),
        100 * (1 - best.best.finish / min(first.best.finish, longer.finish)),
        None if prices is None else round(prices.cycles),
        None if prices is None else best.best.finish / prices.cycles,
        first.seconds,
        seconds,
        longer.seconds,
        longer.times,
    )
    sys.stderr.write(f"{row}\n")
    worse = [name for (name, _), each in zip(FREEDOMS, found, strict=True) if each.best.finish > first.best.finish]
    worse += ["all free than the stages in its time"] if best.best.finish > longer.finish else []
    return row, [f"FAILURE: {case.target}, {case.network}: worse with {name}" for name in worse]


def networks(options: argparse.Namespace) -> tuple[Table, list[str]]:
    """The table of stored networks."""
    rows, faults = [], []
    for target, precision in CASES:
        for network in NETWORKS_OF[target]:
            if not options.network or short(network) in options.network:
                row, wrong = measure(Case(network, target, precision=precision))
                rows.append(row)
                faults += wrong
    columns = [Column("target"), Column("network"), Column("stages", ",d"), Column("stages, as long", ",d")]
    columns += [Column(name, ",d") for name, _ in FREEDOMS]
    columns += [Column("gain, %", ".2f"), Column("work bound of all covers", ",d"), Column("cycles / bound", ".2f")]
    columns += [Column(f"s, {name}", ".0f") for name in ("stages", "stages and all free", "stages, as long")]
    columns.append(Column("effort, as long", "d"))
    return Table("joint-search", f"*modelled, `{COMMAND}`*", tuple(columns), tuple(rows)), faults


def suite(count: int) -> tuple[Table, list[str]]:
    """The table of random networks."""
    rows: list[tuple[Cell, ...]] = []
    faults: list[str] = []
    for operators in (4, 5, 6):
        gains, optima = list[float](), [0, 0, 0]
        for seed in range(count):
            made = random_lab(random.Random(1000 * operators + seed), operators)
            least = best_of_all(made)
            given = (made.model, made.offered, made.scheduler, choose(made.model, made.offered))
            results = [staged(evaluators_of(*given, effort), effort) for effort in (JOINT, more(4))]
            results.append(jointly(*results[0]))
            found = [best.finish for best, _ in results]
            optima = [known + (cycles == least) for known, cycles in zip(optima, found, strict=True)]
            gains.append(100 * (1 - found[2] / min(found[:2])))
            if found[2] != least:
                faults.append(f"FAILURE: {operators} operators, seed {seed}: {found[2]} cycles, {least} are possible")
        better = sum(gain > 0 for gain in gains)
        rows.append((operators, count, *optima, better, sum(g < 0 for g in gains), sum(gains) / count, max(gains)))
    columns = [Column("operators", "d"), Column("networks", "d")]
    columns += [Column(f"optimal: {name}", "d") for name in ("stages", "stages, more effort", "joint")]
    columns += [Column("joint is better", "d"), Column("worse", "d"), Column("mean gain, %", ".1f")]
    columns.append(Column("largest gain, %", ".1f"))
    return Table("joint-search-random", f"*modelled, `{COMMAND} --random`*", tuple(columns), tuple(rows)), faults


def main(arguments: Sequence[str]) -> int:
    """Print a table, write CSV."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", action="append", help="short name; may be repeated")
    parser.add_argument("--random", action="store_true", help="random networks instead of stored ones")
    parser.add_argument("--count", type=int, default=25, help="random networks of each size")
    parser.add_argument("--update", action="store_true", help="put the table into docs/benchmarks.md")
    options = parser.parse_args(arguments)
    table, faults = suite(options.count) if options.random else networks(options)
    sys.stdout.write(f"{table.markdown()}\n\n")
    table.write_csv()
    if options.update:
        table.put()
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
