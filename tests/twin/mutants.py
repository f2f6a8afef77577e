"""Mutants of a program with units side by side: each lacks one wait, or one entry of the tables of needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from match_core.contract.unit_api import Kernel, UnitApi
from match_core.ir.naming import c_identifier
from match_core.run.modes import queues_of

#: What a mutant does not wait for: copies, the store, kernels; its turn in a queue; the end of a swap; the end of a
#: unit's loop; the end of all tasks; or an entry of a table of needs.
Kind = Literal["copy", "store", "kernel", "queue", "swap", "join", "end", "need"]

_FUNCTION = re.compile(r"^(?:static )?\w[\w *]* \**(\w+)\(")
_TABLE = re.compile(r"^static const uint16_t (\w+)_needs\[\]")
_ROW = re.compile(r"^\s*\{(\d+u(?:, \d+u)*)\},")
_TASK = re.compile(r"/\* (\w+)")


@dataclass(frozen=True, slots=True)
class Mutant:
    """``text``: the whole of ``file`` without the wait or need that ``what`` names; ``line`` counts from 1. ``queue``:
    whose wait it is, or of whose tasks the need is."""

    file: str
    line: int
    queue: str
    kind: Kind
    what: str
    text: str


@dataclass(frozen=True, slots=True)
class _Wait:
    """A wait is what ``pattern`` matches; ``without`` stands there when it is taken out."""

    kind: Kind
    queue: str
    pattern: str
    without: str = "0"


def mutants_of(program: Path, document: Mapping[str, Any], apis: Mapping[str, UnitApi]) -> tuple[Mutant, ...]:
    """All mutants of the program in a directory. ``document``: its manifest; ``apis``: of its units."""
    name, queues = document["name"], queues_of(document)
    found: list[Mutant] = []
    for queue in queues:
        file = f"{name}_{c_identifier(queue)}.c"
        if queue in apis and (program / file).is_file():
            found += _waits(file, (program / file).read_text(encoding="utf-8"), _waits_of_unit(queue, apis[queue]))
    file = f"{name}.c"
    text = (program / file).read_text(encoding="utf-8")
    found += _waits(file, text, _waits_of_host(document, apis))
    found += _needs(file, queues, text)
    return tuple(found)


def _waits_of_unit(queue: str, api: UnitApi) -> list[_Wait]:
    """Calls of functions that wait, whose result is then 0."""
    kinds: dict[str, Kind] = {
        kernel.wait: "kernel" for kernel in api.kernels.values() if isinstance(kernel, Kernel) and kernel.wait
    }
    parts: tuple[tuple[Kind, str], ...] = (
        ("copy", api.memory.wait if api.memory else ""),
        ("store", api.store.wait if api.store else ""),
        ("queue", api.queue.wait if api.queue else ""),
    )
    kinds |= {function: kind for kind, function in parts if function}
    return [_Wait(kind, queue, rf"\b{function}\([^()]*\)") for function, kind in sorted(kinds.items())]


def _waits_of_host(document: Mapping[str, Any], apis: Mapping[str, UnitApi]) -> list[_Wait]:
    """What the host waits for when it looks at the queues: its own turn, swaps, units, and the end."""
    waits = [_Wait("end", "host", r"\ball == \d+u", "1")]
    for queue in document["queues"]:
        name, tasks = queue["name"], len(queue["tasks"])
        api = apis.get(name)
        if queue["kind"] == "unit" and api is not None and api.queue is not None and api.queue.join:
            waits.append(_Wait("join", name, rf"\b{api.queue.join}\b", "NULL"))
        elif queue["kind"] == "host":
            waits.append(_Wait("queue", name, r"\bnext < match_load\([^()]*\)", f"next < {tasks}u"))
        elif queue["kind"] == "link":
            waits.append(_Wait("queue", name, r"\bdone >= match_load\([^()]*\)", f"done >= {tasks}u"))
            busy = sorted({api.swap.busy for api in apis.values() if api.swap is not None})
            waits += [_Wait("swap", name, rf"(?<=if \(){function}\(\)") for function in busy]
    return waits


def _waits(file: str, text: str, waits: list[_Wait]) -> Iterator[Mutant]:
    lines, function = text.split("\n"), ""
    for number, line in enumerate(lines):
        if heading := _FUNCTION.match(line):
            function = heading[1]
        for wait in waits:
            for match in re.finditer(wait.pattern, line):
                changed = f"{line[: match.start()]}{wait.without}{line[match.end() :]}"
                what = f"{match[0]} in {function}"
                yield Mutant(file, number + 1, wait.queue, wait.kind, what, _with_line(lines, number, changed))


def _needs(file: str, queues: tuple[str, ...], text: str) -> Iterator[Mutant]:
    """Every entry of a table of needs that is not 0."""
    lines, table, task = text.split("\n"), "", ""
    fields = {c_identifier(queue): queue for queue in queues}
    for number, line in enumerate(lines):
        if heading := _TABLE.match(line):
            table = heading[1]
        elif not table or line.startswith("}"):
            table = ""
            continue
        if title := _TASK.search(line):
            task = title[1]
        if row := _ROW.match(line):
            counts = row[1].split(", ")
            for place in (place for place, count in enumerate(counts) if count != "0u"):
                changed = ", ".join([*counts[:place], "0u", *counts[place + 1 :]])
                rest = _with_line(lines, number, line.replace(row[1], changed, 1))
                what = f"need of {counts[place][:-1]} of {queues[place]} for task {task}"
                yield Mutant(file, number + 1, fields.get(table, table), "need", what, rest)


def _with_line(lines: list[str], number: int, line: str) -> str:
    return "\n".join([*lines[:number], line, *lines[number + 1 :]])
