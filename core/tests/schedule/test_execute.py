"""Schedules that are run: what the validator accepts computes the layer, what cannot run it refuses."""

from __future__ import annotations

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from match_core.cost import Overlap
from match_core.hardware import Soc, Unit
from match_core.schedule.loops import LoopSchedule
from match_core.schedule.validate import schedule_faults
from match_core.schedule.workload import Workload

from core.tests.schedule.literal_run import is_right
from core.tests.schedule.random_layers import chip, hand_made, workloads

MANY = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CHIPS = st.tuples(st.booleans(), st.booleans())
OVERLAPS: st.SearchStrategy[Overlap] = st.sampled_from(["all", "data", "none"])


def faults_of(workload: Workload, schedule: LoopSchedule, unit: Unit, soc: Soc) -> tuple[str, ...]:
    streamed = [o.name for o in workload.operands if o.role == "constant"] if soc.store else []
    return schedule_faults(workload, schedule, unit, soc, streamed=streamed)


@MANY
@given(data=st.data(), workload=workloads(), kind=CHIPS, overlap=OVERLAPS, seed=st.integers(0, 99))
def test_a_schedule_is_accepted_exactly_where_it_computes_the_layer(
    data: st.DataObject, workload: Workload, kind: tuple[bool, bool], overlap: Overlap, seed: int
) -> None:
    soc, unit = chip(*kind)
    schedule = data.draw(hand_made(workload, soc, unit, overlap))
    faults = faults_of(workload, schedule, unit, soc)
    event(f"accepted: {not faults}, loops: {len(schedule.loops)}")
    assert is_right(workload, schedule, seed, overlap) == (not faults), faults
