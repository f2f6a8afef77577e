"""The network as a drawing: positions of nodes and edges, with and without nodes that only convert or move values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from match_core.ir.titles import SILENT

from match_report.view.layout import Layout, layered_layout

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Box:
    """A node, or a graph input or output (``kind``); ``layer``: the layer that does most of its work, None if there is
    none; ``layers``: all layers that run code for it."""

    kind: str
    operator: str
    name: str
    layer: int | None
    layers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """Positions by box number, and the edges as (from, to, tensor)."""

    layout: Layout
    edges: Sequence[tuple[int, int, str]]


@dataclass(frozen=True, slots=True)
class NetworkView:
    """``boxes``: nodes, then inputs, then outputs; ``full`` shows all of them, ``brief`` only those that compute."""

    boxes: tuple[Box, ...]
    full: Drawing
    brief: Drawing


def network_view(report: Mapping[str, Any]) -> NetworkView:
    """Both drawings of the source network."""
    network, layers = report["network"], {layer["index"]: layer for layer in report["layers"]}
    boxes = [_node(node, layers) for node in network["nodes"]]
    edges = [(edge["from"], edge["to"], _tensor(edge)) for edge in network["edges"]]
    for tensor in network["inputs"]:
        edges += [(len(boxes), node, _tensor(tensor)) for node in tensor["to"]]
        boxes.append(Box("input", "input", tensor["tensor"], None, ()))
    for tensor in network["outputs"]:
        if tensor["from"] is not None:
            edges.append((tensor["from"], len(boxes), _tensor(tensor)))
        boxes.append(Box("output", "output", tensor["tensor"], None, ()))
    shown = [number for number, box in enumerate(boxes) if box.kind != "node" or box.operator not in SILENT]
    return NetworkView(
        tuple(boxes), _drawing(boxes, range(len(boxes)), edges), _drawing(boxes, shown, _bridged(boxes, shown, edges))
    )


def _node(node: Mapping[str, Any], layers: Mapping[int, Mapping[str, Any]]) -> Box:
    own = [layers[index] for index in node["layers"] if not layers[index]["view"]]
    main = max(own, key=lambda layer: (layer["macs"], layer["predicted_cycles"]), default=None)
    return Box(
        "node",
        node["operator"],
        node["name"],
        None if main is None else main["index"],
        tuple(layer["index"] for layer in own),
    )


def _tensor(tensor: Mapping[str, Any]) -> str:
    return f"{tensor['tensor']}: {tensor['dtype']} {' x '.join(tensor['shape']) or 'scalar'}"


def _drawing(boxes: Sequence[Box], shown: Sequence[int], edges: Sequence[tuple[int, int, str]]) -> Drawing:
    inputs = {number for number in shown if boxes[number].kind == "input"}
    return Drawing(layered_layout(shown, [(a, b) for a, b, _ in edges], inputs), edges)


def _bridged(
    boxes: Sequence[Box], shown: Collection[int], edges: Sequence[tuple[int, int, str]]
) -> list[tuple[int, int, str]]:
    """Edges between visible boxes, passing through hidden ones; each pair once."""
    kept = set(shown)
    before: dict[int, list[tuple[int, str]]] = {}
    for a, b, tensor in edges:
        before.setdefault(b, []).append((a, tensor))
    found: dict[tuple[int, int], str] = {}
    for number in shown:
        waiting = list(before.get(number, ()))
        seen = set()
        while waiting:
            producer, tensor = waiting.pop()
            if producer in kept:
                found.setdefault((producer, number), tensor)
            elif producer not in seen:
                seen.add(producer)
                waiting += before.get(producer, ())
    return [(a, b, tensor) for (a, b), tensor in sorted(found.items())]
