"""Level ``passes``: the package's passes keep models valid, and results as exact as they claim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from match_kit.testing.findings import Case, Finding

if TYPE_CHECKING:
    from match_kit.testing.subject import Subject

LEVEL = "passes"


def _valid(subject: Subject) -> Iterator[Finding]:
    for model in subject.models:
        seen = subject.observed_passes(model)
        if seen.invalid:
            yield Finding(f"match_transforms, pass {seen.name}, model {model.name}", f"invalid model: {seen.invalid}")
            return  # other models show the same


def _exact(subject: Subject) -> Iterator[Finding]:
    for model in subject.models:
        seen = subject.observed_passes(model)
        if seen.changed:
            yield Finding(f"match_transforms, pass {seen.name}, model {model.name}", seen.changed)
            return


CASES = (
    Case(LEVEL, "valid", "models are valid after each pass of the package", _valid),
    Case(LEVEL, "exact", "results are as exact as each pass of the package claims", _exact),
)
