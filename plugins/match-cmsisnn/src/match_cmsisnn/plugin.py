"""The hooks of match-cmsisnn; each imports its modules when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl

if TYPE_CHECKING:
    from match_core import CostModel, Hardware, Pattern, Soc, Unit, UnitApi

match_contract = 1
match_conformance = "match_cmsisnn.conformance"
_PREFIX = "cmsis_nn_"


@hookimpl
def match_hardware() -> Hardware:
    """The library on two kinds of cores, and boards."""
    from match_cmsisnn.hardware import HARDWARE

    return HARDWARE


@hookimpl
def match_patterns(unit: Unit) -> tuple[Pattern, ...]:
    """What the library computes as the integer graph does."""
    if not unit.name.startswith(_PREFIX):
        return ()
    from match_cmsisnn.hardware import UNITS
    from match_cmsisnn.patterns import patterns_of

    return patterns_of(UNITS[unit.name]) if unit.name in UNITS else ()


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Instructions of the library's functions."""
    if not pattern.name.startswith(_PREFIX):
        return None
    from match_cmsisnn.cost import COST

    return COST


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """Calls of the library, which the program's build finds in the user's copy."""
    if not unit.name.startswith(_PREFIX):
        return None
    from match_core import PlatformApi, UnitApi

    from match_cmsisnn.hardware import UNITS
    from match_cmsisnn.library import FOLDERS
    from match_cmsisnn.patterns import inline_kernels

    if unit.name not in UNITS:
        return None
    kernels = inline_kernels(UNITS[unit.name])
    return UnitApi(platform=PlatformApi(), memory=None, kernels=kernels, folders=FOLDERS)
