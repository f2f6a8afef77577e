"""The hook of match-beyond: makes networks fit that exceed the home memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    from match_core.contract.fitting import Fit, FitRequest

match_contract = 1


@hookimpl(trylast=True)
def match_fit(request: FitRequest) -> Fit | None:
    """The fastest program that was found: stripes of layers, tensors in the store, swaps."""
    from match_beyond.search import fit

    return fit(request)
