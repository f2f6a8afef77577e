"""SVG as text. Coordinates are pixels with two decimals; names are escaped, and characters that XML forbids are
replaced."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import ceil, floor, log10
from xml.sax.saxutils import escape, quoteattr

WIDTH = 720
FONT_SIZE = 11
#: Mean width of a character in common sans-serif fonts, relative to the font size.
_CHARACTER = 0.56
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass
class Svg:
    """A drawing, ``WIDTH`` wide."""

    height: float
    title: str
    _parts: list[str] = field(default_factory=list)

    def rectangle(self, x: float, y: float, width: float, height: float, **style: str | float) -> None:
        """A box."""
        self._add("rect", x=x, y=y, width=width, height=height, **style)

    def line(self, start: tuple[float, float], end: tuple[float, float], **style: str | float) -> None:
        """A straight line, dark unless ``style`` overrides that."""
        style.setdefault("stroke", "#333")
        self._add("line", x1=start[0], y1=start[1], x2=end[0], y2=end[1], **style)

    def polygon(self, points: tuple[tuple[float, float], ...], **style: str | float) -> None:
        """A closed shape."""
        self._add("polygon", points=" ".join(f"{_number(x)},{_number(y)}" for x, y in points), **style)

    def circle(self, x: float, y: float, radius: float, **style: str | float) -> None:
        """A disc."""
        self._add("circle", cx=x, cy=y, r=radius, **style)

    def text(self, x: float, y: float, text: str, **style: str | float) -> None:
        """A line of text, its base line at ``y``."""
        words = escape(_FORBIDDEN.sub("?", text).replace("\n", " ").replace("\r", " "))
        self._parts.append(f"<text{_attributes({'x': x, 'y': y, **style})}>{words}</text>")

    def render(self) -> str:
        """The file."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{_number(self.height)}" '
            f'viewBox="0 0 {WIDTH} {_number(self.height)}" font-family="sans-serif" font-size="{FONT_SIZE}">'
        )
        title = f"<title>{escape(_FORBIDDEN.sub('?', self.title))}</title>"
        return "\n".join((head, title, *self._parts, "</svg>", ""))

    def _add(self, name: str, **attributes: str | float) -> None:
        self._parts.append(f"<{name}{_attributes(attributes)}/>")


def fitted(text: str, width: float) -> str:
    """The text, shortened to about this width; empty if not even two characters fit."""
    room = int(width / (_CHARACTER * FONT_SIZE))
    if len(text) <= room:
        return text
    return f"{text[: room - 1]}…" if room > 2 else ""


def ticks(low: float, high: float, count: int) -> list[int]:
    """At most about ``count`` round numbers in [low, high], in steps of 1, 2 or 5 times a power of ten."""
    step = 1
    while (high - low) / step > count:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    first = -(-int(low) // step) * step
    return list(range(first, int(high) + 1, step))


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten in [low, high]; also 2 and 5 times these if there are few."""
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    factors = (1, 2, 5) if high / low < 300 else (1,)
    return [value for power in powers for factor in factors if low <= (value := factor * 10.0**power) <= high]


def _attributes(attributes: dict[str, str | float]) -> str:
    return "".join(
        f" {name.replace('_', '-')}={quoteattr(value if isinstance(value, str) else _number(value))}"
        for name, value in attributes.items()
    )


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
