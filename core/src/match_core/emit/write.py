"""Writing a program to disk: all files or none, only over programs that match wrote, and nothing of the user's."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from match_core.contract.errors import UsageError
from match_core.contract.sources import Sources
from match_core.emit.manifest import DERIVED, NAME
from match_core.io.swap import alone, repair, staging_of, swap

#: Most bytes of a name, on all common file systems.
_NAME_BYTES_MAX = 255
#: Bytes that a check writes to see whether there is room.
_PROBE_BYTES = 1 << 16


def check_output_directory(directory: Path) -> None:
    """UsageError MATCH-U010 unless the directory is absent, empty, or holds a manifest of match; MATCH-U011 if it could
    not be written."""
    with _writing(directory):
        whole = directory.absolute()
        if any(len(os.fsencode(part)) > _NAME_BYTES_MAX for part in whole.parts):
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        repair(whole)
        if directory.is_symlink() or (directory.exists() and not directory.is_dir()):
            raise _refused("cannot be used", directory, "it exists and is not a plain directory", "-o DIR")
        entries = sorted(path.name for path in directory.iterdir()) if directory.exists() else []
        if entries and _manifest(directory).get("schema") not in ("match.lock", DERIVED):
            more = f" and {len(entries) - 1} more files" if len(entries) > 1 else ""
            why = f"it holds {entries[0]!r}{more}, but no {NAME} written by match"
            raise _refused("would be overwritten", directory, why, "-o DIR", "empty the directory first")
        if Path.cwd().is_relative_to(whole.resolve()):
            raise _refused("cannot be replaced", directory, "match runs inside it", "-o DIR", "run match elsewhere")
        probe = staging_of(next(path for path in whole.parents if path.exists()) / whole.name)
        try:
            (probe / NAME).write_bytes(bytes(_PROBE_BYTES))
        finally:
            shutil.rmtree(probe, ignore_errors=True)


def is_ours(directory: Path) -> bool:
    """Whether the directory holds a manifest that this compiler wrote."""
    return _manifest(directory).get("schema") == "match.lock"


def write_sources(sources: Sources, directory: Path) -> tuple[str, ...]:
    """Write all files to ``directory``; an earlier program is replaced as a whole. Files of users stay: those that they
    added, and, as NAME.kept, those that they changed. Returns the names of the latter."""
    check_output_directory(directory)
    with _writing(directory):
        directory.parent.mkdir(parents=True, exist_ok=True)
        staging = staging_of(directory)
        try:
            for file in sources.files:
                (staging / file.name).parent.mkdir(parents=True, exist_ok=True)
                (staging / file.name).write_bytes(file.content)
            staging.chmod(0o755)
            with alone(directory.parent):
                kept = _keep(directory, staging, _manifest(directory).get("files")) if directory.exists() else ()
                swap(staging, directory)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return tuple(kept)


def _keep(old: Path, new: Path, digests: object, folder: str = "") -> list[str]:
    """Link what match did not write into the new folder; the names of written files that were changed since."""
    changed, written = [], digests if isinstance(digests, dict) else {}
    for entry in sorted(old.iterdir()):
        inner, plain = f"{folder}{entry.name}/", entry.is_dir() and not entry.is_symlink()
        if entry.name == NAME or _unchanged(entry, written.get(inner[:-1])):
            continue
        if plain and any(name.startswith(inner) for name in written):
            (new / entry.name).mkdir(exist_ok=True)
            changed += _keep(entry, new / entry.name, written, inner)
            continue
        name = f"{entry.name}.kept" if inner[:-1] in written else entry.name
        while os.path.lexists(new / name):
            name += ".kept"
        changed += [inner[:-1]] if name != entry.name else []
        if plain:
            shutil.copytree(entry, new / name, symlinks=True, copy_function=_link)
        else:
            _link(entry, new / name)
    return changed


def _unchanged(path: Path, written: object) -> bool:
    """Whether match wrote a file with this digest, or all files of a folder that it derived from the program."""
    if path.is_symlink() or not path.is_dir():
        return path.is_file() and not path.is_symlink() and written == sha256(path.read_bytes()).hexdigest()
    manifest = _manifest(path)
    if manifest.get("schema") != DERIVED or not isinstance(files := manifest.get("files"), dict):
        return False
    return all(entry.name == NAME or _unchanged(entry, files.get(entry.name)) for entry in path.iterdir())


def _link(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # no links on this file system
        shutil.copy2(source, target, follow_symlinks=False)


def _manifest(directory: Path) -> dict[str, object]:
    """The manifest, unchecked; empty if there is none."""
    try:
        repair(directory.absolute())
        path = directory / NAME
        document = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (OSError, RecursionError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


@contextmanager
def _writing(directory: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise UsageError(
            code="MATCH-U011",
            what="the output directory cannot be written",
            where=str(directory),
            why=(isinstance(error, OSError) and error.strerror) or str(error),
            help=("choose a directory that you may write to, with free space: -o DIR",),
        ) from error


def _refused(what: str, directory: Path, why: str, choose: str, *help_: str) -> UsageError:
    where, advice = str(directory), f"choose another directory: {choose}"
    return UsageError("MATCH-U010", f"the output directory {what}", where, why, (advice, *help_))
