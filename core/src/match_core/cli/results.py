"""Cycles, nodes and memories in JSON and in tables, the same for every verb."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from match_core.cli.terminal import Table

if TYPE_CHECKING:
    from match_core.run.execute import NodeCycles


def cycles_json(total: int, units: Mapping[str, int]) -> dict[str, object]:
    """Cycles of one inference: wall total, and the busy cycles of each unit."""
    return {"total": total, "units": dict(units)}


def nodes_json(nodes: Iterable[NodeCycles]) -> list[dict[str, object]]:
    """One object per emitted node."""
    return [
        {
            "title": node.title,
            "onnx_names": list(node.onnx_names),
            "unit": node.unit,
            "cycles": node.cycles,
            "predicted_cycles": node.predicted_cycles,
        }
        for node in nodes
    ]


def modelled(title: str, preset: str) -> str:
    """The title of a table that shows cycles, with the preset that they come from."""
    return f"{title} (preset {preset})" if preset else title


def within(uncertainty: float) -> str:
    """The uncertainty behind a number of cycles; nothing where none is known."""
    return f" (± {uncertainty:.0%})" if uncertainty else ""


def energy_line(energy: Mapping[str, Any]) -> str:
    """The modelled energy, or the units that publish no figures."""
    if energy["pj"] is None:
        return f"energy: no figures are published for {', '.join(energy['unpublished'])}"
    return f"energy: {energy['pj'] / 1e6:,.3f} uJ (modelled)"


def side_by_side_lines(document: Mapping[str, Any]) -> list[str]:
    """The gain of concurrent units and the gap to the lower bound, or the concurrent program that was declined."""
    declined = document["declined_cycles"]
    if not document["queues"] and declined is None:
        return []
    if declined is not None:
        gain = f"{1 - declined / document['predicted_cycles']:.1%}, is smaller than the uncertainty of the model"
        return [f"concurrent: {declined:,} cycles (modelled); the gain, {gain}; --concurrent compiles it"]
    cycles, before = document["predicted_cycles"], document["sequential_cycles"]
    line = f"concurrent: {cycles:,} cycles (modelled)"
    if before is not None:
        line = f"concurrent: {cycles:,} cycles, sequential: {before:,} (modelled), gain {1 - cycles / before:.1%}"
    bounds = document["bounds"]
    if bounds is None:
        return [line]
    lower = max(bounds["work"], bounds["path"])
    return [line, f"lower bound {lower:,} cycles, gap {document['gap']:.1%}"]


def cycles_table(total: int, units: Mapping[str, int], preset: str) -> Table:
    """Cycles of one inference on the twin."""
    rows = [(unit, f"{cycles:,}") for unit, cycles in units.items()]
    return Table(
        modelled("cycles of one inference", preset),
        ("unit", "cycles"),
        [*rows, ("total", f"{total:,}")],
        frozenset({"cycles"}),
    )


def memory_table(memory: Mapping[str, Mapping[str, int]]) -> Table:
    """Bytes used of each memory."""
    rows = [
        (name, f"{use['used']:,}", f"{use['available']:,}", f"{use['used'] / use['available']:.1%}")
        for name, use in memory.items()
    ]
    return Table("memory", ("name", "used", "available", "share"), rows, frozenset({"used", "available", "share"}))


def shortened(title: str, limit: int = 48) -> str:
    """A task's title, cut to one line of a table."""
    return title if len(title) <= limit else title[: limit - 3] + "..."
