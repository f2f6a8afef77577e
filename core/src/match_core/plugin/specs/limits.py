# mypy: disable-error-code="empty-body"
"""Models that may lose little accuracy, and those that exceed the home memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from match_core.contract.exactness import ExactChoice, ExactRequest
    from match_core.contract.fitting import Fit, FitRequest


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


@hookspec(firstresult=True)
def match_fit(request: FitRequest) -> Fit | None:
    """Rewrite a model that exceeds the home memory: layers in stripes of rows, tensors in the Soc's store.

    Called: if units of the Soc copy between home memory and store, or all work in the home memory, when no sequential
        program fits, or it waits for constants. Then, or on others when no program fits, only for other candidates.

    Arguments:
        request: model, Soc, the cheapest mapping, candidates, and functions that make programs to compare.

    Returns: a Fit, whose model is one that the function was called with and that fits, or None and a lower bound of the
        memory required; or None to leave the model to others.

    Several answers: the first one that is not None wins. Programs of rewritten models pass the same validators as all
        others; the validator of their copies replays the program byte by byte.

    Nobody answers: MATCH-M001.

    May be changed: nothing; models are rewritten on copies.

    Example::

        @hookimpl
        def match_fit(request: FitRequest) -> Fit | None:
            return Fit(in_halves(request.model))
    """
