"""Finds the step of a program that computes a node of the source network."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.compilation import Planned
    from match_core.contract.mapping import Assignment


def runner(planned: Planned, node: str) -> Assignment | None:
    """The step with the most multiply-accumulates, then the most cycles, of those that a node became part of: the
    others convert or requantise for it. None if no code runs for the node."""
    steps = [
        task.assignment
        for task in planned.program.tasks
        if not task.assignment.candidate.pattern.view
        and node in planned.model.origin(task.assignment.candidate.match.nodes)
    ]
    return max(steps, key=_work, default=None)


def _work(step: Assignment) -> tuple[int, int]:
    return step.candidate.workload.macs, step.schedule.cost.total_cycles
