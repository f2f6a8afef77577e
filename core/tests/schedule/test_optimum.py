"""The search: what it returns is legal, costs what a replay says, and nothing in its space is cheaper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, permutations, product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st
from match_core.contract.loops import LoopSchedule, Objective, ScheduleRequest, TileLoop
from match_core.contract.scheduling import ScheduleInfeasible
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.schedule.timeline import cost_of
from match_core.validate.schedule import schedule_faults
from match_schedule.bounds import OrderBounds
from match_schedule.choice_bounds import ChoiceBounds
from match_schedule.engine import schedule
from match_schedule.needs import budgets_of
from match_schedule.objective import EnergyUnknownError, score
from match_schedule.optimum import Nodes, Search
from match_schedule.order_sums import OrderSums
from match_schedule.space import TILINGS_MAX, cuts_of
from match_schedule.tables import Tables

from core.tests.schedule.random_layers import assemble, axes, chip, workloads
from core.tests.schedule.simulation import Simulation
from core.tests.schedule.test_timeline import sharp_models
from tests.examples import all_examples, examples

#: Schedules of the spaces that are listed in CI; `make test-slow` lists larger ones too.
SPACE_MAX = 1_000
MANY = settings(max_examples=examples(80), deadline=None, suppress_health_check=list(HealthCheck))


def whole_bytes(workload: Workload) -> int:
    total = sum(coefficient for _, coefficient in workload.scratch)
    for operand in workload.operands:
        elements = int(np.prod([-(-axis.size // axis.round_up) * axis.round_up for axis in operand.axes]))
        total += elements * operand.element_bits // 8 + 16
    return total


def faults_of(request: ScheduleRequest, answer: LoopSchedule) -> tuple[str, ...]:
    budgets = {"near": request.memory_bytes, "home": request.staging_bytes}
    return schedule_faults(
        request.workload, answer, request.unit, request.soc, streamed=request.streamed, budget_bytes=budgets
    )


@st.composite
def requests(draw: st.DrawFn, workload: Workload) -> ScheduleRequest:
    """Any unit, model, objective and budgets."""
    model, store = draw(sharp_models()), draw(st.booleans())
    whole = whole_bytes(workload)
    soc, unit = chip(draw(st.booleans()), store, near_bytes=draw(st.sampled_from([128, 1 << 16])))
    objectives: list[Objective] = ["latency"] if model.energy is None else ["latency", "energy", "edp"]
    return ScheduleRequest(
        soc,
        unit,
        "p",
        workload,
        model,
        whole * draw(st.integers(5, 100)) // 100,
        draw(st.sampled_from(objectives)),
        tuple(o.name for o in workload.operands if o.role == "constant" and store),
        whole * draw(st.integers(10, 100)) // 100,
    )


@st.composite
def tiny(draw: st.DrawFn) -> Workload:
    """Layers whose whole space can be listed: products of matrices, and rows of windows."""
    n, k, c = draw(st.integers(1, 5)), draw(st.integers(1, 5)), draw(st.integers(1, 3))
    accumulates = draw(st.booleans())
    dims = (Dim("N", n), Dim("K", k), Dim("C", c, tileable=accumulates))
    source = Operand("x", "input", axes(("N", n), ("C", c)))
    if draw(st.booleans()):
        taps = draw(st.integers(2, 3))
        dims = (*dims, Dim("F", taps, tileable=False))
        rows = Axis("n", n + taps - 1 - draw(st.integers(0, 1)), (("N", 1), ("F", 1)), 0)
        source = Operand("x", "input", (rows, *axes(("C", c))))
    operands = (
        source,
        Operand("w", "constant", axes(("K", k), ("C", c)), draw(st.sampled_from([8, 32]))),
        Operand("y", "output", axes(("N", n), ("K", k)), draw(st.sampled_from([8, 32]))),
    )
    return Workload("tiny", dims, operands, 0, accumulates=accumulates)


@MANY
@given(data=st.data(), workload=workloads())
def test_schedules_are_legal_and_cost_what_their_events_say(data: st.DataObject, workload: Workload) -> None:
    request = data.draw(requests(workload))
    answer = schedule(request)
    event(f"{type(answer).__name__}, streamed: {bool(request.streamed)}")
    if isinstance(answer, ScheduleInfeasible):
        assert answer.need_bytes > answer.have_bytes
        return
    event(f"loops: {len(answer.loops)}, two buffers: {any(p.buffers == 2 for p in answer.placements)}")
    assert faults_of(request, answer) == ()
    simulation = Simulation(request, answer.loops, answer.placements)
    assert answer.cost.total_cycles == simulation.run() + 50
    if request.cost_model.energy is not None:
        assert answer.cost.energy_pj == pytest.approx(simulation.energy)
    assert schedule(request) == answer


@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), workload=workloads())
def test_bounds_are_never_above_the_cost(data: st.DataObject, workload: Workload) -> None:
    request = data.draw(requests(workload))
    assert request.unit.memory is not None
    budgets = budgets_of(request, request.unit.memory)
    tables = Tables(request, cuts_of(workload))
    order = tuple(data.draw(st.permutations(range(len(tables.cuts)))))[: data.draw(st.integers(0, 3))]
    bounds = OrderBounds(OrderSums(tables, order), budgets)
    where = np.nonzero(bounds.fits)
    if where[0].size == 0:
        return
    pick = data.draw(st.integers(0, where[0].size - 1))
    tiling = tuple(index[pick : pick + 1] for index in where)
    nodes = Nodes(bounds, np.zeros(1), tiling)
    search = Search(tables, request.unit.memory, budgets)
    for sums, rows, lower in search.choices(nodes):
        for row in range(0, lower.size, max(1, lower.size // 40)):
            search.best = None
            search.replay_row(sums, rows, row)
            assert search.best is not None
            cost = search.best.cost
            assert lower[row] <= search.best.rank[0] * (1 + 1e-9)
            assert bounds.cycles()[tuple(index[0] for index in tiling)] + 50 <= cost.total_cycles
            if request.objective != "latency":
                energy = float(ChoiceBounds(sums).energy(rows)[row])
                assert energy == pytest.approx(cost.energy_pj)
                assert bounds.energy()[tuple(index[0] for index in tiling)] <= energy * (1 + 1e-9)


def test_energy_needs_figures(lab: SimpleNamespace) -> None:
    request = replace(lab.request_for(lab.add(), 1 << 16), objective="energy")
    with pytest.raises(EnergyUnknownError, match="no energy figures"):
        schedule(request)


def natural(names: set[str], loops: tuple[TileLoop, ...]) -> int:
    return max((place + 1 for place, loop in enumerate(loops) if loop.dim in names), default=0)


def every_schedule(request: ScheduleRequest) -> Iterator[LoopSchedule]:
    """Each tiling of the space in each order, with all depths and buffers, be they legal or not."""
    workload = request.workload
    cuts = cuts_of(workload)
    for tiling in product(*(cut.tiles for cut in cuts)):
        pairs = zip(cuts, tiling, strict=True)
        loops = [TileLoop(cut.dim.name, cut.dim.size, tile) for cut, tile in pairs if tile < cut.dim.size]
        for order in permutations(loops):
            choices = []
            for operand in workload.operands:
                names = {name for axis in operand.axes for name, _ in axis.terms}
                depths = range(natural(names, order) + 1)
                doubled = (1,) if request.cost_model.overlap == "none" else (1, 2)
                memory = request.unit.memory_of(operand.name, operand.role)
                ways = [[(operand, memory, d, b)] for d in depths for b in doubled if d or b == 1]
                if operand.name in request.streamed:
                    home = request.soc.home
                    ways = [
                        [(operand, home, outer, 2 if outer else 1), *way]
                        for way in ways
                        for outer in range(way[0][2] + 1)
                    ]
                choices.append(ways)
            for placements in product(*choices):
                yield assemble(workload, request.soc, request.unit, order, [p for way in placements for p in way])


@settings(max_examples=examples(40, fewest=14), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_nothing_in_the_space_is_better(data: st.DataObject) -> None:
    workload = data.draw(tiny())
    request = data.draw(requests(workload))
    wait = data.draw(st.sampled_from([0, 15]))
    request = replace(request, cost_model=replace(request.cost_model, waits=(wait,)))
    listed = list(islice(every_schedule(request), SPACE_MAX + 1))
    assume(len(listed) <= SPACE_MAX or all_examples())
    answer = schedule(request)
    found = []
    for other in every_schedule(request) if len(listed) > SPACE_MAX else listed:
        if not faults_of(request, other):
            cost = cost_of(request, other.loops, dict(other.tile), other.placements)
            found.append(score(request.objective, float(cost.total_cycles), cost.energy_pj or 0.0))
    event(f"feasible: {bool(found)}, {request.objective}, streamed: {bool(request.streamed)}")
    if isinstance(answer, ScheduleInfeasible):
        assert not found
    else:
        energy = answer.cost.energy_pj or 0.0
        assert score(request.objective, float(answer.cost.total_cycles), energy) == pytest.approx(min(found))


def test_reductions_and_whole_dimensions_are_not_cut(lab: SimpleNamespace) -> None:
    assert [cut.dim.name for cut in cuts_of(lab.linear(k=10, c=64))] == ["K"]
    assert [cut.dim.name for cut in cuts_of(lab.conv2d())] == ["K", "OY", "OX"]


def test_bits_that_share_a_byte_are_not_cut(lab: SimpleNamespace) -> None:
    assert [cut.dim.name for cut in cuts_of(lab.linear(k=10, c=3, bits=4))] == []
    assert [cut.dim.name for cut in cuts_of(lab.linear(k=10, c=4, bits=4))] == ["K"]
    answer = schedule(lab.request_for(lab.linear(k=10, c=4, bits=4), 100))
    assert {p.operand: p.size_bytes for p in answer.placements}["w"] == 20


def test_tile_sizes_give_every_number_of_steps_and_respect_granularity() -> None:
    from match_schedule.space import _sizes

    for size in range(1, 70):
        for grain in (1, 2, 3, 8):
            sizes = _sizes(Dim("D", size, granularity=grain))
            assert sizes[0] == size
            assert sizes == sorted(set(sizes), reverse=True)
            assert all(tile % grain == 0 or tile == size for tile in sizes)
            possible = {-(-size // tile) for tile in range(grain, size + grain, grain)}
            assert {-(-size // tile) for tile in sizes} == possible


def test_the_number_of_tilings_is_bounded(lab: SimpleNamespace) -> None:
    cuts = cuts_of(lab.add(c=997, y=509, x=401))
    assert np.prod([len(cut.tiles) for cut in cuts]) <= TILINGS_MAX
    assert all(cut.tiles[0] == cut.dim.size and cut.tiles[-1] == 1 for cut in cuts)


def test_infeasible_tells_the_smallest_need(lab: SimpleNamespace) -> None:
    answer = schedule(lab.request_for(lab.conv2d(k=8, c=4), 50))
    assert isinstance(answer, ScheduleInfeasible)
    # One output position of one channel: 3x3x4 inputs, 3x3x4 weights, a bias, a result.
    assert (answer.need_bytes, answer.have_bytes) == (36 + 36 + 4 + 4, 50)
    refusal = answer.as_refusal("acc", "conv", ("n",))
    assert (refusal.rule, refusal.value) == ("fits l1", "the smallest tile needs 80 bytes of 50")


def test_a_unit_in_place_has_no_loops(lab: SimpleNamespace) -> None:
    request = lab.request_for(lab.add(), 0, unit_memory=None)
    answer = schedule(request)
    assert faults_of(request, answer) == ()
    assert (answer.loops, answer.placements, answer.memory, answer.memory_bytes) == ((), (), None, 0)
    # 6 x 5 x 8 elements in blocks of 4 x 2 x 3, three cycles each, launched once.
    assert answer.cost.compute_cycles == 3 * 2 * 3 * 3
    assert answer.cost.launch_cycles == 10 + 6 // 5
    assert answer.cost.transfer_cycles == 0
    assert answer.cost.model == "test 1"


def test_reductions_are_cut_where_kernels_accumulate(lab: SimpleNamespace) -> None:
    workload = replace(lab.linear(k=10, c=64), accumulates=True)
    assert [cut.dim.name for cut in cuts_of(workload)] == ["K", "C"]
    request = lab.request_for(workload, 20)
    assert isinstance(schedule(replace(request, workload=lab.linear(k=10, c=64))), ScheduleInfeasible)
    answer = schedule(request)
    assert isinstance(answer, LoopSchedule)
    assert "C" in {loop.dim for loop in answer.loops}


def test_divisors_are_left_out_last(lab: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("match_schedule.space.TILINGS_MAX", 100)
    tiles = [cut.tiles for cut in cuts_of(lab.add(c=96, y=7, x=1))]
    assert np.prod([len(sizes) for sizes in tiles]) <= 100
    assert {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 96} <= set(tiles[-1])


def test_constants_are_streamed_through_the_home_memory(lab: SimpleNamespace) -> None:
    workload = lab.linear(k=64, c=64)
    soc, unit = chip(False, True)
    request = ScheduleRequest(soc, unit, "p", workload, lab.model(), 1 << 16, "latency", ("w",), 1 << 16)
    answer = schedule(request)
    assert isinstance(answer, LoopSchedule)
    assert answer.streamed("home") == ("w",)
    assert answer.bytes_in("home") >= 64
    tight = schedule(replace(request, staging_bytes=200))
    assert isinstance(tight, LoopSchedule)
    assert tight.bytes_in("home") <= 200
    none = schedule(replace(request, staging_bytes=100))
    assert none == ScheduleInfeasible("home", 128, 100, (("K", 1), ("C", 64)))
