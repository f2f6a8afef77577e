# mypy: disable-error-code="empty-body"
"""When tasks of units that run at the same time start, and where their tensors lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from match_core.contract.planning import Plan, PlanRequest


@hookspec(firstresult=True)
def match_plan(request: PlanRequest) -> Plan | None:
    """Plan a program whose units run at the same time: queues, signals, addresses, swaps.

    Called: once per concurrent mapping, and for sequential programs of models with parts (``match_fit``). The core
        plans other sequential programs; if one streams constants and the host can copy while tasks run, the hook is
        called with its mapping, in its order, and a faster answer replaces it.

    Arguments:
        request: model, mapping, the scheduler, what code and constants of assignments require, and the tensors
            in the Soc's overflow memory.

    Returns: a Plan; None to leave the program to others. Raise InfeasibleError MATCH-M001 if the memories are too
        small.

    Several answers: the first one that is not None wins. The core's validator runs the program in a legal order, byte
        by byte, and computes start times, the cycles of swaps and the predicted cycles again: a program that is wrong,
        or claims other cycles, is an error of the package.

    Nobody answers: units run one after another; ``--execution concurrent`` is an error.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_plan(request: PlanRequest) -> Plan | None:
            return in_order(request) if "mynpu" in request.mapping.units else None
    """
