"""Files that packages contribute to one program, by name."""

from __future__ import annotations

from collections.abc import Iterable

from match_core.contract.errors import PluginError
from match_core.contract.unit_api import RuntimeFile


def by_name(kind: str, files: Iterable[RuntimeFile]) -> dict[str, RuntimeFile]:
    """The files without repeats, in order. ``kind``: their kind in errors. PluginError MATCH-H007 if two files of one
    name differ."""
    found: dict[str, RuntimeFile] = {}
    for file in files:
        if found.setdefault(file.name, file).text != file.text:
            raise PluginError(
                code="MATCH-H007",
                what="the units of this target cannot be combined in one program",
                where=f"{kind} {file.name}",
                why="the packages of two units ship different files of this name",
                help=(
                    "disable the units of one package: --without-unit UNIT",
                    "report it to the authors of the packages",
                ),
            )
    return found
