"""The part of a model on units that take whole regions: numbers of regions, operators and multiply-accumulates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from match_core.contract.macs import node_macs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from match_core.contract.candidate import Candidate
    from match_core.contract.compilation import Planned
    from match_core.contract.mapping import Assignment


def regions_json(planned: Planned) -> list[dict[str, Any]]:
    """For each unit with legal regions that have a schedule: the numbers of ``found`` and ``chosen`` regions, and the
    operators (``nodes``) and multiply-accumulates (``macs``) of the chosen ones."""
    found, chosen = _regions(planned.offered), _regions(planned.mapping.assignments)
    every = planned.model.graph.nodes
    totals = {"nodes_total": len(every), "macs_total": sum(map(node_macs, every))}
    rows = []
    for unit in sorted({candidate.unit for candidate in (*found, *chosen)}):
        nodes = [node for candidate in chosen if candidate.unit == unit for node in candidate.match.nodes]
        rows.append(
            {
                "unit": unit,
                "found": len({candidate.node_names for candidate in found if candidate.unit == unit}),
                "chosen": sum(candidate.unit == unit for candidate in chosen),
                "nodes": len(nodes),
                "macs": sum(map(node_macs, nodes)),
                **totals,
            }
        )
    return rows


def _regions(assignments: Iterable[Assignment]) -> list[Candidate]:
    return [a.candidate for a in assignments if a.candidate.pattern.claims is not None]
