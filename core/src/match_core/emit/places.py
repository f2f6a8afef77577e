"""Addresses of tensors: C expressions in a sequential program, places of a session's table in a concurrent one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.contract.hardware import Unit
from match_core.emit.memory_views import arena_field
from match_core.ir.naming import c_identifier
from match_core.schedule.candidates import part_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.program import Buffer, Program, Task
    from match_core.contract.views import ArenaView, TensorView


class Places:
    """Addresses of a program's buffers. ``inputs`` and ``outputs``: the caller's tensors, by graph tensor."""

    def __init__(
        self,
        program: Program,
        arenas: Sequence[ArenaView],
        inputs: Mapping[str, TensorView],
        outputs: Mapping[str, TensorView],
    ) -> None:
        self._program, self._soc = program, program.soc
        self._inputs, self._outputs = inputs, outputs
        self._buffers = {buffer.name: buffer for buffer in program.buffers}
        self.bases = ("none", *_base_names(arenas, inputs, outputs))

    def expressions(self) -> dict[str, str]:
        """C expression of the address of every activation tensor, as ``void *`` or ``const void *``."""
        buffers = ((buffer, dict(buffer.starts)) for buffer in self._program.buffers)
        return {name: self.at(buffer, starts.get(name, 0)) for buffer, starts in buffers for name in buffer.tensors}

    def at(self, buffer: Buffer, start: int) -> str:
        """C expression of an address in a buffer, ``start`` bytes from its start."""
        if buffer.kind not in ("input", "output"):
            return self._expression(replace(buffer, offset_bytes=buffer.offset_bytes + start))
        const = "const " if buffer.kind == "input" else ""
        return f"({const}uint8_t *){self._expression(buffer)} + {start}u" if start else self._expression(buffer)

    def place(self, buffer: Buffer) -> tuple[str, int]:
        """Base and offset in bytes of a buffer."""
        if buffer.kind in ("input", "output"):
            return (self._field(buffer, f"{buffer.kind[:-3]}_"), 0)
        return (arena_field(self._soc, buffer.memory), buffer.offset_bytes)

    def named(self, name: str) -> tuple[str, int]:
        """The place of the buffer of that name."""
        return self.place(self._buffers[name])

    def tensor(self, tensor: gs.Variable, names: Sequence[str]) -> tuple[str, int]:
        """The place of a tensor, in the first of these buffers that lists it. KeyError if none does."""
        for name in names:
            if tensor.name in self._buffers[name].tensors:
                return self.named(name)
        raise KeyError(f"tensor {tensor.name!r} is in none of the buffers {list(names)}")

    def near(self, task: Task) -> tuple[str, int]:
        """The part of its memory that the task's unit owns."""
        memory, candidate = task.assignment.schedule.memory, task.assignment.candidate
        if memory is None:
            return ("none", 0)
        unit = Unit(candidate.unit, "", memory=memory)
        return (c_identifier(memory), part_of(self._soc, unit, candidate)[0])

    def scratch(self, task: Task) -> tuple[str, int]:
        """The home memory for the task's own use."""
        buffers = (b for b in self._program.buffers if b.kind == "scratch" and b.first_task == task.index)
        return next((self.place(buffer) for buffer in buffers), ("none", 0))

    def _expression(self, buffer: Buffer) -> str:
        if buffer.kind in ("input", "output"):
            return self._field(buffer, f"state->{buffer.kind}s.")
        base = self._soc.home if buffer.memory == self._soc.home else f"ctx->{arena_field(self._soc, buffer.memory)}"
        return f"{base} + {buffer.offset_bytes}u"

    def _field(self, buffer: Buffer, prefix: str) -> str:
        views = self._inputs if buffer.kind == "input" else self._outputs
        return prefix + next(views[name].field for name in buffer.tensors if name in views)


def _base_names(
    arenas: Sequence[ArenaView], inputs: Mapping[str, TensorView], outputs: Mapping[str, TensorView]
) -> Iterator[str]:
    yield from (arena.field for arena in arenas)
    yield from (f"in_{view.field}" for view in inputs.values())
    yield from (f"out_{view.field}" for view in outputs.values())
