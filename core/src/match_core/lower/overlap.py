"""Kernels whose result overwrites an input in some call: C must not promise that their parameters are separate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.program import Buffer, Program, Task
    from match_core.lower.lower import Lowered


def overwritten(program: Program, task: Task) -> tuple[tuple[Buffer, Buffer], ...]:
    """Pairs of a buffer that the task reads and one that it writes which have bytes of the arena in common."""
    buffers = {buffer.name: buffer for buffer in program.buffers if buffer.kind == "activation"}
    read, made = ([buffers[n] for n in names if n in buffers] for names in (task.buffers_in, task.buffers_out))
    return tuple((one, two) for one in read for two in made if one.name != two.name and _meet(one, two))


def _meet(one: Buffer, two: Buffer) -> bool:
    start, end = max(one.offset_bytes, two.offset_bytes), min(b.offset_bytes + b.size_bytes for b in (one, two))
    return one.memory == two.memory and start < end


def unrestricted(program: Program, lowered: Sequence[Lowered | None]) -> tuple[Lowered | None, ...]:
    """The code of the program's tasks; a kernel that overwrites an input in one of its calls has no ``restrict`` at
    these parameters."""
    shared: dict[str, set[int]] = {}
    for task, low in zip(program.tasks, lowered, strict=True):
        if low is None or low.inline is None:
            continue
        tensors = {f"in{i}": tensor.name for i, tensor in enumerate(low.inputs)}
        tensors |= {f"out{i}": tensor.name for i, tensor in enumerate(low.outputs)}
        names = {name for pair in overwritten(program, task) for buffer in pair for name in buffer.tensors}
        places = {i for i, argument in enumerate(low.arguments) if tensors.get(argument) in names}
        shared.setdefault(low.kernel, set()).update(places)
    return tuple(
        replace(low, definition=_without(low.definition, low.kernel, shared[low.kernel]))
        if low is not None and low.definition and shared.get(low.kernel)
        else low
        for low in lowered
    )


def _without(definition: str, kernel: str, places: set[int]) -> str:
    """The function without ``restrict`` at these parameters."""
    head, parameters, body = definition.partition(f"static void {kernel}(")
    declared, end, body = body.partition(")")
    texts = [t.replace("*restrict ", "*") if i in places else t for i, t in enumerate(declared.split(","))]
    return head + parameters + ",".join(texts) + end + body
