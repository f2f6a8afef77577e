"""How cycles, nodes and memories look in JSON and in tables, the same for every verb."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from match_core.cli.terminal import Table

if TYPE_CHECKING:
    from match_core.twin.run import NodeCycles


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
    """The title of a table that shows cycles, with the set of figures that they come from."""
    return f"{title} (preset {preset})" if preset else title


def energy_line(energy: Mapping[str, Any]) -> str:
    """The modelled energy, or who publishes none."""
    if energy["pj"] is None:
        return f"energy: no figures are published for {', '.join(energy['unpublished'])}"
    return f"energy: {energy['pj'] / 1e6:,.3f} uJ (modelled)"


def side_by_side_lines(document: Mapping[str, Any]) -> list[str]:
    """What units side by side save, and how far from its bound the program is; none for one task after another."""
    if not document["queues"]:
        return []
    beside, before = document["predicted_cycles"], document["sequential_cycles"]
    line = f"side by side: {beside:,} cycles (modelled)"
    if before is not None:
        line = (
            f"side by side: {beside:,} cycles, one after another: {before:,} (modelled), gain {1 - beside / before:.1%}"
        )
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
    """A task's title on one line of a table."""
    return title if len(title) <= limit else title[: limit - 3] + "..."
