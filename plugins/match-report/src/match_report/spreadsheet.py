"""Layers and memory as comma-separated values (RFC 4180, in UTF-8)."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from match_report.view.estimates import estimate_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_COSTS = ("compute", "transfer", "launch", "sync", "overlapped")
#: Characters at the start of a cell that spreadsheets interpret as a formula (OWASP, CSV injection).
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def layers_csv(report: Mapping[str, Any]) -> str:
    """One row per layer; ``twin_cycles`` is empty if the twin was not run, ``estimate`` if no figure is one."""
    measured = {layer["index"]: layer["cycles"] for layer in (report["measured"] or {"layers": []})["layers"]}
    headings = ("index", "title", "unit", "pattern", "view", "macs", "input_bytes", "constant_bytes", "output_bytes")
    times = ("start_cycles", "end_cycles", "predicted_cycles")
    costs = tuple(f"{part}_cycles" for part in _COSTS)
    rows = []
    for layer in report["layers"]:
        cost = layer["schedule"]["cost"]
        facts = [layer[name] for name in (*headings, *times)]
        twin = measured.get(layer["index"], "")
        rows.append([*facts, *(cost[name] for name in costs), layer["schedule"]["steps"], twin, estimate_of(layer)])
    return _text((*headings, *times, *costs, "steps", "twin_cycles", "estimate"), rows)


def memory_csv(report: Mapping[str, Any], memory: str) -> str:
    """Buffers of a memory's arena: an id, the half-open range [lower, upper) of layers in which it lives, bytes and
    offset. The columns of minimalloc with the answer as the last one (github.com/google/minimalloc)."""
    rows = [
        (buffer["name"], buffer["first_layer"], buffer["last_layer"] + 1, buffer["size_bytes"], buffer["offset_bytes"])
        for buffer in report["buffers"]
        if buffer["memory"] == memory and buffer["offset_bytes"] is not None
    ]
    for layer in report["layers"]:
        index = layer["index"]
        for placement in layer["placements"]:
            if placement["memory"] == memory and memory != report["target"]["home"]:
                name = f"{index}:{placement['operand']}"
                size = placement["size_bytes"] * placement["buffers"]
                rows.append((name, index, index + 1, size, placement["offset_bytes"]))
        scratch = layer["scratch"]
        if scratch is not None and scratch["memory"] == memory:
            rows.append((f"{index}:scratch", index, index + 1, scratch["size_bytes"], scratch["offset_bytes"]))
    return _text(("id", "lower", "upper", "size", "offset"), rows)


def _text(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return file.getvalue()


def _cell(value: object) -> object:
    """A safe cell: names from the model must not become formulas or end a row (the writer quotes line feeds only)."""
    if not isinstance(value, str):
        return value
    return ("'" if value.startswith(_FORMULA) else "") + value.replace("\r", "\n")
