"""Mutants of a program with units side by side: each lacks one wait, or one entry of the tables of needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from match_core.emit.api import Kernel, UnitApi
from match_core.ir.naming import c_identifier
from match_core.twin.modes import queues_of

_FUNCTION = re.compile(r"^(?:static )?\w[\w *]* \**(\w+)\(")
_TABLE = re.compile(r"^static const uint16_t (\w+)_needs\[\]")
_ROW = re.compile(r"^\s*\{(\d+u(?:, \d+u)*)\},\s*(?:/\* (.*) \*/)?$")


@dataclass(frozen=True, slots=True)
class Mutant:
    """``text``: the whole of ``file`` without the wait or need that ``what`` names; ``line`` counts from 1. ``queue``:
    whose wait it is, or of whose tasks the need is."""

    file: str
    line: int
    queue: str
    what: str
    text: str


def mutants_of(program: Path, document: Mapping[str, Any], apis: Mapping[str, UnitApi]) -> tuple[Mutant, ...]:
    """All mutants of the program in a directory. ``document``: its manifest; ``apis``: of its units."""
    name, queues = document["name"], queues_of(document)
    found: list[Mutant] = []
    for queue in queues:
        file = f"{name}_{c_identifier(queue)}.c"
        if queue in apis and (program / file).is_file():
            text = (program / file).read_text(encoding="utf-8")
            found += _waits(file, queue, text, _waits_of(apis[queue]))
    file = f"{name}.c"
    text = (program / file).read_text(encoding="utf-8")
    busy = sorted({api.swap.busy for api in apis.values() if api.swap is not None})
    found += _waits(file, "link", text, [rf"(?<=if \(){function}" for function in busy])
    found += _needs(file, queues, text)
    return tuple(found)


def _waits_of(api: UnitApi) -> list[str]:
    """Names of the functions that wait."""
    names = {kernel.wait for kernel in api.kernels.values() if isinstance(kernel, Kernel)}
    names |= {part.wait for part in (api.memory, api.store, api.queue) if part is not None}
    return sorted(names - {""})


def _waits(file: str, queue: str, text: str, names: list[str]) -> Iterator[Mutant]:
    """Every call of a function that waits, whose result is then 0."""
    if not names:
        return
    call = re.compile(rf"\b(?:{'|'.join(names)})\([^()]*\)")
    lines, function = text.split("\n"), ""
    for number, line in enumerate(lines):
        if heading := _FUNCTION.match(line):
            function = heading[1]
        for match in call.finditer(line):
            without = f"{line[: match.start()]}0{line[match.end() :]}"
            rest = "\n".join([*lines[:number], without, *lines[number + 1 :]])
            yield Mutant(file, number + 1, queue, f"{match[0]} in {function}", rest)


def _needs(file: str, queues: tuple[str, ...], text: str) -> Iterator[Mutant]:
    """Every entry of a table of needs that is not 0."""
    lines, table = text.split("\n"), ""
    fields = {c_identifier(queue): queue for queue in queues}
    for number, line in enumerate(lines):
        if heading := _TABLE.match(line):
            table = heading[1]
        row = _ROW.match(line) if table else None
        if row is None:
            table = "" if line.startswith("}") else table
            continue
        counts = row[1].split(", ")
        for place, count in enumerate(counts):
            if count != "0u":
                changed = ", ".join([*counts[:place], "0u", *counts[place + 1 :]])
                rest = "\n".join([*lines[:number], line.replace(row[1], changed, 1), *lines[number + 1 :]])
                task = (row[2] or "").partition(";")[0]
                what = f"need of {count[:-1]} of {queues[place]} for {task}"
                yield Mutant(file, number + 1, fields.get(table, table), what, rest)
