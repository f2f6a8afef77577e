"""Which step of a program computes a node of the source network."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.mapping.result import Assignment
    from match_core.pipeline import Planned


def runner(planned: Planned, node: str) -> Assignment | None:
    """Of the steps that a node became part of, the one with the most multiply-accumulates, then the most cycles: others
    convert or requantise for it. None where no code runs for it."""
    steps = [
        task.assignment
        for task in planned.program.tasks
        if not task.assignment.candidate.pattern.view
        and node in planned.model.origin(task.assignment.candidate.match.nodes)
    ]
    return max(steps, key=_work, default=None)


def _work(step: Assignment) -> tuple[int, int]:
    return step.candidate.workload.macs, step.schedule.cost.total_cycles
