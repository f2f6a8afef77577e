"""Objects that are cached between builds: those of the twin's sources and of the runtime files that ship with programs.

The key of an object covers everything that the compiler reads: its command, the source, and every header that the
source may include. Sources of a model are not cached, because the cache would grow with every model.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryFile

from match_core.io.cache_dir import cache_directory, write_whole

_DIGEST = hashlib.sha256().digest_size
#: A compiler says its version within this (an estimate).
ASK_SECONDS = 20
#: The name of a header (or of included C) anywhere in the text: in an include, in an included macro, in
#: ``__has_include``.
_HEADER = re.compile(rb'["<]([\w./+-]+\.[ch])[">]')


class ObjectCache:
    """The cached objects of ``command`` (compiler and flags), which searches headers in ``includes``."""

    def __init__(self, command: Sequence[str], includes: Sequence[Path]) -> None:
        version = _version(*_stamped(Path(shutil.which(command[0]) or command[0])))
        words = "\0".join(command).encode()
        self._compiler = words + b"\0" + version
        self._named_by_command = (*_headers(words), *(word for word in command if word.endswith(".h")))
        self._includes = tuple(includes)
        self._files: dict[Path, tuple[bytes, tuple[str, ...]]] = {}

    def path(self, source: Path) -> Path:
        """The path of the object of ``source``. The key covers the content of headers in whatever folder they are
        found, including headers that the preprocessor would skip: at worst, a source is compiled once more."""
        content, headers = self._file(source)
        digest = hashlib.sha256(b"\0".join((self._compiler, source.name.encode(), content)))
        waiting = [*self._named_by_command, *headers]
        seen: set[str] = set()
        folders = dict.fromkeys((source.parent, *self._includes))
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for folder in folders:
                content, headers = self._file(folder / name)
                digest.update(name.encode() + b"\0" + content)
                waiting += headers
        return cache_directory("objects") / digest.hexdigest()[:24] / f"{source.stem}.o"

    def _file(self, path: Path) -> tuple[bytes, tuple[str, ...]]:
        """Digest of a file and the headers it names; empty if there is no such file."""
        if path not in self._files:
            self._files[path] = _summary(*_stamped(path))
        return self._files[path]


def _stamped(path: Path) -> tuple[Path, int, int]:
    """A file with the time of its last change in nanoseconds and its size in bytes; zeros if it cannot be read."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return path, 0, 0
    return path, found.st_mtime_ns, found.st_size


@lru_cache(maxsize=4096)
def _summary(path: Path, time_ns: int, size_bytes: int) -> tuple[bytes, tuple[str, ...]]:
    """Digest of a file of this time and size and the headers it names; empty if there is no such file."""
    text = path.read_bytes() if path.is_file() else b""
    return hashlib.sha256(text).digest(), _headers(text)


@lru_cache(maxsize=8)
def _version(compiler: Path, time_ns: int, size_bytes: int) -> bytes:
    """What the compiler says of itself; nothing where it cannot be asked, and compiling says why."""
    with TemporaryFile() as said, suppress(OSError, ValueError, subprocess.TimeoutExpired):
        subprocess.run([compiler, "--version"], stdin=subprocess.DEVNULL, stdout=said, check=False, timeout=ASK_SECONDS)
        said.seek(0)
        return said.read()
    return b""


def keep_object(path: Path, content: bytes) -> None:
    """Cache an object behind its digest."""
    write_whole(path, hashlib.sha256(content).digest() + content)


def kept_object(path: Path) -> bytes:
    """The cached object; empty if there is none, or if it was damaged."""
    entry = path.read_bytes() if path.is_file() else b""
    return entry[_DIGEST:] if hashlib.sha256(entry[_DIGEST:]).digest() == entry[:_DIGEST] else b""


def _headers(text: bytes) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.decode() for name in _HEADER.findall(text)))
