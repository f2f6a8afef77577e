"""The hooks of match-sprout; each imports its modules when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl

if TYPE_CHECKING:
    from match_core import CostModel, Hardware, Pattern, Soc, Unit, UnitApi

match_contract = 1
match_conformance = "match_sprout.conformance"
_UNIT = "sprout_array"


@hookimpl
def match_hardware() -> Hardware:
    """The Soc and its array."""
    from match_sprout.hardware import HARDWARE

    return HARDWARE


@hookimpl
def match_patterns(unit: Unit) -> tuple[Pattern, ...]:
    """The array's patterns."""
    from match_sprout.patterns import PATTERNS

    return PATTERNS if unit.name == _UNIT else ()


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Cycles of the array and of its DMA."""
    from match_sprout.cost import ArrayCost

    return ArrayCost() if unit.name == _UNIT else None


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """The SDK's functions."""
    from match_sprout.emit import unit_api

    return unit_api() if unit.name == _UNIT else None
