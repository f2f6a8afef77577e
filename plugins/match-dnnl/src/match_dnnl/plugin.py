"""The hooks of match-dnnl; each imports its modules when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl

if TYPE_CHECKING:
    from match_core import CostModel, Hardware, Pattern, Soc, Unit, UnitApi

match_contract = 1
match_conformance = "match_dnnl.conformance"
_UNIT = "dnnl"


@hookimpl
def match_hardware() -> Hardware:
    """The computer and its library."""
    from match_dnnl.hardware import HARDWARE

    return HARDWARE


@hookimpl
def match_patterns(unit: Unit) -> tuple[Pattern, ...]:
    """Regions of float operators."""
    if unit.name != _UNIT:
        return ()
    from match_dnnl.claims import REGION

    return (REGION,)


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Nanoseconds of regions; of the host's kernels too on a Soc with oneDNN, so that both can be compared."""
    if unit.name == _UNIT:
        from match_dnnl.cost import region_cost
        from match_dnnl.hardware import DIRECT

        return region_cost(winograd=soc.preset != DIRECT)
    if unit.name == soc.host and set(soc.units) == {soc.host, _UNIT}:
        from match_dnnl.cost_host import host_cost

        return host_cost()
    return None


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """The runtime."""
    if unit.name != _UNIT:
        return None
    from match_dnnl.emit import unit_api

    return unit_api(soc.preset)
