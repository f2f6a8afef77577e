"""Candidates that concurrent programs leave out, because another unit is a hundred times faster."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from match_core.contract.mapping import Assignment
from match_core.deploy.slow import SLOW, are_needed, too_slow


def _offers(lab: SimpleNamespace, cycles: dict[str, tuple[int, ...]]) -> list[Assignment]:
    """For each node one candidate per number of cycles, on units u0, u1 and so on."""
    model = lab.model_of({name: ["in"] for name in cycles}, {})
    made: list[Assignment] = []
    for whole, name in zip(lab.mapping_of(model).assignments, cycles, strict=True):
        for number, spent in enumerate(cycles[name]):
            candidate = replace(whole.candidate, index=len(made), unit=f"u{number}")
            cost = replace(whole.schedule.cost, compute_cycles=spent)
            made.append(Assignment(candidate, replace(whole.schedule, cost=cost)))
    return made


def test_only_units_that_are_far_slower_than_the_best_are_left_out(lab: SimpleNamespace) -> None:
    offered = _offers(lab, {"a": (10, 10 * SLOW, 10 * SLOW + 1), "b": (10**9,), "c": (0, SLOW, SLOW + 1)})
    assert [(c.node_names, c.unit) for c in too_slow(offered, ())] == [(("a",), "u2"), (("c",), "u2")]


def test_what_the_sequential_program_uses_stays(lab: SimpleNamespace) -> None:
    """Its fast candidate may not have fitted the memory."""
    offered = _offers(lab, {"a": (10, 10**6), "b": (10, 10**6)})
    assert [candidate.node_names for candidate in too_slow(offered, offered[1:2])] == [("b",)]


def test_slow_units_stay_if_the_fast_one_does_not_fit(lab: SimpleNamespace) -> None:
    offered = _offers(lab, {"a": (10, 10**6), "b": (10, 10**6)})
    slow = too_slow(offered, ())
    assert [candidate.unit for candidate in slow] == ["u1", "u1"]
    assert not are_needed(slow, [offered[0], offered[2]])
    assert are_needed(slow, [offered[0]])
    assert not are_needed((), [])
