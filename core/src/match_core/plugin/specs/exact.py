# mypy: disable-error-code="empty-body"
"""Which nodes keep exact arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from match_core.contract.exactness import ExactChoice, ExactRequest


@hookspec(firstresult=True)
def match_exact(request: ExactRequest) -> ExactChoice | None:
    """Choose the nodes whose arithmetic lossy passes must not change, so that a program loses no more accuracy than
    its user allows.

    Called: once per compilation with the option ``--max-loss``, after the model is loaded.

    Arguments:
        request: the loaded model, the limit in dB, samples, and functions that transform the model and price its
            program for nodes that are kept exact.

    Returns: an ExactChoice, whose names are source nodes, or ``PASS:NODE`` for one pass alone; or None to leave the
        choice to others. Raise a MatchError if no choice reaches the limit.

    Several answers: the first one that is not None wins.

    Nobody answers: an error that names the target.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_exact(request: ExactRequest) -> ExactChoice | None:
            return ExactChoice(tuple(node.name for node in request.source.graph.nodes), ("all nodes are exact",), {})
    """
