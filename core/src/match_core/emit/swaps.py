"""The copies of a sequential program between home memory and store, as statements before its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.emit.memory_views import swap_area_views
from match_core.ir.naming import c_identifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from match_core.contract.program import Program, Swap
    from match_core.contract.unit_api import SwapApi, UnitApi
    from match_core.emit.places import Places


def copies_of(program: Program, apis: Mapping[str, UnitApi]) -> SwapApi | None:
    """The functions that a sequential program copies with; None if it does not."""
    if not program.swaps or program.queues:
        return None
    return next(api.swap for _, api in sorted(apis.items()) if api.swap is not None and api.swap.wait)


def swap_statements(program: Program, apis: Mapping[str, UnitApi], places: Places) -> dict[int, tuple[str, ...]]:
    """The statements before each task that has code, by index; those of views between belong to the next one."""
    if (api := copies_of(program, apis)) is None:
        return {}
    found: dict[int, tuple[str, ...]] = {}
    swaps, started, ended, needed = program.swaps, 0, 0, 0
    for task in program.tasks:
        needed = max(needed, *(count for _, count in task.needs), 0)
        if task.assignment.candidate.pattern.view:
            continue
        lines = []
        if min(needed, started) > ended:
            ended = min(needed, started)
            lines.append(f"{api.wait}({started - ended}u);")
        while started < len(swaps) and dict(swaps[started].needs)[program.soc.host] <= task.index:
            lines.append(_start(program, swaps[started], api, places))
            started += 1
        if needed > ended:
            ended = needed
            lines.append(f"{api.wait}({started - ended}u);")
        found[task.index] = tuple(lines)
    return found


def _start(program: Program, swap: Swap, api: SwapApi, places: Places) -> str:
    by_name = {buffer.name: buffer for buffer in program.buffers}
    ends = ((by_name[swap.source], swap.source_start), (by_name[swap.target], swap.target_start))
    out = ends[1][0].memory == program.soc.store
    (near, start), (far, first) = ends if out else ends[::-1]
    constants = far.kind == "constant"
    field = c_identifier(far.memory) if constants else swap_area_views(program)[0].field
    store, home = f"ctx->{field} + {far.offset_bytes + first}u", places.at(near, start)
    return (f"{api.copy_out}({store}, {home}" if out else f"{api.copy_in}({home}, {store}") + f", {swap.size_bytes}u);"
