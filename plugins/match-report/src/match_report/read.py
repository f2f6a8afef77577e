"""Reading the report of a compiled program, which users may have edited."""

from __future__ import annotations

import json
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from match_core.contract.errors import UsageError
from match_core.emit.manifest import NAME as MANIFEST
from match_core.emit.write import is_ours
from match_core.io.documents import read_document
from match_core.summary.document import NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The JSON Schema of a report.
SCHEMA_FILE = Path(__file__).with_name("report-schema.json")


_WITH_FILES = {
    "type": "object",
    "required": ["files"],
    "properties": {"files": {"type": "object", "additionalProperties": {"type": "string"}}},
}


def read_report(directory: Path) -> dict[str, Any]:
    """The document ``report.json`` of a program directory. UsageError MATCH-U032 if it is missing, this version cannot
    read it, or it contradicts itself."""
    path = directory / NAME
    try:
        document = read_document(path, json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
        for contradiction in _contradictions(document):
            raise ValueError(contradiction)
    except (OSError, ValueError) as error:
        where, why = _missing(directory) or (path, (isinstance(error, OSError) and error.strerror) or str(error))
        raise UsageError(
            code="MATCH-U032",
            what="the report of the program cannot be read",
            where=str(where),
            why=why,
            help=(f"compile the model with this version: match compile MODEL -t TARGET -o {_usable(directory)}",),
        ) from error
    return document


def mismatches(directory: Path) -> tuple[str, ...]:
    """Warnings: the report is not the one that was written with the program, by the digests of its manifest, or files
    of the program were changed since."""
    files: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        files = read_document(directory / MANIFEST, _WITH_FILES)["files"]
    changed = [name for name, digest in files.items() if _digest(directory / name) not in (None, digest)]
    if NAME in changed:
        return (f"{directory / NAME} does not belong to the program beside it: compile the model again",)
    if changed:
        count = f"{len(changed)} files" if len(changed) > 1 else "a file"
        return (
            f"{count} of {directory} changed after compilation ({changed[0]}): the report describes the old program",
        )
    return ()


def _digest(path: Path) -> str | None:
    """None if the file is missing: a build server may keep the report alone."""
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _usable(directory: Path) -> str:
    """The directory as an argument if ``match compile`` writes to it, else a placeholder."""
    usable = not directory.exists() or is_ours(directory) or (directory.is_dir() and not any(directory.iterdir()))
    return quote(str(directory)) if usable else "DIR"


def _missing(directory: Path) -> tuple[Path, str] | None:
    """What is not there, and why it is no program; None if there is a report."""
    if not directory.is_dir():
        return directory, "it is not a directory" if directory.exists() else "there is no such directory"
    found = sorted(path.name for path in directory.iterdir())
    why = f"none of its {len(found)} files is {NAME}, which match compile writes" if found else "it is empty"
    return None if NAME in found else (directory, why)


def _contradictions(report: Mapping[str, Any]) -> Iterator[str]:
    """Numbers and names that name nothing in the report, nodes that wait in circles, a link without speed."""
    layers, network = report["layers"], report["network"]
    units = {unit["name"] for unit in report["units"]}
    for place, layer in enumerate(layers):
        if layer["index"] != place or layer["unit"] not in units:
            yield f"layers[{place}] states index {layer['index']} and unit {layer['unit'][:80]!r}"
    if report["target"]["home"] not in {memory["name"] for memory in report["memories"]}:
        yield f"there is no memory {report['target']['home'][:80]!r}"
    for link in report["links"]:
        if not link["bytes_per_cycle"] > 0:
            yield f"link {link['name'][:80]!r} moves {link['bytes_per_cycle']} bytes per cycle"
    for what, numbers, count in (
        ("layer", _layer_numbers(report), len(layers)),
        ("node", _node_numbers(network), len(network["nodes"])),
    ):
        yield from (f"there is no {what} {number}" for number in numbers if number >= count)
    readers: dict[int, set[int]] = {}
    for edge in network["edges"]:
        readers.setdefault(edge["to"], set()).add(edge["from"])
    try:
        TopologicalSorter(readers).prepare()
    except CycleError:
        yield "the edges of the network form a circle"


def _layer_numbers(report: Mapping[str, Any]) -> Iterator[int]:
    for buffer in report["buffers"]:
        yield from (buffer["first_layer"], buffer["last_layer"])
    for node in report["network"]["nodes"]:
        yield from node["layers"]
    measured = report["measured"] or {"layers": (), "events": ()}
    yield from (layer["index"] for layer in measured["layers"])
    yield from (event["layer"] for event in measured["events"] if event["layer"] is not None)


def _node_numbers(network: Mapping[str, Any]) -> Iterator[int]:
    for edge in network["edges"]:
        yield from (edge["from"], edge["to"])
    for tensor in network["inputs"]:
        yield from tensor["to"]
    yield from (tensor["from"] for tensor in network["outputs"] if tensor["from"] is not None)
