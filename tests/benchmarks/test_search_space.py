"""The references that the engine is compared with: brute force, and the conversion of ZigZag's mappings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from match_core.contract.cost import Overlap
from match_core.contract.loops import LoopSchedule, ScheduleRequest
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.validate.schedule import schedule_faults
from match_schedule.engine import schedule

from benchmarks.brute_force import search
from benchmarks.exhaustive import needless_points, price
from benchmarks.pricing import Pricer
from benchmarks.schedule_space import Space
from benchmarks.zigzag_convert import best_point, schedule_of
from benchmarks.zigzag_problem import lanes_of, problem_of
from core.tests.schedule.random_layers import RandomModel, axes, chip


def convolution(channels: int = 8, size: int = 6, unroll: Sequence[tuple[str, int]] = ()) -> Workload:
    """3x3 with padding 1."""
    window = tuple(Axis(n.lower(), size, ((f"O{n}", 1), (f"F{n}", 1)), 1) for n in "YX")
    k = axes(("K", channels))
    dims = (Dim("K", channels, granularity=2), Dim("C", 4, tileable=False), Dim("OY", size), Dim("OX", size))
    operands = (
        Operand("input", "input", (*window, *axes(("C", 4)))),
        Operand("weight", "constant", (*k, Axis("tap", 36))),
        Operand("addend", "constant", k, 32),
        Operand("output", "output", (*axes(("OY", size), ("OX", size)), *k)),
    )
    taps = (Dim("FY", 3, tileable=False), Dim("FX", 3, tileable=False))
    scratch = ((("OX",), 8),)
    return Workload("conv2d", (*dims, *taps), operands, 0, scratch=scratch, unroll=tuple(unroll))


def request_for(workload: Workload, memory_bytes: int, overlap: Overlap = "all") -> ScheduleRequest:
    soc, unit = chip(private_weights=False, store=False)
    return ScheduleRequest(soc, unit, "p", workload, RandomModel(overlap=overlap), memory_bytes)


@pytest.mark.parametrize("overlap", ["all", "data"])
@pytest.mark.parametrize("memory_bytes", [260, 420, 1 << 12])
@pytest.mark.parametrize("splits", [False, True])
def test_brute_force_prices_points_as_the_engine_does(overlap: Overlap, memory_bytes: int, splits: bool) -> None:
    request = request_for(convolution(channels=4 if splits else 8, size=4), memory_bytes, overlap)
    space = Space(request, extra=not splits, splits=splits)
    found = search(request, space, samples=150, seed=1)
    assert found.best is not None
    assert found.points <= space.points()
    assert len(found.samples) > 20
    for point in found.samples:
        assert price(request, point) == point.cycles >= found.best.cycles
    for point in needless_points(request, space, 60, seed=2):
        assert price(request, point) >= found.best.cycles


@pytest.mark.parametrize("memory_bytes", [260, 420, 900])
def test_the_engine_finds_the_least_of_its_space(memory_bytes: int) -> None:
    request = request_for(convolution(), memory_bytes)
    answer = schedule(request)
    assert isinstance(answer, LoopSchedule)
    found = search(request, Space(request, extra=True, splits=False), samples=1, seed=1)
    assert found.best is not None and found.best.cycles == answer.cost.total_cycles


def test_nothing_fits() -> None:
    request = request_for(convolution(), 64)
    assert search(request, Space(request, extra=True, splits=False), samples=1, seed=1).best is None
    assert not isinstance(schedule(request), LoopSchedule)


def test_splits_are_not_neighbours() -> None:
    request = request_for(convolution(channels=4, size=4), 1 << 12)
    nests = list(Space(request, extra=False, splits=True).nests())
    names = [tuple(loop.dim for loop in nest) for nest in nests]
    assert len(set(nests)) == len(nests)
    assert ("OY", "OX", "OY", "OX") in names
    assert not any(first == second for nest in names for first, second in pairwise(nest))


def test_models_with_copies_that_block_are_not_priced() -> None:
    request = request_for(convolution(), 400, "none")
    with pytest.raises(ValueError, match="block"):
        Pricer(request, Space(request, extra=False, splits=False))


class TestZigZag:
    """ZigZag itself is not needed here: its answers are written out."""

    WORKLOAD = convolution(unroll=(("K", 4), ("OX", 2)))
    #: Inner loops first: K 2, OX 3, OY 2, OY 3; weights stay, input and output are cut.
    ORDER = (("K", 2), ("OX", 3), ("OY", 2), ("OY", 3))

    def levels(self, **inside: int) -> dict[str, list[list[tuple[str, int]]]]:
        return {name: [list(self.ORDER[:n]), list(self.ORDER[n:])] for name, n in inside.items()}

    def test_problem(self) -> None:
        request = request_for(self.WORKLOAD, 4096)
        assert lanes_of(self.WORKLOAD) == {"K": 4, "OY": 1, "OX": 2}
        problem = problem_of(request, double_buffered=True, memory_bytes=3000)
        layer, spatial = problem["layer"], problem["mapping"][0]["spatial_mapping"]
        assert dict(zip(layer["loop_dims"], layer["loop_sizes"], strict=True)) == {
            **{"B": 1, "K": 8, "C": 4, "OY": 6, "OX": 6},
            **{"FY": 3, "FX": 3},
        }
        assert layer["padding"] == [[1, 1], [1, 1]]
        assert layer["dimension_relations"] == ["iy=1*oy+1*fy", "ix=1*ox+1*fx"]
        assert spatial == {"D1": ["K, 4"], "D2": ["OX, 2"], "D3": ["C, 4"], "D4": ["FY, 3", "FX, 3"]}
        assert problem["accelerator"]["memories"]["near"]["size"] == 24_000
        assert problem["accelerator"]["memories"]["near"]["force_double_buffering"]

    @pytest.mark.parametrize(
        ("inside", "rows"),
        [({"I": 3, "W": 4, "O": 3}, 2), ({"I": 2, "W": 4, "O": 2}, 1), ({"I": 4, "W": 4, "O": 4}, 6)],
    )
    def test_loops_in_the_home_memory_are_ours(self, inside: dict[str, int], rows: int) -> None:
        request = request_for(self.WORKLOAD, 4096)
        point = best_point(request, self.levels(**inside))
        assert point is not None
        answer = schedule_of(request, point)
        assert schedule_faults(self.WORKLOAD, answer, request.unit, request.soc) == ()
        tile = dict(answer.tile)
        assert tile["OY"] <= rows
        ours = schedule(request)
        assert isinstance(ours, LoopSchedule) and ours.cost.total_cycles <= point.cycles

    def test_operands_keep_their_own_depths(self) -> None:
        request = request_for(self.WORKLOAD, 4096)
        point = best_point(request, self.levels(I=4, W=4, O=2))
        assert point is not None
        depths = {o.name: d for o, (d, _) in zip(self.WORKLOAD.operands, point.choices, strict=True)}
        assert depths["input"] == depths["weight"] == 0 < depths["output"]

    def test_a_mapping_that_does_not_cover_the_layer(self) -> None:
        levels = {name: [[("K", 2)], []] for name in "IWO"}
        with pytest.raises(ValueError, match="do not cover"):
            best_point(request_for(self.WORKLOAD, 4096), levels)
