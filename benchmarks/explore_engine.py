"""What the engine of match-explore costs: per task, in memory, and how many workers one scheduler can feed.

    PYTHONPATH=. python examples/study_models.py build/study-models
    python -m benchmarks.explore_engine [--points N] [--workers N] [--cluster [--together N]]

Evaluates N points of benchmarks/studies/bounds.toml, whose tasks take milliseconds. Client, scheduler and workers are
threads of this process, and the work is done in others, so this process's CPU time per task is what the engine costs,
and its memory what it needs. ``--cluster``: scheduler and workers are processes on loopback instead, as on a cluster;
CPU time is counted for each. The simulation deals the recorded times of the compilations of examples/study.toml (else
10 s each) to workers; each task passes the client, then the scheduler, which serve one task after another with the CPU
time measured (embedded: both are one server). ``--together``: points in each task, which the engine chooses by itself
where points are too short for so many workers. A worker's efficiency is its work over work and waiting, so that the
last points, for which there are fewer points than workers, do not count.
"""

from __future__ import annotations

import argparse
import heapq
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
from distributed import Client
from match_core.plugin.facade import Plugins
from match_explore.code import code_digest_of
from match_explore.document import read_study
from match_explore.engine import drive
from match_explore.engine.choice import ClusterChoice
from match_explore.results.write import write_results
from match_explore.run import explore_study
from match_explore.space import points_of
from match_explore.store import Store
from match_explore.study import Strategy

from benchmarks.tables import ROOT

WORKERS, TASKS_EACH, GUESS_SECONDS = (1, 2, 10, 50, 100, 200, 500, 1000), 40, 10.0


def efficiency(times: Sequence[float], workers: int, services: Sequence[float], together: int) -> float:
    """Work over work and waiting. A task holds ``together`` points and passes servers that need ``services`` each."""
    count = TASKS_EACH * workers * together
    points = [times[number % len(times)] for number in range(count)]
    free, servers, waiting = [0.0] * workers, [0.0] * len(services), 0.0
    for first in range(0, count, together):
        idle = heapq.heappop(free)
        ready = idle - 2 * sum(services)  # sent ahead: a worker has its next task already
        for number, service in enumerate(services):
            ready = servers[number] = max(servers[number], ready) + service
        waiting += max(0.0, ready - idle)
        heapq.heappush(free, max(idle, ready) + sum(points[first : first + together]))
    return sum(points) / (sum(points) + waiting)


@contextmanager
def cluster(workers: int) -> Iterator[tuple[ClusterChoice, psutil.Process]]:
    """A scheduler and its workers as processes on loopback, and the scheduler's process."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        file = Path(folder, "scheduler.json")

        def start(kind: str, *options: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--scheduler-file", str(file)]
            where = ["--host", "127.0.0.1", "--no-dashboard"]
            process = subprocess.Popen([*command, *where, *options], stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            return process

        scheduler = start("scheduler", "--port", "0")
        while not file.exists():
            time.sleep(0.1)
        for _ in range(workers):
            start("worker", "--nthreads", "1", "--no-nanny", "--local-directory", folder)
        with Client(scheduler_file=str(file), set_as_default=False) as client:
            client.wait_for_workers(workers)
        yield ClusterChoice(str(file)), psutil.Process(scheduler.pid)


def cpu_seconds(process: psutil.Process) -> float:
    """CPU time of a process until now."""
    spent = process.cpu_times()
    return float(spent.user + spent.system)


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
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--together", type=int, default=1)
    options = parser.parse_args()
    if options.together > 1:
        drive.TASK_SECONDS, drive.POINTS_MAX = math.inf, options.together
    plugins = Plugins.load()
    study = read_study(ROOT / "benchmarks" / "studies" / "bounds.toml")
    study = replace(study, strategy=Strategy("random", options.points, 1))
    with ExitStack() as stack:
        choice, others = ClusterChoice(workers=options.workers), []
        if options.cluster:
            choice, scheduler = stack.enter_context(cluster(options.workers))
            others = [scheduler]
        servers = [psutil.Process(), *others]
        began, before = time.perf_counter(), [cpu_seconds(server) for server in servers]
        found = explore_study(study, plugins, choice, lambda _: None, resume=False)
        wall = time.perf_counter() - began
        spent = [cpu_seconds(server) - already for server, already in zip(servers, before, strict=True)]
        resident = sum(server.memory_info().rss for server in servers) / 2**20
    count, work = found.computed, sum(found.timings.values())
    write_results(found, ROOT / "build" / "studies" / "bounds", None)
    services, who = [each / count for each in spent], "client, scheduler" if others else "client, scheduler and workers"
    overhead = (wall * options.workers - work) / count
    sys.stdout.write(
        f"{count} points, {options.workers} workers: {wall:.1f} s, {60 * count / wall:,.0f} points per minute\n"
        f"work per point {1e3 * work / count:.2f} ms; overhead {1e3 * overhead:.2f} ms (wall time of a worker), "
        f"{', '.join(f'{1e3 * each:.2f}' for each in services)} ms (CPU of {who})\n"
        f"memory of {who} at the end: {resident:,.0f} MiB\n"
    )
    times = recorded(plugins)
    mean = sum(times) / len(times)
    sys.stdout.write(
        f"{len(times)} recorded compilations, {mean:.2f} s on average: engine {sum(services) / mean:.3%}\n"
    )
    each = [service * options.together for service in services]
    for workers in WORKERS:
        share = efficiency(times, workers, each, options.together)
        sys.stdout.write(f"simulated: {workers} workers at {share:.1%}\n")


if __name__ == "__main__":
    main()
