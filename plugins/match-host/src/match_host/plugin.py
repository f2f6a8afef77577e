"""The hooks of match-host, which registers like any other package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    from match_core.contract.cost import CostModel
    from match_core.contract.hardware import Hardware, Soc, Unit
    from match_core.contract.pattern import Pattern
    from match_core.contract.unit_api import UnitApi

match_contract = 1


@hookimpl
def match_hardware() -> Hardware:
    """The host unit, and a Soc with only this unit; target packages define all others."""
    from match_core.contract.hardware import Hardware

    from match_host.soc import HOST_SOC
    from match_host.unit import HOST_UNIT

    return Hardware(units=(HOST_UNIT,), socs=(HOST_SOC,))


@hookimpl
def match_patterns(soc: Soc, unit: Unit) -> tuple[Pattern, ...] | None:
    """All patterns of the host."""
    if unit.name != "host":
        return None
    from match_host.machine import machine_of
    from match_host.patterns import host_patterns

    return host_patterns(machine_of(soc))


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """The same model for all patterns: operation counts are in the workload."""
    if unit.name != "host":
        return None
    from match_host.cost import host_cost

    return host_cost(soc)


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """Kernels that work in place; no launches or copies."""
    if unit.name != "host":
        return None
    from match_core.contract.unit_api import PlatformApi, UnitApi

    from match_host.kernels import host_kernels
    from match_host.machine import machine_of

    return UnitApi(platform=PlatformApi(), memory=None, kernels=host_kernels(machine_of(soc)))
