"""Check every claim of a schedule, sharing nothing with the code that made it.

Three questions: do the loops split the workload in a way that its kernels allow; is every buffer at a legal address;
does running the loops compute each result completely and store it once. All answers follow from the pieces into which
the loops split the dimensions (``schedule_pieces``), so the work grows with the loops and not with the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from match_core.validate.schedule_memory import memory_faults

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.loops import LoopSchedule, TileLoop
    from match_core.contract.workload import Dim, Operand, Workload


class InvalidScheduleError(RuntimeError):
    """A schedule breaks its contract; the scheduler's fault, not the user's."""


def validate_schedule(
    workload: Workload, schedule: LoopSchedule, unit: Unit, soc: Soc, *, streamed: Sequence[str] = ()
) -> None:
    """InvalidScheduleError with all faults, if there are any. ``streamed``: operands in the Soc's store."""
    faults = schedule_faults(workload, schedule, unit, soc, streamed=streamed)
    if faults:
        raise InvalidScheduleError(f"schedule of a {workload.kind} on {unit.name}: " + "; ".join(faults))


def schedule_faults(
    workload: Workload,
    schedule: LoopSchedule,
    unit: Unit,
    soc: Soc,
    *,
    streamed: Sequence[str] = (),
    budget_bytes: Mapping[str, int] | None = None,
) -> tuple[str, ...]:
    """All faults of a schedule; empty if it is correct. ``budget_bytes``: of a memory that it may use; default: all."""
    if unit.memory is None:
        return tuple(_in_place_faults(workload, schedule))
    faults = [
        *_loop_faults(workload, schedule),
        *_reduction_faults(workload, schedule),
        *_chain_faults(workload, schedule, unit, soc, streamed),
    ]
    if faults:
        return tuple(faults)
    # The checks of runs import numpy, which a program without accelerators does not need.
    from match_core.validate.schedule_run import run_faults

    return (*memory_faults(workload, schedule, soc, budget_bytes or {}), *run_faults(workload, schedule))


def _in_place_faults(workload: Workload, schedule: LoopSchedule) -> Iterator[str]:
    if schedule.memory is not None or schedule.loops or schedule.placements or schedule.working_bytes:
        yield "a schedule in place has loops, placements or memory"
    if schedule.tile != tuple((dim.name, dim.size) for dim in workload.dims):
        yield "the tile of a schedule in place is not the whole workload"


def _loop_faults(workload: Workload, schedule: LoopSchedule) -> Iterator[str]:
    """Loops of one dimension must nest, end at the tile, and split only where kernels allow it."""
    names = [dim.name for dim in workload.dims]
    tile = dict(schedule.tile)
    if [name for name, _ in schedule.tile] != names:
        yield f"the tile has dimensions {list(tile)}, the workload {names}"
        return
    for loop in schedule.loops:
        if loop.dim not in tile:
            yield f"loop over unknown dimension {loop.dim}"
    for dim in workload.dims:
        loops = [loop for loop in schedule.loops if loop.dim == dim.name]
        yield from _nest_faults(dim, loops, tile[dim.name])


def _nest_faults(dim: Dim, loops: Sequence[TileLoop], tile: int) -> Iterator[str]:
    whole = dim.size
    for loop in loops:
        if loop.size != whole:
            yield f"{dim.name}: loop over {loop.size}, but {whole} are left"
        if not 0 < loop.tile < loop.size:
            yield f"{dim.name}: loop in steps of {loop.tile} over {loop.size}"
        if not dim.tileable or loop.tile % dim.granularity:
            yield f"{dim.name}: must not be split into {loop.tile} of {dim.size}"
        whole = loop.tile
    if tile != whole:
        yield f"{dim.name}: the tile is {tile}, its loops leave {whole}"


def _reduction_faults(workload: Workload, schedule: LoopSchedule) -> Iterator[str]:
    """Sums are complete before a result leaves the memory that the kernel adds in."""
    for operand in workload.operands:
        if operand.role != "output":
            continue
        made = {name for axis in operand.axes for name, _ in axis.terms}
        inside = [position for position, loop in enumerate(schedule.loops) if loop.dim not in made]
        if inside and not workload.accumulates:
            yield f"{operand.name}: {schedule.loops[inside[0]].dim} is split, but kernels do not accumulate"
        for placement in schedule.placements:
            if placement.operand == operand.name and any(position < placement.depth for position in inside):
                yield f"{operand.name}: sums over {schedule.loops[inside[0]].dim} are not complete when it is stored"


def _chain_faults(
    workload: Workload, schedule: LoopSchedule, unit: Unit, soc: Soc, streamed: Sequence[str]
) -> Iterator[str]:
    """Every operand must reach its kernel's memory, over links, and be loaded less often in outer memories."""
    known = {operand.name for operand in workload.operands}
    for name in {placement.operand for placement in schedule.placements} - known:
        yield f"placement of unknown operand {name}"
    if schedule.memory != unit.memory:
        yield f"kernels use {schedule.memory}, the unit's memory is {unit.memory}"
    for operand in workload.operands:
        yield from _way_faults(operand, schedule, unit, soc, operand.name in streamed)


def _way_faults(operand: Operand, schedule: LoopSchedule, unit: Unit, soc: Soc, streamed: bool) -> Iterator[str]:
    way = [placement for placement in schedule.placements if placement.operand == operand.name]
    memories = [soc.store if streamed else operand.far or soc.home, *(placement.memory for placement in way)]
    end = unit.memory_of(operand.name, operand.role)
    if streamed and (operand.role != "constant" or soc.store is None or soc.home not in memories):
        yield f"{operand.name}: streamed, but not a constant that passes {soc.home} from a store"
    if len(way) == 0 or memories[-1] != end or len(set(memories)) != len(memories):
        yield f"{operand.name}: its way is {' -> '.join(map(str, memories))}, kernels use it in {end}"
    for far, near in pairwise(memories):
        if far is not None and soc.link_between(near or "", far) is None:
            yield f"{operand.name}: no link connects {far} and {near}"
    for outer, inner in pairwise(way):
        if outer.depth > inner.depth:
            yield f"{operand.name}: depth {outer.depth} in {outer.memory} is more than {inner.depth} in {inner.memory}"
    for placement in way:
        if not 0 <= placement.depth <= len(schedule.loops):
            yield f"{operand.name}: depth {placement.depth} of {len(schedule.loops)} loops"
        if placement.buffers not in (1, 2):
            yield f"{operand.name}: {placement.buffers} buffers in {placement.memory}"
        if placement.memory == soc.home and placement.buffers != (2 if placement.depth else 1):
            yield f"{operand.name}: {placement.buffers} staging buffers at depth {placement.depth}"
