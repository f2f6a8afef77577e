"""Limits on changes between two programs, for gates in continuous integration."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.errors import UsageError
from match_core.io.sizes import parse_bytes

if TYPE_CHECKING:
    from match_report.diff import Difference

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")


@dataclass(frozen=True, slots=True)
class Limit:
    """How much a number may grow: ``relative`` to its old value, else ``absolute`` (cycles or bytes)."""

    name: str
    text: str
    relative: float | None
    absolute: int


@dataclass(frozen=True, slots=True)
class Exceeded:
    """A limit that a change exceeds."""

    limit: Limit
    growth: int
    allowed: int


def parse_limit(text: str) -> Limit:
    """``NAME=GROWTH``: ``cycles=2%``, ``cycles=5000``, ``l2=4kB``. UsageError MATCH-U033."""
    name, equals, growth = text.partition("=")
    percent = _PERCENT.fullmatch(growth.strip())
    absolute = 0 if percent else parse_bytes(growth)
    if not name.strip() or not equals or absolute is None:
        raise _refused(text, "it does not have the form NAME=GROWTH")
    return Limit(name.strip(), text, float(percent[1]) / 100 if percent else None, absolute)


def exceeded(difference: Difference, limits: Sequence[Limit]) -> tuple[Exceeded, ...]:
    """The limits that are exceeded. UsageError MATCH-U033 for a name that neither program has."""
    found = []
    for limit in limits:
        change = difference.numbers.get(limit.name)
        if change is None:
            raise _refused(limit.text, f"the programs have {', '.join(difference.numbers)}")
        allowed = limit.absolute if limit.relative is None else int(limit.relative * (change.before or 0))
        if change.growth > allowed:
            found.append(Exceeded(limit, change.growth, allowed))
    return tuple(found)


def _refused(text: str, why: str) -> UsageError:
    return UsageError(
        code="MATCH-U033",
        what="the limit is not valid",
        where=f"--limit {text}",
        why=why,
        help=("for example --limit cycles=2%", "for example --limit cycles=5000", "or a memory: --limit NAME=4kB"),
    )
