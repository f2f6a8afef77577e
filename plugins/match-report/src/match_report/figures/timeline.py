"""Lanes of units, links and clocks over cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from match_report.figures.svg import WIDTH, Svg, fitted, ticks
from match_report.view.palette import OTHER, unit_colours
from match_report.view.timeline import modelled_lanes, twin_lanes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from match_report.view.timeline import Lane, Span

LEFT, RIGHT, LANE, HEAD = 130, WIDTH - 10, 24, 18
_IDLE = "#c3c9d4"
#: Narrower spans are drawn together with their neighbours.
_NARROW = 0.5


def timeline_figure(report: Mapping[str, Any]) -> str:
    """The planned timeline, and below it the twin's, with one time axis."""
    groups = [("modelled", report["predicted_cycles"], modelled_lanes(report))]
    if report["measured"] is not None:
        groups.append(("twin", report["measured"]["cycles"], twin_lanes(report)))
    total = max(1, *(cycles for _, cycles, _ in groups))
    bottom = sum(HEAD + LANE * len(lanes) for _, _, lanes in groups)
    units = {layer["index"]: layer["unit"] for layer in report["layers"]}
    colours = unit_colours(report)
    svg = Svg(bottom + 44, f"{report['name']} on {report['target']['name']}")
    scale = (RIGHT - LEFT) / total
    for cycle in ticks(0, total, 8):
        x = LEFT + cycle * scale
        svg.line((x, 0), (x, bottom + 3), stroke="#ddd")
        svg.text(x, bottom + 15, f"{cycle:,}", text_anchor="middle")
    y = 0
    for name, cycles, lanes in groups:
        svg.text(2, y + 13, f"{name}: {cycles:,} cycles", fill="#555")
        y += HEAD
        for lane in lanes:
            _lane(svg, lane, y, scale, colours, units)
            y += LANE
    _legend(svg, bottom + 36, colours, units.values())
    return svg.render()


def _lane(svg: Svg, lane: Lane, y: float, scale: float, colours: Mapping[str, str], units: Mapping[int, str]) -> None:
    weight = "bold" if lane.bottleneck else "normal"
    svg.text(2, y + 11, fitted(lane.name, LEFT - 6), font_weight=weight)
    svg.text(
        2, y + 21, f"{lane.busy:.1%} busy{', bottleneck' if lane.bottleneck else ''}", font_size=9, font_weight=weight
    )
    svg.line((LEFT, y + LANE), (RIGHT, y + LANE), stroke="#bbb")
    for spans in joined(lane.spans, _NARROW / scale):
        first, start, end = spans[0], spans[0].start_cycles, max(span.end_cycles for span in spans)
        x, width = LEFT + start * scale, max(0.4, (end - start) * scale)
        owner = lane.unit if first.layer is None else units[first.layer]
        fill = _IDLE if first.idle else colours.get(owner or "", OTHER)
        if first.idle:
            svg.rectangle(x, y + LANE / 2 - 1, width, 2, fill=fill)
            continue
        covered = sum(span.end_cycles - span.start_cycles for span in spans) / max(1, end - start)
        more: dict[str, str | float] = {} if len(spans) == 1 else {"fill_opacity": max(0.3, min(1.0, covered))}
        if width > 2:
            more |= {"stroke": "#333", "stroke_width": 0.4}
        svg.rectangle(x, y + 3, width, LANE - 5, fill=fill, **more)
        words = fitted(first.text, width - 6) if lane.kind in ("unit", "context") else ""
        if words:
            svg.text(x + 3, y + 15, words)


def joined(spans: Iterable[Span], narrow_cycles: float) -> list[list[Span]]:
    """Groups of spans: a span shorter than ``narrow_cycles`` is grouped with similar ones that follow as closely."""
    groups: list[list[Span]] = []
    for span in spans:
        last = groups[-1] if groups else None
        if last is not None and _joins(last, span, narrow_cycles):
            last.append(span)
        else:
            groups.append([span])
    return groups


def _joins(group: Sequence[Span], span: Span, narrow_cycles: float) -> bool:
    last = group[-1]
    short = max(last.end_cycles - last.start_cycles, span.end_cycles - span.start_cycles) < narrow_cycles
    alike = last.idle == span.idle and last.layer == span.layer
    return short and alike and span.start_cycles - last.end_cycles < narrow_cycles


def _legend(svg: Svg, y: float, colours: Mapping[str, str], used: Iterable[str]) -> None:
    x, shown = float(LEFT), set(used)
    for unit, colour in colours.items():
        if unit in shown:
            svg.rectangle(x, y - 9, 10, 10, fill=colour, stroke="#333", stroke_width=0.4)
            svg.text(x + 14, y, unit)
            x += 32 + 7 * len(unit)
    svg.text(RIGHT, y, "cycles", text_anchor="end")
