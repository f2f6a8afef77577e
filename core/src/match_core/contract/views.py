"""What build files may know of a program's memories and tensors: strings and integers, ready to print."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.quantisation import Quantisation


@dataclass(frozen=True, slots=True)
class ArenaView:
    """One memory that the caller supplies."""

    memory: str
    field: str
    macro: str
    size_bytes: int
    alignment_bytes: int
    comment: str


@dataclass(frozen=True, slots=True)
class SwapAreaView:
    """Bytes of the store for activations that are swapped out; ``field`` receives their address."""

    memory: str
    field: str
    macro: str
    size_bytes: int
    alignment_bytes: int


@dataclass(frozen=True, slots=True)
class TensorView:
    """A graph input or output in the public API; ``comment``: a complete comment for the line above its field;
    ``memory``: where the program expects it; ``quantisation``: the real values of its integers, if known."""

    name: str
    field: str
    ctype: str
    dtype: str
    shape: tuple[int, ...]
    comment: str
    memory: str = ""
    quantisation: Quantisation | None = None

    @property
    def elements(self) -> int:
        """Number of elements."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class StoreView:
    """The memory behind the home memory, with the program's streamed constants."""

    memory: str
    field: str
    macro: str
    file: str
    size_bytes: int
    alignment_bytes: int
