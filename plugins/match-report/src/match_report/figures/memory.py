"""The home memory's arena over modelled cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from match_report.figures.svg import WIDTH, Svg, fitted, ticks
from match_report.view.palette import OTHER, unit_colours
from match_report.view.rectangles import memory_maps

if TYPE_CHECKING:
    from collections.abc import Mapping

LEFT, RIGHT, TOP, BOTTOM = 70, WIDTH - 10, 20, 290


def memory_figure(report: Mapping[str, Any]) -> str:
    """Buffers as rectangles of bytes and cycles, with the peak marked; text below lists permanent contents."""
    home = report["target"]["home"]
    use = next(memory for memory in report["memories"] if memory["name"] == home)
    found = next(memory for memory in memory_maps(report) if memory.memory == home)
    colours = unit_colours(report)
    total, top = max(1, report["predicted_cycles"]), max(1, found.arena_bytes)
    across: float = (RIGHT - LEFT) / total
    svg = Svg(BOTTOM + 52, f"{report['name']} on {report['target']['name']}: {home}")

    def x(cycle: float) -> float:
        return LEFT + cycle * across

    def y(offset: float) -> float:
        return BOTTOM - offset / top * (BOTTOM - TOP)

    for cycle in ticks(0, total, 8):
        svg.line((x(cycle), TOP), (x(cycle), BOTTOM + 3), stroke="#ddd")
        svg.text(x(cycle), BOTTOM + 15, f"{cycle:,}", text_anchor="middle")
    for offset in ticks(0, top, 6):
        svg.line((LEFT - 3, y(offset)), (LEFT, y(offset)))
        if offset == 0 or y(offset) - y(top) > 12:
            svg.text(LEFT - 6, y(offset) + 4, f"{offset:,}", text_anchor="end")
    if found.peak is not None:
        start, end = x(found.peak.start_cycles), x(found.peak.end_cycles)
        svg.rectangle(start, TOP, end - start, BOTTOM - TOP, fill="#eee")
    for entry in found.rectangles:
        left, width = x(entry.start_cycles), x(entry.end_cycles) - x(entry.start_cycles)
        low, high = y(entry.offset_bytes), y(entry.offset_bytes + entry.size_bytes)
        fill = colours.get(entry.unit or "", OTHER)
        svg.rectangle(left, high, max(0.5, width), max(0.5, low - high), fill=fill, stroke="#333", stroke_width=0.4)
        words = fitted(entry.label, width - 6) if low - high > 12 else ""
        if words:
            svg.text(left + 3, (low + high) / 2 + 4, words)
    svg.line((LEFT, TOP), (LEFT, BOTTOM))
    svg.line((LEFT, y(top)), (RIGHT, y(top)), stroke_dasharray="5 3")
    svg.text(LEFT - 6, y(top) + 4, f"{found.arena_bytes:,}", text_anchor="end")
    if found.peak is not None:
        middle = x((found.peak.start_cycles + found.peak.end_cycles) / 2)
        words = f"peak: {found.peak.size_bytes:,} bytes alive"
        svg.text(min(max(middle, LEFT + 75), RIGHT - 75), TOP - 6, words, text_anchor="middle", font_weight="bold")
    svg.text(
        LEFT,
        BOTTOM + 32,
        f"{home}: {use['used_bytes']:,} of {use['available_bytes']:,} bytes: arena {use['arena_bytes']:,}, "
        f"constants {use['constant_bytes']:,}, the caller's {use['caller_bytes']:,}",
    )
    svg.text(RIGHT, BOTTOM + 46, "modelled cycles", text_anchor="end")
    return svg.render()
