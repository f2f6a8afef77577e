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
    """A graph input or output in the public API."""

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
    """A constant array."""

    name: str
    ctype: str
    length: int
    size_bytes: int
    comment: str
    definition: str


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task in the run function and, for unit tasks, the layer function."""

    index: int
    unit: str
    title: str
    detail: str
    function: str
    call: str
    inputs: str
    outputs: str
    near: str
    scratch: str
    pointers: tuple[str, ...] = ()
    body: str = ""
    kernel: str = ""
    arguments: str = ""
    definition: str = ""
