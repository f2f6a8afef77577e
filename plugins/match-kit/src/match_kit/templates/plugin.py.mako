"""The hooks of ${distribution}; each imports its modules when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl

if TYPE_CHECKING:
    from match_core import CostModel, Hardware, Pattern, Soc, Unit, UnitApi

match_contract = ${contract}
match_conformance = "${module}.conformance"
_UNIT = "${name}_${unit}"


@hookimpl
def match_hardware() -> Hardware:
    """The Soc and its ${unit}."""
    from ${module}.hardware import HARDWARE

    return HARDWARE


@hookimpl
def match_patterns(unit: Unit) -> tuple[Pattern, ...]:
    """The ${unit}'s patterns."""
    from ${module}.patterns import PATTERNS

    return PATTERNS if unit.name == _UNIT else ()


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Cycles of the ${unit}${costs}."""
    from ${module}.cost import ${unit.title()}Cost

    return ${unit.title()}Cost() if unit.name == _UNIT else None


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """${calls}."""
    from ${module}.emit import unit_api

    return unit_api() if unit.name == _UNIT else None
