"""The support table: what each unit runs and under which rules, made from the patterns themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.hardware import Unit
    from match_core.contract.pattern import Pattern


@dataclass(frozen=True, slots=True)
class SupportRow:
    """One pattern of one unit; ``rules`` are the descriptions of its constraints, in order. Of regions: what holds for
    all operators, then what each operator has to keep to besides, then what holds for regions as a whole."""

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
            tuple(rule.description for rule in pattern.constraints) if pattern.claims is None else _of_regions(pattern),
        )
        for unit, patterns in units_with_patterns
        for pattern in patterns
    )


def _of_regions(pattern: Pattern) -> tuple[str, ...]:
    assert pattern.claims is not None
    claims = pattern.claims.operators
    asked = [tuple(rule.description for rule in claim.rules) for claim in claims]
    of_nodes = set().union(*asked)
    common = [rule for rule in (asked[0] if asked else ()) if all(rule in others for others in asked)]
    by_rules: dict[tuple[str, ...], list[str]] = {}
    for claim, rules in zip(claims, asked, strict=True):
        own = tuple(rule for rule in rules if rule not in common)
        by_rules.setdefault(own, []).extend(claim.names)
    others = [rule.description for rule in pattern.constraints if rule.description not in of_nodes]
    return (
        *common,
        *(f"{', '.join(names)}: {'; '.join(own) or 'nothing else'}" for own, names in by_rules.items()),
        *others,
    )
