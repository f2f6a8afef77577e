"""Two programs side by side, for the page: what changed from ``before`` to ``after``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from match_report.diff import layer_cycles, layer_units, paired
from match_report.view.bottleneck import bottleneck
from match_report.view.timeline import modelled_lanes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from match_report.diff import Difference


def comparison(before: Mapping[str, Any], after: Mapping[str, Any], difference: Difference) -> dict[str, Any]:
    """Both programs in short, the share of time that every unit is busy, all layers with units and modelled cycles (the
    largest change first), and what ``match diff`` finds. A missing number is null."""
    units = [_units(before), _units(after)]
    return {
        "programs": [_program(before), _program(after)],
        "same_model": before["source"]["sha256"] == after["source"]["sha256"],
        "busy": [{"unit": name, "before": one, "after": other} for name, one, other in _pairs(*units)],
        "options": [
            {"name": name, "before": one, "after": other}
            for name, one, other in _pairs(before["options"], after["options"])
            if one != other
        ],
        "layers": _layers(before, after),
        "memory": [asdict(change) for change in difference.memory],
        "moved": [asdict(move) for move in difference.moved],
        "files": [asdict(file) for file in difference.files],
    }


def _program(report: Mapping[str, Any]) -> dict[str, Any]:
    part = bottleneck(report)
    available = {memory["name"]: memory["available_bytes"] for memory in report["memories"]}
    return {
        "name": report["name"],
        "file": report["source"]["file"],
        "target": report["target"]["name"],
        "preset": report["target"]["preset"],
        "clock_hz": report["target"]["clock_hz"],
        "cycles": report["predicted_cycles"],
        "energy_pj": report["energy"]["pj"],
        "concurrent": bool(report["queues"]),
        "available": available,
        "bottleneck": None if part is None else asdict(part),
    }


def _units(report: Mapping[str, Any]) -> dict[str, float]:
    return {lane.name: lane.busy for lane in modelled_lanes(report) if lane.kind == "unit"}


def _layers(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    units = layer_units(before), layer_units(after)
    rows = [
        {
            "title": change.name,
            "before": change.before,
            "after": change.after,
            "units": [list(side.get(change.name, ())) for side in units],
        }
        for change in paired(layer_cycles(before), layer_cycles(after))
    ]
    return sorted(rows, key=lambda row: -abs((row["after"] or 0) - (row["before"] or 0)))


def _pairs(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    return [(name, before.get(name), after.get(name)) for name in dict.fromkeys((*before, *after))]
