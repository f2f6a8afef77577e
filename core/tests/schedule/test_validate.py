"""The validator must notice every way to be wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
from match_core.schedule.engine import schedule
from match_core.schedule.loops import LoopSchedule, TileLoop
from match_core.schedule.validate import InvalidScheduleError, schedule_faults, validate_schedule

BUDGET = 260


@pytest.fixture
def good(lab) -> tuple[object, LoopSchedule]:
    workload = lab.conv2d(k=8, c=4, oy=8, ox=8, scratch=(("OX",), 3))
    answer = schedule(lab.request_for(workload, BUDGET))
    assert len(answer.loops) >= 2
    assert schedule_faults(workload, answer, BUDGET, 4) == ()
    return workload, answer


def with_placement(answer: LoopSchedule, operand: str, **changes) -> LoopSchedule:
    placements = tuple(replace(p, **changes) if p.operand == operand else p for p in answer.placements)
    return replace(answer, placements=placements)


def with_tile(answer: LoopSchedule, name: str, size: int) -> LoopSchedule:
    tile = tuple((n, size if n == name else s) for n, s in answer.tile)
    loops = tuple(replace(loop, tile=size) if loop.dim == name else loop for loop in answer.loops)
    return replace(answer, tile=tile, loops=loops)


def faults(good, answer) -> str:
    return "; ".join(schedule_faults(good[0], answer, BUDGET, 4))


def test_a_buffer_that_is_too_small(good):
    size = next(p.size_bytes for p in good[1].placements if p.operand == "x")
    assert "a tile of" in faults(good, with_placement(good[1], "x", size_bytes=size - 1))


def test_overlapping_buffers(good):
    first = min(good[1].placements, key=lambda p: p.offset_bytes)
    assert "overlap" in faults(good, with_placement(good[1], "w", offset_bytes=first.offset_bytes))


def test_a_buffer_over_the_scratch(good):
    assert "overlap" in faults(good, replace(good[1], scratch_offset_bytes=0))


def test_a_buffer_beyond_the_working_set(good):
    assert "ends at" in faults(good, replace(good[1], working_bytes=(("l1", good[1].memory_bytes - 8),)))


def test_a_working_set_beyond_the_memory(good):
    assert "in a memory of" in "; ".join(schedule_faults(*good, good[1].memory_bytes - 1, 4))


def test_misalignment(good):
    offset = next(p.offset_bytes for p in good[1].placements if p.operand == "w")
    assert "not a multiple" in faults(good, with_placement(good[1], "w", offset_bytes=offset + 1))


def test_too_little_scratch(good):
    assert "scratch" in faults(good, replace(good[1], scratch_bytes=good[1].scratch_bytes - 1))


@pytest.mark.parametrize("operand", ["x", "w", "y"])
def test_data_that_is_kept_too_long(good, operand):
    """Loading too far out leaves stale data (or loses results) as soon as an inner loop goes on."""
    depth = next(p.depth for p in good[1].placements if p.operand == operand)
    assert depth > 0
    text = faults(good, with_placement(good[1], operand, depth=depth - 1))
    assert "the kernel" in text


def test_results_that_are_stored_again(lab):
    """A reduction that is cut stores partial results many times."""
    workload = lab.linear(k=4, c=8)
    answer = schedule(lab.request_for(workload, 1000))
    cut = replace(with_tile(answer, "C", 4), loops=(TileLoop("C", 8, 4),))
    cut = with_placement(with_placement(cut, "x", depth=1), "w", depth=1)
    assert "written by two tiles" in "; ".join(schedule_faults(workload, cut, 1000, 4))
    cut = with_placement(cut, "y", depth=1)
    assert "stored 2 times" in "; ".join(schedule_faults(workload, cut, 1000, 4))


def test_results_that_are_missing(lab):
    from match_core.schedule.workload import Axis, Operand, Workload

    workload = lab.linear(k=4, c=8)
    answer = schedule(lab.request_for(workload, 1000))
    wide = Operand("y", "output", (Axis("k", 5, (("K", 1),)),))
    wider = Workload("linear", workload.dims, (*workload.operands[:2], wide), 32)
    assert "4 of 5 elements are stored" in "; ".join(schedule_faults(wider, answer, 1000, 4))


def test_tiles_that_do_not_fit_the_loops(good):
    tile = tuple((n, 3 if n == "OY" else s) for n, s in good[1].tile)
    assert faults(good, replace(good[1], tile=tile))
    assert "without a loop" in faults(good, replace(good[1], loops=good[1].loops[:-1]))
    assert "unknown dimension" in faults(good, replace(good[1], loops=(*good[1].loops, TileLoop("Q", 4, 2))))
    assert "two loops" in faults(good, replace(good[1], loops=(*good[1].loops, good[1].loops[0])))


def test_dimensions_that_may_not_be_cut(lab):
    workload = lab.depthwise(c=16)
    answer = schedule(lab.request_for(workload, 1 << 16))
    cut = replace(with_tile(answer, "C", 4), loops=(TileLoop("C", 16, 4),))
    assert "may not be cut" in "; ".join(schedule_faults(workload, cut, 1 << 16, 4))
    cut = replace(with_tile(answer, "FY", 1), loops=(TileLoop("FY", 3, 1),))
    assert "may not be cut" in "; ".join(schedule_faults(workload, cut, 1 << 16, 4))


def test_placements_that_do_not_correspond(good):
    assert "do not correspond" in faults(good, replace(good[1], placements=good[1].placements[1:]))
    assert "depth 9" in faults(good, with_placement(good[1], "x", depth=9))
    assert "in l9" in faults(good, with_placement(good[1], "x", memory="l9"))


def test_a_schedule_in_place_with_a_working_set(lab):
    workload = lab.add()
    answer = schedule(lab.request_for(workload, 0, unit_memory=None))
    assert "in place" in "; ".join(schedule_faults(workload, replace(answer, working_bytes=(("l1", 4),)), 0, 1))
    assert "whole workload" in "; ".join(schedule_faults(workload, with_tile(answer, "Y", 2), 0, 1))


def test_the_error_lists_the_faults(good):
    validate_schedule(*good, BUDGET, 4)
    with pytest.raises(InvalidScheduleError, match=r"schedule of a conv2d.*scratch"):
        validate_schedule(good[0], replace(good[1], scratch_bytes=0), BUDGET, 4)
