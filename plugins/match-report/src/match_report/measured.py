"""Measurements of the twin, as the part ``measured`` of a report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from match_core.summary.document import NAME

if TYPE_CHECKING:
    from match_core.contract.compilation import Compilation
    from match_core.contract.runner import RunResult


def measured_report(compilation: Compilation, run: RunResult) -> dict[str, Any]:
    """The report of a compilation with the cycles of a run on the twin."""
    measured = measured_json(run) if run.place == "twin" else None
    return {**json.loads(compilation.sources.text(NAME)), "measured": measured}


def measured_json(run: RunResult) -> dict[str, Any]:
    """Cycles of one inference: total, by unit and by layer, and all events of the timeline."""
    return {
        "cycles": run.cycles_total,
        "units": dict(run.cycles_by_unit),
        "clocks": dict(run.cycles_by_clock),
        "layers": [{"index": node.index, "cycles": node.cycles} for node in run.nodes],
        "events": [
            {
                "clock": event["clock"],
                "name": event["name"],
                "kind": event["kind"],
                "layer": event["node"] if event["node"] >= 0 else None,
                "context": event["context"],
                "start_cycles": event["start"],
                "end_cycles": event["end"],
            }
            for event in run.events
        ],
    }
