"""The files of a compiled program."""

from __future__ import annotations

from pathlib import Path


def program_files(directory: Path) -> dict[str, bytes]:
    """Content by path from the directory, with those of its folders."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in paths}
