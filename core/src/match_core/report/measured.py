"""What the twin measured, as the part ``measured`` of a report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from match_core.io.samples import SEED, random_array
from match_core.report.document import NAME
from match_core.twin.program import read_manifest, run_program

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from match_core.pipeline import Compilation
    from match_core.plugin.host import Plugins
    from match_core.twin.run import RunResult


def with_measured(
    report: Mapping[str, Any], directory: Path, inputs: Mapping[str, NDArray[np.generic]] | None, plugins: Plugins
) -> dict[str, Any]:
    """The report with what one run of the program on the twin took; ``inputs`` None: seeded random ones. Only the first
    sample has a timeline."""
    arrays = dict(inputs) if inputs is not None else _made_up(read_manifest(directory))
    return {**report, "measured": measured_json(run_program(directory, arrays, plugins))}


def measured_report(compilation: Compilation, run: RunResult) -> dict[str, Any]:
    """The report of a compilation with what a run of it took."""
    return {**json.loads(compilation.sources.text(NAME)), "measured": measured_json(run)}


def measured_json(run: RunResult) -> dict[str, Any]:
    """Cycles of one inference, in all, by unit and by layer, and all events of the timeline."""
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


def _made_up(manifest: Mapping[str, Any]) -> dict[str, NDArray[np.generic]]:
    """One sample for every input."""
    generator = np.random.default_rng(SEED)
    return {
        tensor["name"]: random_array(generator, np.dtype(tensor["dtype"]), (1, *tensor["shape"]))
        for tensor in manifest["inputs"]
    }
