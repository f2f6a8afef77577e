"""A directory replaced as a whole: at any moment its name leads to all of the old files or to all of the new ones."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

if sys.platform != "win32":
    import fcntl

#: What an interrupted process left is removed after so many seconds; writing a program takes a few.
LEFT_SECONDS = 3600
_AT_FDCWD, _EXCHANGE = -100, 2  # of renameat2(2)


def staging_of(directory: Path, kind: str = "new") -> Path:
    """A new folder next to the directory, which may not exist yet."""
    return Path(mkdtemp(prefix=f"{_prefix(directory)}{kind}-", dir=directory.parent))


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One process at a time changes what the folder holds; all at once where the system has no locks."""
    with ExitStack() as stack:
        if sys.platform != "win32":
            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def swap(staging: Path, directory: Path) -> None:
    """Move ``staging`` to ``directory`` and remove the old content. One step where the system can exchange two names,
    else two, of which ``repair`` undoes the first. Errors: OSError; then the old content is in its place."""
    if not directory.exists():
        staging.rename(directory)
        return
    try:
        exchange(staging, directory)
        old = staging
    except OSError:  # not on this system, or not for these names: then renaming says why
        old = staging_of(directory, "old")
        directory.rename(old)
        try:
            staging.rename(directory)
        finally:
            repair(directory)
    shutil.rmtree(old, ignore_errors=True)


def exchange(first: Path, second: Path) -> None:
    """Exchange two names in one step. Errors: OSError where that is not possible."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError) as error:
        raise OSError(errno.ENOSYS, "names cannot be exchanged") from error
    if rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _EXCHANGE):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def repair(directory: Path) -> None:
    """Undo an interrupted swap: the old content returns if nothing has its name. Old rests are removed."""
    for path in directory.parent.glob(f"{_prefix(directory)}*"):
        if "-old-" in path.name and not directory.exists() and any(path.iterdir()):
            path.rename(directory)
        elif time.time() - path.stat().st_mtime > LEFT_SECONDS:
            shutil.rmtree(path, ignore_errors=True)


def _prefix(directory: Path) -> str:
    """Of the names of folders that belong to the directory, short whatever its name is."""
    return f".match-{sha256(os.fsencode(directory.name)).hexdigest()[:12]}-"
