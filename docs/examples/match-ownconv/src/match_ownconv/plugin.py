"""The hooks of match-ownconv. They answer for a unit that another package defines."""

from __future__ import annotations

from dataclasses import replace

from match_core import CostModel, Pattern, Soc, Unit, UnitApi, hookimpl

match_contract = 1


@hookimpl
def match_patterns(unit: Unit) -> tuple[Pattern, ...]:
    """One more pattern of the host."""
    from match_ownconv.conv import PATTERN

    return (PATTERN,) if unit.name == "host" else ()


@hookimpl(tryfirst=True)
def match_cost(unit: Unit, pattern: Pattern) -> CostModel | None:
    """The cost of that pattern. match-host has a cost for every pattern of the host, so this one must come first."""
    from match_ownconv.conv import PATTERN, ConvCost

    return ConvCost() if (unit.name, pattern.name) == ("host", PATTERN.name) else None


@hookimpl(tryfirst=True)
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """What match-host answers, with one more kernel."""
    from match_host import plugin as match_host

    from match_ownconv.conv import KERNEL, PATTERN

    api = match_host.match_emit_api(soc, unit)  # None for other units
    return api and replace(api, kernels={**api.kernels, PATTERN.name: KERNEL})
