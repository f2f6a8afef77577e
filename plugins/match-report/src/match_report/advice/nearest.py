"""Finds the nodes that a unit cannot run at all, and the rules that they break."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.candidate import DISABLED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from match_core.contract.candidate import Candidates, Refusal
    from match_core.contract.model import Model


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A place where the structure of a pattern matches but no pattern of the unit is legal: the ``pattern`` with the
    fewest broken rules there, and the texts of these rules, each with the value that breaks it."""

    unit: str
    pattern: str
    onnx_names: tuple[str, ...]
    rules: tuple[tuple[str, str], ...]


def obstacles(model: Model, candidates: Candidates) -> tuple[Obstacle, ...]:
    """One obstacle per unit and result node that no pattern of the unit accepts, in order of the graph."""
    legal = {(c.unit, name) for c in candidates.legal for name in c.node_names}
    places: dict[tuple[str, str], dict[tuple[str, tuple[str, ...]], list[Refusal]]] = {}
    for refusal in candidates.refused:
        place = (refusal.unit, refusal.nodes[-1])
        if place not in legal and refusal.rule != DISABLED:
            places.setdefault(place, {}).setdefault((refusal.pattern, refusal.nodes), []).append(refusal)
    nodes = {node.name: (position, node) for position, node in enumerate(model.graph.nodes)}
    found = []
    for (unit, last), by_pattern in places.items():
        if last not in nodes:
            continue
        (pattern, names), broken = min(
            by_pattern.items(), key=lambda item: (len(item[1]), -len(item[0][1]), item[0][0])
        )
        origin = model.origin(nodes[name][1] for name in names if name in nodes)
        rules = tuple((refusal.rule, refusal.value) for refusal in broken)
        found.append((nodes[last][0], Obstacle(unit, pattern, origin, rules)))
    return tuple(obstacle for _, obstacle in sorted(found, key=_order))


def _order(item: tuple[int, Obstacle]) -> tuple[int, str]:
    return item[0], item[1].unit


def told(found: Iterable[Obstacle]) -> list[dict[str, object]]:
    """The obstacles as JSON."""
    return [
        {
            "unit": obstacle.unit,
            "pattern": obstacle.pattern,
            "onnx_names": list(obstacle.onnx_names),
            "rules": [{"rule": rule, "value": value} for rule, value in obstacle.rules],
        }
        for obstacle in found
    ]
