"""A board file as typed tables, before any name is looked up: TOML in, frozen records or a coded error out."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from match_core.board.tables import Table, file_error

#: The suffix that distinguishes a file from the name of a target in ``-t``.
SUFFIX = ".toml"
#: Names reach C symbols and file names.
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class UnitEntry:
    """A unit by name, the Soc it is taken from, the distribution that must define it (empty: any), and the board's
    names of the Soc's memories."""

    name: str
    soc: str
    package: str
    memories: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A memory: taken over (``origin`` is "SOC" or "SOC.NAME"), with figures that replace its own; or new."""

    name: str
    origin: str
    level: int | None
    size_bytes: int | None
    alignment_bytes: int | None
    source: str


@dataclass(frozen=True, slots=True)
class LinkEntry:
    """A link: taken over (``origin`` is "SOC" or "SOC.NAME") or new; ``figures`` are fields of Link by name."""

    name: str
    origin: str
    near: str
    far: str
    figures: Mapping[str, int | float | bool]
    source: str


@dataclass(frozen=True, slots=True)
class ClockEntry:
    """Taken over (``origin`` is a Soc's name), or hertz with their source."""

    origin: str
    hz: float
    source: str
    estimate: bool


@dataclass(frozen=True, slots=True)
class SignallingEntry:
    """The cost of polled counters between the host and concurrent units, with its source."""

    cycles: Mapping[str, int]
    source: str
    estimate: bool


@dataclass(frozen=True, slots=True)
class BoardDocument:
    """A whole board file. ``file``: its name in errors; ``text``: its content."""

    file: str
    text: str
    name: str
    description: str
    host: str
    home: str
    store: str
    overflow: str
    host_machine: str
    processor: str
    notes: tuple[str, ...]
    clock: ClockEntry | None
    signalling: SignallingEntry | None
    units: tuple[UnitEntry, ...]
    memories: tuple[MemoryEntry, ...]
    links: tuple[LinkEntry, ...]


def is_board_file(target: str) -> bool:
    """Whether the argument for the target is the path of a board file."""
    return target.endswith(SUFFIX)


def read_board(path: Path) -> BoardDocument:
    """The board in a file. UsageError MATCH-U060 if it cannot be read or is not a board."""
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() or not path.exists() else ""  # a pipe has no end
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise file_error(str(path), f"it cannot be read: {reason}", "give the path of a board file") from error
    return parse_board(text, str(path))


def parse_board(text: str, file: str) -> BoardDocument:
    """The board in a text. UsageError MATCH-U060 if it is not TOML, lacks a key, or has an unknown key."""
    root = Table(_toml(text, file), file, "")
    soc = root.table("soc")
    document = BoardDocument(
        file=file,
        text=text,
        name=_name(soc, soc.text("name")),
        description=soc.text("description"),
        host=soc.text("host", "host"),
        home=soc.text("home"),
        store=soc.text("store", ""),
        overflow=soc.text("overflow", ""),
        host_machine=soc.text("host_machine", ""),
        processor=soc.text("processor", ""),
        notes=soc.texts("notes"),
        clock=_clock(soc),
        signalling=_signalling(soc),
        units=tuple(_unit(table) for table in root.tables("units")),
        memories=tuple(_memory(table) for table in root.tables("memories")),
        links=tuple(_link(table) for table in root.tables("links", least=0)),
    )
    soc.end()
    root.end()
    return document


def _toml(text: str, file: str) -> Mapping[str, Any]:
    reader = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")  # the same code under two names
    try:
        values: dict[str, Any] = reader.loads(text)
    except (RecursionError, ValueError) as error:
        raise file_error(file, f"it is not TOML: {error}", "see docs/boards.md for a complete board") from error
    return values


def _name(table: Table, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise table.error(f"the name {name!r} is not a lower-case C identifier", "use letters, digits and underscores")
    return name


def _clock(soc: Table) -> ClockEntry | None:
    table = soc.optional_table("clock")
    if table is None:
        return None
    if table.has("from"):
        entry = ClockEntry(table.text("from"), 0.0, "", False)
    else:
        entry = ClockEntry("", table.number("hz"), table.text("source"), table.truth("estimate", False))
    table.end()
    return entry


#: Fields of Signalling; the last is optional.
_SIGNALS = ("post_cycles", "wake_cycles", "notify_cycles", "task_cycles", "session_cycles")


def _signalling(soc: Table) -> SignallingEntry | None:
    table = soc.optional_table("signalling")
    if table is None:
        return None
    cycles = {key: table.whole(key) for key in _SIGNALS[:-1]}
    cycles[_SIGNALS[-1]] = table.optional_whole(_SIGNALS[-1]) or 0
    entry = SignallingEntry(cycles, table.text("source"), table.truth("estimate", False))
    table.end()
    return entry


def _unit(table: Table) -> UnitEntry:
    entry = UnitEntry(table.text("name"), table.text("soc", ""), table.text("package", ""), table.mapping("memories"))
    table.end()
    return entry


def _memory(table: Table) -> MemoryEntry:
    entry = MemoryEntry(
        name=_name(table, table.text("name")),
        origin=table.text("from", ""),
        level=table.optional_whole("level"),
        size_bytes=table.optional_whole("size_bytes"),
        alignment_bytes=table.optional_whole("alignment_bytes"),
        source=table.text("source", ""),
    )
    table.end()
    return entry


_WHOLE = ("setup_cycles", "chunk_cycles", "max_dims", "max_bytes", "channels")


def _link(table: Table) -> LinkEntry:
    figures: dict[str, int | float | bool] = {}
    if table.has("bytes_per_cycle"):
        figures["bytes_per_cycle"] = table.number("bytes_per_cycle")
    for key in _WHOLE:
        value = table.optional_whole(key)
        if value is not None:
            figures[key] = value
    if table.has("blocking"):
        figures["blocking"] = table.truth("blocking", False)
    entry = LinkEntry(
        name=_name(table, table.text("name")),
        origin=table.text("from", ""),
        near=table.text("near", ""),
        far=table.text("far", ""),
        figures=figures,
        source=table.text("source", ""),
    )
    table.end()
    return entry
