"""Counter files: measured cycles of layers, as CSV or as an application printed them. Their content is not trusted."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_FILE_BYTES_MAX = 1_000_000
_ROWS_MAX = 10_000
_CYCLES_MAX = 1e15
_TOTAL = "total"
#: Headings of the column that names a layer.
_NAMES = ("layer", "node", "title")
_PRINTED = re.compile(r"\s*([0-9]+)\s+(?:(\w+): )?(\S.*?)\s*")


@dataclass(frozen=True, slots=True)
class Counter:
    """One row: the number of its line, the layer's title or its index in the program, measured cycles, and, where the
    file states them, the layer's unit, pattern and number of tiles, which must be those of the program."""

    line: int
    title: str
    index: int | None
    cycles: float
    unit: str = ""
    pattern: str = ""
    tiles: int | None = None


@dataclass(frozen=True, slots=True)
class Counters:
    """The rows of a file; ``total``: cycles of the whole run, None if it states none."""

    file: str
    rows: tuple[Counter, ...]
    total: float | None


def counters_error(where: str, why: str, *help_: str) -> UsageError:
    """MATCH-U073: the file holds no counters."""
    advice = (
        "write a CSV file with the columns layer and cycles, or keep what MATCH_PROFILE prints; see docs/calibrate.md"
    )
    return UsageError("MATCH-U073", "the counters cannot be read", where, why, (*help_, advice))


def read_counters(path: Path) -> Counters:
    """The counters in a file. UsageError MATCH-U073 if it cannot be read, or a row is not valid."""
    if path.exists() and not path.is_file():
        raise counters_error(str(path), "it is not a file")  # reading from a pipe may never end
    try:
        with path.open("rb") as file:
            content = file.read(_FILE_BYTES_MAX + 1)
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise counters_error(str(path), f"it cannot be read: {reason}") from error
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if len(content) > _FILE_BYTES_MAX or len(lines) > _ROWS_MAX:
        raise counters_error(str(path), f"it has more than {_FILE_BYTES_MAX:,} bytes or {_ROWS_MAX:,} lines")
    is_table = bool(lines) and "cycles" in _cells(lines[0][1])
    rows = tuple(_table(str(path), lines) if is_table else _printed(str(path), lines))
    totals = [row.cycles for row in rows if row.title.lower() == _TOTAL]
    layers = tuple(row for row in rows if row.title.lower() != _TOTAL)
    if not layers or len(totals) > 1:
        why = f"it has {len(layers)} layers and {len(totals)} totals"
        raise counters_error(str(path), f"{why}; at least one layer and at most one total are expected")
    return Counters(str(path), layers, totals[0] if totals else None)


def _cells(line: str) -> list[str]:
    """The headings in a line; none if it is not CSV, such as one of more than 131,072 characters."""
    try:
        return [cell.strip().lower() for cell in next(csv.reader([line]))]
    except csv.Error:
        return []


def _table(file: str, lines: list[tuple[int, str]]) -> Iterator[Counter]:
    heading = _cells(lines[0][1])
    if len(set(heading)) < len(heading) or not {"index", *_NAMES} & set(heading):
        names = ", ".join(("index", *_NAMES))
        raise counters_error(f"{file}, line {lines[0][0]}", f"the heading needs one of {names}, and no column twice")
    for number, line in lines[1:]:
        where = f"{file}, line {number}"
        try:
            cells = next(csv.reader([line], strict=True))
        except csv.Error as error:
            raise counters_error(where, f"it is not a row of CSV: {error}") from error
        if len(cells) != len(heading):
            raise counters_error(where, f"it has {len(cells)} cells, the heading has {len(heading)}")
        yield _row(where, number, {name: cell.strip() for name, cell in zip(heading, cells, strict=True)})


def _row(where: str, number: int, cells: Mapping[str, str]) -> Counter:
    title = next((cells[name] for name in _NAMES if cells.get(name)), "")
    index = cells.get("index", "")
    if not index and title.isdecimal():
        index = title
    if not title and not index:
        raise counters_error(where, "it names no layer")
    return Counter(
        number,
        title,
        None if not index or title.lower() == _TOTAL else _whole(where, "index", index),
        _positive(where, cells["cycles"]),
        cells.get("unit", ""),
        cells.get("pattern", ""),
        _whole(where, "tiles", cells["tiles"]) if cells.get("tiles") else None,
    )


def _printed(file: str, lines: list[tuple[int, str]]) -> Iterator[Counter]:
    """Lines of cycles and ``unit: title``; the application prints other lines too."""
    for number, line in lines:
        found = _PRINTED.fullmatch(line)
        if found is not None:
            cycles, unit, title = found.groups()
            yield Counter(number, title, None, _positive(f"{file}, line {number}", cycles), unit or "")


def _whole(where: str, name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise counters_error(where, f"{name} is {text[:40]!r}; a whole number is expected")
    return int(text)


def _positive(where: str, text: str) -> float:
    try:
        cycles = float(text) if text.isascii() else math.nan
    except ValueError:
        cycles = math.nan
    if not 0 < cycles <= _CYCLES_MAX:  # refuses NaN too
        raise counters_error(where, f"cycles is {text[:40]!r}; a positive number is expected")
    return cycles
