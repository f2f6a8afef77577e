from __future__ import annotations

import sys
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.contract.candidate import Refusal
from match_core.contract.errors import UnsupportedError
from match_core.contract.mapping import Mapping
from match_core.ir.groups import circles
from match_core.validate.mapping import mapping_faults
from match_map import exact
from match_map.cover import Component, components_of
from match_map.mapper import choose
from match_map.option import Option
from match_map.ways import has_one_way_out, is_convex

from tests.examples import examples

CHAIN = {"a": ["in"], "b": ["a"], "c": ["b"], "d": ["c"]}


def names(mapping: Mapping) -> list[str]:
    return [" ".join(a.candidate.node_names) for a in mapping.assignments]


def test_the_cheapest_cover_is_not_the_greedy_one(lab, monkeypatch):
    monkeypatch.delattr(exact, "by_cp_sat")  # a small model does without
    model = lab.model_of(CHAIN)
    offered = lab.offer(model, ("a", 10), ("b", 10), ("c", 10), ("d", 10), ("b c", 1), ("a b", 12), ("c d", 8))
    mapping = choose(model, offered)
    assert names(mapping) == ["a b", "c d"]
    assert mapping.predicted_cycles == 20
    assert (mapping.solver.solver, mapping.solver.status) == ("exact cover", "optimal")
    assert (mapping.solver.objective, mapping.solver.bound, mapping.solver.gap) == (20, 20, 0)
    assert mapping_faults(model.graph, mapping) == ()
    assert all(any(a is o for o in offered) for a in mapping.assignments)


def test_ties_go_to_fewer_candidates_then_to_those_offered_first(lab):
    model = lab.model_of(CHAIN)
    offered = lab.offer(model, ("a", 1), ("b", 1), ("c", 1), ("d", 1), ("a b", 2), ("b c", 2), ("c d", 2), ("c d", 2))
    mapping = choose(model, offered)
    assert [a.candidate.index for a in mapping.assignments] == [4, 6]


def test_refusals_are_kept(lab):
    model = lab.model_of({"a": ["in"]})
    refusal = Refusal("acc", "p", ("a",), "rule", "value")
    assert choose(model, lab.offer(model, ("a", 1)), (refusal,)).refused == (refusal,)


def test_an_empty_graph_is_covered_by_nothing(lab):
    mapping = choose(lab.model_of({}), ())
    assert (mapping.assignments, mapping.predicted_cycles, mapping.solver.status) == ((), 0, "optimal")


def test_order_is_topological_though_the_graph_is_not(lab):
    model = lab.model_of(dict(reversed(CHAIN.items())))
    mapping = choose(model, lab.offer(model, *((name, 1) for name in "dcba")))
    assert names(mapping) == ["a", "b", "c", "d"]


def test_importing_the_mapper_imports_nothing_heavy():
    import subprocess

    code = "import sys, match_map.mapper; print('ortools' in sys.modules, 'onnx' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "False"]


@st.composite
def components(draw) -> Component:
    count = draw(st.integers(1, 9))
    options = []
    for _ in range(draw(st.integers(0, 14))):
        nodes = draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=4))
        options.append(Option(len(options), draw(st.integers(0, 30)), tuple(sorted(nodes))))
    for node in range(count):
        if draw(st.booleans()):
            options.append(Option(len(options), draw(st.integers(0, 30)), (node,)))
    forbidden = ()
    if options and draw(st.booleans()):
        forbidden = (frozenset(draw(st.sets(st.integers(0, len(options) - 1), min_size=1, max_size=3))),)
    return Component(tuple(range(count)), tuple(options), forbidden)


def best_by_trying_all(part: Component) -> int | None:
    best = None
    for size in range(len(part.nodes) + 1):
        for chosen in combinations(part.options, size):
            covered = [node for option in chosen for node in option.nodes]
            indices = {option.index for option in chosen}
            if sorted(covered) != list(part.nodes) or any(f <= indices for f in part.forbidden):
                continue
            cycles = sum(option.cost for option in chosen)
            best = cycles if best is None else min(best, cycles)
    return best


def is_cover(part: Component, cover) -> bool:
    indices = {option.index for option in cover.options}
    nodes = sorted(node for option in cover.options for node in option.nodes)
    return nodes == list(part.nodes) and not any(f <= indices for f in part.forbidden)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(part=components())
