"""Schedules that are run: what the validator accepts computes the layer, what cannot run it refuses."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Literal

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st
from match_core.contract.cost import Overlap
from match_core.contract.hardware import Soc, Unit
from match_core.contract.loops import LoopSchedule, ScheduleRequest
from match_core.contract.workload import Workload
from match_core.validate.schedule import schedule_faults
from match_schedule.engine import schedule

from core.tests.schedule.literal_run import is_right
from core.tests.schedule.literal_steps import steps_of
from core.tests.schedule.random_layers import RandomModel, chip, hand_made, models, up, workloads
from tests.examples import examples

MANY = settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
#: Searches take longer than runs.
SEARCHED = settings(max_examples=examples(80), deadline=None, suppress_health_check=list(HealthCheck))
CHIPS = st.tuples(st.booleans(), st.booleans())
OVERLAPS: st.SearchStrategy[Overlap] = st.sampled_from(["all", "data", "none"])


def constants(workload: Workload, soc: Soc) -> tuple[str, ...]:
    """All constants are streamed where there is a store."""
    return tuple(o.name for o in workload.operands if o.role == "constant") if soc.store else ()


def faults_of(workload: Workload, answer: LoopSchedule, unit: Unit, soc: Soc, **budget: int) -> tuple[str, ...]:
    return schedule_faults(workload, answer, unit, soc, streamed=constants(workload, soc), budget_bytes=budget)


@st.composite
def requests(draw: st.DrawFn) -> ScheduleRequest:
    """Layers on chips with and without memories of their own for weights and stores behind the home memory; memories
    between much too small and more than large enough."""
    workload = draw(workloads())
    lanes = tuple((dim.name, draw(st.integers(2, 4))) for dim in workload.dims if draw(st.integers(0, 3)) == 0)
    whole = sum(up(prod(axis.size + 3 for axis in o.axes) * o.element_bits // 8) for o in workload.operands)
    near, weights, staging = (max(16, whole * draw(st.integers(4, 120)) // 100) for _ in range(3))
    soc, unit = chip(*draw(CHIPS), near_bytes=weights)
    soc = replace(soc, memories=tuple(replace(m, size_bytes=near) if m.name == "near" else m for m in soc.memories))
    return ScheduleRequest(
        soc,
        unit,
        "p",
        replace(workload, unroll=lanes),
        draw(models()),
        near,
        streamed=constants(workload, soc),
        staging_bytes=staging if soc.store else 0,
    )


@MANY
@given(data=st.data(), workload=workloads(), kind=CHIPS, overlap=OVERLAPS, seed=st.integers(0, 99))
def test_a_schedule_is_accepted_exactly_where_it_computes_the_layer(
    data: st.DataObject, workload: Workload, kind: tuple[bool, bool], overlap: Overlap, seed: int
) -> None:
    soc, unit = chip(*kind)
    answer = data.draw(hand_made(workload, soc, unit, overlap))
    faults = faults_of(workload, answer, unit, soc)
    event(f"accepted: {not faults}, loops: {len(answer.loops)}")
    assert is_right(workload, answer, seed, overlap) == (not faults), faults


@SEARCHED
@given(request=requests(), seed=st.integers(0, 99))
def test_what_the_engine_finds_is_accepted_and_computes_the_layer(request: ScheduleRequest, seed: int) -> None:
    answer = schedule(request)
    event(f"found: {isinstance(answer, LoopSchedule)}, streamed: {bool(request.streamed)}")
    assume(isinstance(answer, LoopSchedule))
    assert isinstance(answer, LoopSchedule)
    event(f"loops: {len(answer.loops)}, double buffers: {any(p.buffers == 2 for p in answer.placements)}")
    budget = {"near": request.memory_bytes, "home": request.staging_bytes}
    assert faults_of(request.workload, answer, request.unit, request.soc, **budget) == ()
    assert answer.steps == len(list(steps_of(request.workload, answer)))
    assert is_right(request.workload, answer, seed, request.cost_model.overlap)


Change = Literal["missing", "small", "deep", "shallow", "tile", "loop", "order", "moved"]


@SEARCHED
@given(data=st.data(), request=requests(), seed=st.integers(0, 99))
def test_a_changed_schedule_is_refused_or_still_right(data: st.DataObject, request: ScheduleRequest, seed: int) -> None:
    answer = schedule(request)
    assume(isinstance(answer, LoopSchedule) and answer.loops)
    assert isinstance(answer, LoopSchedule)
    change: Change = data.draw(
        st.sampled_from(["missing", "small", "deep", "shallow", "tile", "loop", "order", "moved"])
    )
    changed = changed_schedule(data, answer, change)
    assume(changed != answer)
    faults = faults_of(request.workload, changed, request.unit, request.soc)
    event(f"{change}: {'refused' if faults else 'accepted'}")
    if change in ("missing", "tile", "loop"):
        assert faults
    if not faults:
        assert is_right(request.workload, changed, seed, request.cost_model.overlap)


def changed_schedule(data: st.DataObject, answer: LoopSchedule, change: Change) -> LoopSchedule:
    """One thing about a schedule is not as it was."""
    number = data.draw(st.integers(0, len(answer.placements) - 1))
    place = data.draw(st.integers(0, len(answer.loops) - 1))
    placement, loop = answer.placements[number], answer.loops[place]
    before, after = answer.placements[:number], answer.placements[number + 1 :]
    if change == "missing":
        return replace(answer, placements=(*before, *after))
    if change in ("tile", "loop", "order"):
        loops = (*answer.loops[:place], *answer.loops[place + 1 :])
        if change == "tile":
            loops = (*answer.loops[:place], replace(loop, tile=loop.tile + 1), *answer.loops[place + 1 :])
        elif change == "order":
            loops = (*answer.loops[place:], *answer.loops[:place])
        return replace(answer, loops=loops)
    if change == "small":
        placement = replace(placement, size_bytes=placement.size_bytes - data.draw(st.integers(1, 4)))
    elif change == "moved":
        placement = replace(placement, offset_bytes=placement.offset_bytes - data.draw(st.integers(1, 8)))
    else:
        placement = replace(placement, depth=placement.depth + (1 if change == "deep" else -1))
    return replace(answer, placements=(*before, placement, *after))


@pytest.mark.parametrize("overlap", ["all", "data", "none"])
def test_double_buffers_are_found_only_where_copies_run_beside_kernels(overlap: Overlap) -> None:
    """A guard for the tests above: the engine's answers have loops and, where that pays, two buffers."""
    soc, unit = chip(False, False)
    from core.tests.schedule.test_validate import convolution

    model = RandomModel(launch=0, command=0, overlap=overlap)
    answer = schedule(ScheduleRequest(soc, unit, "p", convolution(), model, 900))
    assert isinstance(answer, LoopSchedule) and answer.loops
    assert any(p.buffers == 2 for p in answer.placements) == (overlap != "none")
