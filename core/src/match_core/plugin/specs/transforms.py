# mypy: disable-error-code="empty-body"
"""Which graph passes a target adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from match_core.hardware import Soc
    from match_core.transforms.base import Pass


@hookspec
def match_transforms(soc: Soc) -> Sequence[Pass]:
    """Give the passes that this package wants to run on every model compiled for a system on chip.

    Called: once per compilation, before the first pass runs.

    Arguments:
        soc: the requested target, also where it belongs to another package. Look at its units, never at its name: a
            board may have your units under a name of its own. Answer with none where it has none of them.

    Returns: a tuple of Pass, each with its phase and the names it runs before and after. None and () mean no
        passes.

    Several answers: all passes are collected with those of the core and sorted by phase, then by before and
        after, then by name. Two passes of the same name from two packages are an error that names both.

    Nobody answers: the core's own passes run.

    May be changed: nothing. A pass works on a copy of the model.

    Example::

        @hookimpl
        def match_transforms(soc: Soc) -> Sequence[Pass]:
            return (SPLIT_WIDE_CONV,) if "mynpu" in soc.units else ()
    """