def test_all_solvers_agree_with_trying_everything(part):
    best = best_by_trying_all(part)
    some = exact.some_cover(part)
    by_cp_sat = exact.by_cp_sat(part)
    solved = exact.solve(part)
    if best is None:
        assert some is by_cp_sat is solved is None
        return
    assert is_cover(part, some)
    assert some.cost >= best >= some.bound
    assert is_cover(part, by_cp_sat)
    assert (by_cp_sat.cost, by_cp_sat.bound, by_cp_sat.status) == (best, best, "optimal")
    assert is_cover(part, solved)
    assert solved.cost == best
    if not part.forbidden:
        cover, finished = exact.by_states(part)
        assert finished
        assert cover.cost == best


def test_too_many_states_go_to_cp_sat(lab, monkeypatch):
    model = lab.model_of(CHAIN)
    offered = lab.offer(model, ("a", 10), ("b", 10), ("c", 10), ("d", 10), ("b c", 1), ("a b", 12), ("c d", 8))
    monkeypatch.setattr(exact, "STATES_MAX", 2)
    mapping = choose(model, offered)
    assert (names(mapping), mapping.solver.solver) == (["a b", "c d"], "cp-sat")


def test_without_an_answer_of_cp_sat_the_greedy_cover_stands(lab, monkeypatch):
    model = lab.model_of(CHAIN)
    offered = lab.offer(model, ("a", 10), ("b", 10), ("c", 10), ("d", 10), ("b c", 1), ("a b", 12), ("c d", 8))
    monkeypatch.setattr(exact, "STATES_MAX", 2)
    monkeypatch.setattr(exact, "DETERMINISTIC_SECONDS", 0.0)
    mapping = choose(model, offered)
    assert mapping_faults(model.graph, mapping) == ()
    assert mapping.solver.status in ("heuristic", "feasible")
    assert mapping.solver.bound <= 20 <= mapping.solver.objective


def test_components_are_independent():
    options = (Option(0, 1, (0, 1)), Option(1, 1, (2,)), Option(2, 1, (1, 3)), Option(3, 1, (4, 2)))
    parts = components_of(6, options)
    assert [part.nodes for part in parts] == [(0, 1, 3), (2, 4), (5,)]
    assert [[option.index for option in part.options] for part in parts] == [[0, 2], [1, 3], []]


def test_a_big_graph_of_pairs_is_quick_and_optimal(lab):
    import time

    chain = {f"n{i}": [f"n{i - 1}" if i else "in"] for i in range(1000)}
    model = lab.model_of(chain)
    singles = [(f"n{i}", 3) for i in range(1000)]
    pairs = [(f"n{i} n{i + 1}", 5) for i in range(999)]
    offered = lab.offer(model, *singles, *pairs)
    start = time.process_time()
    mapping = choose(model, offered)
    assert time.process_time() - start < 5
    assert mapping.predicted_cycles == 500 * 5
    assert mapping.solver.status == "optimal"


# --- regions with several ways out ---------------------------------------------------------------------------------

CROSSED = {"a": ["in"], "b": ["c"], "c": ["in"], "d": ["a"]}  # a -> d, c -> b


def test_regions_that_wait_for_each_other_are_not_chosen_together(lab):
    model = lab.model_of(CROSSED)
    choices = (("a b", 1), ("c d", 1), ("a", 5), ("b", 5), ("c", 5), ("d", 5))
    offered = lab.offer(model, *choices, region=True)
    mapping = choose(model, offered)
    assert mapping.predicted_cycles == 11
    assert mapping.solver.status == "optimal"
    assert mapping_faults(model.graph, mapping) == ()
    parallel = lab.model_of({"a": ["in"], "b": ["in"], "c": ["in"], "d": ["in"]})
    assert choose(parallel, lab.offer(parallel, *choices, region=True)).predicted_cycles == 2


def test_regions_are_given_up_after_too_many_rounds(lab, monkeypatch):
    from match_map import mapper

    monkeypatch.setattr(mapper, "ROUNDS_MAX", 0)
    model = lab.model_of(CROSSED)
    choices = (("a b", 1), ("c d", 1), ("a", 5), ("b", 5), ("c", 5), ("d", 5))
    mapping = choose(model, lab.offer(model, *choices, region=True))
    assert mapping.predicted_cycles == 20
    assert mapping.solver.status == "heuristic"
    assert mapping_faults(model.graph, mapping) == ()


def test_a_region_with_a_hole_is_refused(lab):
    model = lab.model_of({"a": ["in"], "b": ["a"], "c": ["a", "b"]})
    offered = lab.offer(model, ("a c", 1), ("a", 5), ("b", 5), ("c", 5), region=True)
    mapping = choose(model, offered)
    assert names(mapping) == ["a", "b", "c"]
    assert [r.nodes for r in mapping.refused] == [("a", "c")]


