"""The mapping that a search's result stands for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from match_core.contract.mapping import Assignment, Bounds, Mapping, SolverStatus

if TYPE_CHECKING:
    from match_concurrent.mapping.evaluate import Evaluation, Evaluator


def mapping_of(best: Evaluation, evaluator: Evaluator, bounds: Bounds, sequential: Mapping) -> Mapping:
    """Operators in topological order, their parts in the order of their indices."""
    value = best.value[0]
    bound = min(value, bounds.cycles) if evaluator.objective == "latency" else 0
    status = "optimal" if bound == value else "feasible"
    tasks = list(_tasks(best, evaluator))
    return Mapping(
        assignments=tuple(assignment for assignment, _ in tasks),
        solver=SolverStatus("shares: local search + cp-sat", status, value, bound),
        refused=sequential.refused,
        objective=evaluator.objective,
        starts=tuple(start for _, start in tasks),
        bounds=bounds,
        finish_cycles=best.finish,
    )


def _tasks(best: Evaluation, evaluator: Evaluator) -> Iterator[tuple[Assignment, int]]:
    """Assignments with their starts. A view starts when the first task that writes its bytes is done."""
    network = evaluator.network
    operator_at = {operator.place: number for number, operator in enumerate(network.operators)}
    done: list[int] = []
    for place, assignment in enumerate(network.cover):
        if place not in operator_at:
            yield assignment, max((done[maker] for maker in network.views[place]), default=0)
            continue
        number = operator_at[place]
        tasks = []
        for part, start in zip(best.choice[number], best.starts[number], strict=True):
            chosen = evaluator.costs.assignment(part)
            if chosen is None:
                raise ValueError(f"{part} has no schedule")
            tasks.append((chosen, start))
        done.append(min(start + chosen.schedule.cost.total_cycles for chosen, start in tasks))
        yield from tasks
