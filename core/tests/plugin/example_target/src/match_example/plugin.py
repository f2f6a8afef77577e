"""Hook implementations only; each delegates to a module that is imported when it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl

if TYPE_CHECKING:
    from match_core import CostModel, Hardware, Pattern, Soc, Unit, UnitApi

#: The version of the hook contract that this package is written for.
match_contract = 1


@hookimpl
def match_hardware() -> Hardware:
    """The Soc ``example`` and its unit ``relu_unit``."""
    from match_example.hardware import HARDWARE

    return HARDWARE


@hookimpl
def match_patterns(unit: Unit) -> tuple[Pattern, ...]:
    """ReLU."""
    from match_example.relu import RELU

    return (RELU,) if unit.name == "relu_unit" else ()


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Elements per cycle."""
    from match_example.hardware import START_CYCLES
    from match_example.relu import ReluCost

    return ReluCost(START_CYCLES[soc.preset]) if unit.name == "relu_unit" else None


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """One function that works in place on the RAM."""
    from match_example.relu import unit_api

    return unit_api(soc.preset) if unit.name == "relu_unit" else None
