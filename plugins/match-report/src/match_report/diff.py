"""Differences between two compiled programs: units, cycles, memory, emitted files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from match_core.ir.titles import SILENT
from match_core.summary.document import NAME as REPORT_NAME

from match_report.read import read_report

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Change:
    """A number before and after; None if one of the programs does not have it."""

    name: str
    before: int | None
    after: int | None

    @property
    def growth(self) -> int:
        """After minus before; a missing number counts as 0."""
        return (self.after or 0) - (self.before or 0)

    @property
    def relative(self) -> float | None:
        """Growth relative to before; None if that was 0 or missing."""
        return self.growth / self.before if self.before else None


@dataclass(frozen=True, slots=True)
class Moved:
    """An ONNX node that moved to other units (unit names; empty: it was folded, or is not in the network)."""

    node: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileChange:
    """An emitted file: the numbers of lines that only the first or only the second program has."""

    name: str
    removed_lines: int
    added_lines: int


@dataclass(frozen=True)
class Difference:
    """Two programs compared. ``layers`` and ``moved`` hold only differences, ``memory`` and ``cycles`` all numbers."""

    names: tuple[str, str]
    targets: tuple[str, str]
    cycles: Change
    memory: tuple[Change, ...]
    layers: tuple[Change, ...]
    moved: tuple[Moved, ...]
    files: tuple[FileChange, ...]

    @property
    def numbers(self) -> dict[str, Change]:
        """The numbers that limits can name: ``cycles`` and every memory."""
        return {change.name: change for change in (self.cycles, *self.memory)}


def diff_programs(before: Path, after: Path) -> Difference:
    """Compare two directories that ``match compile`` wrote. UsageError MATCH-U032 if one holds no report."""
    first, second = read_report(before), read_report(after)
    return Difference(
        names=(first["name"], second["name"]),
        targets=(first["target"]["name"], second["target"]["name"]),
        cycles=Change("cycles", first["predicted_cycles"], second["predicted_cycles"]),
        memory=paired(_memory(first), _memory(second)),
        layers=tuple(c for c in paired(layer_cycles(first), layer_cycles(second)) if c.before != c.after),
        moved=_moved(first, second),
        files=_files(before, after),
    )


def paired(before: Mapping[str, int], after: Mapping[str, int]) -> tuple[Change, ...]:
    """One change for every name, also where the numbers are equal."""
    return tuple(Change(name, before.get(name), after.get(name)) for name in dict.fromkeys((*before, *after)))


def _memory(report: Mapping[str, Any]) -> dict[str, int]:
    return {memory["name"]: memory["used_bytes"] for memory in report["memories"]}


def layer_cycles(report: Mapping[str, Any]) -> dict[str, int]:
    """Modelled cycles by title; shares of one operator, and steps of the same name, are added up."""
    cycles: dict[str, int] = {}
    for layer in report["layers"]:
        if not layer["view"]:
            cycles[layer["title"]] = cycles.get(layer["title"], 0) + layer["predicted_cycles"]
    return cycles


def layer_units(report: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Units by title, of the layers that ``layer_cycles`` adds up."""
    units: dict[str, dict[str, None]] = {}
    for layer in report["layers"]:
        if not layer["view"]:
            units.setdefault(layer["title"], {})[layer["unit"]] = None
    return {title: tuple(names) for title, names in units.items()}


def _moved(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[Moved, ...]:
    before, after = _units(first), _units(second)
    names = dict.fromkeys((*before, *after))
    moves = (Moved(name, before.get(name, ()), after.get(name, ())) for name in names)
    return tuple(move for move in moves if move.before != move.after)


def _units(report: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Units by node, without nodes that only convert or move values: they follow the computing nodes."""
    layers = {layer["index"]: layer for layer in report["layers"]}
    units: dict[str, tuple[str, ...]] = {}
    for node in report["network"]["nodes"]:
        if node["operator"] in SILENT:
            continue
        found = {layers[index]["unit"] for index in node["layers"] if not layers[index]["view"]}
        units[node["name"]] = tuple(sorted(found))
    return units


def _files(before: Path, after: Path) -> tuple[FileChange, ...]:
    """Text files of the program that differ; the mapped graph, the manifest and the report are derived from the
    rest."""
    first, second = _texts(before), _texts(after)
    changes = []
    for name in sorted({*first, *second}):
        old, new = first.get(name, []), second.get(name, [])
        if old != new:
            changes.append(_file_change(name, old, new))
    return tuple(changes)


def _texts(directory: Path) -> dict[str, list[str]]:
    texts = {}
    for path in sorted(directory.iterdir()):
        if path.is_file() and path.suffix not in (".onnx", ".bin", ".json") and path.name != REPORT_NAME:
            texts[path.name] = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return texts


def _file_change(name: str, old: Sequence[str], new: Sequence[str]) -> FileChange:
    """Count lines without regard to order: tables of constants are too long to align."""
    first, second = Counter(old), Counter(new)
    return FileChange(name, (first - second).total(), (second - first).total())
