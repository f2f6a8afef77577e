"""Hook implementations of the Carfield package; each delegates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl

if TYPE_CHECKING:
    from match_core import CostModel, Hardware, Pattern, Soc, Unit, UnitApi

match_contract = 1
match_conformance = "match_carfield.conformance"
_UNITS = ("pulp", "spatz")


@hookimpl
def match_hardware() -> Hardware:
    """The Socs, the PULP cluster and Spatz."""
    from match_carfield.hardware import hardware

    return hardware()


@hookimpl
def match_patterns(soc: Soc, unit: Unit) -> tuple[Pattern, ...]:
    """Patterns of the two units; those of RedMulE as far as the Soc uses it."""
    if unit.name not in _UNITS:
        return ()
    from match_carfield.hardware import redmule_of
    from match_carfield.patterns import PULP_FIRMWARE_PATTERNS, PULP_PATTERNS, SPATZ_PATTERNS

    if unit.name == "spatz":
        return SPATZ_PATTERNS
    return {"all": PULP_PATTERNS, "firmware": PULP_FIRMWARE_PATTERNS}[redmule_of(soc)]


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Formulas of the kernels, published figures of the copies."""
    if unit.name not in _UNITS:
        return None
    from match_carfield.cost import cost_model

    return cost_model(unit.name, pattern.name, soc)


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """Cheshire's host, pulp-runtime and snRuntime."""
    if unit.name not in _UNITS:
        return None
    from match_carfield.emit import unit_api

    return unit_api(unit.name, soc)
