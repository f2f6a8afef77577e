"""QEMU's plug-in that counts instructions, and what it counted."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from match_core.contract.errors import ToolError
from match_core.run.compiler import host_compiler

from match_qemu.build import C_FILES, mark_count

#: Versions of QEMU's plug-in interface, by the first QEMU that has each.
_INTERFACES = (((10, 0), 4), ((9, 1), 3), ((9, 0), 2))


@dataclass(frozen=True, slots=True)
class Counts:
    """Instructions of one inference: all, and by node."""

    total: int
    nodes: Mapping[int, int]


def build_plugin(emulator: str, work: Path) -> Path:
    """The plug-in for this emulator. ToolError MATCH-T001 without a compiler for this machine, MATCH-T011 if it rejects
    the plug-in."""
    library = work / "count.so"
    command = [*host_compiler(), "-O2", "-shared", "-fPIC", f"-DPLUGIN_VERSION={_interface(emulator)}"]
    command += ["-Wl,-undefined,dynamic_lookup"] if Path("/System/Library").is_dir() else []
    done = subprocess.run(
        [*command, str(C_FILES / "count.c"), "-o", str(library)], capture_output=True, text=True, errors="replace"
    )
    if done.returncode != 0:
        raise ToolError(
            code="MATCH-T011",
            what="the counter of instructions cannot be built",
            where=f"{command[0]}, count.c",
            why="; ".join(done.stderr.splitlines()[:3]),
            help=("set CC to a C compiler of this machine",),
        )
    return library


def plugin_arguments(library: Path, symbols: Mapping[str, tuple[int, int]]) -> list[str]:
    """Options of QEMU that load the plug-in."""
    marks, size = symbols["match_marks"]
    places = [symbols[f"match_profile_{name}"] for name in ("begin", "end")]
    begin, end = min(place[0] for place in places) & ~1, max(sum(place) for place in places)
    values = {"marks": marks, "size": size, "from": begin, "to": end}
    return ["-plugin", ",".join((str(library), *(f"{name}={value:#x}" for name, value in values.items())))]


def read_counts(path: Path, document: Mapping[str, Any]) -> Counts:
    """What the plug-in wrote of one processor. ValueError if that is not whole."""
    return counts_of(_between_marks(path), document)


def read_marks(path: Path) -> dict[int, int]:
    """The instructions of each node, each on its own processor."""
    raw = _between_marks(path)
    empty = raw[max(raw)]
    return {node: max(0, count - empty) for node, count in raw.items()}


def _between_marks(path: Path) -> dict[int, int]:
    seen: dict[int, int] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[0] == "mark":
            seen[int(words[1])] = int(words[3])
    return {mark // 2: seen[mark + 1] - count for mark, count in seen.items() if mark % 2 == 0 and mark + 1 in seen}


def counts_of(raw: Mapping[int, int], document: Mapping[str, Any]) -> Counts:
    """Counts without what counting costs: ``raw`` has those of nodes, of the whole run, of a pair of calls around
    another pair, and of the inner pair, by mark."""
    nodes = mark_count(document)
    if not {nodes, nodes + 1, nodes + 2} <= set(raw):
        raise ValueError("the counts of the run are missing")
    empty = raw[nodes + 2]
    pair = raw[nodes + 1] - empty
    counted = {node: max(0, count - empty) for node, count in raw.items() if node < nodes}
    return Counts(max(0, raw[nodes] - empty - pair * len(counted)), counted)


def _interface(emulator: str) -> int:
    said = subprocess.run([emulator, "--version"], capture_output=True, text=True, errors="replace", timeout=20).stdout
    found = re.search(r"version (\d+)\.(\d+)", said)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    return next((number for first, number in _INTERFACES if version >= first), 1)
