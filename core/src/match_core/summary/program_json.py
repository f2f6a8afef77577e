"""Schedules, energy and memory of a program as JSON, the same for every verb."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from match_core.contract.compilation import Planned
    from match_core.contract.cost import Cost
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.loops import LoopSchedule
    from match_core.contract.program import Program, Queue


def schedule_json(schedule: LoopSchedule, home: str) -> dict[str, object]:
    """Tile sizes, loops outermost first, which operands have two buffers or are streamed, bytes and modelled cost."""
    return {
        "steps": schedule.steps,
        "tile": dict(schedule.tile),
        "loops": [{"dim": loop.dim, "size": loop.size, "tile": loop.tile} for loop in schedule.loops],
        "double_buffered": sorted({p.operand for p in schedule.placements if p.buffers == 2 and p.memory != home}),
        "streamed": list(schedule.streamed(home)),
        "working_bytes": dict(schedule.working_bytes),
        "cost": _cost_json(schedule.cost),
    }


def _cost_json(cost: Cost) -> dict[str, object]:
    return {
        "compute_cycles": cost.compute_cycles,
        "transfer_cycles": cost.transfer_cycles,
        "launch_cycles": cost.launch_cycles,
        "sync_cycles": cost.sync_cycles,
        "overlapped_cycles": cost.overlapped_cycles,
        "energy_pj": cost.energy_pj,
        "model": cost.model,
        "bound": cost.bound,
        "estimate": cost.estimate,
    }


def estimates_json(soc: Soc, units: Iterable[Unit]) -> list[dict[str, object]]:
    """The estimated figures of the units and of the clock, each once, with the reasoning behind it; those that a
    figures file gives are no estimates."""
    given = {(unit, name) for unit, name, _ in soc.figures}
    pairs = [(unit.name, constant) for unit in units for constant in unit.constants_of(soc.preset)]
    constants = [constant for unit, constant in pairs if (unit, constant.name) not in given]
    constants += [] if soc.clock_hz is None else [soc.clock_hz]
    return [
        {"name": constant.name, "value": constant.value, "unit": constant.unit, "source": constant.source}
        for constant in dict.fromkeys(constants)
        if constant.estimate
    ]


def energy_json(program: Program) -> dict[str, object]:
    """``pj``: modelled energy of one inference, null if a unit that runs something publishes no figures;
    ``unpublished``: these units."""
    run = [task.assignment for task in program.tasks if not task.assignment.candidate.pattern.view]
    unpublished = sorted({a.candidate.unit for a in run if a.schedule.cost.energy_pj is None})
    total = sum(a.schedule.cost.energy_pj or 0.0 for a in run)
    return {"pj": None if unpublished else total, "unpublished": unpublished}


def memory_json(program: Program) -> dict[str, dict[str, int]]:
    """Used and available bytes by memory name; ``caller``: the used bytes that belong to graph inputs and outputs."""
    return {
        use.memory: {"used": use.used_bytes, "available": use.available_bytes, "caller": use.caller_bytes}
        for use in program.memory
    }


def side_by_side_json(planned: Planned) -> dict[str, object]:
    """For a concurrent program, its ``queues``, the mapper's ``bounds`` in cycles and the ``gap`` to the higher one, as
    a fraction of the modelled cycles; empty and null for a sequential program. ``sequential_cycles``: modelled cycles
    of the sequential program, null if it does not fit. ``declined_cycles``: of a concurrent program that is not
    compiled, as its gain is smaller than its uncertainty. ``uncertainty``: of the modelled cycles, as a share."""
    program, bounds = planned.program, planned.mapping.bounds
    total = program.predicted_cycles
    if not program.queues:
        bounds = None
    return {
        "queues": [_queue_json(program, queue) for queue in program.queues],
        "sequential_cycles": planned.sequential_cycles,
        "declined_cycles": planned.declined_cycles,
        "uncertainty": planned.soc.uncertain_share("concurrent" if program.queues else "sequential"),
        "bounds": {"work": bounds.work_cycles, "path": bounds.path_cycles} if bounds else None,
        "gap": (total - bounds.cycles) / total if bounds and total else None,
    }


def _queue_json(program: Program, queue: Queue) -> dict[str, object]:
    if queue.kind == "link":
        cycles = sum(swap.cycles for swap in program.swaps)
    else:
        cycles = sum(task.cycles for task in program.tasks if task.queue == queue.name)
    return {"name": queue.name, "kind": queue.kind, "tasks": len(queue.tasks), "cycles": cycles}
