"""Whether the twin notices when a program lacks a wait or a need: every mutant is run until some mode catches it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from match_core.contract.errors import ToolError
from match_core.contract.unit_api import UnitApi
from match_core.run.build import compile_program
from match_core.run.compiler import BuildOptions, Objects
from match_core.run.execute import run_twin
from match_core.run.modes import is_threads, queues_of
from numpy.typing import NDArray

from tests.twin.mutants import Mutant, mutants_of

#: Threads are run with so many seeds before a mutant counts as missed.
SEEDS = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """``mode`` that caught the mutant first and what it saw there; both empty for one that none has caught."""

    mutant: Mutant
    mode: str
    sign: str


@dataclass(frozen=True)
class Bench:
    """A program compiled for the timeline and perhaps for threads, and its outputs for some inputs (first axis the
    sample)."""

    program: Path
    work: Path
    document: Mapping[str, Any]
    inputs: Mapping[str, NDArray[np.generic]]
    expected: Mapping[str, NDArray[np.generic]]
    objects: Mapping[bool, Objects]
    timeout_seconds: int

    def modes(self, queue: str) -> Iterator[str]:
        """The modes that can catch a mutant of the queue, those first that take least time."""
        queues = sorted(queues_of(self.document), key=lambda name: name != queue)
        yield from ("lazy", *(f"lazy:{name}" for name in queues))
        if True in self.objects:
            yield from (f"threads:{seed}" for seed in range(1, SEEDS + 1))

    def sign(self, executable: Path, mode: str) -> str:
        """What is wrong in a run: empty if it gives the expected outputs."""
        folder = executable.parent
        try:
            result = run_twin(executable, self.document, self.inputs, folder, mode, self.timeout_seconds)
        except ToolError as error:
            return error.why
        same = all(np.array_equal(result.outputs[name], self.expected[name]) for name in self.expected)
        return "" if same else "other outputs"

    def executable(self, threads: bool, mutant: Mutant | None = None) -> Path:
        """The program, or a mutant of it: only the changed file is compiled."""
        folder = self.work / ("threads" if threads else "timeline")
        if mutant is None:
            return self.objects[threads].link(folder / "twin")
        source = folder / "mutant.c"
        source.write_text(mutant.text, encoding="utf-8")
        changed = self.objects[threads].compile(source, folder / "mutant.o")
        return self.objects[threads].link(folder / "mutant", {self.program / mutant.file: changed})

    def outcome(self, mutant: Mutant) -> Outcome:
        """Run a mutant until it is caught."""
        built: dict[bool, Path] = {}
        for mode in self.modes(mutant.queue):
            threads = is_threads(mode)
            if threads not in built:
                built[threads] = self.executable(threads, mutant)
            if sign := self.sign(built[threads], mode):
                return Outcome(mutant, mode, sign)
        return Outcome(mutant, "", "")


def bench(
    program: Path,
    work: Path,
    document: Mapping[str, Any],
    apis: Mapping[str, UnitApi],
    host: str,
    inputs: Mapping[str, NDArray[np.generic]],
    timeout_seconds: int = 300,
    threads: bool = True,
) -> Bench:
    """Compile a program (its directory, manifest and the APIs of its units) and check that it is right in all modes;
    ``threads``: also in those that take longest to compile.

    ValueError if it is not: then nothing can be said about mutants.
    """
    objects = {}
    for kind in (False, True) if threads else (False,):
        folder = work / ("threads" if kind else "timeline")
        objects[kind] = compile_program(program, folder, apis, host, BuildOptions(threads=kind))
    made = Bench(program, work, document, inputs, {}, objects, timeout_seconds)
    whole = {kind: made.executable(kind) for kind in objects}
    expected = run_twin(whole[False], document, inputs, work / "timeline", "eager", timeout_seconds).outputs
    made = Bench(program, work, document, inputs, expected, objects, timeout_seconds)
    for mode in made.modes(""):
        if sign := made.sign(whole[is_threads(mode)], mode):
            raise ValueError(f"{document['name']} is wrong itself in mode {mode}: {sign}")
    return made


def sample_of(mutants: tuple[Mutant, ...], count: int) -> tuple[Mutant, ...]:
    """At most so many of them, evenly spread."""
    step = max(1, -(-len(mutants) // count))
    return mutants[::step]


def run_mutants(made: Bench, apis: Mapping[str, UnitApi], count: int | None = None) -> tuple[Outcome, ...]:
    """All mutants of the program, or ``count`` of them."""
    mutants = mutants_of(made.program, made.document, apis)
    return tuple(made.outcome(mutant) for mutant in (mutants if count is None else sample_of(mutants, count)))


def summary(outcomes: tuple[Outcome, ...]) -> tuple[str, str, str]:
    """How many mutants there are of each kind, which modes caught them, and how many none has caught."""
    kinds: Counter[str] = Counter(outcome.mutant.kind for outcome in outcomes)
    modes = Counter(outcome.mode for outcome in outcomes)
    missed = modes.pop("", 0)
    return _counts(kinds), _counts(modes), str(missed)


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counter.items()))


def table(outcomes: tuple[Outcome, ...]) -> str:
    """One line for each mutant: where, what is missing, and which mode caught it by what sign."""
    rows = [
        (f"{o.mutant.file}:{o.mutant.line}", o.mutant.kind, o.mutant.what, o.mode or "NOT CAUGHT", o.sign[:60])
        for o in outcomes
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(5)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    caught = sum(1 for outcome in outcomes if outcome.mode)
    return "\n".join([*lines, f"{caught} of {len(outcomes)} caught"])
