"""Whether a schedule's buffers have legal addresses: aligned, disjoint and within the bytes that the layer may use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc
    from match_core.contract.loops import LoopSchedule
    from match_core.contract.workload import Workload


@dataclass(frozen=True, slots=True)
class _Area:
    name: str
    offset_bytes: int
    size_bytes: int

    @property
    def end(self) -> int:
        return self.offset_bytes + self.size_bytes


def memory_faults(
    workload: Workload, schedule: LoopSchedule, soc: Soc, budget_bytes: Mapping[str, int]
) -> Iterator[str]:
    """Faults of scratch and areas. ``budget_bytes``: limits below the size of a memory."""
    need = _scratch_bytes(workload, dict(schedule.tile))
    if schedule.scratch_bytes < need:
        yield f"scratch of {schedule.scratch_bytes} bytes, {need} required"
    areas = _areas(schedule)
    stated = dict(schedule.working_bytes)
    if sorted(areas) != sorted(stated) or len(stated) != len(schedule.working_bytes):
        yield f"working bytes are stated for {sorted(stated)}, buffers are in {sorted(areas)}"
        return
    for name in sorted(areas):
        memory = soc.memory(name)
        have = min(memory.size_bytes, budget_bytes.get(name, memory.size_bytes))
        if stated[name] > have:
            yield f"working set of {stated[name]} bytes in {name}, which has {have}"
        yield from _area_faults(areas[name], stated[name], memory.alignment_bytes)
    for placement in schedule.placements:
        if placement.buffers > 1 and placement.size_bytes % soc.memory(placement.memory).alignment_bytes:
            yield f"{placement.operand}: the second of two buffers of {placement.size_bytes} bytes is not aligned"


def _scratch_bytes(workload: Workload, tile: Mapping[str, int]) -> int:
    need = 0
    for names, coefficient in workload.scratch:
        for name in names:
            coefficient *= tile[name]
        need += coefficient
    return need


def _areas(schedule: LoopSchedule) -> dict[str, list[_Area]]:
    """The areas of each memory. Two buffers of one operand follow each other."""
    areas: dict[str, list[_Area]] = {}
    if schedule.scratch_bytes and schedule.memory is not None:
        scratch = _Area("scratch", schedule.scratch_offset_bytes, schedule.scratch_bytes)
        areas[schedule.memory] = [scratch]
    for placement in schedule.placements:
        area = _Area(placement.operand, placement.offset_bytes, placement.size_bytes * placement.buffers)
        areas.setdefault(placement.memory, []).append(area)
    return areas


def _area_faults(areas: Sequence[_Area], working_bytes: int, alignment_bytes: int) -> Iterator[str]:
    for position, area in enumerate(areas):
        if area.offset_bytes < 0 or area.offset_bytes % alignment_bytes:
            yield f"{area.name}: offset {area.offset_bytes} is not a multiple of {alignment_bytes}"
        if area.end > working_bytes:
            yield f"{area.name}: ends at {area.end}, the working set at {working_bytes}"
        for other in areas[:position]:
            if area.size_bytes and other.size_bytes and area.offset_bytes < other.end and other.offset_bytes < area.end:
                yield f"{area.name} and {other.name} overlap"
