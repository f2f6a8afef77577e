"""Figures of ours beside published ones: rows, the rule of 20 %, and the page that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.tables import Cell, Column, Table

#: How a figure of ours came about. On the twin and modelled are ours alone; the other two are somebody else's machine.
Provenance = Literal["measured on the simulator", "measured on an emulator", "on the twin", "modelled", "counted"]
#: A figure that is further from the published one than this share needs a sentence.
LARGEST_DIFFERENCE = 0.2


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. ``published``: None where the paper gives words instead of a number, which are ``words``; ``source``:
    the place in the paper; ``platform``: what the published figure was measured on. ``below`` and ``above``: why ours
    is smaller or larger by more than LARGEST_DIFFERENCE."""

    what: str
    ours: float
    how: Provenance
    published: float | None
    platform: str
    source: str
    form: str = ".2f"
    below: str = ""
    above: str = ""
    words: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours over the published one; None where there is none to divide by."""
        return self.ours / self.published if self.published else None

    @property
    def differs(self) -> bool:
        """Whether the row needs a sentence."""
        if self.published is None:
            return False
        return abs(self.ours - self.published) > LARGEST_DIFFERENCE * abs(self.published)

    @property
    def sentence(self) -> str:
        """Why it differs; empty where it does not, or where nobody said why."""
        if self.published is None or not self.differs:
            return ""
        return self.below if self.ours < self.published else self.above

    @property
    def fault(self) -> str | None:
        """What the row lacks."""
        where = f"FAILURE: {self.source}, {self.what}"
        if self.differs and not self.sentence:
            return f"{where}: {self.ours:g} differs from {self.published:g} and no sentence says why"
        return None if self.how and self.platform and self.source else f"{where}: no provenance"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, the command that prints our figures, rows, and what is left out and why."""

    heading: str
    command: str
    rows: tuple[Row, ...]
    left_out: tuple[str, ...] = ()
    about: str = ""

    def markdown(self) -> str:
        """Table and numbered sentences below it."""
        sentences = list(dict.fromkeys(row.sentence for row in self.rows if row.sentence))
        columns = ("what", "ours", "ours is", "published", "published is", "source", "ours / published", "note")
        right = ("ours", "published", "ours / published")
        table = Table(
            "",
            f"*`{self.command}`*",
            tuple(Column(name, "s" if name in right else "") for name in columns),
            tuple(_cells(row, sentences) for row in self.rows),
        )
        notes = [f"{number}. {text}" for number, text in enumerate(sentences, 1)]
        parts = [f"## {self.heading}", self.about, table.markdown() if self.rows else "", "\n".join(notes)]
        parts += ["\n".join(f"- Left out: {text}" for text in self.left_out)]
        return "\n\n".join(part for part in parts if part) + "\n"


def _cells(row: Row, sentences: Sequence[str]) -> tuple[Cell, ...]:
    ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
    published = row.words if row.published is None else format(row.published, row.form)
    note = str(sentences.index(row.sentence) + 1) if row.sentence else ""
    return (row.what, format(row.ours, row.form), row.how, published, row.platform, row.source, ratio, note)


def faults(sections: Sequence[Section]) -> list[str]:
    """What rows lack."""
    return [row.fault for section in sections for row in section.rows if row.fault]


def page(introduction: str, sections: Sequence[Section]) -> str:
    """The whole page."""
    return introduction + "".join(f"\n{section.markdown()}" for section in sections)
