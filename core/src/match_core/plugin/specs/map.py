# mypy: disable-error-code="empty-body"
"""Which unit runs which part of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from match_core.contract.mapping import Mapping, MappingRequest


@hookspec(firstresult=True)
def match_map(request: MappingRequest) -> Mapping | None:
    """Map a model: which unit runs which nodes, in which order.

    Called: once per attempt to deploy a model, after scheduling; and again with ``request.soc.mode`` "concurrent" if
        the Soc's units can run at the same time and the first mapping is not ``final``.

    Arguments:
        request: model, Soc, units, objective, every candidate that has a schedule, and conversions between stored
            forms; for concurrent units also the sequential mapping and the scheduler for shares of operators.

    Returns: a Mapping of assignments from ``request.offered`` in an order in which every value is made before it is
        read; or None to leave the model to others. Raise UnsupportedError MATCH-P002 if no choice covers the model.

    Several answers: the first one that is not None wins; a mapper for any model should be called last (``trylast``).
        The core's validator checks it, and its evaluator computes its cost again: a mapping that is wrong, or claims
        another cost than the evaluator finds, is an error of the package.

    Nobody answers: an error that names the target; if only the concurrent mapping has no answer, the program runs
        one task after another.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_map(request: MappingRequest) -> Mapping | None:
            return greedy(request) if "mynpu" in request.soc.units else None
    """
