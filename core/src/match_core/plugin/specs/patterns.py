# mypy: disable-error-code="empty-body"
"""What a unit can run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.pattern import Pattern


@hookspec
def match_patterns(soc: Soc, unit: Unit) -> Sequence[Pattern]:
    """Give the patterns that a unit can run, with the rules of its hardware as named constraints.

    Called: for every unit of the requested target that the user has not disabled. It may be called again with
        the same arguments and must then give an equal answer.

    Arguments:
        soc: the requested target.
        unit: the unit in question, even if it belongs to another package.

    Returns: a tuple of Pattern; those of a unit that takes whole regions of operators have ``claims``.
        None and () mean that the unit is not yours or that you have nothing to add.

    Several answers: all are collected; a package may add patterns to a unit of another one. Two patterns of
        the same name for one unit are an error that names both packages. Cost decides, not order.

    Nobody answers: the unit runs nothing, and its nodes go to the other units.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_patterns(soc: Soc, unit: Unit) -> Sequence[Pattern]:
            return PATTERNS if unit.name == "mynpu" else ()
    """
