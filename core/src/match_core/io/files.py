"""Atomic writes of result files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from match_core.contract.errors import UsageError


@contextmanager
def whole_file(path: Path, what: str) -> Iterator[BinaryIO]:
    """A file that replaces ``path`` if the body succeeds. ``what``: its contents, for the message. UsageError
    MATCH-U045 if it cannot be written."""
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
            help=("choose a file in an existing directory where you may write",),
        ) from error
