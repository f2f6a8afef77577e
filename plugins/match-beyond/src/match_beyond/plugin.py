"""The hooks of match-beyond: makes networks fit that exceed the home memory, and plans their programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    from match_core.contract.fitting import Fit, FitRequest
    from match_core.contract.planning import Plan, PlanRequest

match_contract = 1


@hookimpl(trylast=True)
def match_fit(request: FitRequest) -> Fit | None:
    """The fastest program that was found: stripes of layers, tensors in the store, swaps."""
    from match_beyond.search import fit

    return fit(request)


@hookimpl(tryfirst=True)
def match_plan(request: PlanRequest) -> Plan | None:
    """The sequential program of a model with parts, or one that fetches streamed constants ahead."""
    from match_beyond.planning import plan

    return plan(request) if request.scheduling.soc.mode == "sequential" else None
