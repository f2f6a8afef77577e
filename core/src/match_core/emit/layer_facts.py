"""Common facts for the writers of one layer's C: its operands with their buffers, names and addresses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from match_core.contract.loops import LoopSchedule, Placement
from match_core.contract.unit_api import Kernel, MemoryApi, StoreApi
from match_core.contract.workload import Operand, Workload
from match_core.emit.copies import Address
from match_core.emit.expression import number, symbol
from match_core.emit.tile_text import TileText
from match_core.ir.naming import c_identifier
from match_core.lower.interfaces import context_type
from match_core.lower.text import Block, comment

#: Names of variables and parameters in the functions of a layer.
_LOCALS = frozenset(
    ["ahead", "before", "done", "free", "n", "near", "next", "now", "stage", "step", "steps", "task", "tile"]
)


@dataclass(frozen=True, slots=True)
class Moved:
    """An operand with its buffer in the memory of its kernel and, if it is streamed, its staging buffer in the home
    memory."""

    operand: Operand
    near: Placement
    stage: Placement | None

    @property
    def double(self) -> bool:
        """Whether the next tile is copied while a kernel runs."""
        return self.near.buffers == 2 and self.near.depth > 0


@dataclass(frozen=True, slots=True)
class LayerRequest:
    """What to write. ``name`` of the function; ``sources``: operand -> C expression of its address in the home memory;
    ``stored``: streamed operand -> bytes from the start of the store's constants; ``section``: the macro that places
    functions, if any."""

    name: str
    workload: Workload
    schedule: LoopSchedule
    kernel: Kernel
    memory: MemoryApi
    home: str
    sources: Mapping[str, str]
    store: StoreApi | None = None
    stored: Mapping[str, int] | None = None
    section: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """A C function of the layer. ``arguments``: which of (task, step) it takes, in this order."""

    name: str
    arguments: tuple[str, ...]
    text: str

    def call(self, step: str) -> str:
        """The statement that calls it."""
        return f"{self.name}({', '.join(step if name == 'step' else name for name in self.arguments)});"


class Layer:
    """Facts of one layer, from its request."""

    def __init__(self, request: LayerRequest) -> None:
        self.request = request
        self.name = request.name
        self.workload, self.schedule, self.kernel = request.workload, request.schedule, request.kernel
        self.depth = len(request.schedule.loops)
        self.context = context_type(request.kernel.interface)
        self.step = f"{request.name}_step_t"
        self.moved = self._moved()
        self.loads = tuple(moved for moved in self.moved if moved.operand.role != "output")
        (self.output,) = (moved for moved in self.moved if moved.operand.role == "output")
        self._memories = self._memory_names()

    def _moved(self) -> tuple[Moved, ...]:
        if clash := _LOCALS & {operand.name for operand in self.workload.operands}:
            raise ValueError(f"{self.workload.kind}: the operand names {sorted(clash)} are reserved in layers")
        chains: dict[str, list[Placement]] = {}
        for placement in self.schedule.placements:
            chains.setdefault(placement.operand, []).append(placement)
        moved = []
        for name in (operand.name for operand in self.workload.operands):
            chain = chains[name]
            stage = chain[0] if chain[0].memory == self.request.home else None
            if len(chain) != (1 if stage is None else 2):
                raise ValueError(f"operand {name}: copies through {[p.memory for p in chain]} are not supported")
            if stage is not None and stage.depth > 0 and stage.buffers != 2:
                raise ValueError(f"operand {name}: a staging area that is refilled needs two buffers")
            if stage is not None and any(axis.offset for axis in self.workload.operand(name).axes):
                raise ValueError(f"operand {name}: a streamed constant cannot have padding")
            moved.append(Moved(self.workload.operand(name), chain[-1], stage))
        return tuple(moved)

    def _memory_names(self) -> dict[str, str]:
        """Memory -> C name of the pointer to the layer's part of it: the unit's own memory, then private ones."""
        names = {self.schedule.memory or "": "near"}
        for moved in self.moved:
            names.setdefault(moved.near.memory, f"near_{c_identifier(moved.near.memory)}")
        return names

    @property
    def private_memories(self) -> tuple[str, ...]:
        """Memories that belong to single operands, in the order of ``task->private_near``."""
        return tuple(memory for memory, name in self._memories.items() if name != "near")

    def turn(self, depth: int) -> str:
        """Field with the number of the buffer in use, for all double buffers of a depth."""
        return f"{TileText(self.workload, self.schedule, '').index(depth - 1)}_turn"

    @property
    def turns(self) -> dict[int, str]:
        """The turn fields by depth."""
        depths = {moved.near.depth for moved in self.moved if moved.double}
        depths |= {moved.stage.depth for moved in self.moved if moved.stage is not None and moved.stage.depth > 0}
        return {depth: self.turn(depth) for depth in sorted(depths)}

    def near_address(self, moved: Moved, record: str) -> Address:
        """The operand's buffer in the memory of its kernel; ``record``: C prefix of the turn fields."""
        return self._address(self._memories[moved.near.memory], moved.near, record)

    def home_address(self, moved: Moved) -> Address:
        """The start of an operand in the home memory; views start inside of their tensor."""
        return Address(moved.operand.name, number(moved.operand.base * moved.operand.element_bits // 8))

    def stage_address(self, placement: Placement, record: str) -> Address:
        """A staging buffer."""
        return self._address("stage", placement, record)

    def _address(self, base: str, placement: Placement, record: str) -> Address:
        address = Address(base, number(placement.offset_bytes))
        if placement.buffers == 2 and placement.depth > 0 and record:
            address += symbol(f"{record}{self.turn(placement.depth)}") * placement.size_bytes
        return address

    def store_address(self, moved: Moved) -> Address:
        """The start of a streamed operand in the store."""
        return Address("task->store", number((self.request.stored or {})[moved.operand.name]))

    def changed(self, depth: int) -> str:
        """The condition that a buffer of this depth changes at a step; empty if it always does."""
        return "" if depth == self.depth else f"step->changed < {depth}u"

    def body(self, block: Block, step: str | None = None) -> str:
        """The block, preceded by declarations of the pointers that it uses; ``step``: qualifier of the step's context,
        if the function has one."""
        text = str(block)
        found = self._declarations()
        if step is not None:
            found.append(("tile", f"{step}{self.context} *const tile = &step->tile;"))
        return "\n".join([*(f"    {line}" for name, line in found if used(name, text)), text])

    def _declarations(self) -> list[tuple[str, str]]:
        found = [("near", "uint8_t *const near = task->near;")]
        for number_, memory in enumerate(self.private_memories):
            name = self._memories[memory]
            found.append((name, f"uint8_t *const {name} = task->private_near[{number_}];"))
        found.append(("stage", "uint8_t *const stage = task->scratch;"))
        for moved in self.moved:
            name = moved.operand.name
            if moved.stage is None:
                pointer = "uint8_t *const" if moved.operand.role == "output" else "const uint8_t *const"
                found.append((name, f"{pointer} {name} = {self.request.sources[name]};"))
        return found

    def function(self, suffix: str, words: str, block: Block, qualifier: str = "const ") -> Function:
        """A static function with the statements of a block; ``qualifier`` of the step that it receives."""
        name, body = f"{self.name}_{suffix}", self.body(block, qualifier)
        parameters = [("task", "const match_task_t *task"), ("step", f"{qualifier}{self.step} *step")]
        taken = [(key, text) for key, text in parameters if used(key, body)]
        section = f"{self.request.section}\n" if self.request.section else ""
        head = f"{section}static void {name}({', '.join(text for _, text in taken) or 'void'})"
        return Function(name, tuple(key for key, _ in taken), f"{comment(words)}\n{head}\n{{\n{body}\n}}\n")


def used(name: str, text: str) -> bool:
    """Whether C text uses a name (other than as a member name)."""
    return re.search(rf"(?<![\w.>]){name}\b", text) is not None
