"""The report of a compilation as one JSON document: ``report.json`` next to the emitted C (docs/report.md).

All figures in it are modelled; ``match report`` adds measurements of the twin under ``measured``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from match_core.summary.fallbacks import fallbacks_json
from match_core.summary.layers import layers_json
from match_core.summary.memory_map import buffers_json, memories_json
from match_core.summary.network import network_json, refusals_json
from match_core.summary.program_json import energy_json, estimates_json, side_by_side_json
from match_core.summary.regions import regions_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from match_core.contract.compilation import Planned
    from match_core.contract.hardware import Soc, Unit

NAME = "report.json"
SCHEMA = "match.report"
SCHEMA_VERSION = 1


def report_document(planned: Planned, options: Mapping[str, object]) -> dict[str, Any]:
    """The document (docs/report.md describes its fields). ``options``: the user's choices, as in the manifest."""
    program, soc = planned.program, planned.soc
    concurrent = side_by_side_json(planned)
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "name": planned.model.name,
        "source": {"file": planned.model.source, "sha256": planned.model.source_sha256},
        "target": _target_json(soc, planned.units),
        "options": dict(options),
        "notes": list(planned.notes),
        "predicted_cycles": program.predicted_cycles,
        "sequential_cycles": concurrent["sequential_cycles"],
        "declined_cycles": concurrent["declined_cycles"],
        "uncertainty": concurrent["uncertainty"],
        "bounds": concurrent["bounds"],
        "energy": energy_json(program),
        "units": [
            {name: getattr(unit, name) for name in ("name", "description", "memory", "layout")}
            | {"host": unit.name == soc.host}
            for unit in planned.units
        ],
        "links": [
            {name: getattr(link, name) for name in ("name", "near", "far", "bytes_per_cycle", "blocking")}
            for link in soc.links
        ],
        "memories": memories_json(program),
        "queues": concurrent["queues"],
        "layers": layers_json(planned),
        "swaps": [
            {
                "index": swap.index,
                "source": swap.source,
                "target": swap.target,
                "size_bytes": swap.size_bytes,
                "start_cycles": swap.start_cycles,
                "end_cycles": swap.start_cycles + swap.cycles,
            }
            for swap in program.swaps
        ],
        "buffers": buffers_json(planned.program),
        "network": network_json(planned),
        "refusals": refusals_json(planned.model, planned.refused),
        "regions": regions_json(planned),
        **fallbacks_json(planned),
        "measured": None,
    }


def report_text(document: Mapping[str, Any]) -> str:
    """Stable text of a report: sorted keys, no time, no path."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n"


def _target_json(soc: Soc, units: Iterable[Unit]) -> dict[str, object]:
    clock = soc.clock_hz
    return {
        "name": soc.name,
        "description": soc.description,
        "host": soc.host,
        "home": soc.home,
        "store": soc.store,
        "preset": soc.preset,
        "clock_hz": None if clock is None else {"value": clock.value, "estimate": clock.estimate},
        "estimates": estimates_json(soc, units),
        "notes": list(soc.notes),
    }
