"""Frozen views for the templates: strings and integers ready to print."""

from __future__ import annotations

from dataclasses import dataclass


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
class TensorView:
    """A graph input or output in the public API; ``comment`` is a whole one, to stand above its field."""

    name: str
    field: str
    ctype: str
    dtype: str
    shape: tuple[int, ...]
    comment: str

    @property
    def elements(self) -> int:
        """Number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count


@dataclass(frozen=True, slots=True)
class ConstantView:
    """A constant array; ``comment`` is a whole one."""

    name: str
    ctype: str
    length: int
    size_bytes: int
    comment: str
    definition: str


@dataclass(frozen=True, slots=True)
class StoreView:
    """The memory behind the home memory, with the program's streamed constants."""

    memory: str
    field: str
    macro: str
    file: str
    size_bytes: int
    alignment_bytes: int


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task in the run function, and its C function. ``heading``: the comment above the function, ``note`` the one in
    the run function; ``fields`` initialises the task that the function receives; ``definition``: all C of a layer, or
    the kernel that an inline task calls with ``arguments``."""

    index: int
    unit: str
    heading: str
    note: str
    function: str
    call: str
    inputs: str
    outputs: str
    private_near: str
    fields: str
    definition: str
    kernel: str = ""
    arguments: str = ""
