from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.schedule.engine import ScheduleCache, schedule, view_schedule
from match_core.schedule.infeasible import ScheduleInfeasible
from match_core.schedule.loops import LoopSchedule, Placement, TileLoop
from match_core.schedule.space import TILINGS_MAX, cuts_of
from match_core.schedule.validate import schedule_faults
from match_core.schedule.workload import Dim, Workload

RELAXED = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def whole_bytes(workload: Workload) -> int:
    total = 0
    for operand in workload.operands:
        elements = 1
        for axis in operand.axes:
            elements *= -(-axis.size // axis.round_up) * axis.round_up
        total += elements * operand.element_bits // 8 + 16
    return total + 4096


@RELAXED
@given(data=st.data())
def test_schedules_of_random_workloads_are_valid_and_their_cost_is_what_replaying_gives(lab, data):
    workload = data.draw(lab.workloads())
    alignment = data.draw(st.sampled_from([1, 4, 16]))
    budget = data.draw(st.integers(1, whole_bytes(workload)))
    request = lab.request_for(workload, budget, alignment)
    answer = schedule(request)
    if isinstance(answer, ScheduleInfeasible):
        assert answer.need_bytes > answer.have_bytes == budget
        again = schedule(lab.request_for(workload, answer.need_bytes, alignment))
        assert isinstance(again, LoopSchedule)
        assert again.memory_bytes <= answer.need_bytes
        return
    assert schedule_faults(workload, answer, budget, alignment) == ()
    compute, launch, transfer = lab.replay_cost(request, answer)
    assert (answer.cost.compute_cycles, answer.cost.launch_cycles) == (compute, launch)
    assert answer.cost.transfer_cycles == transfer
    assert answer.cost.sync_cycles == 100
    assert schedule(request) == answer


def every_schedule(lab, request):
    """All tilings of the space and all orders, built by hand."""
    workload = request.workload
    cuts = cuts_of(workload)
    for tiling in product(*(cut.tiles for cut in cuts)):
        tile = {dim.name: dim.size for dim in workload.dims}
        tile.update({cut.dim.name: size for cut, size in zip(cuts, tiling, strict=True)})
        loops = [
            TileLoop(cut.dim.name, cut.dim.size, size)
            for cut, size in zip(cuts, tiling, strict=True)
            if size < cut.dim.size
        ]
        for order in permutations(loops):
            placements = []
            for operand in workload.operands:
                used = {name for axis in operand.axes for name, _ in axis.terms}
                depth = max((n + 1 for n, loop in enumerate(order) if loop.dim in used), default=0)
                placements.append(Placement(operand.name, "l1", depth, 0, 0))
            yield LoopSchedule(
                tuple(order), tuple(tile.items()), tuple(placements), 0, 0, "l1", 0, schedule(request).cost
            )


@pytest.mark.parametrize(
    ("make", "budget"),
    [
        (lambda lab: lab.conv2d(k=4, c=2, oy=5, ox=4), 130),
        (lambda lab: lab.conv2d(k=6, c=3, oy=4, ox=4, stride=2), 300),
        (lambda lab: lab.depthwise(c=16, oy=5, ox=4), 300),
        (lambda lab: lab.add(c=3, y=5, x=4), 40),
        (lambda lab: lab.linear(k=12, c=7), 60),
    ],
)
def test_the_choice_is_the_cheapest_of_all_that_fit(lab, make, budget):
    workload = make(lab)
    request = lab.request_for(workload, budget)
    answer = schedule(request)
    assert isinstance(answer, LoopSchedule)
    assert answer.loops  # the budget forces a cut
    best = None
    for other in every_schedule(lab, request):
        if working_set(lab, workload, other) <= budget:
            cost = sum(lab.replay_cost(request, other))
            best = cost if best is None else min(best, cost)
    assert answer.cost.total_cycles - answer.cost.sync_cycles == best


def working_set(lab, workload, candidate) -> int:
    from match_core.schedule import geometry

    largest = {operand.name: 0 for operand in workload.operands}
    for starts, sizes, _ in lab.tiles_of(candidate):
        for operand in workload.operands:
            size = int(np.prod(geometry.tile_extents(operand, starts, sizes))) * operand.element_bits // 8
            largest[operand.name] = max(largest[operand.name], size)
    scratch = geometry.scratch_bytes(workload, dict(candidate.tile))
    return sum(-(-size // 4) * 4 for size in (*largest.values(), scratch))


def test_a_layer_that_fits_is_not_cut(lab):
    answer = schedule(lab.request_for(lab.conv2d(), 1 << 17))
    assert answer.loops == ()
    assert all(placement.depth == 0 for placement in answer.placements)


def test_loop_order_keeps_the_heavier_operand_in_place(lab):
    heavy_weights = lab.conv2d(k=64, c=64, oy=8, ox=8)
    answer = schedule(lab.request_for(heavy_weights, 16000))
    depth = {placement.operand: placement.depth for placement in answer.placements}
    assert answer.loops
    assert depth["w"] < len(answer.loops) or depth["x"] < len(answer.loops)


def test_reductions_and_whole_dimensions_are_not_cut(lab):
    assert [cut.dim.name for cut in cuts_of(lab.linear(k=10, c=64))] == ["K"]
    assert [cut.dim.name for cut in cuts_of(lab.conv2d())] == ["K", "OY", "OX"]


def test_bits_that_share_a_byte_are_not_cut(lab):
    assert [cut.dim.name for cut in cuts_of(lab.linear(k=10, c=3, bits=4))] == []
    assert [cut.dim.name for cut in cuts_of(lab.linear(k=10, c=4, bits=4))] == ["K"]
    answer = schedule(lab.request_for(lab.linear(k=10, c=4, bits=4), 100))
    assert {p.operand: p.size_bytes for p in answer.placements}["w"] == 20


def test_tile_sizes_give_every_number_of_steps_and_respect_granularity():
    from match_core.schedule.space import _sizes

    for size in range(1, 70):
        for grain in (1, 2, 3, 8):
            sizes = _sizes(Dim("D", size, granularity=grain))
            assert sizes[0] == size
            assert sizes == sorted(set(sizes), reverse=True)
            assert all(tile % grain == 0 or tile == size for tile in sizes)
            possible = {-(-size // tile) for tile in range(grain, size + grain, grain)}
            assert {-(-size // tile) for tile in sizes} == possible


def test_the_number_of_tilings_is_bounded(lab):
    cuts = cuts_of(lab.add(c=997, y=509, x=401))
    assert np.prod([len(cut.tiles) for cut in cuts]) <= TILINGS_MAX
    assert all(cut.tiles[0] == cut.dim.size and cut.tiles[-1] == 1 for cut in cuts)


def test_infeasible_tells_the_smallest_need(lab):
    answer = schedule(lab.request_for(lab.conv2d(k=8, c=4), 50))
    assert isinstance(answer, ScheduleInfeasible)
    # One output position of one channel: 3x3x4 inputs, 3x3x4 weights, a bias, a result.
    assert (answer.need_bytes, answer.have_bytes) == (36 + 36 + 4 + 4, 50)
    refusal = answer.as_refusal("acc", "conv", ("n",))
    assert (refusal.rule, refusal.value) == ("fits l1", "the smallest tile needs 80 bytes of 50")


def test_a_unit_in_place_has_no_loops(lab):
    request = lab.request_for(lab.add(), 0, unit_memory=None)
    answer = schedule(request)
    assert schedule_faults(request.workload, answer, 0, 1) == ()
    assert (answer.loops, answer.placements, answer.memory, answer.memory_bytes) == ((), (), None, 0)
    # 6 x 5 x 8 elements in blocks of 4 x 2 x 3, three cycles each, launched once.
    assert answer.cost.compute_cycles == 3 * 2 * 3 * 3
    assert answer.cost.launch_cycles == 10 + 6 // 5
    assert answer.cost.transfer_cycles == 0
    assert answer.cost.model == "test 1"


def test_a_view_costs_nothing(lab):
    workload = lab.add()
    answer = view_schedule(workload)
    assert answer.cost.total_cycles == 0
    assert schedule_faults(workload, answer, 0, 1) == ()


def test_equal_requests_are_answered_once(lab):
    cache = ScheduleCache()
    first = schedule(lab.request_for(lab.conv2d(), 500), cache)
    assert schedule(lab.request_for(lab.conv2d(), 500), cache) is first
    assert cache.hits == 1
    assert schedule(lab.request_for(lab.conv2d(), 501), cache) is not first
    assert schedule(lab.request_for(lab.conv2d(k=7), 500), cache) is not first
    assert schedule(lab.request_for(lab.conv2d(), 500, model=lab.model(version="2")), cache) is not first
    assert len(cache.answers) == 4
