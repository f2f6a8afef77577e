"""The hook of match-greedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl

if TYPE_CHECKING:
    from match_core.contract.mapping import Mapping, MappingRequest

match_contract = 1


@hookimpl
def match_map(request: MappingRequest) -> Mapping | None:
    """A mapping by the greedy rule, for one task after another."""
    from match_greedy.greedy import greedy_mapping

    return greedy_mapping(request) if request.soc.mode == "sequential" else None
