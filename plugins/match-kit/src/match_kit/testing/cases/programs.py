"""Level ``programs``: the emitted C on the twin."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from match_core.contract.errors import ToolError

from match_kit.testing.findings import Case, Finding

if TYPE_CHECKING:
    from match_kit.testing.subject import Subject

LEVEL = "programs"


def _strict(subject: Subject) -> Iterator[Finding]:
    for model in subject.programs:
        try:
            subject.program(model).executable()
        except ToolError as error:
            yield Finding(f"C of {model.name}, {error.where}", error.why)


def _units(subject: Subject) -> Iterator[Finding]:
    used = {unit for model in subject.programs for unit in subject.program(model).units}
    for unit in subject.units:
        if unit.name not in used:
            yield Finding(f"unit {unit.name}", "no program of a sample model uses it: other units are always cheaper")


def _exact(kind: str, subject: Subject) -> Iterator[Finding]:
    from match_core.run.modes import modes_of

    if kind not in subject.capabilities.modes:
        yield Finding("capabilities", f"mode {kind} is not among {', '.join(subject.capabilities.modes)}", "skip")
        return
    runs = 0
    for model in subject.programs:
        program = subject.program(model)
        for mode in modes_of(program.document):
            if mode.partition(":")[0] != kind:
                continue
            runs += 1
            try:
                wrong = list(program.wrong(mode))
            except ToolError as error:
                if error.code == "MATCH-T002":  # case strict reports it
                    yield Finding(f"model {model.name}", "its program cannot be built", "skip")
                    continue
                wrong = [error.why]
            units = ", ".join(sorted(program.units - {subject.soc.host}))
            for text in wrong:
                yield Finding(f"kernels or twin of unit {units}, model {model.name}, mode {mode}", text)
    if not runs:
        yield Finding(f"target {subject.target}", f"no sample program has a mode {kind}", "skip")


def _without(subject: Subject) -> Iterator[Finding]:
    """The host runs its nodes, or an error with a code reports that it cannot; the integer graph stays the same."""
    model = min(subject.programs, key=lambda item: len(item.make().SerializeToString()))
    for unit in subject.units if len(subject.units) > 1 else ():  # without its only unit, nothing can run
        program = subject.program(model, (unit.name,))
        if unit.name in program.units:
            yield Finding(f"unit {unit.name}", "it is used although it is disabled")
        for text in program.wrong("eager"):
            yield Finding(f"target {subject.target} without unit {unit.name}, model {model.name}", text)


CASES = (
    Case(LEVEL, "strict", "the C compiles without a warning at -Wall -Wextra -Wpedantic -Wconversion", _strict),
    Case(LEVEL, "units", "each unit runs something", _units),
    Case(LEVEL, "eager", "outputs equal those of the integer graph; work is done at launch", partial(_exact, "eager")),
    Case(LEVEL, "lazy", "outputs equal those of the integer graph; work is done at the wait", partial(_exact, "lazy")),
    Case(LEVEL, "threads", "outputs equal those of the integer graph; units are threads", partial(_exact, "threads")),
    Case(LEVEL, "without", "programs are correct with a unit disabled", _without),
)
