"""Runs cases in batches, some at a time, and judges each of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Literal

from tests.conformance.batch import Failed, run_batch
from tests.conformance.compare import difference
from tests.conformance.programs import Program, Refused, compile_case
from tests.conformance.suite import Case

#: ``refused``: a coded error. ``fault``: an internal error, C that does not build, or a sanitizer's objection.
Status = Literal["passed", "refused", "wrong", "fault"]
#: So many programs share an executable.
BATCH = 48


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a case. ``code`` of the refusal; ``seconds`` that compiling to C took."""

    name: str
    kind: str
    operator: str
    status: Status
    code: str = ""
    reason: str = ""
    seconds: float = 0.0


def run_cases(cases: Sequence[Case], folder: Path, jobs: int) -> Iterator[Verdict]:
    """Verdicts in the order of the cases. ``folder`` keeps objects between runs."""
    batches = [cases[start : start + BATCH] for start in range(0, len(cases), BATCH)]
    numbered = list(enumerate(batches))
    if jobs == 1:
        for item in numbered:
            yield from _run_batch(folder, item)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
        for verdicts in pool.map(partial(_run_batch, folder), numbered):
            yield from verdicts


def _run_batch(folder: Path, numbered: tuple[int, Sequence[Case]]) -> list[Verdict]:
    number, cases = numbered
    work, objects = folder / f"batch_{number}", folder / "objects"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    objects.mkdir(exist_ok=True)
    verdicts: dict[str, Verdict] = {}
    programs: list[tuple[Case, Program, float]] = []
    for case in cases:
        start = perf_counter()
        made = compile_case(case, work)
        seconds = perf_counter() - start
        if isinstance(made, Refused):
            status: Status = "refused" if made.code else "fault"
            verdicts[case.name] = _verdict(case, status, seconds, made.reason, made.code)
        else:
            programs.append((case, made, seconds))
    results = run_batch([(program, case.samples) for case, program, _ in programs], work, objects)
    for (case, _, seconds), result in zip(programs, results, strict=True):
        if isinstance(result, Failed):
            verdicts[case.name] = _verdict(case, "fault", seconds, result.reason)
            continue
        pairs = zip(result, case.samples, strict=True)
        told = next((d for got, s in pairs if (d := difference(got, s.outputs, case.rtol, case.atol))), "")
        verdicts[case.name] = _verdict(case, "wrong" if told else "passed", seconds, told)
    return [verdicts[case.name] for case in cases]


def _verdict(case: Case, status: Status, seconds: float, reason: str, code: str = "") -> Verdict:
    return Verdict(case.name, case.kind, case.operator, status, code, " ".join(reason.split()), seconds)
