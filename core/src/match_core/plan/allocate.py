"""Static allocation: an offset for every block so that blocks that live at the same time do not overlap.

First a portfolio of orders, each placed by first fit and by best fit, then local changes of the best order.
The bytes that live at the same time are a lower bound; a result that reaches it is optimal. CP-SAT runs if the
result does not fit the capacity although the bound does, followed by more local changes if it gives up; and, with
little effort, if the result fits but stays above the bound.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from match_core.contract.mapping import SolverStatus
from match_core.plan.pack_exact import pack
from match_core.plan.packing import Block, Packing, least_span

__all__ = ["Allocation", "Block", "allocate", "tightened"]

#: Rounds of local changes times blocks squared: to use less memory, and to fit at all.
EFFORT = 5_000_000
EFFORT_TO_FIT = 20_000_000
#: Rounds without an improvement after which local changes give up (an estimate; 23 programs kept their bytes).
IDLE_ROUNDS = 1000
#: Where blocks overwrite others, the bound is rarely reached, so only this part of the rounds is spent on it.
SHARED_PART = 10
SEED = 1
#: CP-SAT's effort to reach the bound if the result fits anyway, in its deterministic seconds (at most 2 s of one core),
#: and the maximum number of blocks for which it runs.
TIGHTENING_SECONDS = 0.1
TIGHTENED_BLOCKS_MAX = 250


@dataclass(frozen=True, slots=True)
class Allocation:
    """An offset per block, in their order; the bytes they span; how that was found (objective and bound in bytes)."""

    offsets: tuple[int, ...]
    arena_bytes: int
    solver: SolverStatus


def allocate(
    blocks: Sequence[Block], alignment_bytes: int, capacity_bytes: int | None = None, *, thorough: bool = True
) -> Allocation:
    """Offsets that are multiples of the alignment (a power of two).

    ``capacity_bytes`` should suffice, but the result may require more: the caller compares ``arena_bytes``. A
    ``solver.bound`` above the capacity proves that no allocation fits. ``thorough`` False: without the extra effort to
    fit. Deterministic.
    """
    packing = Packing(blocks, alignment_bytes)
    bound = least_span(blocks, alignment_bytes)
    goal = bound if capacity_bytes is None else max(bound, capacity_bytes)
    name, order, offsets = _best_of_orders(packing, bound)
    if packing.span(offsets) > bound:
        effort = EFFORT // SHARED_PART if any(block.over for block in blocks) else EFFORT
        least = bound if packing.span(offsets) <= goal else goal
        name, offsets = _changed(packing, order, least, effort, name, offsets)
    if thorough and capacity_bytes is not None and bound <= capacity_bytes < packing.span(offsets):
        answer = pack(packing, alignment_bytes, capacity_bytes)
        if answer.offsets is not None:
            name, offsets = "cp-sat", answer.offsets
        elif answer.impossible:
            name, bound = "cp-sat", max(bound, capacity_bytes + alignment_bytes)
        else:
            name, offsets = _changed(packing, order, goal, EFFORT_TO_FIT, name, offsets)
    arena = packing.span(offsets)
    return Allocation(offsets, arena, SolverStatus(name, "optimal" if arena == bound else "heuristic", arena, bound))


def tightened(allocation: Allocation, blocks: Sequence[Block], alignment_bytes: int) -> Allocation:
    """An allocation of these blocks that reaches the bound if CP-SAT finds one soon, else the given one."""
    bound = int(allocation.solver.bound)
    if allocation.arena_bytes <= bound or len(blocks) > TIGHTENED_BLOCKS_MAX:
        return allocation

    answer = pack(Packing(blocks, alignment_bytes), alignment_bytes, bound, TIGHTENING_SECONDS)
    if answer.offsets is None:
        return allocation
    return Allocation(answer.offsets, bound, SolverStatus("cp-sat", "optimal", bound, bound))


def _changed(
    packing: Packing, order: Sequence[int], goal: int, effort: int, name: str, offsets: tuple[int, ...]
) -> tuple[str, tuple[int, ...]]:
    """Name and offsets after local changes, if these span less."""
    changed = _improve(packing, order, goal, effort)
    return ("local changes", changed) if packing.span(changed) < packing.span(offsets) else (name, offsets)


def _best_of_orders(packing: Packing, bound: int) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """(name, order, offsets) of the heuristic with the smallest span, the first of equals."""
    best: tuple[str, tuple[int, ...], tuple[int, ...]] = ("", (), ())
    span: float = inf
    for name, order in _orders(packing).items():
        for best_fit in (False, True):
            offsets = packing.place(order, best_fit=best_fit, end=span)
            if packing.span(offsets) < span:
                best, span = (f"{'best' if best_fit else 'first'} fit by {name}", order, offsets), packing.span(offsets)
            if span == bound:
                return best
    return best


def _orders(packing: Packing) -> dict[str, tuple[int, ...]]:
    blocks, sizes = packing.blocks, packing.sizes
    lives = [block.last - block.first + 1 for block in blocks]
    contention = [sizes[i] + sum(sizes[r] for r in packing.rivals[i]) for i in range(len(blocks))]
    keys: dict[str, list[tuple[int, ...]]] = {
        "size": [(-sizes[i], -lives[i]) for i in range(len(blocks))],
        "area": [(-sizes[i] * lives[i],) for i in range(len(blocks))],
        "life": [(-lives[i], -sizes[i]) for i in range(len(blocks))],
        "contention": [(-contention[i], -sizes[i]) for i in range(len(blocks))],
        "start": [(block.first, -sizes[i]) for i, block in enumerate(blocks)],
        "end": [(-block.last, -sizes[i]) for i, block in enumerate(blocks)],
    }
    if any(block.over for block in blocks):  # each result begins before the input that it overwrites
        keys["size and end"] = [(-sizes[i], -block.last) for i, block in enumerate(blocks)]
    return {name: tuple(sorted(range(len(blocks)), key=lambda i: (*key[i], i))) for name, key in keys.items()}


def _improve(packing: Packing, order: Sequence[int], goal: int, effort: int) -> tuple[int, ...]:
    """Change the order around a block that reaches the top: place it earlier, or a block below it later. Changes that
    do not increase the span are accepted."""
    chance = random.Random(SEED)
    current, offsets = list(order), packing.place(order)
    span, idle = packing.span(offsets), 0
    for _ in range(effort // max(1, len(order) ** 2)):
        if span <= goal or idle == IDLE_ROUNDS:
            break
        tops = [i for i, offset in enumerate(offsets) if offset + packing.sizes[i] == span]
        top = tops[int(chance.random() * len(tops))]
        below = [r for r in packing.rivals[top] if offsets[r] < offsets[top]]
        moved, place = list(current), current.index(top)
        if below and chance.random() < 0.5:
            other = moved.index(below[int(chance.random() * len(below))])
            moved[place], moved[other] = moved[other], moved[place]
        else:
            other = int(chance.random() * (place + 1))
            moved.insert(other, moved.pop(place))
        known = {block: offsets[block] for block in current[: min(place, other)]}
        attempt = packing.place(moved, end=span, known=known)
        reached, idle = packing.span(attempt), idle + 1
        if reached <= span:
            idle = idle if reached == span else 0
            current, offsets, span = moved, attempt, reached
    return offsets
