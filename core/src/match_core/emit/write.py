"""Writing a program to disk: all files or none, and only over programs that match wrote."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from match_core.contract.errors import UsageError
from match_core.contract.sources import Sources
from match_core.emit.manifest import NAME


def check_output_directory(directory: Path) -> None:
    """UsageError MATCH-U010 unless the directory is absent, empty, or holds a manifest of match."""
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
        more = f" and {len(entries) - 1} more files" if len(entries) > 1 else ""
        raise UsageError(
            code="MATCH-U010",
            what="the output directory would be overwritten",
            where=str(directory),
            why=f"it holds {entries[0]!r}{more}, but no {NAME} written by match",
            help=("choose another directory with -o", "empty the directory first"),
        )


def is_ours(directory: Path) -> bool:
    """Whether the directory holds a manifest that this compiler wrote."""
    try:
        document = json.loads((directory / NAME).read_text(encoding="utf-8"))
    except (OSError, RecursionError, ValueError):
        return False
    return isinstance(document, dict) and document.get("schema") == "match.lock"


def write_sources(sources: Sources, directory: Path) -> None:
    """Write all files to ``directory``; an earlier program is replaced as a whole."""
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
    """Move ``staging`` to ``directory``; the old content is deleted only after the new one is in place."""
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
