"""Hook implementations of the DIANA package; each delegates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl

if TYPE_CHECKING:
    from match_core import CostModel, Hardware, Pass, Pattern, Soc, Unit, UnitApi

match_contract = 1
match_conformance = "match_diana.conformance"
_UNITS = ("digital", "analog")


@hookimpl
def match_hardware() -> Hardware:
    """The Soc ``diana``: host, digital array, analog array."""
    from match_diana.hardware import hardware

    return hardware()


@hookimpl
def match_transforms(soc: Soc) -> tuple[Pass, ...]:
    """Passes that convert layers to the arithmetic of the two arrays."""
    if not set(_UNITS) & set(soc.units):
        return ()
    from match_diana.passes import diana_passes

    return diana_passes(soc)


@hookimpl
def match_patterns(unit: Unit) -> tuple[Pattern, ...]:
    """Patterns of the two arrays."""
    if unit.name not in _UNITS:
        return ()
    from match_diana.patterns import PATTERNS

    return PATTERNS[unit.name]


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Cycles of instructions, weight loads and copies; the host's own with the power of this chip."""
    if unit.name == soc.host and soc.name == "diana":
        from match_diana.cost import host_with_energy

        return host_with_energy(soc)
    if unit.name not in _UNITS:
        return None
    from match_diana.cost import cost_model

    return cost_model(unit.name, pattern.name, soc)


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """The published kernel library of DIANA."""
    if unit.name not in _UNITS:
        return None
    from match_diana.emit import unit_api

    return unit_api(unit.name, soc)
