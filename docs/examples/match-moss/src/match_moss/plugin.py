"""The hooks of match-moss; each imports its modules when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl

if TYPE_CHECKING:
    from match_core import CostModel, Hardware, Pass, Pattern, Soc, Unit, UnitApi

match_contract = 1
match_conformance = "match_moss.conformance"
_UNIT = "moss_conv"


@hookimpl
def match_hardware() -> Hardware:
    """The Soc and its engine."""
    from match_moss.hardware import HARDWARE

    return HARDWARE


@hookimpl
def match_transforms(soc: Soc) -> tuple[Pass, ...]:
    """Layers get a requantisation by a power of two."""
    if _UNIT not in soc.units:
        return ()
    from match_quant.powers import shift_passes

    from match_moss.hardware import SHIFTS

    return shift_passes(SHIFTS)


@hookimpl
def match_patterns(unit: Unit) -> tuple[Pattern, ...]:
    """The regions that the engine claims."""
    if unit.name != _UNIT:
        return ()
    from match_moss.claims import PATTERN

    return (PATTERN,)


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Cycles of a region: they follow from its layers."""
    from match_regions import RegionCost

    return RegionCost("moss-region") if unit.name == _UNIT else None


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """The engine's functions."""
    from match_moss.emit import unit_api

    return unit_api() if unit.name == _UNIT else None
