# mypy: disable-error-code="empty-body"
"""How a model that exceeds the home memory is made to fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from match_core.contract.fitting import Fit, FitRequest


@hookspec(firstresult=True)
def match_fit(request: FitRequest) -> Fit | None:
    """Rewrite a model that exceeds the home memory: layers in stripes of rows, tensors in the Soc's store.

    Called: when no sequential program of a model fits, if units of the Soc copy between home memory and store, or all
        work in the home memory. On other Socs, when no program fits at all, for a lower bound only.

    Arguments:
        request: model, Soc, the cheapest mapping, and a function that makes the program of a rewritten model.

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
