"""Entries of a cache on disk: one JSON file each, named by the digest of the request.

An entry holds the format, the version of match, its own digest and a digest of its content, so that a truncated or
foreign file, or one of another version, counts as absent and is replaced. Files are written atomically; any number of
processes may use one directory.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from match_core.io.cache_dir import write_whole


@dataclass(frozen=True, slots=True)
class Entries:
    """``format``: changes with the form of the content; ``version``: of match."""

    directory: Path
    format: int
    version: str

    def read(self, key: str) -> object:
        """The content of an entry; None if there is none."""
        try:
            entry = json.loads(self._path(key).read_bytes())
            known = (entry["format"], entry["version"], entry["key"], entry["sha256"])
            return entry["content"] if known == (self.format, self.version, key, digest(entry["content"])) else None
        except (OSError, RecursionError, ValueError, KeyError, TypeError):
            return None

    def write(self, key: str, content: object) -> None:
        """Store an entry, if possible."""
        known = {"format": self.format, "version": self.version, "key": key, "sha256": digest(content)}
        text = json.dumps({**known, "content": content}, indent=1, sort_keys=True)
        write_whole(self._path(key), text.encode("utf-8"))

    def keep(self, most: int) -> None:
        """Remove all entries but the newest."""
        with suppress(OSError):
            entries = sorted(self.directory.glob("*/*.json"), key=lambda path: path.stat().st_mtime_ns)
            for path in entries[:-most]:
                path.unlink()

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / f"{key}.json"


def digest(content: object) -> str:
    """SHA-256 of plain values as JSON."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
