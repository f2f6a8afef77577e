"""Files that packages bring into one program, by name."""

from __future__ import annotations

from collections.abc import Iterable

from match_core.emit.api import RuntimeFile
from match_core.errors import PluginError


def by_name(kind: str, files: Iterable[RuntimeFile]) -> dict[str, RuntimeFile]:
    """The files without repeats, in order. ``kind`` says in errors what they are. PluginError MATCH-H007 where two of
    one name differ."""
    found: dict[str, RuntimeFile] = {}
    for file in files:
        if found.setdefault(file.name, file).text != file.text:
            raise PluginError(
                code="MATCH-H007",
                what="the units of this target cannot be in one program",
                where=f"{kind} {file.name}",
                why="packages of two of its units have files of this name with different text",
                help=(
                    "leave out the units of one package: --without-unit UNIT",
                    "report it to the packages' authors",
                ),
            )
    return found
