"""The hooks of match-concurrent: mappings and plans of programs whose units run at the same time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    from match_core.contract.mapping import Mapping, MappingRequest
    from match_core.contract.planning import Plan, PlanRequest

match_contract = 1


@hookimpl(trylast=True)
def match_map(request: MappingRequest) -> Mapping | None:
    """A mapping with shares of operators on several units; None for one task after another."""
    from match_concurrent.mapping.choose import concurrent_mapping

    if request.soc.mode != "concurrent":
        return None
    # The sequential mapping shares out what programs hold: of candidates that hold something, only its own are left.
    known = {a.candidate.index for a in request.sequential.assignments} if request.sequential else set()
    offered = tuple(a for a in request.offered if not a.candidate.workload.holds or a.candidate.index in known)
    return concurrent_mapping(replace(request, offered=offered))


@hookimpl(trylast=True)
def match_plan(request: PlanRequest) -> Plan | None:
    """A plan with start times, addresses and swaps; it streams constants if that is faster than swapping. None for
    sequential programs."""
    from match_concurrent.streaming import planned

    return planned(request) if request.scheduling.soc.mode == "concurrent" else None
