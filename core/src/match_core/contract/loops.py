"""The result of scheduling: temporal loops over tiles, and the placement of each operand."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Literal

from match_core.contract.cost import Cost
from match_core.contract.workload import Workload

if TYPE_CHECKING:
    from match_core.contract.cost import CostModel, Overlap
    from match_core.contract.hardware import Soc, Unit

#: What a schedule minimises: cycles, energy, or the product of both.
Objective = Literal["latency", "energy", "edp"]


@dataclass(frozen=True, slots=True)
class TileLoop:
    """One temporal loop over a dimension, in steps of ``tile``.

    A dimension may have several loops, one inside the other: ``size`` is the dimension's size for the outermost one,
    the tile of the next outer one for the others. The last step is smaller if ``tile`` does not divide the rest.
    """

    dim: str
    size: int
    tile: int

    @property
    def steps(self) -> int:
        """The number of tiles of ``size`` indices, including a smaller last one."""
        return -(-self.size // self.tile)


@dataclass(frozen=True, slots=True)
class Placement:
    """An operand's buffer in one memory. It is loaded or stored again whenever one of the first ``depth`` loops
    advances; depth 0 is once per layer. It holds the part that the inner loops touch, dense and row-major over the
    operand's axes.

    An operand has one placement in the memory that kernels read it from, preceded by one for every memory that it
    passes (a constant streamed from the Soc's store passes the home memory); depths do not decrease along the way.
    ``buffers`` 2: the next tile is loaded, or the last one stored, while a kernel works on the other buffer;
    ``size_bytes`` is one buffer. Buffers of one memory are at ``offset_bytes`` of the unit's arena there, or of the
    task's staging area in the home memory.
    """

    operand: str
    memory: str
    depth: int
    offset_bytes: int
    size_bytes: int
    buffers: Literal[1, 2] = 1


@dataclass(frozen=True, slots=True)
class LoopSchedule:
    """Loops outermost first (only those with more than one step), placements, scratch and predicted cost.

    ``tile``: the size of every dimension in a full kernel call, as (dim, size) pairs. ``working_bytes``: (memory,
    bytes) that the layer requires in each memory with placements or scratch, including the staging area in the home
    memory. A unit that works in place has no loops and no placements.
    """

    loops: tuple[TileLoop, ...]
    tile: tuple[tuple[str, int], ...]
    placements: tuple[Placement, ...]
    scratch_offset_bytes: int
    scratch_bytes: int
    memory: str | None
    working_bytes: tuple[tuple[str, int], ...]
    cost: Cost
    engine: str = "core"

    def bytes_in(self, memory: str) -> int:
        """Bytes that the layer requires in a memory."""
        return dict(self.working_bytes).get(memory, 0)

    @property
    def memory_bytes(self) -> int:
        """Bytes that the layer requires in the unit's memory."""
        return self.bytes_in(self.memory) if self.memory is not None else 0

    def streamed(self, home: str) -> tuple[str, ...]:
        """Operands in the Soc's store, which pass through the home memory."""
        return tuple(p.operand for p in self.placements if p.memory == home)

    @property
    def steps(self) -> int:
        """Kernel calls of the layer."""
        pieces: dict[str, dict[int, int]] = {}  # dimension -> length of a piece -> number of such pieces
        for loop in self.loops:
            cut: dict[int, int] = {}
            for length, count in pieces.get(loop.dim, {loop.size: 1}).items():
                full, rest = divmod(length, loop.tile)
                cut[loop.tile] = cut.get(loop.tile, 0) + full * count
                cut[rest] = cut.get(rest, 0) + count
            pieces[loop.dim] = {length: count for length, count in cut.items() if length and count}
        return prod(sum(lengths.values()) for lengths in pieces.values())


@dataclass(frozen=True, slots=True)
class ScheduleRequest:
    """Requests the schedule of a workload on a unit.

    ``memory_bytes``: the budget in the unit's memory; ``streamed``: names of constant operands in the Soc's store,
    which pass through at most ``staging_bytes`` of the home memory.
    """

    soc: Soc
    unit: Unit
    pattern: str
    workload: Workload
    cost_model: CostModel
    memory_bytes: int
    objective: Objective = "latency"
    streamed: tuple[str, ...] = ()
    staging_bytes: int = 0

    @property
    def overlap(self) -> Overlap:
        """What can overlap with a running kernel: as the cost model states, but nothing if a link from the home memory
        to a memory of the kernel blocks the core that issues copies."""
        used = {self.unit.memory_of(operand.name, operand.role) for operand in self.workload.operands}
        links = (self.soc.link_between(memory, self.soc.home) for memory in used if memory is not None)
        return "none" if any(link is not None and link.blocking for link in links) else self.cost_model.overlap
