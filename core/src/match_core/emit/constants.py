"""The constants of a program: named once, equal contents shared; those of the Soc's store by their place in it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from match_core.emit.ctypes import array_definition, c_type
from match_core.emit.text import comment
from match_core.emit.view import ConstantView


class ConstantPool:
    """Collects constant arrays while tasks are written. Arrays with equal bytes and type share one definition."""

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
        """Where these values lie in the store's image, in bytes from its start."""
        content = np.ascontiguousarray(values).tobytes()
        if content not in self._stored:
            self._image += bytes(-len(self._image) % alignment_bytes)
            self._stored[content] = (len(self._image), words)
            self._image += content
        return self._stored[content][0]

    @property
    def image(self) -> bytes:
        """The constants of the store, one behind the other; empty if there are none."""
        return bytes(self._image)

    def stored_sizes(self) -> tuple[tuple[str, int], ...]:
        """(what it is, bytes) of everything in the store, in order of place."""
        return tuple((words, len(content)) for content, (_, words) in self._stored.items())

    @property
    def size_bytes(self) -> int:
        """Bytes of all distinct arrays, the store's not counted."""
        return sum(array.nbytes for _, array, _ in self._arrays)

    @property
    def codes(self) -> tuple[tuple[str, bytes, str], ...]:
        """(C name, content, what it is) of the code of regions, each distinct one once, in order."""
        return tuple((name, content, words) for content, (name, words) in self._codes.items())

    def sizes(self) -> tuple[tuple[str, int], ...]:
        """(what it is, bytes) of every array and of the code of regions, in order of definition; for the memory plan
        and messages."""
        arrays = tuple((words, array.nbytes) for _, array, words in self._arrays)
        return (*arrays, *((words, len(content)) for _, content, words in self.codes))

    def views(self, safe: Callable[[str], str], section: str) -> tuple[ConstantView, ...]:
        """What the templates print; ``safe`` makes text safe inside a C comment, ``section`` is the macro that says
        where the arrays lie."""
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
