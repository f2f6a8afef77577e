"""What a run counted, in JSON and in tables, the same for ``run`` and ``verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.runner import RunResult


def run_json(run: RunResult) -> dict[str, object]:
    """What a run counted at ``place``: ``cycles`` or ``instructions``, in whole and by node (the other one is null);
    ``sizes`` of the built program in bytes."""
    whole = {"total": run.cycles_total, "units": dict(run.cycles_by_unit)}
    nodes = [
        {
            "title": node.title,
            "onnx_names": list(node.onnx_names),
            "unit": node.unit,
            "cycles": None,
            "instructions": None,
            run.counter: node.cycles,
            "predicted_cycles": node.predicted_cycles,
        }
        for node in run.nodes
    ]
    counted: dict[str, object] = {"cycles": None, "instructions": None, str(run.counter): whole}
    return {"place": run.place, **counted, "sizes": dict(run.sizes), "nodes": nodes}
