"""Hook implementations of the ITA package; each delegates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl

if TYPE_CHECKING:
    from match_core import CostModel, Hardware, Pass, Pattern, Soc, Unit, UnitApi

match_contract = 1
match_conformance = "match_ita.conformance"
_UNITS = ("snitch", "ita")


@hookimpl
def match_hardware() -> Hardware:
    """The Soc ``ita``: Snitch cluster and ITA."""
    from match_ita.hardware import hardware

    return hardware()


@hookimpl
def match_transforms(soc: Soc) -> tuple[Pass, ...]:
    """Passes that convert attention, linear layers and activations to the accelerator's arithmetic."""
    if "ita" not in soc.units:
        return ()
    from match_ita.passes import ita_passes

    return ita_passes(soc)


@hookimpl
def match_patterns(unit: Unit) -> tuple[Pattern, ...]:
    """Patterns of the two units."""
    if unit.name not in _UNITS:
        return ()
    from match_ita.patterns import ITA_PATTERNS, SNITCH_PATTERNS

    return {"snitch": SNITCH_PATTERNS, "ita": ITA_PATTERNS}[unit.name]


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Cycles of jobs, kernels and copies."""
    if unit.name not in _UNITS:
        return None
    from match_ita.cost import cost_model

    return cost_model(unit.name, pattern.name, soc)


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """The Snitch runtime and ITA's registers."""
    if unit.name not in _UNITS:
        return None
    from match_ita.emit import unit_api

    return unit_api(unit.name, soc)
