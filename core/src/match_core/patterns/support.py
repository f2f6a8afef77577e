"""The support table: what each unit runs and under which rules, made from the patterns themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.hardware import Unit
    from match_core.patterns.language import Pattern


@dataclass(frozen=True, slots=True)
class SupportRow:
    """One pattern of one unit; ``rules`` are the descriptions of its constraints, in order."""

    unit: str
    pattern: str
    description: str
    rules: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """The same fields as a JSON object."""
        return {
            "unit": self.unit,
            "pattern": self.pattern,
            "description": self.description,
            "rules": list(self.rules),
        }


def support_table(units_with_patterns: Sequence[tuple[Unit, Sequence[Pattern]]]) -> tuple[SupportRow, ...]:
    """One row for each pattern, in the order of the units and of their patterns."""
    return tuple(
        SupportRow(
            unit.name,
            pattern.name,
            pattern.description,
            tuple(rule.description for rule in pattern.constraints),
        )
        for unit, patterns in units_with_patterns
        for pattern in patterns
    )
