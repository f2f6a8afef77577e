# mypy: disable-error-code="empty-body"
"""What a pattern costs on a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from match_core.contract.cost import CostModel
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.pattern import Pattern


@hookspec(firstresult=True)
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Give the cost model of one pattern on one unit of one system on chip.

    Called: for every pattern that has legal candidates, before scheduling. It may be called again with the
        same arguments and must then give an equal answer.

    Arguments:
        soc: the requested target; its links decide what transfers cost.
        unit: the unit that would run the pattern.
        pattern: the pattern to be costed, one of those given for the unit.

    Returns: a CostModel (stateless, vectorised over candidate tilings), or None to leave the answer to
        others.

    Several answers: the first one that is not None wins. Packages are called in the order of (distribution,
        entry point); ``tryfirst`` and ``trylast`` move an implementation within that order.

    Nobody answers: an error that names the unit and its package, because a pattern without a cost cannot be
        compared.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
            return MyCost(soc, pattern.name) if unit.name == "mynpu" else None
    """
