"""The error for a concurrent program that does not fit its home memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from match_core.contract.errors import InfeasibleError
from match_core.plan.shortage import largest

from match_concurrent.planning.orders import low_memory

if TYPE_CHECKING:
    from match_core.contract.hardware import Memory
    from match_core.contract.mapping import Assignment
    from match_core.contract.model import Model

    from match_concurrent.planning.build import Built
    from match_concurrent.planning.problem import Problem

Sizes = Sequence[tuple[str, int]]


def shortage(
    model: Model, built: Built, assignments: Sequence[Assignment], home: Memory, constants: Sizes, caller_bytes: int
) -> InfeasibleError:
    """MATCH-M001 with the task at which the most bytes must be in the home memory. With a store these are the bytes
    that the task touches (everything else can be swapped); else all live bytes in the order that keeps the fewest bytes
    alive."""
    problem = built.problem
    task, items = _worst(problem)
    peak = sum(problem.size_of(item) for item in items)
    fixed = sum(size for _, size in constants)
    need = peak + fixed + caller_bytes
    reasons = [
        f"it requires {need} bytes, {home.size_bytes} are available: {peak} for activations, {fixed} for constants, "
        f"{caller_bytes} for graph inputs and outputs",
        f"{'together at' if _can_swap(problem) else 'alive at'} this task: {largest(_named(problem, items))}",
    ]
    if need <= home.size_bytes:
        reasons.append("free bytes lie in gaps that are too small, or the store is full")
    if constants:
        reasons.append(f"largest constants: {largest(constants)}")
    over = max(need - home.size_bytes, problem.alignment_bytes)
    help_ = [f"make the tensors of this task {over} bytes smaller: a smaller input, or fewer channels there"]
    if fixed:
        help_.append(f"make the constants {over} bytes smaller: fewer channels, or narrower weights")
    help_.append(f"choose a target whose {home.name} has at least {home.size_bytes + over} bytes")
    return InfeasibleError(
        code="MATCH-M001",
        what=f"the program does not fit memory {home.name}: {over} bytes too many",
        where=_where(model, built, assignments, task),
        why="; ".join(reasons),
        help=tuple(help_),
    )


def _can_swap(problem: Problem) -> bool:
    return problem.link is not None


def _worst(problem: Problem) -> tuple[int, tuple[int, ...]]:
    """The job at which the most bytes must be present, and its items; (-1, ()) if there are no jobs."""
    live: dict[int, tuple[int, ...]] = {}
    alive: dict[int, int] = {}
    left = [len(jobs) for jobs in problem.users()]
    for number in low_memory(problem):
        mine = [item for item in problem.jobs[number].items if problem.items[item].owned]
        alive.update(dict.fromkeys(mine, 0))
        live[number] = tuple(mine) if _can_swap(problem) else tuple(alive)
        for item in mine:
            left[item] -= 1
            if left[item] == 0:
                del alive[item]
    return max(live.items(), key=lambda p: (sum(map(problem.size_of, p[1])), -p[0]), default=(-1, ()))


def _named(problem: Problem, items: Sequence[int]) -> list[tuple[str, int]]:
    return [((problem.items[i].tensors or ("scratch",))[0], problem.items[i].size_bytes) for i in items]


def _where(model: Model, built: Built, assignments: Sequence[Assignment], task: int) -> str:
    if task < 0:
        return model.source or model.name
    candidate = assignments[built.positions[task]].candidate
    sources = ", ".join(repr(name) for name in model.origin(candidate.match.nodes)[:8])
    return f"the most bytes are required at {sources} ({candidate.pattern.name} on {candidate.unit})"
