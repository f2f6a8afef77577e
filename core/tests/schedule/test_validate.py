"""The validator must notice every way to be wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest
from match_core.contract.cost import Cost
from match_core.contract.hardware import Soc, Unit
from match_core.contract.loops import LoopSchedule, Placement, TileLoop
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.validate.schedule import InvalidScheduleError, schedule_faults, validate_schedule

from core.tests.schedule.random_layers import assemble, axes, chip

WEIGHTS = ("w", "b")


def convolution(accumulates: bool = True) -> Workload:
    """3x3, 8 to 8 channels, 8x8 pixels."""
    window = tuple(Axis(n.lower(), 8, ((f"O{n}", 1), (f"F{n}", 1)), 1) for n in "YX")
    dims = (
        Dim("K", 8, granularity=2),
        Dim("OY", 8),
        Dim("OX", 8),
        Dim("C", 8, tileable=accumulates),
        Dim("FY", 3, tileable=False),
        Dim("FX", 3, tileable=False),
    )
    operands = (
        Operand("x", "input", (*window, *axes(("C", 8)))),
        Operand("w", "constant", axes(("K", 8), ("FY", 3), ("FX", 3), ("C", 8))),
        Operand("b", "constant", axes(("K", 8)), 32),
        Operand("y", "output", axes(("OY", 8), ("OX", 8), ("K", 8))),
    )
    return Workload("conv", dims, operands, 0, scratch=((("OX",), 3),), accumulates=accumulates)


def good_schedule(workload: Workload, soc: Soc, unit: Unit) -> LoopSchedule:
    """Four loops, two of them over OY; the weights are streamed, hoisted in the home memory."""
    loops = [TileLoop("OY", 8, 4), TileLoop("K", 8, 4), TileLoop("C", 8, 3), TileLoop("OY", 4, 3)]
    ways: list[tuple[str, str, int, Literal[1, 2]]] = [
        ("x", "near", 3, 2),
        ("w", "home", 2, 2),
        ("w", "weights", 3, 2),
        ("b", "home", 0, 1),
        ("b", "weights", 2, 1),
        ("y", "near", 2, 2),
    ]
    placements = [(workload.operand(name), memory, depth, buffers) for name, memory, depth, buffers in ways]
    return assemble(workload, soc, unit, loops, placements)


WORKLOAD = convolution()
SOC, UNIT = chip(private_weights=True, store=True)
GOOD = good_schedule(WORKLOAD, SOC, UNIT)


def faults(schedule: LoopSchedule, workload: Workload = WORKLOAD) -> str:
    return "; ".join(schedule_faults(workload, schedule, UNIT, SOC, streamed=WEIGHTS))


def placement_of(operand: str, memory: str) -> Placement:
    return next(p for p in GOOD.placements if (p.operand, p.memory) == (operand, memory))


def changed(operand: str, memory: str, /, **changes: object) -> LoopSchedule:
    """The good schedule with another placement."""
    old = placement_of(operand, memory)
    new = replace(old, **changes)  # type: ignore[arg-type]
    return replace(GOOD, placements=tuple(new if p is old else p for p in GOOD.placements))


def looped(*loops: TileLoop, **tile: int) -> LoopSchedule:
    """The good schedule with other loops and tile sizes, its buffers as they were."""
    sizes = tuple((name, tile.get(name, size)) for name, size in GOOD.tile)
    return replace(GOOD, loops=loops, tile=sizes)


def test_the_good_schedule_is_accepted() -> None:
    assert faults(GOOD) == ""
    validate_schedule(WORKLOAD, GOOD, UNIT, SOC, streamed=WEIGHTS)


def test_the_error_lists_all_faults() -> None:
    wrong = replace(changed("x", "near", size_bytes=4), scratch_bytes=0)
    with pytest.raises(InvalidScheduleError, match=r"schedule of a conv on array: .*scratch.*; .*x: "):
        validate_schedule(WORKLOAD, wrong, UNIT, SOC, streamed=WEIGHTS)


class TestLoops:
    def test_tile_without_a_loop(self) -> None:
        assert "K: the tile is 4, its loops leave 8" in faults(replace(GOOD, loops=(*GOOD.loops[:1], *GOOD.loops[2:])))

    def test_tile_that_is_not_the_innermost_piece(self) -> None:
        assert "OY: the tile is 2, its loops leave 3" in faults(looped(*GOOD.loops, OY=2))

    def test_loops_that_do_not_nest(self) -> None:
        inner = TileLoop("OY", 8, 3)
        assert "OY: loop over 8, but 4 are left" in faults(replace(GOOD, loops=(*GOOD.loops[:3], inner)))

    @pytest.mark.parametrize("tile", [0, 8, 9])
    def test_a_loop_that_does_not_cut(self, tile: int) -> None:
        assert f"C: loop in steps of {tile} over 8" in faults(looped(TileLoop("C", 8, tile), C=tile))

    def test_unknown_dimension(self) -> None:
        assert "unknown dimension Q" in faults(replace(GOOD, loops=(*GOOD.loops, TileLoop("Q", 4, 2))))

    def test_tile_that_names_other_dimensions(self) -> None:
        assert "the tile has dimensions" in faults(replace(GOOD, tile=GOOD.tile[1:]))

    def test_dimension_that_kernels_need_whole(self) -> None:
        assert "FY: must not be split into 1 of 3" in faults(looped(*GOOD.loops, TileLoop("FY", 3, 1), FY=1))

    def test_tile_that_is_not_a_multiple_of_the_granularity(self) -> None:
        loops = (GOOD.loops[0], TileLoop("K", 8, 3), *GOOD.loops[2:])
        assert "K: must not be split into 3 of 8" in faults(looped(*loops, K=3))


class TestReductions:
    def test_kernels_that_do_not_add_up(self) -> None:
        dims = tuple(replace(dim, tileable=True) for dim in WORKLOAD.dims)
        assert "y: C is split" in faults(GOOD, replace(WORKLOAD, dims=dims, accumulates=False))

    def test_partial_sums_that_are_stored(self) -> None:
        assert "sums over C are not complete" in faults(changed("y", "near", depth=3))


class TestWays:
    @pytest.mark.parametrize("number", range(len(GOOD.placements)))
    def test_every_placement_is_needed(self, number: int) -> None:
        left = (*GOOD.placements[:number], *GOOD.placements[number + 1 :])
        assert faults(replace(GOOD, placements=left))

    @pytest.mark.parametrize("placement", GOOD.placements, ids=lambda p: f"{p.operand}-{p.memory}")
    def test_no_placement_is_there_twice(self, placement: Placement) -> None:
        assert "its way is" in faults(replace(GOOD, placements=(*GOOD.placements, placement)))

    def test_order_is_from_far_to_near(self) -> None:
        assert "its way is store -> weights -> home" in faults(replace(GOOD, placements=GOOD.placements[::-1]))

    def test_memory_that_the_kernel_does_not_use(self) -> None:
        assert "w: its way is store -> home -> near, kernels use it in weights" in faults(
            changed("w", "weights", memory="near")
        )

    def test_memories_that_no_link_joins(self) -> None:
        soc = replace(SOC, links=SOC.links[:1] + SOC.links[2:])
        found = schedule_faults(WORKLOAD, GOOD, UNIT, soc, streamed=WEIGHTS)
        assert "w: no link connects home and weights" in found

    def test_streamed_operand_that_is_treated_as_at_home(self) -> None:
        at_home = tuple(p for p in GOOD.placements if p.memory != "home")
        assert "w: streamed, but not a constant" in faults(replace(GOOD, placements=at_home))

    def test_operand_at_home_that_is_treated_as_streamed(self) -> None:
        found = schedule_faults(WORKLOAD, GOOD, UNIT, SOC, streamed=("b",))
        assert "w: its way is home -> home -> weights, kernels use it in weights" in found

    def test_streamed_without_a_store(self) -> None:
        found = schedule_faults(WORKLOAD, GOOD, UNIT, replace(SOC, store=None), streamed=WEIGHTS)
        assert any("a constant that passes home from a store" in fault for fault in found)

    def test_depths_that_fall(self) -> None:
        assert "depth 4 in home is more than 3 in weights" in faults(changed("w", "home", depth=4))

    @pytest.mark.parametrize("depth", [-1, 5])
    def test_depths_that_do_not_exist(self, depth: int) -> None:
        assert f"x: depth {depth} of 4 loops" in faults(changed("x", "near", depth=depth))

    def test_number_of_buffers(self) -> None:
        assert "x: 3 buffers in near" in faults(changed("x", "near", buffers=3))
        assert "w: 1 staging buffers at depth 2" in faults(changed("w", "home", buffers=1))
        assert "b: 2 staging buffers at depth 0" in faults(changed("b", "home", buffers=2))

    def test_another_memory_than_the_units(self) -> None:
        assert "kernels use weights" in faults(replace(GOOD, memory="weights"))
        assert "kernels use None" in faults(replace(GOOD, memory=None))

    def test_unknown_operand(self) -> None:
        assert "unknown operand q" in faults(
            replace(GOOD, placements=(*GOOD.placements, Placement("q", "near", 0, 0, 4)))
        )


class TestMemories:
    @pytest.mark.parametrize("placement", GOOD.placements, ids=lambda p: f"{p.operand}-{p.memory}")
    def test_a_buffer_that_is_too_small(self, placement: Placement) -> None:
        text = faults(changed(placement.operand, placement.memory, size_bytes=placement.size_bytes - 4))
        assert f"in a buffer of {placement.size_bytes - 4} in {placement.memory}" in text

    @pytest.mark.parametrize(
        "placement", [p for p in GOOD.placements if p.depth], ids=lambda p: f"{p.operand}-{p.memory}"
    )
    def test_depths_that_hold_more_than_fits(self, placement: Placement) -> None:
        """The loop that is then inside of the depth moves along the operand, for each of them."""
        text = faults(changed(placement.operand, placement.memory, depth=placement.depth - 1))
        assert "in a buffer of" in text

    def test_overlaps(self) -> None:
        assert "y and x overlap" in faults(changed("y", "near", offset_bytes=0))
        second = placement_of("x", "near").size_bytes
        assert "y and x overlap" in faults(changed("y", "near", offset_bytes=second))
        assert "x and scratch overlap" in faults(replace(GOOD, scratch_offset_bytes=0))

    def test_buffers_in_different_memories_do_not_overlap(self) -> None:
        assert placement_of("w", "home").offset_bytes == placement_of("w", "weights").offset_bytes == 0

    def test_misalignment(self) -> None:
        assert "not a multiple of 4" in faults(changed("y", "near", offset_bytes=2))
        size = placement_of("y", "near").size_bytes
        assert "second of two buffers" in faults(changed("y", "near", size_bytes=size + 1))

    def test_offsets_below_zero(self) -> None:
        assert "x: offset -4" in faults(changed("x", "near", offset_bytes=-4))

    def test_beyond_the_working_set(self) -> None:
        less = tuple((name, size - 4) for name, size in GOOD.working_bytes)
        assert "ends at" in faults(replace(GOOD, working_bytes=less))

    def test_beyond_the_memory_or_the_budget(self) -> None:
        near, home = GOOD.bytes_in("near"), GOOD.bytes_in("home")
        small, _ = chip(True, True, near_bytes=near - 1)
        assert any("in near, which has" in f for f in schedule_faults(WORKLOAD, GOOD, UNIT, small, streamed=WEIGHTS))
        exact = {"home": home, "near": near}
        assert schedule_faults(WORKLOAD, GOOD, UNIT, SOC, streamed=WEIGHTS, budget_bytes=exact) == ()
        (found,) = schedule_faults(WORKLOAD, GOOD, UNIT, SOC, streamed=WEIGHTS, budget_bytes={"home": home - 1})
        assert found == f"working set of {home} bytes in home, which has {home - 1}"

    def test_working_bytes_of_other_memories(self) -> None:
        assert "working bytes are stated for" in faults(replace(GOOD, working_bytes=GOOD.working_bytes[1:]))
        assert "working bytes are stated for" in faults(
            replace(GOOD, working_bytes=(*GOOD.working_bytes, ("store", 4)))
        )

    def test_too_little_scratch(self) -> None:
        assert "scratch of 23 bytes, 24 required" in faults(replace(GOOD, scratch_bytes=23))


class TestRuns:
    def test_a_part_that_is_not_one_block(self) -> None:
        """Columns cut inside of a buffer that holds several of them."""
        loops = [TileLoop("OY", 8, 2), TileLoop("OX", 8, 4)]
        workload = convolution()
        ways: list[tuple[str, int]] = [("x", 1), ("w", 0), ("b", 0), ("y", 2)]
        soc, unit = chip(False, False)
        found: list[str] = []
        for name in ("x", "y"):
            depths = {**dict(ways), name: 1, ("y" if name == "x" else "x"): 2}
            placed = [(workload.operand(o), "near", depths[o], 1) for o, _ in ways]
            found += schedule_faults(workload, assemble(workload, soc, unit, loops, placed), unit, soc)  # type: ignore[arg-type]
        assert found == [f"{n}: the part of a kernel call is not one block of the buffer in near" for n in ("x", "y")]

    def test_a_tile_of_padding_only(self) -> None:
        """Two rows of padding, and tiles of one row."""
        x = Operand("x", "input", (Axis("y", 6, (("OY", 1),), 2),))
        workload = Workload("shift", (Dim("OY", 8),), (x, Operand("y", "output", axes(("OY", 8)))), 0)
        soc, unit = chip(False, False)
        placed = [(operand, "near", 1, 1) for operand in workload.operands]
        for tile, wrong in ((1, True), (2, True), (3, False), (4, False)):
            schedule = assemble(workload, soc, unit, [TileLoop("OY", 8, tile)], placed)  # type: ignore[arg-type]
            text = "; ".join(schedule_faults(workload, schedule, unit, soc))
            assert ("no element of axis y" in text) == wrong

    def test_packed_groups_stay_whole(self) -> None:
        w = Operand("w", "constant", (Axis("k", 20, (("K", 1),), round_up=8),))
        workload = Workload("scale", (Dim("K", 20),), (w, Operand("y", "output", axes(("K", 20)))), 0)
        soc, unit = chip(False, False)
        placed = [(operand, "near", 1, 1) for operand in workload.operands]
        for tile, wrong in ((8, False), (16, False), (4, True), (10, True)):
            schedule = assemble(workload, soc, unit, [TileLoop("K", 20, tile)], placed)  # type: ignore[arg-type]
            assert bool(schedule_faults(workload, schedule, unit, soc)) == wrong

    def test_interleaved_results(self) -> None:
        """y[2 * Y + P]: what is written for one P has gaps."""
        axis = Axis("y", 8, (("Y", 2), ("P", 1)))
        operands = (Operand("x", "input", axes(("Y", 4), ("P", 2))), Operand("y", "output", (axis,)))
        workload = Workload("shuffle", (Dim("Y", 4), Dim("P", 2)), operands, 0)
        soc, unit = chip(False, False)
        placed = [(operand, "near", 1, 1) for operand in operands]
        rows = assemble(workload, soc, unit, [TileLoop("Y", 4, 2)], placed)  # type: ignore[arg-type]
        assert schedule_faults(workload, rows, unit, soc) == ()
        phases = assemble(workload, soc, unit, [TileLoop("P", 2, 1)], placed)  # type: ignore[arg-type]
        assert "y: the part of axis y in a kernel call has gaps" in schedule_faults(workload, phases, unit, soc)

    @pytest.mark.parametrize(("size", "fault"), [(5, "4 of 5 elements"), (3, "4 of 3 elements")])
    def test_results_that_are_missing(self, size: int, fault: str) -> None:
        y = Operand("y", "output", (Axis("k", size, (("K", 1),)),))
        workload = Workload("w", (Dim("K", 4),), (Operand("x", "input", axes(("K", 4))), y), 0)
        assert any(fault in found for found in self.in_one_tile(workload))

    def test_results_that_are_made_twice(self) -> None:
        y = Operand("y", "output", (Axis("k", 4, (("A", 1), ("B", 1))),))
        workload = Workload("w", (Dim("A", 2), Dim("B", 2)), (Operand("x", "input", axes(("A", 2))), y), 0)
        assert "y: an element of axis k is computed twice" in self.in_one_tile(workload)

    def test_a_dimension_along_two_axes_of_a_result(self) -> None:
        workload = Workload("w", (Dim("A", 2),), (Operand("y", "output", axes(("A", 2), ("A", 2))),), 0)
        assert "y: a dimension moves along two axes" in self.in_one_tile(workload)

    @pytest.mark.parametrize(("tile", "wrong"), [(1, True), (2, False), (3, True), (4, False)])
    def test_narrow_elements_are_cut_at_bytes(self, tile: int, wrong: bool) -> None:
        """4-bit weights in rows of 5: two rows fill 5 bytes."""
        w = Operand("w", "constant", axes(("K", 7), ("C", 5)), 4)
        dims = (Dim("K", 7), Dim("C", 5, tileable=False))
        workload = Workload("w", dims, (w, Operand("y", "output", axes(("K", 7)))), 0)
        soc, unit = chip(False, False)
        placed = [(operand, "near", 1, 1) for operand in workload.operands]
        schedule = assemble(workload, soc, unit, [TileLoop("K", 7, tile)], placed)  # type: ignore[arg-type]
        larger = tuple(
            replace(p, size_bytes=p.size_bytes + 4, offset_bytes=64 * n) for n, p in enumerate(schedule.placements)
        )
        schedule = replace(schedule, placements=larger, working_bytes=(("near", 128),))
        assert ("inside of a byte" in "; ".join(schedule_faults(workload, schedule, unit, soc))) == wrong

    def in_one_tile(self, workload: Workload) -> tuple[str, ...]:
        soc, unit = chip(False, False)
        placements = tuple(Placement(o.name, "near", 0, 64 * n, 64) for n, o in enumerate(workload.operands))
        tile = tuple((dim.name, dim.size) for dim in workload.dims)
        working = (("near", 64 * len(placements)),)
        return schedule_faults(workload, LoopSchedule((), tile, placements, 0, 0, "near", working, Cost()), unit, soc)


class TestInPlace:
    SCHEDULE = LoopSchedule((), tuple((d.name, d.size) for d in WORKLOAD.dims), (), 0, 0, None, (), Cost())
    HOST = Unit("host", "")

    def test_nothing_to_do(self) -> None:
        assert schedule_faults(WORKLOAD, self.SCHEDULE, self.HOST, SOC) == ()

    def test_loops_or_memory(self) -> None:
        for schedule in (GOOD, replace(self.SCHEDULE, working_bytes=(("near", 4),))):
            assert "in place has loops" in "; ".join(schedule_faults(WORKLOAD, schedule, self.HOST, SOC))

    def test_a_tile_that_is_not_whole(self) -> None:
        part = replace(self.SCHEDULE, tile=(("K", 4), *self.SCHEDULE.tile[1:]))
        assert "not the whole workload" in "; ".join(schedule_faults(WORKLOAD, part, self.HOST, SOC))
