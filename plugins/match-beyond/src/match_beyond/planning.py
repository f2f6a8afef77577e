"""Plans sequential programs of models with parts: copies between home memory and store that run while tasks compute.

The order is that of the mapping. Copies start as early, and end as late, as hides them behind tasks, if memory allows;
else they get fewer tasks, down to none. Constants that do not fit beside the activations are streamed: first those
are chosen that leave room for copies that hide. Then some are fetched ahead instead, if the program ends earlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.contract.mapping import SolverStatus
from match_core.contract.planning import Needs, Plan
from match_core.contract.program import Buffer, Program, Swap
from match_core.ir.topology import Topology
from match_core.map.dataflow import flow_of, storages_of
from match_core.map.objective import weighting_of
from match_core.plan.allocate import Allocation, allocate
from match_core.plan.draft import Draft, blocks_of
from match_core.plan.order import lives
from match_core.plan.overlap import over_of
from match_core.plan.packing import Block
from match_core.plan.plan import program_of
from match_core.plan.shortage import Shortage, store_shortage
from match_core.plan.streaming import choose_streaming
from match_core.plan.variants import variants_of

from match_beyond.ahead import Ahead, may_fetch, streamed_bytes
from match_beyond.fetching import IMAGE, Fetch, buffer_name, merged
from match_beyond.shared import Shared
from match_beyond.transfers import REACHES, Times, Transfer, longer, times_of, transfers, waited_by

if TYPE_CHECKING:
    from match_core.contract.mapping import Assignment, Mapping
    from match_core.contract.planning import PlanRequest
    from match_core.contract.program import Task

#: How often the available home memory is reduced because gaps between tensors were larger than expected.
ROUNDS_MAX = 8


@dataclass(frozen=True)
class CopyDraft(Draft):
    """A draft with copies in the order of their start, planned with ``reach``; ``stored``: (storage, offset) of those
    in the store; ``fetches``: constants whose blocks follow those of scratch."""

    transfers: tuple[Transfer, ...] = ()
    fetches: tuple[Fetch, ...] = ()
    reach: float = REACHES[0]
    stored: tuple[tuple[int, int], ...] = ()

    @property
    def stored_bytes(self) -> int:
        """Bytes of the store for activations."""
        return max((start + self.storages[number].size_bytes for number, start in self.stored), default=0)


@dataclass(frozen=True)
class _Measured:
    """What the code of assignments requires, and a draft of them."""

    mapping: Mapping
    needs: Needs
    draft: CopyDraft

    @property
    def constant_bytes(self) -> int:
        return sum(size for _, size in self.needs.constants)

    @property
    def over_bytes(self) -> int:
        """Missing bytes of the home memory; at most 0 if the program fits."""
        return self.draft.need_bytes(self.constant_bytes) - self.draft.home.size_bytes


def plan(request: PlanRequest) -> Plan | None:
    """The program of a mapping; of a model without parts only if it fetches constants. InfeasibleError MATCH-M001 if it
    does not fit."""
    return Planner(request).plan() if request.model.parts else Planner(request).faster()


class Planner:
    """Plans one mapping."""

    def __init__(self, request: PlanRequest) -> None:
        self.request, self.model, self.soc = request, request.model, request.scheduling.soc
        self.topology = Topology.of(self.model.graph)
        self.link = self.soc.swap_link

    def plan(self) -> Plan:
        """See above."""
        measured = self._measure(self.request.mapping, REACHES, thorough=True)
        if measured.over_bytes > 0 or measured.draft.reach < REACHES[0]:
            measured = self._streamed(self.request.mapping, measured)
        if measured.over_bytes > 0:
            raise Shortage(measured.draft, measured.needs.constants, self.soc.store).error(self.model)
        return self._made(self._ahead(measured))

    def faster(self) -> Plan | None:
        """A program that fetches constants which the mapping streams; None if none was found."""
        measured = self._measure(self.request.mapping, REACHES[:1], thorough=True)
        found = self._ahead(measured) if measured.over_bytes <= 0 else measured
        return None if found is measured else self._made(found)

    def _made(self, measured: _Measured) -> Plan:
        draft, stored = measured.draft, sum(size for _, size in measured.needs.stored)
        store = self.soc.memory(self.soc.store or self.soc.home)
        if draft.stored_bytes + stored > store.size_bytes:
            activations = ("activations", draft.stored_bytes)
            raise store_shortage(self.model, store, (activations, *measured.needs.stored))
        return Plan(measured.mapping, self._program(measured, stored))

    def _measure(
        self, mapping: Mapping, reaches: Sequence[float], fetches: tuple[Fetch, ...] = (), *, thorough: bool = False
    ) -> _Measured:
        """The draft with the first reach that fits, else the one that requires least."""
        needs = self.request.measure(mapping.assignments)
        made = []
        for reach in reaches:
            made.append(_Measured(mapping, needs, self._draft(mapping, needs, reach, thorough, fetches)))
            if made[-1].over_bytes <= 0:
                break
        best = made[-1] if made[-1].over_bytes <= 0 else min(made, key=lambda item: item.over_bytes)
        return replace(best, draft=self._with_store(best.draft))

    def _draft(
        self, mapping: Mapping, needs: Needs, reach: float, thorough: bool, fetches: tuple[Fetch, ...] = ()
    ) -> CopyDraft:
        flows = tuple(flow_of(self.topology, assignment) for assignment in mapping.assignments)
        storages = storages_of(self.model, flows)
        found: tuple[Transfer, ...] = ()
        if self.model.away:
            assert self.link is not None  # the store has one
            cycles = [assignment.schedule.cost.total_cycles for assignment in mapping.assignments]
            found = transfers(flows, storages, cycles, self.link, reach)
        alive = longer(lives(flows, storages), storages, found)
        owned = tuple(number for number, storage in enumerate(storages) if storage.owned)
        scratch = tuple(task for task in range(len(flows)) if needs.scratch.get(task, 0) > 0)
        home = self.soc.memory(self.soc.home)
        over = over_of(flows, storages, needs.overlaps, home.alignment_bytes)
        blocks = blocks_of(storages, alive, owned, over)
        blocks += tuple(Block(needs.scratch[task], task, task) for task in scratch)
        blocks += tuple(Block(fetch.size_bytes, fetch.copies[0][0], fetch.last) for fetch in fetches)
        draft = CopyDraft(
            home=home,
            order=tuple(range(len(flows))),
            assignments=mapping.assignments,
            flows=flows,
            storages=storages,
            lives=alive,
            owned=owned,
            scratch=scratch,
            blocks=blocks,
            allocation=Allocation((), 0, SolverStatus("none", "optimal", 0, 0)),
            transfers=merged(found, fetches, [self._start(mapping, needs, fetch) for fetch in fetches]),
            reach=reach,
            fetches=fetches,
        )
        capacity = draft.home.size_bytes - draft.need_bytes(sum(size for _, size in needs.constants))
        hard = thorough and (reach == REACHES[-1] or not found)
        return replace(draft, allocation=allocate(blocks, draft.home.alignment_bytes, capacity, thorough=hard))

    def _with_store(self, draft: CopyDraft) -> CopyDraft:
        """The draft with addresses in the store."""
        away = [number for number, storage in enumerate(draft.storages) if storage.away]
        blocks = [Block(draft.storages[n].size_bytes, draft.lives[n].first, draft.lives[n].last) for n in away]
        alignment = self.soc.memory(self.soc.store or self.soc.home).alignment_bytes
        return replace(draft, stored=tuple(zip(away, allocate(blocks, alignment).offsets, strict=True)))

    def _streamed(self, mapping: Mapping, measured: _Measured) -> _Measured:
        """The cheapest choice of streamed constants that fits beside copies of the most reach; if none fits, the one
        that requires least, for the report."""
        scheduler = self.request.scheduling
        variants = variants_of(mapping, self.request.offered, scheduler, weighting_of(mapping))
        if all(len(task) == 1 for task in variants.assignments):
            return measured
        shared = Shared.of(variants)
        for reach in REACHES if self.model.away else REACHES[-1:]:
            draft = self._draft(mapping, measured.needs, reach, thorough=False)
            others = measured.constant_bytes - shared.resident_bytes(mapping.assignments, self.soc)
            staged = [assignment.schedule.bytes_in(self.soc.home) for assignment in mapping.assignments]
            live = tuple(max(0, alive - own) for alive, own in zip(draft.live_bytes(), staged, strict=True))
            problem = shared.problem(live, draft.home.size_bytes - draft.caller_bytes - others)
            for _ in range(ROUNDS_MAX):
                found = choose_streaming(problem)
                if found is None:
                    break
                # Room for gaps that a search would close costs little.
                now = self._measure(_with(mapping, shared.pick(found.chosen), found.solver.solver), (reach,))
                if now.over_bytes <= 0:
                    return now
                problem = replace(problem, capacity_bytes=problem.capacity_bytes - now.over_bytes)
        least = _with(mapping, variants.pick(variants.smallest()), "least bytes")
        return self._measure(least, REACHES, thorough=True)

    def _start(self, mapping: Mapping, needs: Needs, fetch: Fetch) -> int:
        """Where the constants of a fetch begin in the store's image."""
        (name,) = mapping.assignments[fetch.first].fetched
        return needs.places[fetch.first][name]

    def _ahead(self, measured: _Measured) -> _Measured:
        """A faster program that fetches constants which this one streams, else this one."""
        mapping, draft = measured.mapping, measured.draft
        if not may_fetch(mapping, self.link, draft.home.name):
            return measured
        ahead = Ahead(self.request, mapping, draft, measured.constant_bytes, draft.transfers)
        slack = [0] * len(mapping.assignments)
        for _ in range(ROUNDS_MAX):
            found = ahead.found(slack)
            if found is None:
                break
            other = _with(mapping, ahead.assignments(found), "annealing")
            now = self._measure(other, (draft.reach,), found.fetches)
            if now.over_bytes <= 0:
                return now
            crowded = _crowded(now.draft, now.over_bytes)
            while ahead.allows(found, slack):
                if max(slack) > draft.home.size_bytes:
                    return measured
                for task in crowded:
                    slack[task] = 2 * slack[task] + now.over_bytes
        return measured

    def _program(self, measured: _Measured, stored_bytes: int) -> Program:
        """The program without copies, and the copies."""
        draft = measured.draft
        known = len(draft.owned) + len(draft.scratch)
        places = draft.allocation.offsets
        plain = replace(
            draft, blocks=draft.blocks[:known], allocation=replace(draft.allocation, offsets=places[:known])
        )
        program = program_of(self.soc, plain, measured.needs.constants, measured.needs.stored)
        if not draft.transfers or self.link is None:
            return program
        cycles = [assignment.schedule.cost.total_cycles for assignment in draft.assignments]
        times = times_of(
            draft.transfers, cycles, [streamed_bytes(a, self.soc.home) for a in draft.assignments], self.link
        )
        stored = {draft.storages[number].tensors: offset for number, offset in draft.stored}
        buffers = tuple(
            replace(buffer, memory=self.soc.store or "", offset_bytes=stored[buffer.tensors])
            if buffer.tensors in stored
            else buffer
            for buffer in program.buffers
        )
        buffers += self._constants(draft, places[known:], stored_bytes)
        waits = waited_by(draft.transfers)
        memory = tuple(
            replace(use, arena_bytes=draft.stored_bytes) if use.memory == self.soc.store else use
            for use in program.memory
        )
        return replace(
            program,
            tasks=tuple(_timed(task, times, waits, self.link.name, draft.fetches) for task in program.tasks),
            buffers=buffers,
            memory=memory,
            predicted_cycles=times.end,
            swaps=_swaps(draft, buffers, times, self.soc.host),
        )

    def _constants(self, draft: CopyDraft, offsets: Sequence[int], stored_bytes: int) -> tuple[Buffer, ...]:
        """The buffers of fetched constants, and the one of all in the store."""
        if not draft.fetches:
            return ()
        home, store, last = self.soc.home, self.soc.store or "", len(draft.assignments) - 1
        end = max(copy.start_bytes + copy.size_bytes for copy in draft.transfers if copy.whole == IMAGE)
        found = [Buffer(IMAGE, (), store, 0, max(end, stored_bytes), 0, last, "constant")]
        for number, (fetch, offset) in enumerate(zip(draft.fetches, offsets, strict=True)):
            first, name = fetch.copies[0][0], buffer_name(number)
            found.append(Buffer(name, (), home, offset, fetch.size_bytes, first, fetch.last, "constant"))
        return tuple(found)


