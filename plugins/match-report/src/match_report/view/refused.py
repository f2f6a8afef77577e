"""Refusals by node: which units did not take it, and by which rules, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from match_core.ir.titles import SILENT

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a pattern, and the value that broke it."""

    pattern: str
    rule: str
    value: str


@dataclass(frozen=True, slots=True)
class RefusedNode:
    """A node with the rules that it breaks, by unit. ``runs_on``: units of the layers that run it (``layers``), with
    their modelled ``cycles``; such a unit refused it to other patterns only, and comes last."""

    node: str
    operator: str
    runs_on: tuple[str, ...]
    layers: tuple[int, ...]
    cycles: int
    units: tuple[tuple[str, tuple[Rule, ...]], ...]


def refused_nodes(report: Mapping[str, Any]) -> tuple[RefusedNode, ...]:
    """The nodes with the most cycles first. A place of several nodes counts for the first one that computes."""
    nodes = {node["name"]: node for node in report["network"]["nodes"]}
    places: dict[str, dict[str, dict[Rule, None]]] = {}
    for entry in report["refusals"]:
        unit = places.setdefault(_main(entry["onnx_names"], nodes), {}).setdefault(entry["unit"], {})
        unit[Rule(entry["pattern"], entry["rule"], entry["value"])] = None
    found = [_node(report, nodes.get(name), name, units) for name, units in places.items()]
    return tuple(sorted(found, key=lambda node: -node.cycles))


def _main(names: list[str], nodes: Mapping[str, Mapping[str, Any]]) -> str:
    computing = (name for name in names if name in nodes and nodes[name]["operator"] not in SILENT)
    return next(computing, names[-1] if names else "(inserted)")


def _node(
    report: Mapping[str, Any], node: Mapping[str, Any] | None, name: str, units: Mapping[str, Mapping[Rule, None]]
) -> RefusedNode:
    layers = [report["layers"][index] for index in (node["layers"] if node else ())]
    own = tuple(dict.fromkeys(layer["unit"] for layer in layers if not layer["view"]))
    ordered = sorted(units, key=lambda unit: unit in own)
    return RefusedNode(
        node=name,
        operator=node["operator"] if node else "",
        runs_on=own,
        layers=tuple(layer["index"] for layer in layers if not layer["view"]),
        cycles=sum(layer["predicted_cycles"] for layer in layers),
        units=tuple((unit, tuple(units[unit])) for unit in ordered),
    )
