"""Turns a mapping into the problem that a concurrent plan solves."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from match_core.ir.topology import Topology
from match_core.map.dataflow import Flow, Storage, flow_of, storages_of, tensors_of
from match_core.plan.packing import aligned

from match_concurrent.boxes import TensorBox, overlap, reads, whole, writes
from match_concurrent.planning.problem import Access, Item, Job, Lane, Problem, box_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.hardware import Soc
    from match_core.contract.mapping import Assignment
    from match_core.contract.mapping import Mapping as UnitMapping
    from match_core.contract.model import Model


@dataclass(frozen=True)
class Built:
    """A problem and the meaning of its numbers. ``positions``: for each job its position in ``mapping.assignments``
    (views run nothing and are not jobs); ``flows`` and ``after`` (the jobs that write its inputs) for every
    assignment."""

    problem: Problem
    positions: tuple[int, ...]
    flows: tuple[Flow, ...]
    after: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class _Use:
    item: int
    region: TensorBox
    writes: bool


def build(
    model: Model,
    mapping: UnitMapping,
    soc: Soc,
    capacity_bytes: int,
    scratch_bytes: Mapping[int, int],
    store_bytes: int,
    overflow: Container[str] = (),
    blocking: Container[str] = (),
) -> Built:
    """The problem of a mapping. ``capacity_bytes`` of the home memory and ``store_bytes`` of the store are free;
    ``scratch_bytes`` by position in ``mapping.assignments``; ``overflow``: tensors in the Soc's overflow memory;
    ``blocking``: units whose tasks are in the host's queue."""
    if soc.signalling is None:
        raise ValueError(f"{soc.name} does not state the signalling of its units for concurrent programs")
    topology = Topology.of(model.graph)
    flows = tuple(flow_of(topology, assignment) for assignment in mapping.assignments)
    storages = storages_of(model, _once(flows), overflow)
    uses = _uses(tensors_of(model.graph), mapping.assignments, flows, storages)
    positions = tuple(n for n, flow in enumerate(flows) if not flow.view)
    number_of = {position: job for job, position in enumerate(positions)}
    after = _after(uses, number_of)
    queues = [_queue(mapping.assignments[position], soc, blocking) for position in positions]
    lanes = _lanes(soc, queues)
    items = [Item(s.tensors, s.size_bytes, _kind(s), s.overflow) for s in storages]
    shared = {unit for assignment in mapping.assignments for unit in assignment.candidate.pattern.occupies}
    number_of_unit = {unit: number for number, unit in enumerate(sorted(shared))}
    jobs = []
    for position, queue in zip(positions, queues, strict=True):
        assignment = mapping.assignments[position]
        accesses = [Access(use.item, box_of(use.region), use.writes) for use in uses[position]]
        scratch = scratch_bytes.get(position, 0)
        if scratch > 0:
            accesses.append(Access(len(items), box_of(TensorBox((scratch,), (0,), (scratch,))), True))
            items.append(Item((), scratch, "scratch"))
        lane = next(n for n, lane in enumerate(lanes) if lane.name == queue)
        units = tuple(number_of_unit[unit] for unit in assignment.candidate.units if unit in shared)
        jobs.append(Job(lane, assignment.schedule.cost.total_cycles, tuple(accesses), after[position], units))
    home = soc.memory(soc.home)
    problem = Problem(
        lanes=lanes,
        jobs=tuple(jobs),
        items=tuple(items),
        signalling=soc.signalling,
        capacity_bytes=capacity_bytes,
        alignment_bytes=home.alignment_bytes,
        hints=_hints(mapping, positions),
        link=soc.swap_link,
        store_bytes=store_bytes,
        store_alignment_bytes=soc.memory(soc.store).alignment_bytes if soc.store is not None else 1,
    )
    return Built(problem, positions, flows, after)


def caller_bytes(built: Built) -> int:
    """Bytes of graph inputs and outputs, which the caller stores in the home memory."""
    items, alignment = built.problem.items, built.problem.alignment_bytes
    kept = (item for item in items if item.kind in ("input", "output") and not item.overflow)
    return sum(aligned(item.size_bytes, alignment) for item in kept)


def _once(flows: Sequence[Flow]) -> list[Flow]:
    """The flows without those that write only tensors of an earlier one: shares of one operator."""
    made: set[str] = set()
    kept = []
    for flow in flows:
        if not made.issuperset(flow.makes):
            kept.append(flow)
        made.update(flow.makes)
    return kept


def _kind(storage: Storage) -> Literal["activation", "input", "output"]:
    return "input" if storage.source else "output" if storage.target else "activation"


def _queue(assignment: Assignment, soc: Soc, blocking: Container[str]) -> str:
    """The name of the queue that runs the assignment."""
    unit = assignment.candidate.unit
    return soc.host if unit in blocking else unit


def _lanes(soc: Soc, queues: Sequence[str]) -> tuple[Lane, ...]:
    """The host, then the other units with tasks, then the link to the store."""
    lanes = [Lane(soc.host, "host")]
    lanes += [Lane(unit, "unit") for unit in soc.units if unit in queues and unit != soc.host]
    if soc.swap_link is not None:
        lanes.append(Lane("link", "link"))
    return tuple(lanes)


def _hints(mapping: UnitMapping, positions: Sequence[int]) -> tuple[int, ...]:
    """The mapper's start times; if there are none, the order of its tasks."""
    if mapping.starts:
        return tuple(mapping.starts[position] for position in positions)
    return tuple(range(len(positions)))


def _uses(
    tensors: Mapping[str, gs.Tensor],
    assignments: Sequence[Assignment],
    flows: Sequence[Flow],
    storages: Sequence[Storage],
) -> list[list[_Use]]:
    """The bytes that every assignment touches. A tensor that a share touches without an operand for it counts as a
    whole."""
    home = {name: number for number, storage in enumerate(storages) for name in storage.tensors}
    found = []
    for assignment, flow in zip(assignments, flows, strict=True):
        uses: dict[_Use, None] = {}
        for names, regions, writing in ((flow.reads, reads, False), (flow.makes, writes, True)):
            for name in names:
                parts = regions(assignment, tensors[name]) or (whole(tensors[name]),)
                uses.update(dict.fromkeys(_Use(home[name], part, writing) for part in parts))
        found.append(list(uses))
    return found


def _after(uses: Sequence[Sequence[_Use]], number_of: Mapping[int, int]) -> tuple[tuple[int, ...], ...]:
    """For each assignment the jobs that write its inputs, through views."""
    made: dict[int, list[tuple[int, TensorBox]]] = {}
    found = []
    for position, touched in enumerate(uses):
        makers = {
            job
            for use in touched
            if not use.writes
            for job, region in made.get(use.item, ())
            if overlap(region, use.region)
        }
        found.append(tuple(sorted(makers)))
        if position in number_of:
            for use in touched:
                if use.writes:
                    made.setdefault(use.item, []).append((number_of[position], use.region))
    return tuple(found)
