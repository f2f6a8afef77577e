"""The copies of a sequential program between home memory and store, as statements before its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.emit.memory_views import swap_area_views

if TYPE_CHECKING:
    from collections.abc import Mapping

    from match_core.contract.program import Program, Swap, Task
    from match_core.contract.unit_api import UnitApi
    from match_core.emit.places import Places


class SwapWriter:
    """Writes the copies before each task that has code; those of views between belong to the next one."""

    def __init__(self, program: Program, apis: Mapping[str, UnitApi], places: Places) -> None:
        self.program = program
        self._places = places
        self._buffers = {buffer.name: buffer for buffer in program.buffers}
        found = (api.swap for _, api in sorted(apis.items()) if api.swap is not None and api.swap.wait)
        self._api = next(found, None)
        self._before: dict[int, tuple[str, ...]] = {}
        if program.swaps and not program.queues:
            if self._api is None:
                raise ValueError(f"{program.soc.name}: copies to {program.soc.store} without functions")
            self._before = dict(self._all())

    def before(self, task: Task) -> tuple[str, ...]:
        """The statements before a task."""
        return self._before.get(task.index, ())

    def _all(self) -> list[tuple[int, tuple[str, ...]]]:
        found: list[tuple[int, tuple[str, ...]]] = []
        swaps, started, ended, needed = self.program.swaps, 0, 0, 0
        for task in self.program.tasks:
            needed = max(needed, *(count for _, count in task.needs), 0)
            if task.assignment.candidate.pattern.view:
                continue
            lines = []
            if min(needed, started) > ended:
                ended = min(needed, started)
                lines.append(self._wait(started - ended))
            while started < len(swaps) and dict(swaps[started].needs)[self.program.soc.host] <= task.index:
                lines.append(self._start(swaps[started]))
                started += 1
            if needed > ended:
                ended = needed
                lines.append(self._wait(started - ended))
            found.append((task.index, tuple(lines)))
        return found

    def _wait(self, left: int) -> str:
        assert self._api is not None
        return f"{self._api.wait}({left}u);"

    def _start(self, swap: Swap) -> str:
        assert self._api is not None
        source, target = self._buffers[swap.source], self._buffers[swap.target]
        out = target.memory == self.program.soc.store
        home, start = (source, swap.source_start) if out else (target, swap.target_start)
        away, first = (target, swap.target_start) if out else (source, swap.source_start)
        store = f"ctx->{swap_area_views(self.program)[0].field} + {away.offset_bytes + first}u"
        ends = (store, self._places.at(home, start)) if out else (self._places.at(home, start), store)
        return f"{self._api.copy_out if out else self._api.copy_in}({ends[0]}, {ends[1]}, {swap.size_bytes}u);"