def test_shapes_of_groups():
    read_by = ((1, 2), (2,), ())
    assert not is_convex((0, 2), read_by)
    assert is_convex((0, 1), read_by)
    assert has_one_way_out((1, 2), read_by)
    assert not has_one_way_out((0, 1), read_by)
    assert not has_one_way_out((1, 2, 3), ((1,), (2,), (), ()))  # 3 is dead
    assert circles([(0, 3), (1, 2)], ((1,), (), (3,), ())) == ((0, 1),)
    assert circles([(0,), (1,), (2,), (3,)], ((1,), (), (3,), ())) == ()


# --- errors --------------------------------------------------------------------------------------------------------


def test_nodes_without_a_candidate_are_told_together_with_all_refusals(lab):
    model = lab.model_of(CHAIN)
    refusals = (
        Refusal("acc", "conv", ("a", "b"), "stride is 1x1", "stride is 2x2"),
        Refusal("acc", "conv", ("a", "b"), "fits l1", "the smallest tile needs 9 bytes of 5"),
        Refusal("acc", "other", ("c",), "never", "always"),
    )
    with pytest.raises(UnsupportedError) as caught:
        choose(model, lab.offer(model, ("a", 1), ("c", 1)), refusals)
    error = caught.value
    assert error.code == "MATCH-P001"
    assert error.what == "no enabled unit runs 2 nodes of this model (Op)"
    assert error.where == "node 'b' (Op) from 'source/b'; node 'd' (Op) from 'source/d'"
    assert 'acc conv requires "stride is 1x1", but stride is 2x2' in error.why
    assert 'acc conv requires "fits l1", but the smallest tile needs 9 bytes of 5' in error.why
    assert "'d': no pattern of an enabled unit matches the operator Op" in error.why
    assert "never" not in str(error)
    assert error.help[0] == "change the model so that this holds: stride is 1x1 (conv of acc)"


def test_hostile_names_are_escaped(lab):
    model = lab.model_of({"bad\x1b[31m\nname": ["in"]})
    with pytest.raises(UnsupportedError) as caught:
        choose(model, ())
    assert "\x1b" not in str(caught.value)
    assert str(caught.value).count("\n") == 2 + len(caught.value.help)


def test_many_missing_nodes_are_counted(lab):
    model = lab.model_of({f"n{i}": ["in"] for i in range(30)})
    with pytest.raises(UnsupportedError) as caught:
        choose(model, ())
    assert "and 22 more" in caught.value.where


def test_candidates_that_only_overlap(lab):
    model = lab.model_of({"a": ["in"], "b": ["a"], "c": ["b"]})
    with pytest.raises(UnsupportedError) as caught:
        choose(model, lab.offer(model, ("a b", 1), ("b c", 1)))
    assert caught.value.code == "MATCH-P002"


# --- views ---------------------------------------------------------------------------------------------------------


def chosen_views(mapping: Mapping) -> dict[str, bool]:
    return {a.candidate.node_names[0]: a.candidate.pattern.view for a in mapping.assignments}


@pytest.mark.parametrize(
    ("nodes", "outputs", "views"),
    [
        # An input that is only reshaped must be copied, once, next to the output.
        ({"v": ["in"]}, ["v"], {"v": False}),
        ({"v": ["in"], "w": ["v"]}, ["w"], {"v": True, "w": False}),
        # A view of what a task makes may be the output, but only one of several.
        ({"a": ["in"], "v": ["a"]}, ["v"], {"a": False, "v": True}),
        ({"a": ["in"], "v": ["a"], "w": ["a"]}, ["v", "w"], {"a": False, "v": True, "w": False}),
        ({"a": ["in"], "v": ["a"]}, ["v", "a"], {"a": False, "v": False}),
        ({"a": ["in"], "v": ["a"], "w": ["v"]}, ["w", "v"], {"a": False, "v": True, "w": False}),
        # Inside the graph views are free.
        ({"v": ["in"], "w": ["v"], "a": ["w"]}, ["a"], {"v": True, "w": True, "a": False}),
    ],
)
def test_outputs_get_bytes_of_their_own(lab, nodes, outputs, views):
    model = lab.model_of(nodes, outputs)
    offered = [lab.assignment(model, 0, [name], 7) for name in nodes]
    offered += [lab.assignment(model, 0, [name], 0, view=True) for name in nodes if name in "vw"]
    mapping = choose(model, offered)
    assert chosen_views(mapping) == views
    assert mapping_faults(model.graph, mapping) == ()


def test_a_view_that_nothing_else_runs_stays(lab):
    """The planner then says that the output is not computed."""
    model = lab.model_of({"v": ["in"]})
    mapping = choose(model, [lab.assignment(model, 0, ["v"], 0, view=True)])
    assert chosen_views(mapping) == {"v": True}
