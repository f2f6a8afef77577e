"""Every model of the shared set for ``-t host``: what its C computes, how long that took, and the memory it needs.

``make bench-host-models`` compiles each model, builds the C, runs all stored samples, and prints a row for each:

- verdict: ``ok`` where the program meets its contract (the integer graph: integers bit for bit, floats within the bound
  that ``match verify`` states) and is as close to the stored outputs as the next line says;
- stored outputs: ``bit exact``; or the worst difference of floats, relative to the largest magnitude of the same output
  in the same sample, which must be within that bound (float32: 1e-4); or, where the source quantises floats, how many
  values differ and by how many steps of the output. There ONNX Runtime does not repeat its own values either, so at
  most 1 step is allowed, or what ONNX Runtime with all graph optimisations differs by;
- of element: the worst difference of floats relative to the element itself, of elements of at least 1 % of the largest;
- seconds: to C (and the slowest stage of that), and of the C compiler (``-O2``);
- peak: bytes of the arena, scratch included; bound: the largest set of live tensors (``live_tensors.py``); ratio.

Words are parts of names of the models to take; all without. Exit code 1 if a model fails or the ratio is 1 for less
than 95 % of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from time import perf_counter

from match_core.contract.errors import MatchError
from match_core.contract.observe import Facts, NullObserver
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model

from benchmarks.host_checks import HostRun, Seconds, judged
from benchmarks.runs import MODELS, told
from benchmarks.tables import PAGE, Cell, Column, Table

COMMAND = "benchmarks.host_models"
#: Share of the models whose arena is as small as the bound.
SHARE_AT_BOUND = 0.95


class Stopwatch(NullObserver):
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._started = 0.0

    def stage_started(self, name: str) -> None:
        """The clock starts."""
        self._started = perf_counter()

    def stage_finished(self, name: str, facts: Facts) -> None:
        """What went by is the stage's."""
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - self._started


def names(words: Sequence[str] = ()) -> list[str]:
    """The stored models whose names have one of the words in them; all of them without words."""
    found = sorted(path.parent.name for path in MODELS.glob("*/model.onnx"))
    return [name for name in found if not words or any(word in name for word in words)]


@cache
def _plugins() -> Plugins:
    return Plugins.load()


def run(name: str) -> HostRun:
    """One model through all stages."""
    folder, watch = MODELS / name, Stopwatch()
    request = VerifyRequest(
        folder / "model.onnx", "host", inputs=folder / "inputs.npz", expected=folder / "outputs.npz"
    )
    try:
        result = verify_model(request, _plugins(), watch)
    except MatchError as error:
        return HostRun(name, f"{error.code}: {error.what}", Seconds.of(watch.seconds))
    return judged(name, folder, result, Seconds.of(watch.seconds))


def run_all(chosen: Sequence[str], jobs: int) -> Iterator[HostRun]:
    """The runs in order; ``jobs`` processes, of which each slows the others' clocks down."""
    if jobs == 1:
        yield from map(run, chosen)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
        yield from pool.map(run, chosen)


def table(runs: Sequence[HostRun]) -> Table:
    """A row for every model."""
    columns = (
        Column("model"),
        Column("verdict"),
        Column("integer graph"),
        Column("stored outputs"),
        Column("of element", ".1e"),
        Column("to C, s", ".2f"),
        Column("slowest stage"),
        Column("C build, s", ".2f"),
        Column("peak", ",d"),
        Column("bound", ",d"),
        Column("ratio", ".3f"),
    )
    return Table("host-models", f"*`python -m {COMMAND}`*", columns, tuple(_row(one) for one in runs))


def _row(one: HostRun) -> tuple[Cell, ...]:
    slowest, seconds = one.seconds.slowest
    return (
        one.name,
        one.failure or "ok",
        one.graph,
        one.stored,
        one.of_element,
        one.seconds.to_c,
        f"{slowest} {seconds:.2f}",
        one.seconds.build,
        one.peak_bytes,
        one.bound_bytes,
        one.ratio,
    )


def summary(runs: Sequence[HostRun]) -> Table:
    """Counts by kind of model."""
    columns = (
        Column("kind"),
        Column("models", "d"),
        Column("ok", "d"),
        Column("equal to the integer graph", "d"),
        Column("equal to stored outputs", "d"),
        Column("worst relative difference", ".1e"),
        Column("with an arena", "d"),
        Column("arena at the bound", "d"),
    )
    rows: list[tuple[Cell, ...]] = []
    for kind in (*sorted({one.kind for one in runs}), "all"):
        some = [one for one in runs if kind in (one.kind, "all")]
        worst = [one.of_largest for one in some if one.of_largest is not None]
        rows.append(
            (
                kind,
                len(some),
                sum(not one.failure for one in some),
                sum(one.graph == "bit exact" for one in some),
                sum(one.stored == "bit exact" for one in some),
                max(worst, default=None),
                sum(one.peak_bytes > 0 for one in some),
                sum(one.at_bound and one.peak_bytes > 0 for one in some),
            )
        )
    return Table("host-models-summary", f"*`python -m {COMMAND}`*", columns, tuple(rows))


def faults(runs: Sequence[HostRun]) -> list[str]:
    """What is wrong, and whether too many arenas are larger than the bound."""
    found = [f"FAILURE: {one.name}: {one.failure}" for one in runs if one.failure]
    larger = [one for one in runs if not one.failure and not one.at_bound]
    if len(larger) > (1 - SHARE_AT_BOUND) * len(runs):
        told_names = ", ".join(f"{one.name} {one.ratio:.3f}" for one in larger)
        found.append(f"FAILURE: {len(larger)} of {len(runs)} arenas are larger than the bound: {told_names}")
    return found


def main(arguments: Sequence[str]) -> int:
    """Print the tables, write CSV."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="parts of names of models")
    parser.add_argument("--jobs", type=int, default=1, help="models at a time; default: 1")
    parser.add_argument("--update", action="store_true", help="put the summary into the page; takes no words")
    options = parser.parse_args(arguments)
    if options.update and options.words:
        parser.error("--update takes no words")
    if not (chosen := names(options.words)):
        parser.exit(1, f"there is no such model in {MODELS}\n")
    runs = []
    for one in run_all(chosen, options.jobs):
        told(f"{one.name}: {one.failure or 'ok'}")
        runs.append(one)
    for made in (table(runs), summary(runs)):
        sys.stdout.write(f"{made.markdown()}\n\n")
        made.write_csv()
    if options.update:
        summary(runs).put(PAGE)
    found = faults(runs)
    sys.stdout.write("".join(f"{fault}\n" for fault in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
