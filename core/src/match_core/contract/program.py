"""The planned program: tasks in order, tensors with addresses in each memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc
    from match_core.contract.mapping import Assignment, SolverStatus


@dataclass(frozen=True, slots=True)
class Buffer:
    """Bytes of one memory. Activations live during tasks [first_task, last_task] (inclusive); ``tensors`` are the
    graph tensors that share the bytes (views); ``starts``: (tensor, bytes from the start of the buffer) of those that
    are parts of it and do not begin there. Kind "constant": the store's image, and what is fetched from it."""

    name: str
    tensors: tuple[str, ...]
    memory: str
    offset_bytes: int
    size_bytes: int
    first_task: int
    last_task: int
    kind: Literal["activation", "input", "output", "scratch", "constant"] = "activation"
    starts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Swap:
    """A copy between the home memory and the store, by the link's queue, one after another; ``source`` and ``target``
    are names of buffers, the other fields are as in ``Task``. A concurrent program copies whole buffers. A sequential
    one copies ``size_bytes`` from ``source_start`` on to ``target_start`` on, while tasks run: from the start of the
    first task after those that it needs until a task needs it."""

    index: int
    source: str
    target: str
    size_bytes: int
    start_cycles: int
    cycles: int
    needs: tuple[tuple[str, int], ...]
    source_start: int = 0
    target_start: int = 0


@dataclass(frozen=True, slots=True)
class Queue:
    """Runs tasks one after another, in the order of ``tasks`` (indices): the host, a unit with a dispatch loop of its
    own, or the link between home memory and store, whose indices are those of ``Program.swaps`` (docs/programs.md)."""

    name: str
    kind: Literal["host", "unit", "link"]
    tasks: tuple[int, ...]


@dataclass(frozen=True)
class Task:
    """One step of the program: a chosen candidate. ``buffers_in`` and ``buffers_out`` are buffer names.

    In a concurrent program ``queue`` runs it for modelled ``cycles``, as soon as every queue in ``needs`` has done the
    given number of tasks.
    """

    index: int
    assignment: Assignment
    buffers_in: tuple[str, ...]
    buffers_out: tuple[str, ...]
    depends: tuple[int, ...]
    start_cycles: int
    queue: str = ""
    cycles: int = 0
    needs: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes of one memory: the arena (activations and scratch in the home memory, working sets in a unit's memory),
    constants, the available bytes, and graph inputs and outputs, which the caller provides in the home memory."""

    memory: str
    arena_bytes: int
    constant_bytes: int
    available_bytes: int
    caller_bytes: int = 0

    @property
    def used_bytes(self) -> int:
        """Bytes of the arena, the constants and the caller's buffers."""
        return self.arena_bytes + self.constant_bytes + self.caller_bytes


@dataclass(frozen=True)
class Program:
    """Partially ordered tasks with addresses. Graph inputs and outputs are buffers of kind "input" and "output" that
    the caller owns (no bytes of the arena). ``timing``: how the order of a concurrent program was found, in cycles."""

    soc: Soc
    tasks: tuple[Task, ...]
    buffers: tuple[Buffer, ...]
    memory: tuple[MemoryUse, ...]
    allocation: SolverStatus
    predicted_cycles: int
    queues: tuple[Queue, ...] = ()
    swaps: tuple[Swap, ...] = ()
    timing: SolverStatus | None = None
