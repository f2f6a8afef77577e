"""Choosing tasks that stream their constants from the Soc's store, so that everything fits the home memory.

Each task has variants: all constants resident, or the large ones streamed through a staging area that it owns while it
runs. One variant per task is chosen so that the resident constants and the peak of live bytes fit together; among these
choices, the one with the least cost. This is a multiple-choice knapsack whose capacity is shared with the largest
staging area.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from match_core.contract.mapping import SolverStatus
from match_core.cp_sat import load_cp_model, solve

#: CP-SAT's own measure of effort, which does not depend on the machine; roughly one second each.
DETERMINISTIC_SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run a task: its cost, the bytes of its constants that stay in the home memory, and the bytes there
    that it requires while it runs."""

    cost: int
    constant_bytes: int
    staging_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Streaming:
    """The variant of each task, and how it was chosen (objective and bound in the unit of the costs)."""

    chosen: tuple[int, ...]
    solver: SolverStatus


@dataclass(frozen=True, slots=True)
class Problem:
    """``tasks``: the variants of each task, at least one; ``live_bytes``: bytes that live in the home memory while each
    task runs, without staging; ``capacity_bytes``: of the home memory."""

    tasks: tuple[tuple[Variant, ...], ...]
    live_bytes: tuple[int, ...]
    capacity_bytes: int

    def bytes_of(self, chosen: Sequence[int]) -> int:
        """Bytes of the home memory that a choice requires."""
        variants = [task[index] for task, index in zip(self.tasks, chosen, strict=True)]
        peak = max((live + v.staging_bytes for live, v in zip(self.live_bytes, variants, strict=True)), default=0)
        return peak + sum(variant.constant_bytes for variant in variants)

    @property
    def least_bytes(self) -> int:
        """A lower bound of the bytes of any choice."""
        constants = sum(min(variant.constant_bytes for variant in task) for task in self.tasks)
        areas = (min(variant.staging_bytes for variant in task) for task in self.tasks)
        return constants + max((live + area for live, area in zip(self.live_bytes, areas, strict=True)), default=0)

    def cost_of(self, chosen: Sequence[int]) -> int:
        """The sum of the costs."""
        return sum(task[index].cost for task, index in zip(self.tasks, chosen, strict=True))


def choose_streaming(problem: Problem) -> Streaming | None:
    """The cheapest choice that fits; None if none does (or none was found). Deterministic."""
    if problem.least_bytes > problem.capacity_bytes:
        return None
    start = _greedy(problem)
    bound = sum(min(variant.cost for variant in task) for task in problem.tasks)
    if start is not None and problem.cost_of(start) == bound:
        return Streaming(start, SolverStatus("greedy", "optimal", bound, bound))
    return _by_cp_sat(problem, start, bound)


def _greedy(problem: Problem) -> tuple[int, ...] | None:
    """For each possible peak: the cheapest variants, then exchanged one by one at the least cost per byte of constants,
    until they fit. The best over all peaks."""
    best: tuple[int, tuple[int, ...]] | None = None
    for peak in _peaks(problem):
        chosen = _under_peak(problem, peak)
        if chosen is not None and (best is None or problem.cost_of(chosen) < best[0]):
            best = (problem.cost_of(chosen), chosen)
    return best[1] if best else None


def _peaks(problem: Problem) -> list[int]:
    """Every peak that the busiest task could reach."""
    least = max(problem.live_bytes, default=0)
    tops = {
        live + variant.staging_bytes
        for live, task in zip(problem.live_bytes, problem.tasks, strict=True)
        for variant in task
    }
    return sorted({least, *(top for top in tops if least < top <= problem.capacity_bytes)})


def _under_peak(problem: Problem, peak: int) -> tuple[int, ...] | None:
    allowed = [
        [index for index, variant in enumerate(task) if live + variant.staging_bytes <= peak]
        for live, task in zip(problem.live_bytes, problem.tasks, strict=True)
    ]
    if not all(allowed):
        return None
    chosen = [
        min(indices, key=lambda i: (task[i].cost, i)) for indices, task in zip(allowed, problem.tasks, strict=True)
    ]

    def exchanges(number: int) -> list[tuple[float, int, int, int, int]]:
        task, now = problem.tasks[number], chosen[number]
        freed = {index: task[now].constant_bytes - task[index].constant_bytes for index in allowed[number]}
        return [((task[i].cost - task[now].cost) / freed[i], -freed[i], number, i, now) for i in freed if freed[i] > 0]

    waiting = [exchange for number in range(len(chosen)) for exchange in exchanges(number)]
    heapify(waiting)
    constants = sum(task[index].constant_bytes for task, index in zip(problem.tasks, chosen, strict=True))
    least = max(problem.live_bytes, default=0)  # of any peak: to count the bytes takes as long as many exchanges
    while constants + least > problem.capacity_bytes or problem.bytes_of(chosen) > problem.capacity_bytes:
        while waiting and waiting[0][-1] != chosen[waiting[0][2]]:  # the task was exchanged since
            heappop(waiting)
        if not waiting:
            return None
        _, freed, number, index, _ = heappop(waiting)
        chosen[number], constants = index, constants + freed
        for exchange in exchanges(number):
            heappush(waiting, exchange)
    return tuple(chosen)


def _by_cp_sat(problem: Problem, start: tuple[int, ...] | None, bound: int) -> Streaming | None:
    """CP-SAT on one thread with a fixed seed, started from the greedy choice and falling back to it."""
    cp_model = load_cp_model()
    model = cp_model.CpModel()
    peak = model.new_int_var(0, problem.capacity_bytes, "peak")
    taken = []
    for number, (task, live) in enumerate(zip(problem.tasks, problem.live_bytes, strict=True)):
        variables = [model.new_bool_var(f"t{number}v{index}") for index in range(len(task))]
        model.add_exactly_one(variables)
        for variable, variant in zip(variables, task, strict=True):
            model.add(peak >= live + variant.staging_bytes).only_enforce_if(variable)
        taken.append(variables)
    pairs = [
        pair for variables, task in zip(taken, problem.tasks, strict=True) for pair in zip(variables, task, strict=True)
    ]
    model.add(peak + sum(v.constant_bytes * variable for variable, v in pairs) <= problem.capacity_bytes)
    model.minimize(sum(v.cost * variable for variable, v in pairs))
    if start is not None:
        for variables, index in zip(taken, start, strict=True):
            for other, variable in enumerate(variables):
                model.add_hint(variable, other == index)
    answer = solve(model, DETERMINISTIC_SECONDS)
    if answer.values is None:
        if start is None:
            return None
        return Streaming(start, SolverStatus("greedy", "heuristic", problem.cost_of(start), bound))
    solver = answer.values
    chosen = tuple(next(i for i, variable in enumerate(v) if solver.boolean_value(variable)) for v in taken)
    cost = problem.cost_of(chosen)
    if answer.optimal:
        return Streaming(chosen, SolverStatus("cp-sat", "optimal", cost, cost))
    proven = max(bound, answer.bound)
    return Streaming(chosen, SolverStatus("cp-sat", "feasible", cost, proven))
