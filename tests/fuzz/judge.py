"""Compiles mutated models, runs accepted ones under sanitizers and compares them with the references."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from tests.conformance.batch import Failed, run_batch
from tests.conformance.programs import Program, Refused, compile_file
from tests.conformance.suite import Array, Sample
from tests.fuzz.cases import Case, write_case
from tests.fuzz.explained import explanation
from tests.fuzz.files import FileCase, project, run_case
from tests.fuzz.isolated import Ended, isolated
from tests.fuzz.references import differs, random_samples, references
from tests.fuzz.seeds import made_seeds
from tests.fuzz.ties import only_ties

#: Seconds for the compiler, as the promise says, and for references, whose time is not ours.
COMPILE_SECONDS, REFERENCE_SECONDS = 10, 10
#: Larger programs are not built: sanitizers would take the time of many cases.
MOST_BYTES = 1 << 20
#: ``unjudged``: accepted and run, but no reference runs the model; ``explained``: differs, and a rule says why it may.
Kind = Literal[
    "refused", "internal", "hang", "crash", "build", "stopped", "wrong", "passed", "unjudged", "large", "explained"
]
FAULTS = ("internal", "hang", "crash", "build", "stopped", "wrong")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a case."""

    number: int
    seed: str
    change: str
    kind: Kind
    reason: str

    def as_json(self) -> dict[str, object]:
        """The fields."""
        return asdict(self)


@dataclass(frozen=True)
class _Accepted:
    case: Case
    program: Program
    samples: tuple[Sample, ...]
    wanted: list[list[tuple[Array, ...]] | None]
    steps: tuple[float, ...]


@lru_cache(maxsize=1)
def warm() -> None:
    """Import and make in this process what all of its children need."""
    with TemporaryDirectory() as folder:
        for name, content in made_seeds():
            path = Path(folder) / f"{name}.onnx"
            path.write_bytes(content)
            compile_file(path, name)
    project()


def judge(cases: Sequence[Case | FileCase], folder: Path) -> list[Verdict]:
    """The verdicts in order; accepted programs share one executable."""
    warm()
    verdicts: dict[int, Verdict] = {}
    accepted: list[_Accepted] = []
    for case in cases:
        own = folder / f"case_{case.number}"
        if isinstance(case, FileCase):
            (kind, reason), found = run_case(case, own), None
        else:
            kind, reason, found = _compiled(case, own)
        if found is None:
            verdicts[case.number] = Verdict(case.number, case.seed, case.change, kind, reason)
        else:
            accepted.append(found)
    work, objects = folder / f"batch_{cases[0].number}", folder / "objects"
    work.mkdir(parents=True, exist_ok=True)
    objects.mkdir(exist_ok=True)
    results = run_batch([(item.program, item.samples) for item in accepted], work, objects, "-O0")
    for item, result in zip(accepted, results, strict=True):
        told, why = _judged(item, result, folder)
        verdicts[item.case.number] = Verdict(item.case.number, item.case.seed, item.case.change, told, why)
    shutil.rmtree(work)
    shutil.rmtree(objects)
    return [verdicts[case.number] for case in cases]


def _compiled(case: Case, folder: Path) -> tuple[Kind, str, _Accepted | None]:
    shutil.rmtree(folder, ignore_errors=True)
    path = write_case(case, folder)
    try:
        made = isolated(lambda: compile_file(path, f"case_{case.number}"), folder, COMPILE_SECONDS)
        if isinstance(made, Ended):
            return ("hang" if made.kind == "hang" else "crash"), made.reason, None
        if isinstance(made, Refused):
            return ("refused", made.code, None) if made.code else ("internal", made.reason, None)
        assert isinstance(made, Program)
        sizes = [size for _, size in made.arenas] + [8 * t.elements for t in (*made.inputs, *made.outputs)]
        if sum(sizes) + sum(map(len, made.files.values())) > MOST_BYTES:
            return "large", "", None
        samples = random_samples(made, case.number)
        found = isolated(lambda: references(path, made, samples), folder, 2 * REFERENCE_SECONDS)
        wanted, steps = found if isinstance(found, tuple) else ([], {})
        return "passed", "", _Accepted(case, made, samples, wanted, tuple(steps.get(t.name, 0.0) for t in made.outputs))
    finally:
        shutil.rmtree(folder)


def _judged(item: _Accepted, result: list[tuple[Array, ...]] | Failed, folder: Path) -> tuple[Kind, str]:
    if isinstance(result, Failed):
        return ("build" if "C compiler" in result.reason else "stopped"), result.reason
    sizes = [tuple(array.shape for array in outputs) for outputs in result]
    judged = [w for w in item.wanted if w is not None and [tuple(a.shape for a in outputs) for outputs in w] == sizes]
    told = [differs(result, wanted, item.steps) for wanted in judged]
    if not told:  # sizes that depend on data are those that the model states
        return "unjudged", ""
    if "" in told:
        return "passed", ""
    reason = "; ".join(dict.fromkeys(told))
    why = _explained(item, folder / f"case_{item.case.number}")
    return ("explained", f"{why}: {reason}") if why else ("wrong", reason)


def _explained(item: _Accepted, folder: Path) -> str:
    path = write_case(item.case, folder)
    names = [tensor.name for tensor in item.program.inputs]
    feeds = [dict(zip(names, sample.inputs, strict=True)) for sample in item.samples]
    found = isolated(lambda: explanation(path, feeds), folder, REFERENCE_SECONDS)
    if found == "" and item.case.suffix == ".onnx":
        tied = isolated(lambda: only_ties(path, item.samples, folder), folder, COMPILE_SECONDS, memory=0)
        found = "ties" if tied is True else ""
    shutil.rmtree(folder)
    return found if isinstance(found, str) else ""
