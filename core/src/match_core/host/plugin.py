"""The host unit's hook implementations: it registers like any other package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    from match_core.cost import CostModel
    from match_core.emit.api import UnitApi
    from match_core.hardware import Hardware, Soc, Unit
    from match_core.patterns.language import Pattern

match_contract = 1


@hookimpl
def match_hardware() -> Hardware:
    """The host unit, and a Soc of it alone; all others are defined by target packages."""
    from match_core.hardware import Hardware
    from match_core.host.soc import HOST_SOC
    from match_core.host.unit import HOST_UNIT

    return Hardware(units=(HOST_UNIT,), socs=(HOST_SOC,))


@hookimpl
def match_patterns(unit: Unit) -> tuple[Pattern, ...] | None:
    """Everything the host can run."""
    if unit.name != "host":
        return None
    from match_core.host.machine import machine_named
    from match_core.host.patterns import host_patterns

    return host_patterns(machine_named(unit.machine))


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """The same model for all patterns: operation counts are in the workload."""
    if unit.name != "host":
        return None
    from match_core.host.cost import HostCostModel

    return HostCostModel()


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """Kernels that work in place; nothing to start or copy."""
    if unit.name != "host":
        return None
    from match_core.emit.api import PlatformApi, UnitApi
    from match_core.host.kernels import host_kernels

    return UnitApi(platform=PlatformApi(), memory=None, kernels=host_kernels(unit.machine))
