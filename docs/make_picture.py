"""Draws docs/images/overview.svg: the way of a model through the compiler, in one picture.

Run with ``python docs/make_picture.py``; ``--check`` only tells whether the file is current.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

PICTURE = Path(__file__).resolve().parent / "images" / "overview.svg"
WIDTH, HEIGHT = 980, 560
_BOX_WIDTH, _BOX_HEIGHT = 190, 58


@dataclass(frozen=True)
class Box:
    """A stage or a thing at (x, y): a title and a line below it."""

    x: int
    y: int
    title: str
    line: str
    fill: str

    def svg(self) -> str:
        """The box as elements of the picture."""
        middle = self.x + _BOX_WIDTH // 2
        return (
            f'<rect x="{self.x}" y="{self.y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="6" fill="{self.fill}" '
            f'stroke="#475467"/><text x="{middle}" y="{self.y + 25}" font-weight="600">{self.title}</text>'
            f'<text x="{middle}" y="{self.y + 44}" class="small">{self.line}</text>'
        )


_STAGE, _FILE, _PLUGIN = "#dbeafe", "#f2f4f7", "#fef0c7"
_COLUMNS = (20, 270, 520, 770)
BOXES = {
    "model": Box(_COLUMNS[0], 30, "ONNX file", "floats, QDQ, integers", _FILE),
    "load": Box(_COLUMNS[1], 30, "load", "read, check, static shapes", _STAGE),
    "transform": Box(_COLUMNS[2], 30, "transform", "passes: the integer graph", _STAGE),
    "match": Box(_COLUMNS[3], 30, "match", "who could, or why not", _STAGE),
    "schedule": Box(_COLUMNS[3], 180, "schedule", "tiles, loops, buffers, cycles", _STAGE),
    "map": Box(_COLUMNS[2], 180, "map", "who runs what, at least cost", _STAGE),
    "plan": Box(_COLUMNS[1], 180, "plan", "order, addresses, copies", _STAGE),
    "emit": Box(_COLUMNS[0], 180, "emit", "C, build files, manifest", _STAGE),
    "program": Box(_COLUMNS[0], 330, "one C program", "the same bytes everywhere", _FILE),
    "twin": Box(_COLUMNS[1], 330, "twin", "runs it here, counts cycles", _STAGE),
    "verify": Box(_COLUMNS[2], 330, "compare", "bit for bit with ONNX Runtime", _STAGE),
    "report": Box(_COLUMNS[3], 330, "report", "HTML, trace, tables, diff", _FILE),
    "chip": Box(_COLUMNS[0], 460, "the chip", "vendor's SDK or a port", _FILE),
    "package": Box(_COLUMNS[2], 460, "target package", "hardware, patterns, costs, C", _PLUGIN),
}
ARROWS = (
    ("model", "load"),
    ("load", "transform"),
    ("transform", "match"),
    ("match", "schedule"),
    ("schedule", "map"),
    ("map", "plan"),
    ("plan", "emit"),
    ("emit", "program"),
    ("program", "twin"),
    ("twin", "verify"),
    ("verify", "report"),
    ("program", "chip"),
)


def picture() -> str:
    """The text of the file."""
    style = "text{font:14px sans-serif;text-anchor:middle;fill:#101828}"
    style += ".small{font-size:12px;fill:#475467}.note{font-size:13px}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="The way of a model through the compiler"><style>{style}</style>'
        '<defs><marker id="tip" markerWidth="10" markerHeight="8" refX="9" refY="4" orient="auto">'
        '<path d="M0,0 L10,4 L0,8 z" fill="#475467"/></marker></defs>'
    )
    arrows = "\n".join(_arrow(BOXES[one], BOXES[other]) for one, other in ARROWS)
    boxes = "\n".join(box.svg() for box in BOXES.values())
    notes = (
        f'<text x="{_COLUMNS[3] + 95}" y="482" class="note">plugs into transform, match,</text>'
        f'<text x="{_COLUMNS[3] + 95}" y="500" class="note">schedule, emit and the twin</text>'
        f'<text x="{_COLUMNS[3] + 95}" y="518" class="note">through six hooks</text>'
        '<text x="490" y="135" class="note">after every pass the graph is an ONNX file that ONNX Runtime executes'
        '</text><text x="490" y="285" class="note">solvers propose; validators that share nothing with them '
        "decide</text>"
    )
    return f"{head}\n{arrows}\n{boxes}\n{notes}\n</svg>\n"


def _arrow(one: Box, other: Box) -> str:
    if one.y == other.y:
        right = other.x > one.x
        x1, x2 = (one.x + _BOX_WIDTH, other.x) if right else (one.x, other.x + _BOX_WIDTH)
        y1 = y2 = one.y + _BOX_HEIGHT // 2
    else:
        x1 = x2 = one.x + _BOX_WIDTH // 2
        y1, y2 = one.y + _BOX_HEIGHT, other.y
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#475467" stroke-width="1.5" marker-end="url(#tip)"/>'


def main(arguments: list[str]) -> int:
    """Write the file; exit code 1 with ``--check`` where it is not current."""
    if "--check" in arguments:
        return 0 if PICTURE.read_text(encoding="utf-8") == picture() else 1
    PICTURE.write_text(picture(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
