"""Findings of cases: faults with the part of the package that they belong to, and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from match_core.contract.errors import MatchError

if TYPE_CHECKING:
    from match_kit.testing.subject import Subject

Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a case. ``part``: the part of the package, by its own names: a hook with its unit and pattern, a
    constant, a file. ``kind`` "skip": the case does not apply, for the reason in ``text``."""

    part: str
    text: str
    kind: Literal["fault", "note", "skip"] = "fault"

    def __str__(self) -> str:
        return f"{self.part}: {self.text}"


@dataclass(frozen=True, slots=True)
class Case:
    """One conformance case. ``asks`` states in one line what must hold; ``check`` returns the findings."""

    level: str
    name: str
    asks: str
    check: Callable[[Subject], Iterator[Finding]]

    @property
    def key(self) -> str:
        """``level-name``, unique."""
        return f"{self.level}-{self.name}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a case for a target (empty: for the package)."""

    case: str
    level: str
    target: str
    status: Status
    findings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The fields as a JSON object."""
        return {
            "case": self.case,
            "level": self.level,
            "target": self.target,
            "status": self.status,
            "findings": list(self.findings),
        }


def ask(case: Case, subject: Subject) -> Outcome:
    """Run a case on a package. Exceptions of its code are faults of the package, not errors of the suite."""
    findings: list[Finding] = []
    try:
        findings.extend(case.check(subject))
    except MatchError as error:
        findings.append(Finding(error.where, f"{error.code}: {error.what}: {error.why}"))
    except Exception as error:  # code of the package, and code that works on its results
        findings.append(Finding(_raised_in(error), f"{type(error).__name__}: {error}"))
    faults = any(finding.kind == "fault" for finding in findings)
    skipped = bool(findings) and all(finding.kind == "skip" for finding in findings)
    status: Status = "failed" if faults else "skipped" if skipped else "passed"
    shown = [finding for finding in findings if finding.kind == "fault" or not faults]
    return Outcome(case.key, case.level, subject.target, status, tuple(map(str, shown)))


def _raised_in(error: Exception) -> str:
    """The last frame, as a file and a line."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else "the package"
