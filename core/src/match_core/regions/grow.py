"""Grow the regions of a unit: few and large ones that keep to its limits and never wait for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.regions.dag import Bits
from match_core.regions.limits import LimitCheck
from match_core.regions.quotient import Quotient

if TYPE_CHECKING:
    from match_core.regions.claims import RegionLimits
    from match_core.regions.dag import Dag


def grown(dag: Dag, claimed: Bits, limits: RegionLimits) -> tuple[Bits, ...]:
    """Regions of the claimed nodes, in the order of their first nodes."""
    from match_core.regions.dag import members

    fits = LimitCheck(dag, limits)
    return tuple(g for g in Quotient(dag, [1 << p for p in members(claimed)], fits).grow() if fits(g))
