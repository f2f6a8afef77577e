"""The levels in order, and the cases of each: a level counts only if all levels before it pass."""

from __future__ import annotations

from collections.abc import Sequence

from match_kit.testing.badge import Badge
from match_kit.testing.cases import (
    costs,
    counted,
    describes,
    errors,
    loads,
    passes,
    patterns,
    programs,
    repeats,
    schedules,
)
from match_kit.testing.findings import Case, Outcome

#: Levels that run once for a package; the others run once for each target.
PACKAGE_CASES = loads.CASES
TARGET_CASES = (
    *describes.CASES,
    *passes.CASES,
    *patterns.CASES,
    *costs.CASES,
    *counted.CASES,
    *schedules.CASES,
    *programs.CASES,
    *repeats.CASES,
    *errors.CASES,
)
LEVELS = tuple(dict.fromkeys(case.level for case in (*PACKAGE_CASES, *TARGET_CASES)))


def all_cases() -> tuple[Case, ...]:
    """Every case, in running order."""
    return (*PACKAGE_CASES, *TARGET_CASES)


def levels_passed(outcomes: tuple[Outcome, ...]) -> tuple[str, ...]:
    """The leading levels in which no case failed and at least one passed."""
    passed: list[str] = []
    for level in LEVELS:
        of_level = [outcome.status for outcome in outcomes if outcome.level == level]
        if "failed" in of_level or "passed" not in of_level:
            break
        passed.append(level)
    return tuple(passed)


def badge_from(package: str, version: str, outcomes: Sequence[Outcome]) -> Badge:
    """The badge for the outcomes of all cases."""
    from match_core.plugin.markers import CONTRACT_VERSION
    from match_core.version import __version__

    counts = {
        status: sum(outcome.status == status for outcome in outcomes) for status in ("passed", "failed", "skipped")
    }
    targets = tuple(dict.fromkeys(outcome.target for outcome in outcomes if outcome.target))
    levels = levels_passed(tuple(outcomes))
    return Badge(package, version, CONTRACT_VERSION, __version__, targets, levels, len(LEVELS), **counts)
