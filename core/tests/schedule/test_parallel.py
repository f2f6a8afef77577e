"""Searching in several processes: the same answers, and what cannot be sent stays here."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import pytest
from match_core.contract.hardware import Link, Memory, Soc, Unit
from match_core.contract.loops import ScheduleRequest
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.schedule import parallel, search
from match_core.schedule.cache import ScheduleCache
from match_core.schedule.parallel import processes_for, search_in_processes
from match_core.schedule.search import Parallel, answers_to
from match_host.cost import HostCostModel
from match_schedule.engine import schedule

MEMORIES = (Memory("l1", 1, 512), Memory("l2", 2, 1 << 20))
SOC = Soc("chip", "", "host", ("host", "acc"), MEMORIES, (Link("dma", "l1", "l2", 8),), "l2")
UNIT = Unit("acc", "a unit", "l1")


@dataclass(frozen=True)
class Local(HostCostModel):
    """A cost model that another process cannot make."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_in, (os.getpid(),)


def _made_in(process: int) -> Local:
    if os.getpid() != process:
        raise ImportError("this cost model is not known here")
    return Local()


@dataclass(frozen=True)
class Figures:
    """Figures behind a read-only view."""

    values: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({"speed": 3}))


def request(size: int, model: Any = None) -> ScheduleRequest:
    axes = (Axis("k", size, (("K", 1),)),)
    operands = (Operand("x", "input", axes), Operand("y", "output", axes))
    workload = Workload("copy", (Dim("K", size),), operands, 0, geometry=(("work_steps", size),))
    return ScheduleRequest(SOC, UNIT, "copy", workload, model or HostCostModel(), 512)


def test_answers_are_those_of_this_process() -> None:
    requests = [request(size) for size in range(100, 1300, 100)]
    found = search_in_processes(requests, 2)
    assert found == tuple(schedule(one) for one in requests)
    assert len({answer.steps for answer in found}) > 1  # type: ignore[union-attr]


def test_what_another_process_cannot_search_is_left() -> None:
    found = search_in_processes([request(300), request(300, Local()), request(300, lambda: None)], 2)
    assert found == (schedule(request(300)), None, None)


def test_without_processes_everything_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError("no semaphores here")

    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", refused)
    assert search_in_processes([request(300), request(400)], 2) == (None, None)


def test_left_requests_are_searched_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "TRIED_SECONDS", 0)
    monkeypatch.setattr(parallel, "SECONDS_MIN", 1e-9)
    requests = [request(200), request(300), request(400, Local()), request(500)]
    asked: list[ScheduleRequest] = []

    def solve(one: ScheduleRequest) -> Any:
        asked.append(one)
        return schedule(one)

    found = answers_to(requests, solve, ScheduleCache(), Parallel(lambda one: one, 2))
    assert found == tuple(schedule(one) for one in requests)
    assert asked == [requests[0], requests[2]]


@pytest.mark.parametrize(
    ("seconds", "jobs", "processes"), [(0, 8, 0), (0.9, 8, 0), (1.9, 8, 1), (2.1, 8, 2), (1000, 4, 4), (1000, 1, 1)]
)
def test_how_many_processes_pay(seconds: float, jobs: int, processes: int) -> None:
    assert processes_for(seconds, jobs) == processes


def test_short_searches_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", lambda *_: pytest.fail("a process was started"))
    requests = [request(size) for size in range(100, 160)]
    found = answers_to(requests, schedule, ScheduleCache(), Parallel(lambda one: one, 2))
    assert found == tuple(schedule(one) for one in requests)


def test_there_are_no_more_than_processors() -> None:
    import os

    assert 1 <= processes_for(10**6, None) <= (os.cpu_count() or 1)


def test_read_only_mappings_can_be_sent() -> None:
    copy = parallel._pickled(replace(request(8), cost_model=Figures()))  # type: ignore[arg-type]
    assert copy is not None
    assert pickle.loads(copy).cost_model == Figures()


def test_an_interrupt_while_processes_start_counts_afterwards() -> None:
    """Else a process that the pool does not know yet outlives what it needs, and says so in a traceback."""
    before, started = signal.getsignal(signal.SIGINT), []
    with pytest.raises(KeyboardInterrupt), parallel._interrupts_afterwards():
        signal.raise_signal(signal.SIGINT)
        started.append("still here")
    assert started == ["still here"]
    assert signal.getsignal(signal.SIGINT) is before
