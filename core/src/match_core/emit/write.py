"""Writing a program to disk: all of it or nothing, and never over what is not ours."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from match_core.emit.manifest import NAME
from match_core.emit.sources import Sources
from match_core.errors import UsageError


def check_output_directory(directory: Path) -> None:
    """UsageError MATCH-U010 unless the directory is absent, empty, or holds our manifest."""
    if directory.is_symlink() or (directory.exists() and not directory.is_dir()):
        raise UsageError(
            code="MATCH-U010",
            what="the output directory cannot be used",
            where=str(directory),
            why="it exists and is not a plain directory",
            help=("choose another name with -o",),
        )
    if not directory.exists():
        return
    entries = sorted(path.name for path in directory.iterdir())
    if entries and not is_ours(directory):
        raise UsageError(
            code="MATCH-U010",
            what="the output directory would be overwritten",
            where=str(directory),
            why=f"it holds {entries[0]!r} and {len(entries) - 1} more, but no {NAME} of ours",
            help=("choose another directory with -o", "empty the directory first"),
        )


def is_ours(directory: Path) -> bool:
    """Whether the directory holds a manifest that this compiler wrote."""
    try:
        document = json.loads((directory / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(document, dict) and document.get("schema") == "match.lock"


def write_sources(sources: Sources, directory: Path) -> None:
    """Write all files to ``directory``, replacing an earlier program as a whole."""
    check_output_directory(directory)
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    except OSError as error:
        raise UsageError(
            code="MATCH-U011",
            what="the output directory cannot be written",
            where=str(directory),
            why=error.strerror or str(error),
            help=("choose a directory that you may write to with -o",),
        ) from error
    try:
        for file in sources.files:
            (staging / file.name).write_bytes(file.content)
        staging.chmod(0o755)
        _replace(staging, directory)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _replace(staging: Path, directory: Path) -> None:
    """Put ``staging`` in the place of ``directory``; the old content goes only after the new one is there."""
    if not directory.exists():
        staging.rename(directory)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    old.rmdir()
    directory.rename(old)
    try:
        staging.rename(directory)
    except OSError:
        old.rename(directory)
        raise
    shutil.rmtree(old, ignore_errors=True)
