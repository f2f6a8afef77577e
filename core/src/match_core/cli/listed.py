"""Names of the packages' verbs without loading the packages: ``match --help`` reads a list that is cached on disk.

Loading every plug-in takes longer than the rest of the list of verbs. An entry is valid for one state of the
installation: the folders that Python imports from and the sources of all plug-ins have unchanged modification times.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from match_core.contract.commands import Command
from match_core.io.cache_dir import cache_directory
from match_core.io.entries import Entries, digest
from match_core.version import __version__

if TYPE_CHECKING:
    from match_core.plugin.facade import Plugins

#: Increased when the format of entries changes.
FORMAT = 1
_VARIABLES = ("MATCH_ALLOW_PLUGINS", "MATCH_DISABLE_PLUGINS")


def listed_commands(load: Callable[[], Plugins]) -> tuple[Command, ...]:
    """The verbs of packages. Verbs from the cache cannot be called."""
    entries = Entries(cache_directory("verbs"), FORMAT, __version__)
    key = digest([sys.version, times_of(sys.path), [os.environ.get(name, "") for name in _VARIABLES]])
    known = _read(entries, key)
    if known is not None:
        return known
    plugins = load()
    commands = plugins.commands()
    sources = plugins.sources()
    if sources is not None and not plugins.faults:
        rows = [[command.name, command.help] for command in commands]
        entries.write(key, {"verbs": rows, "sources": times_of(map(str, sources))})
    return commands


def _read(entries: Entries, key: str) -> tuple[Command, ...] | None:
    content = entries.read(key)
    if not isinstance(content, dict):
        return None
    try:
        times = content["sources"]
        current = bool(times_of(path for path, _ in times) == times)
        return tuple(Command(str(name), str(text), _uncalled) for name, text in content["verbs"]) if current else None
    except (KeyError, TypeError, ValueError):
        return None


def times_of(paths: Iterable[str]) -> list[list[object]]:
    """Each path with its modification time in ns; -1 if it cannot be read."""
    return [[path, _time(Path(path or "."))] for path in paths]


def _time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return -1


def _uncalled() -> Callable[..., int]:
    raise AssertionError("a listed verb is not called")
