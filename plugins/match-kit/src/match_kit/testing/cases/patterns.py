"""Level ``patterns``: the patterns of units, and the reasons of refusals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from match_kit.testing.findings import Case, Finding

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate

    from match_kit.testing.subject import Subject

LEVEL = "patterns"
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def _named(subject: Subject) -> Iterator[Finding]:
    for unit in subject.units:
        for pattern in subject.patterns(unit):
            where = f"pattern {pattern.name} of unit {unit.name}"
            if not _NAME.fullmatch(pattern.name):
                yield Finding(where, "its name is not a lower-case C identifier")
            if not pattern.description.strip():
                yield Finding(where, "it has no description")
            if pattern.structure is None and pattern.search is None:
                yield Finding(where, "it has neither a structure nor a search")
            for constraint in pattern.constraints:
                if not constraint.name.strip() or not _is_line(constraint.description):
                    yield Finding(f"constraint {constraint.name!r}, {where}", "its description is not one line of text")


def _used(subject: Subject) -> Iterator[Finding]:
    taken = {(c.unit, c.pattern.name) for model in subject.models for c in subject.prepared(model).candidates.legal}
    for unit in subject.units:
        names = [pattern.name for pattern in subject.patterns(unit)]
        unseen = [name for name in names if (unit.name, name) not in taken]
        part = f"match_patterns, unit {unit.name}"
        if len(unseen) == len(names):
            yield Finding(part, f"none of its {len(names)} patterns matches in the sample models")
        elif unseen:
            yield Finding(part, f"no sample model contains a match of {', '.join(unseen)}", "note")


def _workloads(subject: Subject) -> Iterator[Finding]:
    own = {unit.name for unit in subject.units}
    for model in subject.models:
        for candidate in subject.prepared(model).candidates.legal:
            if candidate.unit in own and not candidate.pattern.view:
                yield from _workload(subject, candidate)


def _workload(subject: Subject, candidate: Candidate) -> Iterator[Finding]:
    from match_core.contract.geometry import axis_tile
    from match_core.contract.unit_api import Kernel
    from match_core.plugin.answers import WrongAnswerError, check_workload

    workload = candidate.workload
    part = f"workload of pattern {candidate.pattern.name}, unit {candidate.unit}"
    sizes = {dim.name: dim.size for dim in workload.dims}
    if len(sizes) != len(workload.dims):
        yield Finding(part, "two dimensions share a name")
    if workload.macs < 0:
        yield Finding(part, f"it has {workload.macs} multiply-accumulates")
    if not any(operand.role == "output" for operand in workload.operands):
        yield Finding(part, "it has no output")
    for operand in workload.operands:
        for axis in operand.axes:
            unknown = [name for name, _ in axis.terms if name not in sizes]
            if unknown:
                yield Finding(part, f"axis {axis.name} of {operand.name} uses unknown dimension {unknown[0]}")
            elif operand.role == "output" and axis.terms and axis_tile(axis, {}, sizes).extent != axis.size:
                yield Finding(part, f"all loops together do not cover axis {axis.name} of {operand.name}")
    kernel = subject.api(next(u for u in subject.units if u.name == candidate.unit)).kernels.get(candidate.pattern.name)
    if isinstance(kernel, Kernel):
        try:
            check_workload(kernel.interface, workload)
        except WrongAnswerError as error:
            yield Finding(part, str(error))


def _refusals(subject: Subject) -> Iterator[Finding]:
    own = {unit.name for unit in subject.units}
    refused = [r for model in subject.models for r in subject.prepared(model).candidates.refused if r.unit in own]
    for refusal in refused:
        if not _is_line(refusal.value):
            yield Finding(
                f"constraint {refusal.rule!r} of pattern {refusal.pattern}, unit {refusal.unit}",
                f"its reason {refusal.value!r} is not one line of text",
            )
    seen = {(r.unit, r.pattern, r.rule) for r in refused}
    for unit in subject.units:
        unseen = [
            f"{constraint.name} ({pattern.name})"
            for pattern in subject.patterns(unit)
            for constraint in pattern.constraints
            if (unit.name, pattern.name, constraint.description) not in seen
        ]
        if unseen:
            yield Finding(f"constraints of unit {unit.name}", f"no sample model breaks: {', '.join(unseen)}", "note")


def _is_line(text: str) -> bool:
    return bool(text.strip()) and text.isprintable()


CASES = (
    Case(LEVEL, "named", "patterns and constraints have names and descriptions", _named),
    Case(LEVEL, "used", "each unit has a match in the sample models", _used),
    Case(LEVEL, "workloads", "workloads are complete and agree with the kernels' contexts", _workloads),
    Case(LEVEL, "refusals", "constraints state in one line what breaks them", _refusals),
)
