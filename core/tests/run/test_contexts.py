"""Contexts on the twin: order of virtual time, signalling, orders that are as bad as they may be, threads."""

from __future__ import annotations

import json

import pytest

from core.tests.run.scenario_runs import Scenarios

#: Two blocks of 64 bytes, of which the producer makes 1s and 2s: what the consumer must find.
SUM = "192"


def test_the_one_whose_time_is_smallest_goes_on(scenarios: Scenarios) -> None:
    """Steps end at 10, 20, 30, 40 and at 25, 50, 75, 100; the host joins at the latest end."""
    assert scenarios.run("eager", "in_order_of_time").splitlines() == ["10 10 25 10 10 25 25 25 ", "100"]


def test_a_shared_link_is_taken_in_the_order_of_time(scenarios: Scenarios) -> None:
    """Wanted at 50 and at 20, for 100 cycles each: the later one waits until 120."""
    assert scenarios.run("eager", "link_in_order") == "220 120 220"


def test_signalling_costs_what_the_soc_says(scenarios: Scenarios) -> None:
    """post 5, wake 11, notify 7, task 3 cycles. The producer begins at 5 + 11 and is done at 116 and at 119 + 100; the
    host knows at 219 + 7 and posts until 231, the consumer begins at 231 + 11."""
    records = [json.loads(line) for line in scenarios.run("eager", "needs_two").splitlines()[1:]]
    work = [(r["context"], r["node"], r["start"], r["end"]) for r in records if r.get("kind") == "work"]
    assert work == [("producer", 0, 16, 116), ("producer", 1, 119, 219), ("consumer", 2, 242, 272)]
    assert [r["now"] for r in records if "now" in r] == [272 + 7, 219 + 3, 272 + 3]


@pytest.mark.parametrize("mode", ["eager", "lazy", "lazy:producer", "lazy:consumer", "lazy:host", "threads:1"])
def test_a_program_with_all_needs_is_right_in_every_order(scenarios: Scenarios, mode: str) -> None:
    assert scenarios.run(mode, "needs_two").splitlines()[0] == SUM


@pytest.mark.parametrize("name", ["needs_one", "needs_none"])
def test_a_missing_need_shows_when_its_queue_is_late(scenarios: Scenarios, name: str) -> None:
    assert scenarios.run("lazy:producer", name) != SUM
    assert scenarios.run("lazy:consumer", name) == SUM


def test_a_missing_need_is_a_race_of_threads(scenarios: Scenarios) -> None:
    """Unless the host was so slow that the producer had ended before it looked."""
    assert any("data race" in scenarios.attempt(f"threads:{seed}", "needs_none").stderr for seed in range(1, 6))


@pytest.mark.parametrize(("mode", "ended"), [("hang:producer", "1 0"), ("hang:consumer", "0 1")])
def test_a_unit_that_hangs_ends_in_the_timeout_of_the_program(scenarios: Scenarios, mode: str, ended: str) -> None:
    assert scenarios.run(mode, "needs_two") == f"timeout {ended}"


def test_runs_are_the_same_every_time(scenarios: Scenarios) -> None:
    assert len({scenarios.run("lazy", "needs_two") for _ in range(5)}) == 1


def test_rings_are_not_lost_and_bounded_waits_end(scenarios: Scenarios) -> None:
    """The ring at 70 wakes the host at 70 + 7; the second wait finds it taken, the bounded one ends without a ring."""
    assert scenarios.run("eager", "bells").splitlines() == ["77 0", "1"]
    assert scenarios.run("threads", "bells").splitlines() == ["0 0", "1"]


def test_a_deadlock_is_a_fault_that_names_who_waits(scenarios: Scenarios) -> None:
    message = scenarios.fault("eager", "deadlock")
    assert "deadlock" in message and "host waits for an end" in message and "sleeper waits for a bell" in message


def test_operations_in_flight_belong_to_their_context(scenarios: Scenarios) -> None:
    assert [scenarios.run(mode, "waited") for mode in ("eager", "lazy", "threads")] == ["14"] * 3
    assert scenarios.run("lazy", "unwaited") == str(0xA5)
    assert "data race" in scenarios.attempt("threads", "unwaited").stderr
    assert "copier ended before 1 asynchronous operations" in scenarios.fault("lazy", "forgotten")
    assert "copier ended before 1 asynchronous operations" in scenarios.fault("threads", "forgotten")
    assert "copier says that a task is done before 1" in scenarios.fault("lazy", "done_too_early")
    assert "copier says that a task is done before it has waited for the work" in scenarios.fault("lazy", "owing")


def test_modes_that_do_not_exist_are_faults(scenarios: Scenarios) -> None:
    assert "no queue nobody" in scenarios.fault("lazy:nobody", "needs_two")
    assert "no mode of the twin" in scenarios.fault("sleepy", "needs_two")