def _crowded(draft: CopyDraft, over_bytes: int) -> set[int]:
    """The tasks during which blocks end behind the home memory, of which ``over_bytes`` are missing."""
    end = draft.allocation.arena_bytes - over_bytes
    pairs = zip(draft.blocks, draft.allocation.offsets, strict=True)
    high = (block for block, offset in pairs if offset + block.size_bytes > end)
    return {task for block in high for task in range(block.first, min(block.last + 1, len(draft.order)))}


def _with(mapping: Mapping, assignments: tuple[Assignment, ...], solver: str) -> Mapping:
    """The mapping with these schedules; a bound proven for resident constants stays valid."""
    changed = replace(mapping, assignments=assignments)
    value, before = changed.objective_value, mapping.solver
    status = SolverStatus(f"{before.solver}, streaming by {solver}", "feasible", value, min(before.bound, value))
    return replace(changed, solver=status)


def _timed(task: Task, times: Times, waits: dict[int, int], link: str, fetches: Sequence[Fetch]) -> Task:
    needs = ((link, waits[task.index]),) if task.index in waits else ()
    own = [n for n, fetch in enumerate(fetches) if task.index in fetch.tasks]
    reads = (*task.buffers_in, *(buffer_name(number) for number in own))
    return replace(task, start_cycles=times.tasks[task.index], needs=needs, buffers_in=reads)


def _swaps(draft: CopyDraft, buffers: Sequence[Buffer], times: Times, host: str) -> tuple[Swap, ...]:
    homes = {name: buffer for buffer in buffers for name in buffer.tensors or (buffer.name,)}
    swaps = []
    for number, (transfer, (start, end)) in enumerate(zip(draft.transfers, times.copies, strict=True)):
        part, whole = homes[transfer.part], homes[transfer.whole]
        place = dict(part.starts).get(transfer.part, transfer.part_start)
        ends = (part.name, place), (whole.name, transfer.start_bytes)
        (source, first), (target, second) = ends if transfer.out else ends[::-1]
        size, needs = transfer.size_bytes, ((host, transfer.first),)
        swaps.append(Swap(number, source, target, size, start, end - start, needs, first, second))
    return tuple(swaps)
