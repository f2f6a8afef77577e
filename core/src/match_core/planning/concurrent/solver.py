"""CP-SAT, always with one thread and a fixed seed, so that the same question gets the same answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


@dataclass(frozen=True, slots=True)
class Answer:
    """The solver with its values, None where nothing was found; a lower bound of the objective; whether it is proven;
    the effort, in CP-SAT's deterministic seconds."""

    values: cp_model.CpSolver | None
    bound: int
    optimal: bool
    seconds: float


def solve(model: cp_model.CpModel, seconds: float) -> Answer:
    """Solve within a deterministic limit. Searches that take turns in one thread (``interleave_search``) find more, but
    not the same twice, so they are not used."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.max_deterministic_time = seconds
    status = solver.solve(model)
    spent = solver.response_proto.deterministic_time
    bound = int(-(-solver.best_objective_bound // 1)) if status != cp_model.MODEL_INVALID else 0
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Answer(None, bound, False, spent)
    return Answer(solver, bound, status == cp_model.OPTIMAL, spent)
