# mypy: disable-error-code="empty-body"
"""Which graph passes a target adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from match_core.contract.hardware import Soc
    from match_core.contract.passes import Pass


@hookspec
def match_transforms(soc: Soc) -> Sequence[Pass]:
    """Give the passes that this package runs on every model compiled for a system on chip.

    Called: once per compilation, before the first pass runs.

    Arguments:
        soc: the requested target, even if it belongs to another package. Check its units, never its name: a board
            may have your units under a name of its own. Return none if it has none of them.

    Returns: a tuple of Pass, each with its phase and the names it runs before and after. None and () mean no
        passes.

    Several answers: all passes are collected, the clean-up passes of the core among them, and sorted by phase, then
        by before and after, then by name. Two passes of the same name from two packages are an error that names both.

    Nobody answers: no pass runs.

    May be changed: nothing. A pass works on a copy of the model.

    Example::

        @hookimpl
        def match_transforms(soc: Soc) -> Sequence[Pass]:
            return (SPLIT_WIDE_CONV,) if "mynpu" in soc.units else ()
    """
