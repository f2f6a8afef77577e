"""Results that may overwrite inputs of their task, where these are not read again."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from match_core.plan.packing import aligned, shared_bytes

if TYPE_CHECKING:
    from match_core.contract.unit_api import Overlap
    from match_core.map.dataflow import Flow, Storage

#: For each task: (storage that it reads, storage that it writes first, lead in bytes).
Over = tuple[tuple[tuple[int, int, int], ...], ...]


def over_of(
    flows: Sequence[Flow], storages: Sequence[Storage], overlaps: Sequence[Overlap], alignment_bytes: int
) -> Over:
    """What tasks may overwrite if no later task reads it. Every tensor of a storage that the task reads must be among
    the overlaps; leads are rounded up to the alignment."""
    home = {
        name: n
        for n, storage in enumerate(storages)
        if storage.owned and not storage.starts
        for name in storage.tensors
    }
    declared = {(o.input, o.output): aligned(o.lead_bytes, alignment_bytes) for o in overlaps}
    made = {o.output for o in overlaps}
    found = []
    for flow in flows:
        leads: dict[tuple[int, int], list[int | None]] = {}
        for output in flow.makes if not flow.view else ():
            for name in flow.reads if output in made and output in home else ():
                if name in home and home[name] != home[output]:
                    leads.setdefault((home[name], home[output]), []).append(declared.get((name, output)))
        known = ((pair, [lead for lead in each if lead is not None], len(each)) for pair, each in leads.items())
        whole = ((*pair, max(each)) for pair, each, count in known if each and len(each) == count)
        found.append(tuple(way for way in whole if way[2] < storages[way[1]].size_bytes))
    return tuple(found)


def saved_bytes(ways: Sequence[tuple[int, int, int]], dying: Container[int], sizes: Sequence[int]) -> int:
    """The most bytes that a task with these ways saves if no later task reads the storages ``dying``."""
    pairs = [(target, (sizes[source], lead)) for source, target, lead in ways if source in dying]
    return sum(shared_bytes(sizes[n], [pair for m, pair in pairs if m == n]) for n in {target for target, _ in pairs})
