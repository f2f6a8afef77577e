"""CP-SAT, always with one thread and a fixed seed, so that the same model has the same answer."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from math import ceil
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from match_core.contract.observe import Watch


@dataclass(frozen=True, slots=True)
class Answer:
    """The solver with its values, None if it found none; a lower bound of the objective; whether the values are proven
    optimal; whether the model is proven infeasible; the effort, in CP-SAT's deterministic seconds."""

    values: cp_model.CpSolver | None
    bound: int
    optimal: bool
    infeasible: bool
    seconds: float


def load_cp_model() -> Any:
    """The module ``ortools.sat.python.cp_model``. It imports pandas, which takes four times as long as the rest, for a
    few functions on series; here it does so when one of them is called."""
    name = "ortools.sat.python.cp_model"
    if name not in sys.modules and "pandas" not in sys.modules:
        late = sys.modules["pandas"] = ModuleType("pandas")
        vars(late).update(Index=object, Series=object)  # what its annotations name
        try:
            import_module(name)
        finally:
            del sys.modules["pandas"], late.Index, late.Series
        vars(late)["__getattr__"] = lambda attribute: getattr(import_module("pandas"), attribute)
    return import_module(name)


def solve(model: cp_model.CpModel, seconds: float, watch: Watch | None = None, **parameters: Any) -> Answer:
    """Solve within a deterministic limit. Interleaved searches in one thread (``interleave_search``) find more, but are
    not reproducible, so they are not used. ``watch`` receives every better answer; ``parameters``: further ones of
    CP-SAT."""
    cp_model = load_cp_model()
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.max_deterministic_time = seconds
    solver.parameters.catch_sigint_signal = False  # its handler swallows Ctrl-C and does not restore the previous one
    for name, value in parameters.items():
        setattr(solver.parameters, name, value)
    status = _search(solver, model, None if watch is None else _reporter(watch))
    spent = solver.response_proto.deterministic_time
    # The bound is a float: what exceeds an integer by rounding errors is not rounded up.
    least = solver.best_objective_bound
    bound = ceil(least - 1e-6 - 1e-12 * abs(least)) if status != cp_model.MODEL_INVALID else 0
    values = solver if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None
    return Answer(values, bound, status == cp_model.OPTIMAL, status == cp_model.INFEASIBLE, spent)


def _search(
    solver: cp_model.CpSolver, model: cp_model.CpModel, reporter: cp_model.CpSolverSolutionCallback | None
) -> cp_model.CpSolverStatus:
    """Search in another thread: Python handles Ctrl-C in the main thread only, and not while it runs compiled code."""
    with ThreadPoolExecutor(max_workers=1) as searcher:
        status = searcher.submit(solver.solve, model, reporter)
        try:
            return status.result()
        except BaseException:
            solver.stop_search()
            raise


def _reporter(watch: Watch) -> cp_model.CpSolverSolutionCallback:
    cp_model = load_cp_model()

    class Reporter(cp_model.CpSolverSolutionCallback):  # type: ignore[misc,name-defined]  # it has no types
        def on_solution_callback(self) -> None:
            """Called by CP-SAT."""
            best, bound = self.objective_value, self.best_objective_bound
            gap = (best - bound) / best if best else 0.0
            watch.progress({"solver": int(best), "bound": int(bound), "gap": f"{gap:.1%}"})

    return Reporter()
