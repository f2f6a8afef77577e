"""Mappings of concurrent programs: what the search finds, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from match_concurrent.mapping import choose as searching
from match_concurrent.mapping.bounds import path_cycles, work_cycles
from match_concurrent.mapping.choose import choose_concurrent
from match_concurrent.mapping.evaluate import Evaluation
from match_concurrent.mapping.hopeless import HOPELESS, HOPELESS_PATH
from match_concurrent.mapping.mapping_effort import ConcurrentOptions
from match_concurrent.mapping.network import Network
from match_concurrent.mapping.parts import Part
from match_core.contract.mapping import Mapping
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.validate.mapping import mapping_faults
from match_map.mapper import choose

from core.tests.map.concurrent_lab import CHAIN, FORK, QUICK, TWO, evaluator_of, mapped, shares
from core.tests.map.rows import Price, lab
from core.tests.map.two_processes import printed_twice

# --- what is found -------------------------------------------------------------------------------------------------


def test_an_operator_is_divided_where_that_pays() -> None:
    made = lab({"a": ["in"]}, TWO, rows=32, columns=8)
    mapping = mapped(made)
    assert {unit for _, unit, *_ in shares(mapping)} == {"fast", "slow"}
    assert mapping.finish_cycles < 0.7 * choose(made.model, made.offered).predicted_cycles


def test_it_is_left_whole_where_starting_a_task_is_dear() -> None:
    dear = {"host": Price(10**6, 1), "fast": Price(10**4, 1), "slow": Price(10**4, 1)}
    assert shares(mapped(lab({"a": ["in"]}, dear, rows=32))) == [("a", "fast", "", 0, 0)]


def test_branches_run_side_by_side() -> None:
    mapping = mapped(lab(FORK, TWO, rows=32, columns=8), parallel="whole")
    units = {node: unit for node, unit, *_ in shares(mapping)}
    assert {units["a"], units["b"]} == {"fast", "slow"}
    assert not any(dim for _, _, dim, *_ in shares(mapping))


def test_the_dimension_is_chosen() -> None:
    """Parts of rows are multiples of all rows but one: only columns are fine enough."""
    made = lab({"a": ["in"]}, TWO, rows=8, columns=32, granularity={"fast": 7, "slow": 7})
    assert {dim for _, _, dim, *_ in shares(mapped(made))} == {"K"}


def test_axes_are_compared_by_size_and_stride() -> None:
    """Eight by eight pixels of eight channels: one unit sees rows and columns, the other one axis of pixels. The second
    axis of the first is no axis of the other, though sizes and numbers are equal."""
    made = lab({"a": ["in"]}, TWO, rows=64, columns=8)
    pixels = made.offered[2].candidate
    sizes = (("OY", 8), ("OX", 8), ("K", 8))
    axes = tuple(Axis(name.lower(), size, ((name, 1),)) for name, size in sizes)
    image = Workload("image", tuple(Dim(*size) for size in sizes), (Operand("out", "output", axes),), 64 * 8 * 8)
    offered = (*made.offered[:1], replace(made.offered[1], candidate=replace(pixels, workload=image, unit="fast")))
    network = Network.of(made.model, (*offered, made.offered[2]), made.offered[:1], by_region=True)
    found = {(along.size, tuple(unit.dim for unit in along.units)) for along in network.along(network.operators[0])}
    assert found == {(8, ("OY",)), (8, ("OX",)), (64, ("OY", "OY")), (8, ("K", "K", "K"))}


def test_a_reader_on_another_unit_starts_on_rows_that_are_ready() -> None:
    """Each operator runs on one unit only: without pipelining nothing overlaps."""
    made = lab({"a": ["in"], "b": ["a"]}, TWO, rows=64, columns=16, halo=1, only={"a": ["fast"], "b": ["slow"]})
    whole, piped = mapped(made, parallel="views"), mapped(made, parallel="pipeline")
    assert len(piped.assignments) > 2
    assert piped.finish_cycles < 0.8 * whole.finish_cycles
    timed = list(zip(piped.assignments, piped.starts, strict=True))
    last = max(start for a, start in timed if a.candidate.unit == "fast")
    assert min(start for a, start in timed if a.candidate.unit == "slow") < last


def test_every_degree_of_freedom_helps() -> None:
    made = lab({"a": ["in"], "b": ["a"], "c": ["b"], "d": ["a", "c"]}, TWO, rows=32, columns=8, halo=1)
    found = [mapped(made, parallel=kind).finish_cycles for kind in ("whole", "tiles", "views", "pipeline")]
    assert found == sorted(found, reverse=True)
    assert found[-1] < found[0]


def test_copies_of_shares_are_paid_by_the_host() -> None:
    made = lab({"a": ["in"]}, TWO, rows=32, columns=8)
    evaluator = evaluator_of(made, parallel="tiles", copy_cycles_per_byte=2.0)
    division = (Part(1, "OY", 0, 16), Part(2, "OY", 16, 16))
    evaluator.costs.confirm(division)
    steps, places = evaluator.steps((division,))
    copies = [step.cycles for number, step in enumerate(steps) if number not in places[0]]
    assert copies == [2 * 16 * 8, 2 * 16 * 8, 2 * 32 * 8]


def test_units_without_a_schedule_for_shares_get_none() -> None:
    mapping = mapped(lab(CHAIN, TWO, rows=32, columns=8, unfit=frozenset({"slow"})))
    assert not [part for part in shares(mapping) if part[1] == "slow" and part[2]]


def test_a_soc_without_signals_is_refused() -> None:
    made = lab(CHAIN, TWO)
    scheduler = replace(made.scheduler, soc=replace(made.scheduler.soc, signalling=None))
    with pytest.raises(ValueError, match="at the same time"):
        mapped(replace(made, scheduler=scheduler))


def test_a_cover_that_is_not_on_offer_is_replaced() -> None:
    """The sequential mapping used a schedule that needs memory which is shared now."""
    made = lab(CHAIN, TWO)
    sequential = choose(made.model, made.offered)
    left = tuple(a for a in made.offered if a.candidate.unit != "fast")
    found = choose_concurrent(made.model, left, made.scheduler, sequential, ConcurrentOptions(**QUICK))
    assert mapping_faults(made.model.graph, found) == ()
    assert "fast" not in found.units


def test_a_limit_below_the_work_of_all_units_ends_the_search() -> None:
    made = lab(CHAIN, TWO)
    sequential = choose(made.model, made.offered)
    evaluator = evaluator_of(made)
    bound = work_cycles(evaluator)

    def within(limit_cycles: int) -> Mapping | None:
        options = ConcurrentOptions(**QUICK)
        return choose_concurrent(
            made.model, made.offered, made.scheduler, sequential, options, limit_cycles=limit_cycles
        )

    assert within(int(HOPELESS * bound) - 1) is None
    near = within(bound)
    assert near is not None
    assert near == mapped(made)


def test_a_limit_far_below_the_longest_chain_ends_the_search() -> None:
    """Two operators follow each other, each on its own unit only: a unit has half of the work of the chain."""
    units = {"host": Price(50_000, 9000), "one": Price(20, 1000), "two": Price(20, 1000)}
    made = lab({"a": ["in"], "b": ["a"]}, units, only={"a": ["one"], "b": ["two"]})
    sequential, options = choose(made.model, made.offered), ConcurrentOptions(**QUICK)
    work, path = work_cycles(evaluator_of(made)), path_cycles(evaluator_of(made))
    limit = int(HOPELESS_PATH * path) - 1
    assert HOPELESS * work < limit
    given = (made.model, made.offered, made.scheduler, sequential, options)
    assert choose_concurrent(*given, limit_cycles=limit) is None
    assert choose_concurrent(*given, limit_cycles=limit + 2) is not None


@pytest.mark.parametrize(("halo", "searched"), [(15, [False]), (1, [False, True])])
def test_pieces_that_cannot_overlap_are_not_searched_beyond_the_limit(
    halo: int, searched: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Layers that read all of the one before wait for it, in however many pieces they run."""
    made = lab(CHAIN, TWO, rows=16, columns=8, halo=halo)
    sequential, options = choose(made.model, made.offered), ConcurrentOptions(**QUICK)
    cuts: list[bool] = []
    stage = searching.best_of_stage

    def watched(*given: Any, **named: Any) -> Evaluation:
        cuts.append(named["cuts"])
        return stage(*given, **named)

    monkeypatch.setattr(searching, "best_of_stage", watched)
    given = (made.model, made.offered, made.scheduler, sequential, options)
    whole = choose_concurrent(*given)
    assert whole is not None and cuts == [False, True]
    cuts.clear()
    found = choose_concurrent(*given, limit_cycles=whole.finish_cycles - 1)
    assert found is not None and cuts == searched


