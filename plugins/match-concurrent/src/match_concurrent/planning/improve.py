"""Improves plans by constraint solving within the effort limit: all jobs together in small graphs, consecutive windows
of jobs in large ones. The best draft so far is always available."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from match_core.contract.mapping import SolverStatus

from match_concurrent.planning.answers import Answers
from match_concurrent.planning.bounds import lower_bound
from match_concurrent.planning.heuristic import drafts_of
from match_concurrent.planning.joint import JointModel
from match_concurrent.planning.moves import moved_jobs
from match_concurrent.planning.orders import Order, low_memory, orders
from match_concurrent.planning.pack import free_times
from match_concurrent.planning.scope import scope_of
from match_concurrent.planning.timing import Known, shortest

if TYPE_CHECKING:
    from match_concurrent.planning.draft import Draft
    from match_concurrent.planning.planning_effort import PlanOptions
    from match_concurrent.planning.problem import Problem

#: The share of the effort for a small graph that orders jobs without memory, which also gives the bound; in which parts
#: of it, of which each begins with the result of the one before, while that helps: most is found at once (Whisper's
#: encoder on ITA, the same order in a fifth of the time of four equal parts).
ORDER_PART, ORDER_TURNS = 0.4, (1 / 32, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)
#: Moves of the local search per deterministic second.
TURNS = 200
#: The local search also begins in this number of smaller memories: multiples of the power of two that has so many bits
#: less than the size (6 to 12 % of it). Sizes that differ a little share these, so a little more memory makes programs
#: slower less often.
SMALLER, PART_BITS = 3, 4
#: The share of the effort for a large graph that one window may use.
WINDOW_SECONDS = 0.4
#: Windows move over the order again only if that shortened the program by more than this part.
ROUND_GAIN = 0.001


def improved(
    problem: Problem, draft: Draft, options: PlanOptions, answers: Answers | None = None
) -> tuple[Draft, SolverStatus]:
    """The best draft, and the solver's status with makespan and bound in cycles; ``answers`` of the solver."""
    answers = answers or Answers()
    bound = lower_bound(problem)
    if draft.cycles > bound and options.deterministic_seconds > 0:
        if len(problem.jobs) <= options.window_jobs * 3 // 2:
            draft, bound = _at_once(problem, draft, bound, options.deterministic_seconds, answers)
        else:
            draft = _in_windows(problem, draft, bound, options, answers)
    status = "optimal" if draft.cycles == bound else "feasible"
    return draft, SolverStatus(draft.origin, status, draft.cycles, bound)


def _at_once(problem: Problem, draft: Draft, bound: int, seconds: float, answers: Answers) -> tuple[Draft, int]:
    found, finish, bound, left = _ordered(problem, _order(draft), draft.cycles, bound, seconds, answers)
    draft = min([draft, *_drafts(problem, found)], key=_cycles)
    if draft.cycles <= finish:  # memory delays nothing
        return draft, bound
    more, *_ = _ordered(problem, low_memory(problem), draft.cycles, bound, seconds, answers)
    for kind, capacity in product((tuple(orders(problem).values()), found, more), _capacities(problem.capacity_bytes)):
        if draft.cycles > bound:
            draft = min(draft, _moved(replace(problem, capacity_bytes=capacity), kind, draft, seconds), key=_cycles)
    while draft.cycles > bound and left > 0:
        better, answer = JointModel(problem, draft, left / 2).solve(answers)
        left -= max(answer.seconds, seconds / 8)
        if better is None:
            break
        draft = better
    return draft, bound


def _moved(tight: Problem, found: Sequence[Order], draft: Draft, seconds: float) -> Draft:
    """The result of local search in this memory from the best of these orders; ``draft`` if none fits."""
    start = min(_drafts(tight, found), key=_cycles, default=None)
    return draft if start is None else moved_jobs(tight, start, int(TURNS * seconds))


def _capacities(size_bytes: int) -> tuple[int, ...]:
    """The sizes of memory in which the local search begins: all of it, and the next smaller multiples of a part."""
    part = max(1, 1 << size_bytes.bit_length() >> PART_BITS)
    return (size_bytes, *(part * max(0, (size_bytes - 1) // part - n) for n in range(SMALLER)))


def _drafts(problem: Problem, found: Sequence[Order]) -> list[Draft]:
    return [draft for order in found for draft in drafts_of(problem, order, "constraint solving")]


def _cycles(draft: Draft) -> int:
    return draft.cycles


def _ordered(
    problem: Problem, order: Order, most: int, bound: int, seconds: float, answers: Answers
) -> tuple[list[Order], int, int, float]:
    """Orders jobs without memory: the found orders, the least makespan without memory (at most ``most``), its bound,
    and the effort that is left."""
    left = seconds
    times = free_times(problem, order)
    finish = min(most, _finish(problem, times))
    found: list[Order] = []
    for part in ORDER_TURNS:
        scope = scope_of(problem, order, times, 0, len(order))
        effort = seconds * ORDER_PART * part
        timed = shortest(problem, scope, times, finish, effort, count=False, answers=answers)
        left, bound = left - timed.answer.seconds, max(bound, timed.answer.bound)
        if timed.starts is None:
            break
        order = _as_started(order, timed.starts)
        times = free_times(problem, order)
        found.append(order)
        before, finish = finish, _finish(problem, times)
        if not bound < finish < before:
            break
    return found, finish, bound, left


def _in_windows(problem: Problem, draft: Draft, bound: int, options: PlanOptions, answers: Answers) -> Draft:
    """Windows move over the order by half their size, again while that helps. The model counts bytes if memory has
    already delayed a job."""
    left, size = options.windows_seconds, options.window_jobs
    order, count = _order(draft), "memory" in draft.origin
    place, before = 0, draft.cycles
    times = free_times(problem, order)
    known: Known = {}
    while left > 0 and draft.cycles > bound:
        scope = scope_of(problem, order, times, place, min(len(order), place + size))
        finish = _finish(problem, times)
        effort = min(left, WINDOW_SECONDS)
        timed = shortest(problem, scope, times, finish, effort, count=count, answers=answers, known=known)
        left -= max(timed.answer.seconds, WINDOW_SECONDS / 100)
        if timed.starts is not None:
            order, times = _taken_over(problem, order, times, timed.starts)
        place += size // 2
        if place + size // 2 >= len(order):
            draft = min([draft, *drafts_of(problem, order, "constraint solving in windows")], key=lambda d: d.cycles)
            if before - draft.cycles <= ROUND_GAIN * before:
                break
            place, before = 0, draft.cycles
    return min([draft, *drafts_of(problem, order, "constraint solving in windows")], key=lambda d: d.cycles)


def _taken_over(
    problem: Problem, order: Sequence[int], times: Sequence[tuple[int, int]], starts: dict[int, int]
) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """The order with new starts of some jobs, which stay between the jobs before and after them."""
    moved = iter(sorted(starts, key=lambda n: (starts[n], order.index(n))))
    changed = tuple(next(moved) if number in starts else number for number in order)
    return changed, free_times(problem, changed)


def _finish(problem: Problem, times: Sequence[tuple[int, int]]) -> int:
    """The makespan of jobs at these times."""
    return max(end for _, end in times) + problem.signalling.notify_cycles


def _as_started(order: Order, starts: dict[int, int]) -> Order:
    place = {number: position for position, number in enumerate(order)}
    return tuple(sorted(starts, key=lambda n: (starts[n], place[n])))


def _order(draft: Draft) -> tuple[int, ...]:
    return tuple(step.job for step in draft.layout.steps if step.kind == "job")
