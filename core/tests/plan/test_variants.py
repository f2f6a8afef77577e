"""The ways in which tasks could run, from a scheduler that answers by formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from match_core.contract.cost import Cost
from match_core.contract.hardware import Memory
from match_core.contract.loops import LoopSchedule, Placement
from match_core.contract.scheduling import ScheduleInfeasible
from match_core.contract.workload import Axis, Operand, Workload
from match_core.map.objective import WEIGHTINGS
from match_core.plan.streaming import Variant
from match_core.plan.variants import variants_of

#: The home memory's bytes; staging areas are asked for in halves, eighths and 32nds of them.
HOME = 3200
WORKLOAD = Workload("test", (), (Operand("w", "constant", (Axis("k", 2000),)), Operand("s", "constant", ())), 0)


@dataclass
class Scheduler:
    """Streams through as much staging as it may, ``wanted`` bytes at most and ``least`` at least; more is faster."""

    soc: Any
    wanted: int = HOME
    least: int = 0
    asked: list[tuple[str, int]] = field(default_factory=list)

    def can_stream(self, candidate: Any) -> bool:
        return candidate.unit != "host"

    def streamed_request(self, candidate: Any, staging_bytes: int) -> tuple[str, int]:
        return candidate.unit, staging_bytes

    def answers(self, requests: Sequence[tuple[str, int]]) -> list[LoopSchedule | ScheduleInfeasible]:
        self.asked += requests
        return [self._answer(unit, budget) for unit, budget in requests]

    def _answer(self, unit: str, budget: int) -> LoopSchedule | ScheduleInfeasible:
        used = min(budget, self.wanted)
        if used < self.least:
            return ScheduleInfeasible("l2", self.least, budget)
        cost = Cost(compute_cycles=(20 if unit == "fast" else 30) + (HOME - used) // 100)
        placements = (Placement("w", "l2", 0, 0, used), Placement("w", "l1", 0, 0, 8))
        return LoopSchedule((), (), placements, 0, 0, "l1", (("l1", 8), ("l2", used)), cost)


@pytest.fixture
def task(lab):
    """(mapping, offered): one layer that the fast unit runs best while its constants are resident."""
    model = lab.model_of({"a": ["in"]}, {})
    mapping = lab.mapping_of(model)
    (first,) = mapping.assignments
    resident = replace(first.schedule, memory="l1", cost=Cost(compute_cycles=10))
    offered = [
        replace(first, candidate=replace(first.candidate, unit=unit, workload=WORKLOAD), schedule=resident)
        for unit in ("fast", "slow", "host")
    ]
    return replace(mapping, assignments=(offered[0],)), offered


def soc_of(lab):
    return replace(lab.soc_of(), memories=(Memory("l1", 1, 64), Memory("l2", 2, HOME)))


def test_every_unit_is_asked_with_less_and_less(lab, task) -> None:
    scheduler = Scheduler(soc_of(lab))
    found = variants_of(*task, scheduler, WEIGHTINGS["latency"])
    assert scheduler.asked == [(unit, budget) for budget in (1600, 400, 100) for unit in ("fast", "slow")]
    resident, *streamed = found.costs[0]
    assert resident == Variant(10, 2001, 0)
    assert streamed == [Variant(36, 1, 1600), Variant(48, 1, 400), Variant(51, 1, 100)], "the slow unit is never better"
    assert [a.candidate.unit for a in found.assignments[0]] == ["fast"] * 4
    assert found.smallest() == (3,)
    assert found.pick((2,))[0].schedule.bytes_in("l2") == 400


def test_what_needs_less_is_not_asked_again(lab, task) -> None:
    scheduler = Scheduler(soc_of(lab), wanted=300)
    assert [v.staging_bytes for v in variants_of(*task, scheduler, WEIGHTINGS["latency"]).costs[0]] == [0, 300]
    assert [budget for _, budget in scheduler.asked] == [1600] * 2


def test_what_needs_more_has_no_smaller_variants(lab, task) -> None:
    scheduler = Scheduler(soc_of(lab), least=1000)
    assert [v.staging_bytes for v in variants_of(*task, scheduler, WEIGHTINGS["latency"]).costs[0]] == [0, 1600]
    assert [budget for _, budget in scheduler.asked] == [1600] * 2 + [400] * 2


def test_a_task_of_the_host_stays_as_it_is(lab) -> None:
    mapping = lab.mapping_of(lab.model_of({"a": ["in"]}, {}))
    scheduler = Scheduler(soc_of(lab))
    found = variants_of(mapping, mapping.assignments, scheduler, WEIGHTINGS["latency"])  # type: ignore[arg-type]
    assert found.assignments == (mapping.assignments,)
    assert scheduler.asked == []
