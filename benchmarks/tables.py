"""Tables of the benchmarks: Markdown on the terminal and in the pages, CSV beside it."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Where CSV and SVG files go; nothing there is committed.
OUTPUT = ROOT / "build" / "benchmarks"
PAGE = ROOT / "docs" / "benchmarks.md"
#: Ends every table of a page.
END = "<!-- end -->\n"

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Column:
    """``form``: how numbers are written in Markdown (a format specification); columns of text have none."""

    heading: str
    form: str = ""

    def text(self, cell: Cell) -> str:
        """A cell in Markdown. None is shown as a dash."""
        if cell is None:
            return "-"
        return cell if isinstance(cell, str) else format(cell, self.form)


@dataclass(frozen=True, slots=True)
class Table:
    """``name``: of the CSV file and of the marker in a page; ``about``: preset, precision and command."""

    name: str
    about: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def markdown(self) -> str:
        """The table below the line that tells where it comes from; columns of numbers are aligned to the right."""
        cells = [[column.text(cell) for column, cell in zip(self.columns, row, strict=True)] for row in self.rows]
        rule = ["--:" if column.form else "---" for column in self.columns]
        lines = [[column.heading for column in self.columns], rule, *cells]
        return f"{self.about}\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def without(self, *headings: str) -> Table:
        """The table without some of its columns."""
        kept = [index for index, column in enumerate(self.columns) if column.heading not in headings]
        rows = tuple(tuple(row[index] for index in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[index] for index in kept), rows=rows)

    def write_csv(self) -> Path:
        """All rows with unrounded numbers."""
        OUTPUT.mkdir(parents=True, exist_ok=True)
        path = OUTPUT / f"{self.name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([column.heading for column in self.columns])
            writer.writerows(self.rows)
        return path

    def put(self, page: Path = PAGE) -> None:
        """Replace what a page shows between this table's marker and the next END."""
        begin = f"<!-- {self.name} -->\n"
        before, rest = page.read_text(encoding="utf-8").split(begin, 1)
        page.write_text(f"{before}{begin}{self.markdown()}\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")

    def is_in(self, page: Path = PAGE) -> bool:
        """Whether a page has a place for this table."""
        return f"<!-- {self.name} -->\n" in page.read_text(encoding="utf-8")

    def shown(self, page: Path = PAGE) -> str:
        """What the page shows now."""
        return page.read_text(encoding="utf-8").split(f"<!-- {self.name} -->\n", 1)[1].split(END, 1)[0].strip()


def about(command: str, presets: Iterable[str], precisions: Iterable[str]) -> str:
    """The line above a table: presets, precisions and the command that prints it."""
    return f"*preset {' and '.join(presets)}, precision {' and '.join(precisions)}, `python -m {command}`*"
