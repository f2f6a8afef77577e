"""What the engine of match-explore costs: per task, in memory, and how many workers one scheduler can feed.

    PYTHONPATH=. python examples/study_models.py build/study-models
    python -m benchmarks.explore_engine [--points N] [--workers N]

Evaluates N points of benchmarks/studies/bounds.toml, whose tasks take milliseconds. Client, scheduler and workers are
threads of this process, and the work is done in others, so this process's CPU time per task is what the engine costs,
and its memory what it needs. The simulation deals the recorded times of the compilations of examples/study.toml (else
10 s each) to workers: one server spends that CPU time on each task, one after another.
"""

from __future__ import annotations

import argparse
import heapq
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from match_core.plugin.facade import Plugins
from match_explore.code import code_digest_of
from match_explore.document import read_study
from match_explore.engine.choice import ClusterChoice
from match_explore.results.write import write_results
from match_explore.run import explore_study
from match_explore.space import points_of
from match_explore.store import Store
from match_explore.study import Strategy

from benchmarks.tables import ROOT

WORKERS, TASKS_EACH, GUESS_SECONDS = (1, 2, 10, 50, 100, 200, 500, 1000), 40, 10.0


def efficiency(times: Sequence[float], workers: int, service: float) -> float:
    """Work over workers times makespan, with a server that needs ``service`` seconds for each task."""
    tasks = [times[number % len(times)] for number in range(TASKS_EACH * workers)]
    free, server = [0.0] * workers, 0.0
    for task in tasks:
        idle = heapq.heappop(free)
        server = max(server, idle - 2 * service) + service  # sent ahead: a worker has its next task already
        heapq.heappush(free, max(idle, server) + task)
    return sum(tasks) / workers / max(free)


def recorded(plugins: Plugins) -> list[float]:
    """Seconds of the compilations in the store."""
    store = Store(code_digest_of(plugins))
    points = points_of(read_study(ROOT / "examples" / "study.toml"), plugins)
    return [seconds for point in points if (seconds := store.seconds(point))] or [GUESS_SECONDS]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    plugins = Plugins.load()
    study = read_study(ROOT / "benchmarks" / "studies" / "bounds.toml")
    study = replace(study, strategy=Strategy("random", options.points, 1))
    began, before = time.perf_counter(), time.process_time()
    found = explore_study(study, plugins, ClusterChoice(workers=options.workers), lambda _: None, resume=False)
    wall, spent = time.perf_counter() - began, time.process_time() - before
    count, work = found.computed, sum(found.timings.values())
    write_results(found, ROOT / "build" / "studies" / "bounds", None)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    overhead = (wall * options.workers - work) / count
    sys.stdout.write(
        f"{count} points, {options.workers} workers: {wall:.1f} s, {60 * count / wall:,.0f} points per minute\n"
        f"work per point {1e3 * work / count:.2f} ms; overhead {1e3 * overhead:.2f} ms (wall time of a worker), "
        f"{1e3 * spent / count:.2f} ms (CPU of client, scheduler and workers)\n"
        f"memory of client, scheduler and workers: {resident:,.0f} MiB\n"
    )
    times = recorded(plugins)
    mean = sum(times) / len(times)
    sys.stdout.write(
        f"{len(times)} recorded compilations, {mean:.2f} s on average: engine {spent / count / mean:.3%}\n"
    )
    for workers in WORKERS:
        sys.stdout.write(f"simulated: {workers} workers at {efficiency(times, workers, spent / count):.1%}\n")


if __name__ == "__main__":
    main()
