"""The hooks of match-fern; each imports its modules when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl

if TYPE_CHECKING:
    from match_core import CostModel, Hardware, Pattern, Soc, Unit, UnitApi

match_contract = 1
match_conformance = "match_fern.conformance"
_UNITS = ("fern_c", "fern_q")


@hookimpl
def match_hardware() -> Hardware:
    """The Soc and its engines."""
    from match_fern.hardware import HARDWARE

    return HARDWARE


@hookimpl
def match_patterns(unit: Unit) -> tuple[Pattern, ...]:
    """The regions that an engine claims."""
    from match_fern.claims import PATTERNS

    return (PATTERNS[unit.name],) if unit.name in _UNITS else ()


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Cycles of a region."""
    from match_regions import RegionCost

    from match_fern.hardware import VALUES

    if unit.name not in _UNITS:
        return None
    return RegionCost("fern-region", launch=VALUES[unit.name]["start_cycles"])


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """The code of a region, and the functions that run it."""
    from match_fern.emit import unit_api

    return unit_api(unit.name) if unit.name in _UNITS else None
