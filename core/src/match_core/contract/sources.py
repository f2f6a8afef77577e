"""The emitted program as a value: files in a fixed order."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file; ``name`` may begin with a folder of the program, such as ``example/``."""

    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        """Digest of the content in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class Sources:
    """All files of a program, sorted by name; the manifest (``match.lock.json``) is among them."""

    files: tuple[SourceFile, ...]

    def text(self, name: str) -> str:
        """The content of a text file (KeyError if there is none)."""
        for file in self.files:
            if file.name == name:
                return file.content.decode("utf-8")
        raise KeyError(name)
