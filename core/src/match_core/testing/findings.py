"""What a case finds: faults, which part of the package they belong to, and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from match_core.errors import MatchError

if TYPE_CHECKING:
    from match_core.testing.subject import Subject

Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a case found. ``part`` of the package, in the package's own words: a hook with its unit and
    pattern, a constant, a file. ``kind`` "skip": the case does not apply, and why."""

    part: str
    text: str
    kind: Literal["fault", "note", "skip"] = "fault"

    def __str__(self) -> str:
        return f"{self.part}: {self.text}"


@dataclass(frozen=True, slots=True)
class Case:
    """One question to a package. ``asks`` says in a line what must hold; ``check`` gives what it found."""

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
    """What came of a case for a target (empty: for the package)."""

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
    """Put a case to a package. Whatever its code raises is a fault, not an error of the suite."""
    findings: list[Finding] = []
    try:
        findings.extend(case.check(subject))
    except MatchError as error:
        findings.append(Finding(error.where, f"{error.code}: {error.what}: {error.why}"))
    except Exception as error:  # code of the package, and code that works on what it answered
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
