"""The hook of match-map: the mapper for any model, called after the mappers of all other packages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    from match_core.contract.mapping import Mapping, MappingRequest

match_contract = 1


@hookimpl(trylast=True)
def match_map(request: MappingRequest) -> Mapping | None:
    """The cheapest cover of the model, for one task after another; a concurrent mapping may replace it."""
    from match_map.mapper import choose

    if request.soc.mode != "sequential":
        return None
    room = tuple(request.soc.held_bytes.items())
    mapping = choose(request.model, request.offered, request.refused, request.objective, request.convert, room)
    return replace(mapping, final=False)
