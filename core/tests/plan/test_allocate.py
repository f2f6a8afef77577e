from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_core.plan import allocate as allocate_module
from match_core.plan.allocate import Block, allocate, tightened
from match_core.plan.packing import Packing, live_bytes

from tests.examples import examples

INSTANCES = Path(__file__).parents[4] / "shared/data/minimalloc/benchmarks"

blocks_of_any_kind = st.lists(
    st.builds(
        lambda size, first, length: Block(size, first, first + length),
        st.integers(0, 60),
        st.integers(0, 20),
        st.integers(0, 10),
    ),
    max_size=14,
)


def faults(blocks, allocation, alignment) -> list[str]:
    """Byte by byte: who owns what at each step."""
    found = []
    owner: dict[tuple[int, int], int] = {}
    for number, (block, offset) in enumerate(zip(blocks, allocation.offsets, strict=True)):
        if offset % alignment or offset < 0 or offset + block.size_bytes > allocation.arena_bytes:
            found.append(f"{number} at {offset}")
        for step in range(block.first, block.last + 1):
            for byte in range(offset, offset + block.size_bytes):
                if (step, byte) in owner:
                    found.append(f"{number} and {owner[step, byte]} meet")
                owner[step, byte] = number
    return found


@settings(max_examples=examples(150), deadline=None)
@given(blocks=blocks_of_any_kind, alignment=st.sampled_from([1, 4, 16]))
def test_random_allocations_are_valid(blocks, alignment):
    allocation = allocate(blocks, alignment)
    assert faults(blocks, allocation, alignment) == []
    bound = max(live_bytes(blocks, alignment).values(), default=0)
    assert allocation.solver.bound == bound <= allocation.arena_bytes == allocation.solver.objective
    assert (allocation.solver.status == "optimal") == (allocation.arena_bytes == bound)
    assert allocate(blocks, alignment) == allocation


@settings(max_examples=examples(150), deadline=None)
@given(blocks=blocks_of_any_kind, best_fit=st.booleans(), end=st.integers(0, 120), draw=st.data())
def test_a_placement_from_a_known_beginning_is_the_whole_one_up_to_its_end(blocks, best_fit, end, draw):
    packing, order = Packing(blocks, 1), draw.draw(st.permutations(range(len(blocks))))
    whole = packing.place(order, best_fit=best_fit)
    known = {block: whole[block] for block in order[: draw.draw(st.integers(0, len(blocks)))]}
    assert packing.place(order, best_fit=best_fit, known=known) == whole
    ended = packing.place(order, best_fit=best_fit, end=end)
    if packing.span(whole) <= end:
        assert ended == whole
    else:
        assert packing.span(ended) > end
        assert all(offset in (-1, full) for offset, full in zip(ended, whole, strict=True))


@settings(max_examples=examples(40), deadline=None)
@given(blocks=blocks_of_any_kind.filter(lambda blocks: len(blocks) > 3))
def test_a_capacity_at_the_bound_is_met_or_proven_impossible(blocks):
    bound = max(live_bytes(blocks, 1).values())
    allocation = allocate(blocks, 1, bound)
    assert faults(blocks, allocation, 1) == []
    if allocation.arena_bytes > bound:
        assert allocation.solver.bound > bound


def test_live_bytes_is_the_sum_at_each_beginning():
    blocks = [Block(5, 0, 2), Block(3, 1, 1), Block(9, 3, 3)]
    assert live_bytes(blocks) == {0: 5, 1: 8, 3: 9}
    assert live_bytes(blocks, 4) == {0: 8, 1: 12, 3: 12}


def test_nothing_needs_nothing():
    assert allocate([], 4).arena_bytes == 0


#: (lower, upper, size); 12 bytes live between 3 and 21, so 12 is the bound.
EXAMPLE = [(0, 3, 4), (3, 9, 4), (0, 9, 4), (9, 21, 4), (0, 21, 4)]


def test_a_small_example_reaches_its_bound():
    blocks = [Block(size, lower, upper - 1) for lower, upper, size in EXAMPLE]
    assert allocate(blocks, 1, 12).arena_bytes == 12


CAPACITY = 1 << 20


def test_the_bound_is_reached_where_no_order_finds_it():
    """Seven blocks that first fit places in 24 bytes, in whatever order; 22 are alive at one time."""
    rows = [(2, 1, 4), (9, 7, 9), (8, 1, 5), (6, 6, 9), (6, 3, 6), (1, 1, 3), (7, 5, 9)]
    blocks = [Block(*row) for row in rows]
    placed = allocate(blocks, 1)
    assert (placed.arena_bytes, placed.solver.bound) == (24, 22)
    better = tightened(placed, blocks, 1)
    assert (better.arena_bytes, better.solver.solver, better.solver.status) == (22, "cp-sat", "optimal")
    assert faults(blocks, better, 1) == []
    assert tightened(better, blocks, 1) is better


def published(name: str) -> list[Block]:
    """154 to 454 blocks, of which in most instances as many bytes as the capacity live at once."""
    with (INSTANCES / f"challenging/{name}.{CAPACITY}.csv").open() as file:
        rows = list(csv.DictReader(file))
    return [Block(int(r["size"]), int(r["lower"]), int(r["upper"]) - 1) for r in rows]


def overlapping(blocks: Sequence[Block], offsets: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs that live together and share bytes."""
    return [
        (i, j)
        for i, a in enumerate(blocks)
        for j, b in enumerate(blocks[:i])
        if a.first <= b.last
        and b.first <= a.last
        and offsets[i] < offsets[j] + b.size_bytes
        and offsets[j] < offsets[i] + a.size_bytes
    ]


@pytest.mark.skipif(not INSTANCES.exists(), reason="needs ../shared/data/minimalloc")
def test_cp_sat_is_asked_where_heuristics_do_not_fit(monkeypatch):
    monkeypatch.setattr(allocate_module, "EFFORT_TO_FIT", 100_000)
    blocks = published("B")
    allocation = allocate(blocks, 1024, CAPACITY)
    assert allocation.solver.solver == "cp-sat"
    assert allocation.arena_bytes <= CAPACITY
    assert not overlapping(blocks, allocation.offsets)


def test_what_cannot_fit_is_not_given_to_the_solver(monkeypatch):
    monkeypatch.setitem(sys.modules, "match_core.plan.pack_exact", None)
    allocation = allocate([Block(8, 0, 1), Block(8, 1, 2)], 1, 15)
    assert allocation.arena_bytes == 16


@pytest.mark.slow
@pytest.mark.skipif(not INSTANCES.exists(), reason="needs ../shared/data/minimalloc")
@pytest.mark.parametrize("name", "ABCDEFGHIJK")
def test_published_instances_are_solved_within_their_capacity(name):
    blocks = published(name)
    allocation = allocate(blocks, 1024, CAPACITY)
    assert allocation.arena_bytes <= CAPACITY
    assert not overlapping(blocks, allocation.offsets)
