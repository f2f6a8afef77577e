"""Loops expanded into pieces, and buffers laid out."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from match_core.contract.cost import Cost
from match_core.contract.hardware import Memory, Soc
from match_core.contract.loops import LoopSchedule, Placement, TileLoop
from match_core.contract.workload import Dim, Workload
from match_core.schedule.nest import nest_of, tile_at
from match_schedule.layout import working_bytes_of


@st.composite
def nests(draw: st.DrawFn) -> tuple[TileLoop, ...]:
    """Loops over two dimensions, nested in any way."""
    left = {"A": draw(st.integers(1, 30)), "B": draw(st.integers(1, 30))}
    loops = []
    for dim in draw(st.lists(st.sampled_from("AB"), max_size=5)):
        if left[dim] > 1:
            tile = draw(st.integers(1, left[dim] - 1))
            loops.append(TileLoop(dim, left[dim], tile))
            left[dim] = tile
    return tuple(loops)


@settings(deadline=None)
@given(loops=nests())
def test_pieces_cover_each_index_once_and_in_order(loops: tuple[TileLoop, ...]) -> None:
    nest = nest_of(loops)
    schedule = LoopSchedule(loops, (), (), 0, 0, "near", (), Cost())
    assert nest.steps == schedule.steps
    calls = nest.pieces[-1]
    whole = {loop.dim: loop.size for loop in reversed(loops)}
    found = []
    for step in range(nest.steps):
        starts = {dim: int(values[step]) for dim, values in calls.starts.items()}
        spans = [range(starts[dim], starts[dim] + int(calls.sizes[dim][step])) for dim in whole]
        found += list(product(*spans))
    assert sorted(found) == sorted(product(*(range(size) for size in whole.values())))
    for depth in range(len(loops) + 1):
        first = nest.first_steps(depth)
        # A piece of some depth begins exactly where one of the loops outside of it goes on.
        begins = [step for step in range(nest.steps) if calls.level[step] < depth]
        assert list(first) == begins


def test_two_loops_over_one_dimension_with_remainders() -> None:
    nest = nest_of([TileLoop("A", 10, 4), TileLoop("A", 4, 3)])
    assert list(nest.pieces[1].starts["A"]) == [0, 4, 8]
    assert list(nest.pieces[2].starts["A"]) == [0, 3, 4, 7, 8]
    assert list(nest.pieces[2].sizes["A"]) == [3, 1, 3, 1, 2]
    assert list(nest.pieces[2].level) == [-1, 1, 0, 1, 0]
    assert tile_at([TileLoop("A", 10, 4), TileLoop("A", 4, 3)], 1, {"A": 10, "B": 2}) == {"A": 4, "B": 2}


def test_buffers_lie_aligned_one_behind_the_other() -> None:
    memories = (Memory("near", 1, 1 << 10, 16), Memory("weights", 1, 1 << 10, 8), Memory("home", 2, 1 << 20, 4))
    soc = Soc("chip", "", "host", ("host",), memories, (), "home")
    workload = Workload("w", (Dim("A", 3),), (), 0, scratch=((("A",), 5),))
    placements = (
        Placement("x", "near", 0, 99, 10, 2),
        Placement("w", "home", 0, 99, 6),
        Placement("w", "weights", 0, 99, 6, 2),
        Placement("y", "near", 0, 99, 10),
    )
    layout = working_bytes_of(soc, "near", workload, {"A": 3}, placements)
    assert [(p.offset_bytes, p.size_bytes) for p in layout.placements] == [(0, 16), (0, 6), (0, 8), (32, 10)]
    assert (layout.scratch_offset_bytes, layout.scratch_bytes) == (48, 15)
    assert layout.working_bytes == (("near", 64), ("weights", 16), ("home", 8))
