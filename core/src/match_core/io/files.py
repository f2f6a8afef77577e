"""Files that users name for results: all of one is written, or nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from match_core.errors import UsageError


@contextmanager
def whole_file(path: Path, what: str) -> Iterator[BinaryIO]:
    """A file that takes the path's place when the body ends well. ``what`` it holds, for the message. UsageError
    MATCH-U045 where the place cannot be written."""
    staging = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        try:
            with staging.open("xb") as file:
                yield file
            staging.replace(path)
        finally:
            staging.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            code="MATCH-U045",
            what=f"{what} cannot be written",
            where=str(path),
            why=error.strerror or str(error),
            help=("choose a file in a directory that exists and that you may write to",),
        ) from error