def test_steps_follow_costs_that_were_confirmed() -> None:
    made = lab({"a": ["in"]}, TWO, rows=16, halo=1)
    evaluator = evaluator_of(made)
    offers = evaluator.network.operators[0].offers
    dim = made.offered[offers[1]].candidate.workload.dims[0].name
    choice = ((Part(offers[1], dim, 0, 5), Part(offers[2], dim, 5, 11)),)
    before, _ = evaluator.steps(choice)
    evaluator.costs.confirm(choice[0])
    after, _ = evaluator.steps(choice)
    assert [step.cycles for step in before] != [step.cycles for step in after]
    assert [step.cycles for step in after] == [evaluator.costs.cycles(part) for part in choice[0]]


def test_the_result_depends_on_nothing_but_the_input() -> None:
    """Two processes with different hash seeds make the same mapping."""
    code = (
        "from core.tests.map.test_concurrent import *\n"
        "made = lab({'a': ['in'], 'b': ['in'], 'c': ['a', 'b'], 'd': ['c']}, TWO, rows=24, columns=5, halo=1)\n"
        "found = mapped(made)\n"
        "print(shares(found), found.starts, found.solver, found.bounds)"
    )
    made = printed_twice(code)
    assert made[0] == made[1] != ""


# --- the validator -------------------------------------------------------------------------------------------------


def test_wrong_shares_and_starts_are_found() -> None:
    made = lab({"a": ["in"], "b": ["a"]}, TWO, rows=32, columns=8, halo=1)
    mapping = mapped(made)
    graph = made.model.graph
    assert len(mapping.assignments) > 2

    def told(changed: Mapping) -> str:
        return "; ".join(mapping_faults(graph, changed))

    assert "the previous one ends at 0" in told(
        replace(mapping, assignments=mapping.assignments[1:], starts=mapping.starts[1:])
    )
    assert "in 3 assignments" in told(
        replace(mapping, assignments=(*mapping.assignments, made.offered[0]), starts=(*mapping.starts, 0))
    )
    together = told(replace(mapping, starts=(0,) * len(mapping.starts)))
    assert "is written until" in together
    assert "starts a task at 0" in together
    assert "solver reports" in told(replace(mapping, finish_cycles=mapping.finish_cycles + 1))
    assert "the program at 1" in told(replace(mapping, finish_cycles=1))
