"""Layers by arithmetic intensity and rate, below the roofs of units and links."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Any

from match_report.figures.svg import WIDTH, Svg, log_ticks
from match_report.view.palette import unit_colours
from match_report.view.roofline import layer_rows, link_roofs, unit_roofs

if TYPE_CHECKING:
    from collections.abc import Mapping

LEFT, RIGHT, TOP, BOTTOM = 50, WIDTH - 10, 14, 290
#: Labels that are closer to each other than this (pixels) are moved or omitted.
_APART = 11


def roofline_figure(report: Mapping[str, Any]) -> str:
    """Both axes are logarithmic; points show their layer's number if there is room; each unit has its own shape."""
    points = [(row, row.rate, row.intensity) for row in layer_rows(report) if row.rate and row.intensity]
    svg = Svg(BOTTOM + 40, f"{report['name']} on {report['target']['name']}: roofline")
    if not points:
        svg.text(LEFT, TOP + 20, "no layer has MACs")
        return svg.render()
    roofs, colours = unit_roofs(report), unit_colours(report)
    shapes = {unit: place for place, unit in enumerate(colours)}
    x0, x1 = min(i for _, _, i in points) / 2, max(i for _, _, i in points) * 2
    y0, y1 = min(r for _, r, _ in points) / 2, max(roofs.values()) * 2

    def x(value: float) -> float:
        return LEFT + log10(value / x0) / log10(x1 / x0) * (RIGHT - LEFT)

    def y(value: float) -> float:
        return BOTTOM - log10(value / y0) / log10(y1 / y0) * (BOTTOM - TOP)

    for value in log_ticks(x0, x1):
        svg.line((x(value), TOP), (x(value), BOTTOM + 3), stroke="#ddd")
        svg.text(x(value), BOTTOM + 15, f"{value:g}", text_anchor="middle")
    for value in log_ticks(y0, y1):
        svg.line((LEFT - 3, y(value)), (RIGHT, y(value)), stroke="#ddd")
        svg.text(LEFT - 6, y(value) + 4, f"{value:g}", text_anchor="end")
    above = 0.0
    for unit, rate in sorted(roofs.items(), key=lambda roof: -roof[1]):
        svg.line((LEFT, y(rate)), (RIGHT, y(rate)), stroke=colours[unit], stroke_width=2, stroke_dasharray="6 3")
        words = y(rate) - 4 if y(rate) - above > _APART or not above else y(rate) + _APART
        svg.text(RIGHT - 2, words, f"{unit}: {rate:.2f} MAC/cycle", text_anchor="end")
        above = words
    for link, rate in link_roofs(report).items():
        first, last = max(x0, y0 / rate), min(x1, y1 / rate)
        if last > first:
            svg.line((x(first), y(first * rate)), (x(last), y(last * rate)), stroke_width=0.8)
            at = first**0.7 * last**0.3
            svg.text(x(at) + 4, y(at * rate) + 12, f"{link}: {rate:g} bytes/cycle")
    words_at: list[tuple[float, float]] = []
    for row, rate, intensity in points:
        at_x, at_y = x(intensity), y(rate)
        _point(svg, at_x, at_y, shapes[row.unit], colours[row.unit])
        if all(abs(at_x - other[0]) > 1.5 * _APART or abs(at_y - other[1]) > _APART for other in words_at):
            svg.text(at_x + 6, at_y + 9, str(row.index), font_size=9)
            words_at.append((at_x, at_y))
    svg.text(RIGHT, BOTTOM + 32, "MAC per byte of the layer's operands", text_anchor="end")
    cycles = "cycles of the twin" if report["measured"] is not None else "modelled cycles"
    svg.text(LEFT, BOTTOM + 32, f"up: MAC per cycle ({cycles}); numbers: layers")
    return svg.render()


def _point(svg: Svg, x: float, y: float, shape: int, fill: str) -> None:
    """A disc, a square, a triangle or a diamond."""
    style: dict[str, str | float] = {"fill": fill, "stroke": "#333", "stroke_width": 0.8}
    if shape % 4 == 0:
        svg.circle(x, y, 4, **style)
    elif shape % 4 == 1:
        svg.rectangle(x - 3.5, y - 3.5, 7, 7, **style)
    elif shape % 4 == 2:
        svg.polygon(((x, y - 5), (x + 4.5, y + 3.5), (x - 4.5, y + 3.5)), **style)
    else:
        svg.polygon(((x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)), **style)
