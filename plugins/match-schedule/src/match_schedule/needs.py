"""The least bytes that tilings require of each memory, and the answer if that is too much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.scheduling import ScheduleInfeasible

if TYPE_CHECKING:
    from match_core.contract.loops import ScheduleRequest
    from numpy.typing import NDArray

    from match_schedule.tables import Tables

    Array = NDArray[np.int64]
    Flags = NDArray[np.bool_]


def budgets_of(request: ScheduleRequest, memory: str) -> dict[str, int]:
    """Bytes that the layer may use of every memory that kernels read or write, and of the home memory for staging."""
    budgets = {memory: min(request.memory_bytes, request.soc.memory(memory).size_bytes)}
    for operand in request.workload.operands:
        name = request.unit.memory_of(operand.name, operand.role)
        if name is not None and name not in budgets:
            budgets[name] = request.soc.memory(name).size_bytes
    if request.streamed:
        budgets[request.soc.home] = request.staging_bytes
    return budgets


def smallest_needs(tables: Tables, memory: str, budgets: Mapping[str, int]) -> dict[str, Array]:
    """The least bytes of every memory with a budget for each tiling, for any loops: every operand's smallest buffer."""
    request = tables.request
    needs: dict[str, Array] = {}
    for name in budgets:
        alignment = request.soc.memory(name).alignment_bytes
        need = -(-tables.scratch // alignment) * alignment if name == memory else 0 * tables.scratch
        for operand, size in zip(request.workload.operands, tables.sizes, strict=True):
            aligned = -(-size // alignment) * alignment
            if request.unit.memory_of(operand.name, operand.role) == name:
                need = need + aligned
            if name == request.soc.home and operand.name in request.streamed:
                whole = aligned.reshape(-1)[0]  # staged once, or in two buffers
                need = need + np.minimum(2 * aligned, whole)
        needs[name] = np.broadcast_to(need, tables.shape)
    return needs


def shortage(tables: Tables, memory: str, needs: Mapping[str, Array], budgets: Mapping[str, int]) -> ScheduleInfeasible:
    """The answer that reports the memory that the smallest working set exceeds."""
    scarce = [name for name, need in needs.items() if int(need.min()) > budgets[name]]
    name = scarce[0] if scarce else memory
    # If each memory alone would suffice: the least bytes of the unit's memory among tilings that fit the others.
    others = fitting({other: need for other, need in needs.items() if other != name and not scarce}, budgets, tables)
    need = np.where(others, needs[name], np.iinfo(np.int64).max)
    place = np.unravel_index(int(need.argmin()), tables.shape)
    tile = {cut.dim.name: cut.tiles[int(index)] for cut, index in zip(tables.cuts, place, strict=False)}
    sizes = tuple((dim.name, tile.get(dim.name, dim.size)) for dim in tables.request.workload.dims)
    return ScheduleInfeasible(name, int(need[place]), budgets[name], sizes)


def fitting(needs: Mapping[str, Array], budgets: Mapping[str, int], tables: Tables) -> Flags:
    """The tilings whose requirements are within the budgets."""
    fits: Flags = np.ones(tables.shape, dtype=np.bool_)
    for name, need in needs.items():
        fits = fits & (need <= budgets[name])
    return fits
