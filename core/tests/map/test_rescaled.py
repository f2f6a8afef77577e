"""Prices of parts with the loops of another size, against the scheduler's own answers."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import pytest
from hypothesis import assume, given, settings
from match_concurrent.mapping import costs as costs_module
from match_concurrent.mapping.cost_table import CostTable
from match_concurrent.mapping.costs import ShareCosts
from match_concurrent.mapping.parts import Part
from match_concurrent.mapping.rescaled import rescaled_cost
from match_concurrent.share import divisible, restricted
from match_core.contract.cost import Cost
from match_core.contract.loops import LoopSchedule, TileLoop
from match_core.contract.workload import Workload
from match_schedule.engine import schedule

from core.tests.map.rows import Price, lab
from core.tests.schedule.conftest import conv2d, linear, request_for
from core.tests.schedule.random_layers import workloads
from tests.examples import examples

LAYERS = [conv2d(32, 16, 24, 24), conv2d(16, 32, 12, 40, stride=2), linear(256, 64)]


@settings(max_examples=examples(60), deadline=None)
@given(workloads())
def test_the_same_size_has_the_same_cost(workload: Workload) -> None:
    request = request_for(workload, 1 << 12)
    found = schedule(request)
    assume(isinstance(found, LoopSchedule) and workload.dims)
    assert isinstance(found, LoopSchedule)
    nested = {loop.dim for loop in found.loops if sum(other.dim == loop.dim for other in found.loops) > 1}
    for dim in {dim.name for dim in workload.dims} - nested:
        cost = rescaled_cost(request, found, dim)
        assert cost is not None and cost.total_cycles <= found.cost.total_cycles


@pytest.mark.parametrize("workload", LAYERS, ids=lambda workload: workload.kind)
def test_parts_cost_about_what_their_own_schedules_do(workload: Workload) -> None:
    ratios = []
    whole = schedule(request_for(workload, 1 << 13))
    assert isinstance(whole, LoopSchedule)
    for kind in divisible(workload):
        for size in range(kind.granularity, kind.size, max(kind.granularity, kind.size // 6)):
            request = request_for(restricted(workload, kind.dim, 0, size), 1 << 13)
            own, cost = schedule(request), rescaled_cost(request, whole, kind.dim)
            assert isinstance(own, LoopSchedule) and cost is not None
            ratios.append(cost.total_cycles / own.cost.total_cycles)
    assert median(ratios) < 1.05
    assert min(ratios) > 0.95


def test_loops_that_cannot_be_scaled_have_no_price() -> None:
    workload = linear(256, 64)
    request = request_for(workload, 1 << 13)
    whole = schedule(request)
    assert isinstance(whole, LoopSchedule)
    (dim,) = (kind.dim for kind in divisible(workload))
    nested = replace(whole, loops=(TileLoop(dim, 256, 64), TileLoop(dim, 64, 16)))
    assert rescaled_cost(request, nested, dim) is None
    assert rescaled_cost(request, replace(whole, memory=None), dim) is None


def test_costs_between_and_beyond_known_sizes() -> None:
    table = CostTable({8: (800, 8.0)})
    assert table.at(4) == (400, 4.0)  # in proportion
    table.keep(4, (500, 5.0))
    assert [table.at(size)[0] for size in (4, 6, 8)] == [500, 650, 800]
    assert table.at(2)[0] == 350  # on the line through the nearest two
    table.keep(6, (900, 9.0))
    assert table.at(12)[0] == 1200  # the line falls: in proportion to the nearest
    assert (table.nearest(5), table.nearest(7), table.nearest(1)) == (6, 8, 4)


@pytest.mark.parametrize(("above", "requested"), [(1.01, False), (1.05, True)])
def test_doubted_prices_are_replaced_by_exact_costs(
    above: float, requested: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A price a little or clearly above the line between exact costs."""
    made = lab({"a": ["in"]}, {"host": Price(0, 9000)}, rows=16, columns=8)
    costs, part = ShareCosts(made.offered, made.scheduler), Part(0, "OY", 0, 8)
    line = costs.cycles(Part(0)) // 2
    monkeypatch.setattr(costs_module, "rescaled_cost", lambda *_: Cost(compute_cycles=round(above * line)))
    made.scheduler.asked.clear()
    assert costs.probe([part], doubted=0.02)
    assert bool(made.scheduler.asked) == requested
    assert costs.cycles(part) == (line if requested else round(above * line))
