"""Places the buffers of a layer consecutively in each memory, aligned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.contract.geometry import round_up, scratch_bytes

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc
    from match_core.contract.loops import Placement
    from match_core.contract.workload import Workload


@dataclass(frozen=True, slots=True)
class Layout:
    """Placements with their offsets, the scratch after those of the unit's memory, and the bytes used in each memory,
    including scratch, rounded up to its alignment."""

    placements: tuple[Placement, ...]
    scratch_offset_bytes: int
    scratch_bytes: int
    working_bytes: tuple[tuple[str, int], ...]


def working_bytes_of(
    soc: Soc, memory: str, workload: Workload, tile: Mapping[str, int], placements: Sequence[Placement]
) -> Layout:
    """Lay out buffers of known sizes; their offsets are ignored. ``memory``: the unit's. Sizes in a double buffer are
    rounded up, so that the second buffer is aligned like the first."""
    ends: dict[str, int] = {}
    placed: list[Placement] = []
    for placement in placements:
        alignment = soc.memory(placement.memory).alignment_bytes
        size = buffer_bytes(placement.size_bytes, placement.buffers, alignment)
        offset = ends.get(placement.memory, 0)
        placed.append(replace(placement, offset_bytes=offset, size_bytes=size))
        ends[placement.memory] = round_up(offset + size * placement.buffers, alignment)
    scratch = scratch_bytes(workload, tile)
    offset = ends.get(memory, 0)
    if scratch or memory in ends:
        ends[memory] = round_up(offset + scratch, soc.memory(memory).alignment_bytes)
    order = [known.name for known in soc.memories if known.name in ends]
    return Layout(tuple(placed), offset, scratch, tuple((name, ends[name]) for name in order))


def buffer_bytes(size_bytes: int, buffers: int, alignment_bytes: int) -> int:
    """Bytes of one buffer for pieces of ``size_bytes``."""
    return round_up(size_bytes, alignment_bytes) if buffers > 1 else size_bytes
