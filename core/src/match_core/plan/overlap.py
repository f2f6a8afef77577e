"""Results that may overwrite inputs of their task, where these are not read again."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from match_core.plan.packing import aligned, shared_bytes

if TYPE_CHECKING:
    from match_core.contract.unit_api import Overwrite
    from match_core.map.dataflow import Flow, Storage

#: For each task: (storage that it reads, storage that it writes first, lead in bytes).
Over = tuple[tuple[tuple[int, int, int], ...], ...]
NEVER = 1 << 62


def over_of(
    flows: Sequence[Flow], storages: Sequence[Storage], overlaps: Sequence[Overwrite], alignment_bytes: int
) -> Over:
    """What tasks may overwrite if no later task reads it. Every tensor of a storage that the task reads must be among
    the overlaps; leads are those of storages, rounded up to the alignment."""
    home = {name: n for n, storage in enumerate(storages) if storage.owned for name in storage.tensors}
    starts = dict(pair for storage in storages for pair in storage.starts)
    leads = {(o.input, o.output): o.lead_bytes + starts.get(o.output, 0) - starts.get(o.input, 0) for o in overlaps}
    made = {overlap.output for overlap in overlaps if overlap.output in home}
    found: list[tuple[tuple[int, int, int], ...]] = []
    for flow in flows:
        known: dict[tuple[int, int], list[int]] = {}
        for output in (name for name in flow.makes if name in made and not flow.view):
            for name in (name for name in flow.reads if home.get(name, home[output]) != home[output]):
                known.setdefault((home[name], home[output]), []).append(leads.get((name, output), NEVER))
        ways = ((*pair, aligned(max(0, *each), alignment_bytes)) for pair, each in known.items())
        found.append(tuple(way for way in ways if way[2] < storages[way[1]].size_bytes))
    return tuple(found)


def saved_bytes(ways: Sequence[tuple[int, int, int]], dying: Container[int], sizes: Sequence[int]) -> int:
    """The most bytes that a task with these ways saves if no later task reads the storages ``dying``."""
    pairs = [(target, (sizes[source], lead)) for source, target, lead in ways if source in dying]
    return sum(shared_bytes(sizes[n], [pair for m, pair in pairs if m == n]) for n in {target for target, _ in pairs})
