"""The constants of a program, each named once; equal contents are shared. Constants of the Soc's store have offsets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from match_core.contract.element_types import c_type
from match_core.lower.ctypes import array_definition
from match_core.lower.text import comment


@dataclass(frozen=True, slots=True)
class ConstantView:
    """A constant array; ``comment`` is a complete comment."""

    name: str
    ctype: str
    length: int
    size_bytes: int
    comment: str
    definition: str


class ConstantPool:
    """Collects constant arrays while tasks are lowered. Arrays with equal bytes and type share one definition."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._by_digest: dict[tuple[str, bytes], str] = {}
        self._arrays: list[tuple[str, NDArray[np.generic], str]] = []
        self._stored: dict[bytes, tuple[int, str]] = {}
        self._image = bytearray()
        self._codes: dict[bytes, tuple[str, str]] = {}

    def add(self, name: str, values: NDArray[np.generic], words: str) -> str:
        """The C name of an array with these values; ``name`` is used if they are new."""
        array = np.ascontiguousarray(values)
        key = (array.dtype.name, hashlib.sha256(array.tobytes()).digest())
        if key not in self._by_digest:
            full = f"{self._prefix}_{name}"
            self._by_digest[key] = full
            self._arrays.append((full, array, words))
        return self._by_digest[key]

    def add_code(self, name: str, content: bytes, words: str) -> str:
        """The C name of an array with the code of a region; ``name`` is used if it is new."""
        return self._codes.setdefault(content, (name, words))[0]

    def add_stored(self, values: NDArray[np.generic], words: str, alignment_bytes: int) -> int:
        """The offset of these values in the store's image, in bytes."""
        content = np.ascontiguousarray(values).tobytes()
        if content not in self._stored:
            self._image += bytes(-len(self._image) % alignment_bytes)
            self._stored[content] = (len(self._image), words)
            self._image += content
        return self._stored[content][0]

    @property
    def image(self) -> bytes:
        """The constants of the store, one after another; empty if there are none."""
        return bytes(self._image)

    def stored_sizes(self) -> tuple[tuple[str, int], ...]:
        """(description, bytes) of everything in the store, in order of offset."""
        return tuple((words, len(content)) for content, (_, words) in self._stored.items())

    @property
    def size_bytes(self) -> int:
        """Bytes of all distinct arrays, without those in the store."""
        return sum(array.nbytes for _, array, _ in self._arrays)

    @property
    def codes(self) -> tuple[tuple[str, bytes, str], ...]:
        """(C name, content, description) of the code of regions, each distinct one once, in order."""
        return tuple((name, content, words) for content, (name, words) in self._codes.items())

    def sizes(self) -> tuple[tuple[str, int], ...]:
        """(description, bytes) of every array and of the code of regions, in order of definition."""
        arrays = tuple((words, array.nbytes) for _, array, words in self._arrays)
        return (*arrays, *((words, len(content)) for _, content, words in self.codes))

    def views(self, safe: Callable[[str], str], section: str) -> tuple[ConstantView, ...]:
        """The arrays as the templates print them; ``safe`` makes text safe inside a C comment, ``section`` is the macro
        that places the arrays."""
        return tuple(
            ConstantView(
                name=name,
                ctype=c_type(array.dtype),
                length=max(1, array.size),
                size_bytes=array.nbytes,
                comment=comment(safe(f"{text}: {array.nbytes} bytes")),
                definition=array_definition(name, array, section),
            )
            for name, array, text in self._arrays
        )
