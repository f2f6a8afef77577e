"""Directories for files that can be regenerated: compiled objects, schedules."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

VARIABLE = "MATCH_CACHE_DIR"


def cache_directory(kind: str, environment: Mapping[str, str] | None = None) -> Path:
    """The directory for one kind of file, which may not exist yet: below ``$MATCH_CACHE_DIR``, else below ``match`` in
    the platform's cache directory (``$XDG_CACHE_HOME``, ``~/.cache``; ``~/Library/Caches``; ``%LOCALAPPDATA%``)."""
    variables = os.environ if environment is None else environment
    chosen = variables.get(VARIABLE)
    return Path(chosen) / kind if chosen else _platform_directory(variables) / "match" / kind


def _platform_directory(variables: Mapping[str, str]) -> Path:
    if sys.platform == "win32":
        return Path(variables.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(variables.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def write_whole(path: Path, content: bytes) -> bool:
    """Write a cache file atomically; returns False if that is not possible, which is not an error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            file.write(content)
        staging = Path(file.name)
    except OSError:
        return False
    try:
        staging.replace(path)
    except OSError:
        with suppress(OSError):
            staging.unlink()
        return False
    return True
