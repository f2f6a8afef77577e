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
    staging = path.parent / f".{path.name}.{os.getpid()}.tmp"
    try:
        try:
            with staging.open("xb") as file:
                yield file
            staging.replace(path)
        finally:
            staging.unlink(missing_ok=True)
    except OSError as error:
        why = "it is a directory" if path.is_dir() else error.strerror or str(error)
        why = why if path.parent.is_dir() else f"there is no directory {path.parent}"
        help_ = ("choose a file in an existing directory where you may write",)
        raise UsageError("MATCH-U045", f"{what} cannot be written", str(path), why, help_) from error
