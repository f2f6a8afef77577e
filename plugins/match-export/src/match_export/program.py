"""A compiled program as the exporters see it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from match_core.contract.errors import UsageError
from match_core.run.compiled_program import read_manifest

#: Versions that all kinds accept: three numbers.
RELEASE = re.compile(r"(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){2}")
#: Build files, which a package has of its own kind.
_BUILD = re.compile(r"Makefile|CMakeLists\.txt|.*\.(mk|config|ld)")
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_EXAMPLE = "example/main.c"


@dataclass(frozen=True, slots=True)
class ExportProgram:
    """``files``: C files, headers and data of the library by name; ``example``: the application as text; ``foreign``:
    headers that the program includes and does not have."""

    name: str
    release: str
    target: str
    model: str
    files: Mapping[str, bytes]
    example: str
    foreign: tuple[str, ...]

    @property
    def headers(self) -> tuple[str, ...]:
        """Headers that an application may include: the program's own, and what it includes."""
        found, rest = set[str](), [f"{self.name}.h"]
        while rest:
            name = rest.pop()
            if name not in found and name in self.files:
                found.add(name)
                rest += _INCLUDE.findall(self.files[name].decode("utf-8"))
        return tuple(sorted(found))

    @property
    def sources(self) -> tuple[str, ...]:
        """C files of the library."""
        return tuple(sorted(name for name in self.files if name.endswith(".c")))

    @property
    def data(self) -> tuple[str, ...]:
        """Constants that an application loads."""
        return tuple(sorted(name for name in self.files if name.endswith(".bin")))

    @property
    def sentence(self) -> str:
        """What the package is, in one line of plain text."""
        return (
            f"Neural network {_plain(self.name)}, compiled by match from {_plain(self.model)} for {_plain(self.target)}"
        )

    def laid_out(self, include: str = "include", source: str = "src") -> dict[str, bytes]:
        """The library's files in folders: what applications include, everything else, and constants in ``data``."""
        public = self.headers
        return {
            f"{include if name in public else 'data' if name in self.data else source}/{name}": content
            for name, content in self.files.items()
        }


def read_program(directory: Path, release: str) -> ExportProgram:
    """The program in a directory. UsageError MATCH-U030 if match did not write it, MATCH-U104 if its files were changed
    or are missing, MATCH-U106 for a release that is not three numbers."""
    if RELEASE.fullmatch(release) is None:
        why = f"{release[:80]!r} is not three numbers, such as 1.2.0"
        raise UsageError("MATCH-U106", "the release cannot be used", "--release", why, ("give --release 1.0.0",))
    document = read_manifest(directory)
    files = {name: _content(directory, name, digest) for name, digest in document["files"].items()}
    texts = {name: content for name, content in files.items() if _is_part(name, document)}
    included = {name for name, text in texts.items() if name.endswith((".c", ".h")) for name in _includes(text)}
    return ExportProgram(
        name=str(document["name"]),
        release=release,
        target=document["target"],
        model=document["source"]["file"],
        files=texts,
        example=files[_EXAMPLE].decode("utf-8") if _EXAMPLE in files else "",
        foreign=tuple(sorted(included - set(texts))),
    )


def _content(directory: Path, name: str, digest: object) -> bytes:
    """A file of the program, as match wrote it."""
    parts = Path(name).parts
    try:
        if len(parts) > 2 or Path(name).is_absolute() or ".." in parts:
            raise ValueError("it is outside of the program")
        content = (directory / name).read_bytes()
        if hashlib.sha256(content).hexdigest() != digest:
            raise ValueError("it was changed after match wrote it")
    except (OSError, ValueError) as error:
        raise UsageError(
            "MATCH-U104",
            "a file of the program cannot be exported",
            str(directory / name[:200]),
            (isinstance(error, OSError) and error.strerror) or str(error),
            ("compile the model again: match compile MODEL -t TARGET -o DIR",),
        ) from error
    return content


def _is_part(name: str, document: Mapping[str, Any]) -> bool:
    """Whether a file belongs to the library."""
    stored = {store["file"] for store in document["stores"]}
    plain = "/" not in name and _BUILD.fullmatch(name) is None
    return plain and (name in stored or name.endswith((".c", ".h")))


def _includes(content: bytes) -> list[str]:
    return _INCLUDE.findall(content.decode("utf-8"))


def _plain(text: str) -> str:
    """Text without characters that any of the formats gives a meaning."""
    return "".join(char if char.isascii() and (char.isalnum() or char in " ._-") else "_" for char in text)[:100]
