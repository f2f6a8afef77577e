"""Each step of the program: what it computes, its alternatives, and when it runs."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from match_core.ir.titles import source_operators, task_title
from match_core.summary.memory_map import end_cycles
from match_core.summary.program_json import schedule_json

if TYPE_CHECKING:
    from match_core.contract.compilation import Planned
    from match_core.contract.loops import LoopSchedule
    from match_core.contract.mapping import Assignment
    from match_core.contract.program import Task
    from match_core.contract.workload import Operand, Workload


def layers_json(planned: Planned) -> list[dict[str, object]]:
    """One object per task, in the program's order; ``view``: no code, only another shape of the same bytes."""
    operators = source_operators(planned.source)
    rivals = _Rivals(planned)
    return [_layer(planned, task, operators, rivals) for task in planned.program.tasks]


def _layer(planned: Planned, task: Task, operators: dict[str, str], rivals: _Rivals) -> dict[str, object]:
    assignment = task.assignment
    candidate, schedule = assignment.candidate, assignment.schedule
    share = candidate.share
    names = planned.model.origin(candidate.match.nodes)
    return {
        "index": task.index,
        "title": task_title(planned.model, operators, assignment),
        "onnx_names": list(names),
        "operators": [operators[name] for name in names if name in operators],
        "unit": candidate.unit,
        "pattern": candidate.pattern.name,
        "view": candidate.pattern.view,
        "queue": task.queue or None,
        "needs": dict(task.needs),
        "share": None if share is None else {"dim": share.dim, "first": share.first, "size": share.size},
        "macs": candidate.workload.macs,
        "dims": {dim.name: dim.size for dim in candidate.workload.dims},
        **_traffic(candidate.workload),
        "start_cycles": task.start_cycles,
        "end_cycles": end_cycles(task),
        "predicted_cycles": schedule.cost.total_cycles,
        "schedule": schedule_json(schedule, planned.soc.home),
        "placements": [
            {
                "operand": placement.operand,
                "memory": placement.memory,
                "offset_bytes": placement.offset_bytes,
                "size_bytes": placement.size_bytes,
                "buffers": placement.buffers,
            }
            for placement in schedule.placements
        ],
        "scratch": _scratch(schedule),
        "buffers_in": list(task.buffers_in),
        "buffers_out": list(task.buffers_out),
        "alternatives": rivals.of(assignment),
    }


def _scratch(schedule: LoopSchedule) -> dict[str, object] | None:
    """Bytes that kernels require besides operands."""
    if not schedule.scratch_bytes or schedule.memory is None:
        return None
    return {
        "memory": schedule.memory,
        "offset_bytes": schedule.scratch_offset_bytes,
        "size_bytes": schedule.scratch_bytes,
    }


def _traffic(workload: Workload) -> dict[str, object]:
    """Bytes of the whole operands, which must be read and written at least once."""
    by_role = {"input": 0, "constant": 0, "output": 0}
    for operand in workload.operands:
        by_role[operand.role] += _operand_bytes(operand)
    return {f"{role}_bytes": size for role, size in by_role.items()}


def _operand_bytes(operand: Operand) -> int:
    if operand.parts:
        return operand.axes[0].size * sum(part.bytes_per_index for part in operand.parts)
    return -(-prod(axis.size for axis in operand.axes) * operand.element_bits // 8)


class _Rivals:
    """The candidates with schedules that cover one of the same nodes."""

    def __init__(self, planned: Planned) -> None:
        self._planned = planned
        self._by_node: dict[str, list[Assignment]] = {}
        self._by_index = {offered.candidate.index: offered for offered in planned.offered}
        for offered in planned.offered:
            for name in offered.candidate.node_names:
                self._by_node.setdefault(name, []).append(offered)

    def of(self, chosen: Assignment) -> list[dict[str, object]]:
        """Cheapest first; includes the chosen one unless it is a share of an operator."""
        found: dict[int, Assignment] = {}
        offered = chosen
        if chosen.candidate.pattern.claims is not None:  # its nodes may have been replaced since it was offered
            offered = self._by_index.get(chosen.candidate.index, chosen)
        for name in offered.candidate.node_names:
            for rival in self._by_node.get(name, ()):
                found[rival.candidate.index] = rival
        ordered = sorted(found.values(), key=lambda a: (a.schedule.cost.total_cycles, a.candidate.index))
        return [self._alternative(rival, chosen) for rival in ordered]

    def _alternative(self, rival: Assignment, chosen: Assignment) -> dict[str, object]:
        model = self._planned.model
        return {
            "unit": rival.candidate.unit,
            "pattern": rival.candidate.pattern.name,
            "onnx_names": list(model.origin(rival.candidate.match.nodes)),
            "predicted_cycles": rival.schedule.cost.total_cycles,
            "steps": rival.schedule.steps,
            "chosen": rival.candidate.index == chosen.candidate.index,
        }
