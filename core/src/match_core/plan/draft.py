"""One order of tasks with the lives and offsets of everything in the home memory: the basis of a plan."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from match_core.contract.mapping import SolverStatus
from match_core.ir.topology import Topology
from match_core.map.dataflow import Flow, Storage, flow_of, storages_of
from match_core.plan.allocate import Allocation, allocate, tightened
from match_core.plan.least_memory import least_memory_order
from match_core.plan.order import Life, lives, low_memory_order
from match_core.plan.overlap import Over, over_of
from match_core.plan.packing import Block, aligned, live_bytes

if TYPE_CHECKING:
    from match_core.contract.hardware import Memory
    from match_core.contract.mapping import Assignment
    from match_core.contract.mapping import Mapping as UnitMapping
    from match_core.contract.model import Model
    from match_core.contract.unit_api import Overwrite


@dataclass(frozen=True)
class Draft:
    """``order``: positions in the mapping's assignments; everything else is in that order. ``blocks``: first the
    storages that require bytes of the arena (``owned``), then the scratch of tasks (``scratch``)."""

    home: Memory
    order: tuple[int, ...]
    assignments: tuple[Assignment, ...]
    flows: tuple[Flow, ...]
    storages: tuple[Storage, ...]
    lives: tuple[Life, ...]
    owned: tuple[int, ...]
    scratch: tuple[int, ...]
    blocks: tuple[Block, ...]
    allocation: Allocation

    @property
    def caller_bytes(self) -> int:
        """Bytes of graph inputs and outputs, which the caller provides in the home memory."""
        own = (s for s in self.storages if (s.source or s.target) and not s.overflow)
        return sum(aligned(storage.size_bytes, self.home.alignment_bytes) for storage in own)

    @property
    def peak_bytes(self) -> int:
        """The largest number of bytes of the arena that live at one time."""
        return max(live_bytes(self.blocks, self.home.alignment_bytes).values(), default=0)

    def need_bytes(self, constant_bytes: int) -> int:
        """All bytes of the home memory: arena, constants, and the caller's buffers."""
        return self.allocation.arena_bytes + constant_bytes + self.caller_bytes

    def live_bytes(self) -> tuple[int, ...]:
        """Bytes of the arena that live while each task runs, by position in the mapping's assignments."""
        alignment = self.home.alignment_bytes
        live, known = [0] * len(self.order), live_bytes(self.blocks, alignment)
        for place, task in enumerate(self.order):
            alive = (block for block in self.blocks if block.first <= place <= block.last)
            live[task] = known.get(place, sum(aligned(block.size_bytes, alignment) for block in alive))
        return tuple(live)


def draft_of(
    model: Model,
    mapping: UnitMapping,
    home: Memory,
    constant_bytes: int,
    scratch_bytes: Mapping[int, int],
    overflow: Container[str] = (),
    overlaps: Sequence[Overwrite] = (),
    *,
    thorough: bool = True,
) -> Draft:
    """The order with the smallest arena (the first of equals) out of three: the mapping's, a greedy low-memory order
    and, if that could be improved, the least-memory order. Results overwrite inputs only if that makes it smaller.

    ``scratch_bytes`` by position in ``mapping.assignments``; ``overflow``: tensors in the overflow memory; ``overlaps``
    that kernels allow; ``thorough`` as for ``allocate``: without it, the third order is omitted.
    """
    topology = Topology.of(model.graph)
    flows = tuple(flow_of(topology, assignment) for assignment in mapping.assignments)
    storages = storages_of(model, flows, overflow)

    def drafted(over: Over) -> list[Draft]:
        """The drafts of all orders, without addresses."""
        drafting = partial(_draft, mapping, flows, storages, scratch_bytes, home, over)
        greedy = low_memory_order(flows, storages, scratch_bytes, over)
        drafts = [drafting(order) for order in dict.fromkeys((tuple(range(len(flows))), greedy))]
        if thorough:
            limit = min(draft.peak_bytes for draft in drafts)
            least = least_memory_order(flows, storages, scratch_bytes, home.alignment_bytes, limit, over)
            drafts += [drafting(least)] if least is not None else []
        return drafts

    def placed(draft: Draft) -> Draft:
        capacity = home.size_bytes - draft.need_bytes(constant_bytes)
        return replace(draft, allocation=allocate(draft.blocks, home.alignment_bytes, capacity, thorough=thorough))

    drafts = [placed(draft) for draft in drafted(())]
    if thorough:
        best = min(drafts, key=lambda draft: draft.allocation.solver.bound)
        drafts.append(replace(best, allocation=tightened(best.allocation, best.blocks, home.alignment_bytes)))
    over = over_of(flows, storages, overlaps, home.alignment_bytes)
    if any(over):
        arena = min(draft.allocation.arena_bytes for draft in drafts)
        drafts += [placed(draft) for draft in drafted(over) if draft.peak_bytes < arena]
    return min(drafts, key=lambda draft: draft.allocation.arena_bytes)


def _draft(
    mapping: UnitMapping,
    flows: Sequence[Flow],
    storages: tuple[Storage, ...],
    scratch_bytes: Mapping[int, int],
    home: Memory,
    over: Over,
    order: tuple[int, ...],
) -> Draft:
    """A draft without addresses."""
    ordered = tuple(flows[task] for task in order)
    alive = lives(ordered, storages)
    owned = tuple(n for n, storage in enumerate(storages) if storage.owned)
    scratch = tuple(place for place, task in enumerate(order) if scratch_bytes.get(task, 0) > 0)
    blocks = blocks_of(storages, alive, owned, tuple(over[task] for task in order) if over else ())
    blocks += tuple(Block(scratch_bytes[order[place]], place, place) for place in scratch)
    return Draft(
        home=home,
        order=order,
        assignments=tuple(mapping.assignments[task] for task in order),
        flows=ordered,
        storages=storages,
        lives=alive,
        owned=owned,
        scratch=scratch,
        blocks=blocks,
        allocation=Allocation((), 0, SolverStatus("none", "optimal", 0, 0)),
    )


def blocks_of(storages: Sequence[Storage], lives: Sequence[Life], own: Sequence[int], over: Over) -> tuple[Block, ...]:
    """Blocks of the storages ``own``. ``over``: what tasks may overwrite, in their order; empty: nothing."""
    number = {storage: block for block, storage in enumerate(own)}
    under: dict[int, list[tuple[int, int]]] = {}
    for place, ways in enumerate(over):
        for source, target, lead in ways:
            if lives[source].first < lives[source].last == place == lives[target].first:
                under.setdefault(target, []).append((number[source], lead))
    return tuple(Block(storages[n].size_bytes, lives[n].first, lives[n].last, tuple(under.get(n, ()))) for n in own)
