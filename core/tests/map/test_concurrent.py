"""Mappings of concurrent programs, against trying everything and against the sequential one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from match_concurrent.mapping import choose as searching
from match_concurrent.mapping.bounds import path_cycles, work_cycles
from match_concurrent.mapping.choose import choose_concurrent
from match_concurrent.mapping.costs import ShareCosts
from match_concurrent.mapping.evaluate import Choice, Evaluation, Evaluator
from match_concurrent.mapping.hopeless import HOPELESS, HOPELESS_PATH
from match_concurrent.mapping.joint import with_joint
from match_concurrent.mapping.mapping_effort import ConcurrentOptions
from match_concurrent.mapping.network import Network, Queues
from match_concurrent.mapping.parts import Division, Part
from match_concurrent.mapping.stages import bounds_of, staged_cycles, stages
from match_concurrent.mapping.timeline import simulate
from match_core.contract.mapping import Mapping
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.validate.mapping import mapping_faults
from match_map.mapper import choose

from core.tests.map.rows import Lab, Price, lab
from core.tests.map.two_processes import printed_twice
from tests.examples import examples

QUICK: dict[str, Any] = {"steps_max": 6_000, "solver_seconds": 0.02}
CHAIN = {"a": ["in"], "b": ["a"], "c": ["b"]}
FORK = {"a": ["in"], "b": ["in"], "c": ["a", "b"]}
TWO = {"host": Price(50_000, 9000), "fast": Price(20, 1000), "slow": Price(20, 1500)}


def mapped(made: Lab, **options: Any) -> Mapping:
    sequential = choose(made.model, made.offered, objective=made.scheduler.objective)
    found = choose_concurrent(
        made.model, made.offered, made.scheduler, sequential, ConcurrentOptions(**{**QUICK, **options})
    )
    assert mapping_faults(made.model.graph, found) == ()
    return found


def shares(mapping: Mapping) -> list[tuple[str, str, str, int, int]]:
    """(node, unit, dimension, first, size) of all parts."""
    return [
        (a.candidate.match.nodes[0].name, a.candidate.unit, *((s.dim, s.first, s.size) if s else ("", 0, 0)))
        for a in mapping.assignments
        for s in [a.candidate.share]
    ]


def evaluator_of(made: Lab, **options: Any) -> Evaluator:
    opts = ConcurrentOptions(**options)
    cover = choose(made.model, made.offered).assignments
    offered = with_joint(made.offered, made.scheduler)
    network = Network.of(made.model, offered, cover, by_region=opts.parallel == "pipeline")
    signalling = made.scheduler.soc.signalling
    assert signalling is not None
    costs = ShareCosts(offered, made.scheduler)
    return Evaluator(network, costs, Queues.of(made.scheduler), signalling, opts, made.scheduler.objective)


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


# --- against trying everything -------------------------------------------------------------------------------------


def divisions(evaluator: Evaluator, number: int) -> Iterator[Division]:
    """All ways to divide an operator between the units in their order, along each axis, with one task for each."""
    operator = evaluator.network.operators[number]
    for offer in operator.offers:
        yield (Part(offer),)
    for along in evaluator.network.along(operator):
        for first, second in permutations(along.units, 2):
            if first.offer < second.offer:
                for tiles in range(1, along.tiles):
                    size = tiles * along.step
                    rest = along.size - size
                    yield Part(first.offer, first.dim, 0, size), Part(second.offer, second.dim, size, rest)


def best_by_trying_all(evaluator: Evaluator) -> int:
    options = [list(divisions(evaluator, n)) for n in range(len(evaluator.network.operators))]
    evaluator.costs.confirm(part for ways in options for division in ways for part in division)
    return min(_best_order(evaluator, choice) for choice in product(*options))


def _best_order(evaluator: Evaluator, choice: Choice) -> int:
    steps, _ = evaluator.steps(choice)
    orders = (order for order in permutations(range(len(steps))) if _fits(steps, order))
    return min(simulate(steps, order, evaluator.signalling).finish for order in orders)


def _fits(steps: Any, order: tuple[int, ...]) -> bool:
    place = {number: position for position, number in enumerate(order)}
    return all(place[need] < place[number] for number, step in enumerate(steps) for need in step.needs)


prices = st.builds(Price, st.integers(0, 60), st.integers(500, 3000))


@settings(deadline=None, max_examples=examples(50))
@given(
    graph=st.sampled_from([{"a": ["in"]}, {"a": ["in"], "b": ["a"]}, {"a": ["in"], "b": ["in"]}]),
    fast=prices,
    slow=prices,
    halo=st.sampled_from([0, 1, 3]),
    parallel=st.sampled_from(["whole", "views", "pipeline"]),
)
def test_tiny_programs_are_close_to_the_best(graph: Any, fast: Price, slow: Price, halo: int, parallel: Any) -> None:
    """The search is a heuristic; with one task for each unit it is at most a tenth away."""
    made = lab(graph, {"host": Price(5000, 9000), "fast": fast, "slow": slow}, rows=4, columns=3, halo=halo)
    found = mapped(made, parallel=parallel)
    evaluator = evaluator_of(made, parallel=parallel)
    best = best_by_trying_all(evaluator) if parallel != "whole" else best_whole(evaluator)
    assert found.finish_cycles <= 1.1 * best
    if parallel != "pipeline":
        assert found.finish_cycles >= best
    bounds = bounds_of([evaluator])
    assert bounds.cycles <= best
    assert found.bounds is not None
    assert found.bounds.cycles <= found.finish_cycles


def test_layers_that_read_everything_are_stages_whose_bounds_add_up() -> None:
    """Each of two equal units does half of the rows, and one of them waits for a signal before each layer."""
    units = {"host": Price(50_000, 9000), "one": Price(40, 1000), "two": Price(40, 1000)}
    made = lab(CHAIN, units, rows=16, columns=4, halo=15)
    mapped_chain = mapped(made)
    evaluator = evaluator_of(made)
    assert [list(stage) for stage in stages(evaluator)] == [[0], [1], [2]]
    assert path_cycles(evaluator) < staged_cycles(evaluator) <= mapped_chain.finish_cycles
    assert staged_cycles(evaluator) > 0.95 * mapped_chain.finish_cycles
    narrow = evaluator_of(lab(CHAIN, units, rows=16, columns=4, halo=1))
    assert [list(stage) for stage in stages(narrow)] == [[0, 1, 2]]


def best_whole(evaluator: Evaluator) -> int:
    options = [[(Part(offer),) for offer in operator.offers] for operator in evaluator.network.operators]
    return min(_best_order(evaluator, choice) for choice in product(*options))


# --- against the sequential program --------------------------------------------------------------------------------


@st.composite
def labs(draw: st.DrawFn, objective: Any = "latency") -> Lab:
    """Random graphs of up to six operators on up to three units."""
    names = [f"n{number}" for number in range(draw(st.integers(1, 6)))]
    graph = {
        name: draw(st.lists(st.sampled_from(["in", *names[:number]]), min_size=1, max_size=2, unique=True))
        for number, name in enumerate(names)
    }
    price = st.builds(Price, st.integers(0, 200), st.integers(100, 3000), st.floats(0.5, 5))
    units = {name: draw(price) for name in ["host", "one", "two"][: draw(st.integers(1, 3))]}
    both = (*draw(st.permutations(["one", "two"])), draw(price)) if len(units) == 3 and draw(st.booleans()) else None
    return lab(
        graph, units, rows=draw(st.integers(1, 20)), columns=draw(st.integers(1, 6)), halo=draw(st.integers(0, 1)),
        objective=objective, granularity={"one": draw(st.integers(1, 3))}, both=both,
    )  # fmt: skip


def sequential_on_queues(made: Lab) -> int:
    """One operator after another on the unit of the cover, or on the two units that can run it as this unit does."""
    evaluator = evaluator_of(made)
    offered = evaluator.network.offered
    by_id = {id(assignment): number for number, assignment in enumerate(offered)}
    finishes = []
    for joint in (False, True):
        choice = []
        for operator in evaluator.network.operators:
            cover = evaluator.network.cover[operator.place]
            both = [n for n in operator.offers if offered[n].candidate.pattern.occupies == (cover.candidate.unit,)]
            choice.append((Part(both[0] if both and joint else by_id[id(cover)]),))
        steps, _ = evaluator.steps(tuple(choice))
        finishes.append(simulate(steps, range(len(steps)), evaluator.signalling).finish)
    return min(finishes)


def test_an_operator_runs_on_two_units_at_once_where_that_is_faster() -> None:
    """Alone each unit is slow; together they are fast, but then a branch that only one of them runs waits."""
    units = {"host": Price(50_000, 9000), "one": Price(20, 3000), "two": Price(20, 3000)}
    both = ("two", "one", Price(20, 900))
    only = {"a": ["two"], "b": ["two"], "c": ["one", "two"]}
    made = lab(FORK, units, rows=16, columns=8, only=only, both=both)
    mapping = mapped(made)
    busy = {a.candidate.match.nodes[0].name: a.candidate.units for a in mapping.assignments}
    assert busy["a"] == busy["b"] == busy["c"] == ("one", "two")
    dear = lab(FORK, units, rows=16, columns=8, only=only, both=("two", "one", Price(20, 2900)))
    assert any(len(a.candidate.units) == 1 for a in mapped(dear).assignments)


@settings(deadline=None, max_examples=examples(50))
@given(made=labs(), parallel=st.sampled_from(["whole", "tiles", "views", "pipeline"]))
def test_it_is_valid_and_never_slower_than_the_sequential_one(made: Lab, parallel: Any) -> None:
    mapping = mapped(made, parallel=parallel)
    assert mapping.finish_cycles <= sequential_on_queues(made)
    assert mapping.bounds is not None
    assert mapping.bounds.cycles <= mapping.finish_cycles
    assert mapping.solver.objective == mapping.finish_cycles
    assert 0 <= mapping.solver.gap <= 1


def improved_without_bounds(evaluator: Evaluator, choice: Choice, than: Evaluation) -> Evaluation | None:
    found = evaluator.evaluate(choice)
    return found if found.value < than.value else None


@settings(deadline=None, max_examples=examples(40))
@given(made=labs(), parallel=st.sampled_from(["whole", "tiles", "views", "pipeline"]))
def test_time_lines_that_are_not_made_change_nothing(made: Lab, parallel: Any) -> None:
    quick = mapped(made, parallel=parallel, steps_max=300)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Evaluator, "improved", improved_without_bounds)
        full = mapped(made, parallel=parallel, steps_max=300)
    assert (quick.starts, shares(quick), quick.solver, quick.bounds) == (
        full.starts,
        shares(full),
        full.solver,
        full.bounds,
    )


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
