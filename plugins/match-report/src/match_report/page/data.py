"""Data that the page draws in addition to the report; derived here so that the page and the figures agree."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from match_report.view.bottleneck import bottleneck, parts
from match_report.view.estimates import footnotes
from match_report.view.helps import helps
from match_report.view.network import network_view
from match_report.view.offload import offloaded
from match_report.view.palette import unit_colours
from match_report.view.rectangles import memory_maps
from match_report.view.refused import refused_nodes
from match_report.view.roofline import layer_rows, link_roofs, unit_roofs
from match_report.view.timeline import modelled_lanes, twin_lanes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from match_report.view.network import Drawing
    from match_report.view.timeline import Lane


def page_data(report: Mapping[str, Any], comparison: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """``report`` without the twin's events and the refusals (they are in ``lanes`` and ``refused``), everything derived
    from it, and a comparison with another program if there is one."""
    measured = report["measured"]
    if measured is not None:
        measured = {name: value for name, value in measured.items() if name != "events"}
    network, part, taken = network_view(report), bottleneck(report), offloaded(report)
    rows = layer_rows(report)
    return {
        "report": {**report, "measured": measured, "refusals": len(report["refusals"])},
        "bottleneck": None if part is None else asdict(part),
        "parts": [asdict(part) for part in parts(report)],
        "helps": [asdict(help_) for help_ in helps(report)],
        "refused": [asdict(node) for node in refused_nodes(report)],
        "offload": None if taken is None else asdict(taken),
        "comparison": comparison,
        "colours": unit_colours(report),
        "lanes": {"modelled": _lanes(modelled_lanes(report)), "twin": _lanes(twin_lanes(report))},
        "memories": [asdict(memory) for memory in memory_maps(report)],
        "rows": [asdict(row) for row in rows],
        "footnotes": footnotes(row.estimate for row in rows),
        "roofs": {"units": unit_roofs(report), "links": link_roofs(report)},
        "network": {
            "boxes": [asdict(box) for box in network.boxes],
            "full": _drawing(network.full),
            "brief": _drawing(network.brief),
        },
    }


def _lanes(lanes: Sequence[Lane]) -> list[dict[str, Any]]:
    """Spans as [start, end, layer, index of the text, whether idle], a compact form because there may be many."""
    found = []
    for lane in lanes:
        texts: dict[str, int] = {}
        spans = [
            [
                span.start_cycles,
                span.end_cycles,
                span.layer,
                texts.setdefault(span.text, len(texts)),
                span.idle,
            ]
            for span in lane.spans
        ]
        head = {"name": lane.name, "kind": lane.kind, "unit": lane.unit}
        found.append({**head, "busy": lane.busy, "bottleneck": lane.bottleneck, "texts": list(texts), "spans": spans})
    return found


def _drawing(drawing: Drawing) -> dict[str, Any]:
    return {
        "places": {str(number): place for number, place in drawing.layout.nodes.items()},
        "edges": [
            {"from": a, "to": b, "tensor": tensor, "points": points}
            for (a, b, tensor), points in zip(drawing.edges, drawing.layout.edges, strict=True)
        ],
    }
