"""The result of scheduling: temporal loops over tiles, and where each operand lives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from match_core.cost import Cost
from match_core.schedule.workload import Workload

if TYPE_CHECKING:
    from match_core.cost import CostModel
    from match_core.hardware import Soc, Unit


@dataclass(frozen=True, slots=True)
class TileLoop:
    """``for (i = 0; i < size; i += tile)`` over one dimension."""

    dim: str
    size: int
    tile: int

    @property
    def steps(self) -> int:
        """How many tiles the loop makes, the smaller last one included."""
        return -(-self.size // self.tile)


@dataclass(frozen=True, slots=True)
class Placement:
    """An operand's buffer in the unit's memory. It is (re)loaded, or stored, inside the first ``depth`` loops:
    depth 0 is once per layer. ``buffers`` 2 means double buffered."""

    operand: str
    memory: str
    depth: int
    offset_bytes: int
    size_bytes: int
    buffers: Literal[1, 2] = 1


@dataclass(frozen=True, slots=True)
class LoopSchedule:
    """Loops outermost first (only dimensions that are really cut), placements, scratch and predicted cost.

    ``tile``: the full tile size of every dimension of the workload, as (dim, size) pairs.
    A unit that works in place has no loops and no placements.
    """

    loops: tuple[TileLoop, ...]
    tile: tuple[tuple[str, int], ...]
    placements: tuple[Placement, ...]
    scratch_offset_bytes: int
    scratch_bytes: int
    memory: str | None
    memory_bytes: int
    cost: Cost
    engine: str = "core"


@dataclass(frozen=True, slots=True)
class ScheduleRequest:
    """Asks for the schedule of a workload on a unit. ``memory_bytes`` is the budget in the unit's memory."""

    soc: Soc
    unit: Unit
    pattern: str
    workload: Workload
    cost_model: CostModel
    memory_bytes: int
