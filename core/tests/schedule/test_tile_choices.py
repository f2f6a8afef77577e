"""Schedules with a tile size that somebody wants: legal, and the cheapest of them is what the search finds."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.contract.loops import LoopSchedule, ScheduleRequest
from match_core.contract.workload import Workload
from match_core.validate.schedule import schedule_faults
from match_schedule.engine import schedule
from match_schedule.optimum import best_with_tile
from match_schedule.space import cuts_of

from core.tests.schedule.random_layers import chip, workloads
from core.tests.schedule.test_timeline import sharp_models
from tests.examples import examples


@settings(max_examples=examples(30, fewest=10), deadline=None, suppress_health_check=list(HealthCheck))
@given(workloads(), st.data())
def test_the_best_tile_is_the_searchs(workload: Workload, data: st.DataObject) -> None:
    soc, unit = chip(private_weights=data.draw(st.booleans()), store=False)
    assert unit.memory is not None
    budget = data.draw(st.sampled_from((256, 1024, 1 << 20)))
    request = ScheduleRequest(soc, unit, "pattern", workload, data.draw(sharp_models()), budget)
    answer = schedule(request)
    for cut in cuts_of(workload):
        costs = {}
        for tile in cut.tiles:
            found = best_with_tile(request, unit.memory, cut.dim.name, tile)
            if found is not None:
                assert dict(found.tile)[cut.dim.name] == tile
                assert not list(schedule_faults(workload, found, unit, soc, budget_bytes={"near": budget}))
                costs[tile] = found.cost.total_cycles
        if isinstance(answer, LoopSchedule):
            assert min(costs.values()) == answer.cost.total_cycles
            assert costs[dict(answer.tile)[cut.dim.name]] == answer.cost.total_cycles
        else:
            assert costs == {}
