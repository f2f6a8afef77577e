"""Regions as they grow, against a validator that shares nothing with the growth and against all partitions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from random import Random
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_core.contract.claims import OperatorClaim, RegionClaims, RegionLimits
from match_core.ir.topology import Topology
from match_regions.dag import Dag, members
from match_regions.grow import grown
from match_regions.validate import InvalidRegionsError, region_faults, validate_regions

from tests.regions.conftest import graph_of
from tests.regions.merging import mergeable

FREE = RegionLimits()
LIMITS = st.builds(
    RegionLimits,
    nodes_max=st.none() | st.integers(1, 5),
    inputs_max=st.none() | st.integers(1, 3),
    outputs_max=st.none() | st.integers(1, 3),
    constant_bytes_max=st.none() | st.integers(8, 40),
)


@st.composite
def graphs(draw, most=12):
    """Nodes of operator A are claimed, those of X are not; constants are shared; some inner tensors are outputs."""
    nodes: dict[str, list[str]] = {}
    for number in range(draw(st.integers(1, most))):
        earlier = draw(st.lists(st.sampled_from([*nodes, "in0", "in1"]), min_size=1, max_size=3, unique=True))
        constants = draw(st.sampled_from(([], ["const1"], ["const2"], ["const1", "const3"])))
        nodes[f"{draw(st.sampled_from('AAAX'))}{number}"] = [*earlier, *constants]
    read = {name for reads in nodes.values() for name in reads}
    inner = [name for name in nodes if name in read]
    also = draw(st.lists(st.sampled_from(inner), unique=True, max_size=2)) if inner else []
    return graph_of(nodes, [*(name for name in nodes if name not in read), *also])


def regions_of(graph, limits=FREE):
    topology = Topology.of(graph)
    claimed = sum(1 << place for place, node in enumerate(topology.nodes) if node.op == "A")
    found = grown(Dag.of(topology), claimed, limits)
    return [tuple(topology.nodes[place] for place in members(nodes)) for nodes in found]


def claims(limits=FREE):
    return RegionClaims((OperatorClaim("A"),), limits)


def names(regions):
    return [" ".join(node.name for node in region) for region in regions]


@settings(max_examples=200, deadline=None)
@given(graphs(20), LIMITS)
def test_regions_are_legal_and_maximal(graph, limits):
    found = regions_of(graph, limits)
    assert region_faults(graph, claims(limits), found) == ()
    assert mergeable(graph, claims(limits), found) == ()


@settings(max_examples=60, deadline=None)
@given(graphs(20))
def test_without_limits_every_claimed_node_is_in_a_region(graph):
    inside = [node.name for region in regions_of(graph) for node in region]
    assert sorted(inside) == sorted(node.name for node in graph.nodes if node.op == "A")


def partitions(items: list) -> Iterator[list[list]]:
    if not items:
        yield []
        return
    first, *rest = items
    for parts in partitions(rest):
        yield [[first], *parts]
        for number in range(len(parts)):
            yield [*parts[:number], [first, *parts[number]], *parts[number + 1 :]]


def connected(region) -> bool:
    reached, left = [region[0]], list(region[1:])
    while near := [n for n in left if any(touches(n, other) for other in reached)]:
        reached += near
        left = [node for node in left if all(node is not other for other in near)]
    return not left


def touches(one, other) -> bool:
    makes = {tensor.name for tensor in one.outputs}
    return any(t.name in makes for t in other.inputs) or any(
        t.name in {o.name for o in other.outputs} for t in one.inputs
    )


def fewest(graph) -> int:
    claimed = [node for node in graph.nodes if node.op == "A"]
    legal = (
        len(parts)
        for parts in partitions(claimed)
        if all(connected(part) for part in parts) and not region_faults(graph, claims(), parts)
    )
    return min(legal, default=0)


def random_graph(seed: int, count: int):
    random = Random(seed)
    nodes: dict[str, list[str]] = {}
    for number in range(count):
        earlier = [*nodes, "in"]
        nodes[f"{random.choice('AAX')}{number}"] = sorted(set(random.choices(earlier, k=random.randint(1, 3))))
    return graph_of(nodes)


def test_there_are_hardly_more_regions_than_there_must_be():
    """Against all partitions of the claimed nodes: merging neighbours is no search for the fewest."""
    extra = Counter()
    for seed in range(250):
        graph = random_graph(seed, 9)
        extra[len(regions_of(graph)) - fewest(graph)] += 1
    assert set(extra) <= {0, 1}
    assert extra[0] >= 0.95 * extra.total()


def test_a_path_around_keeps_nodes_apart(lab):
    """A1 could join either side, not both; taken forwards it joins what it reads from."""
    graph = lab.graph_of({"A0": ["in"], "A1": ["A0"], "X0": ["A0"], "A2": ["A1", "X0"]})
    assert names(regions_of(graph)) == ["A0 A1", "A2"]


def test_two_convex_regions_do_not_wait_for_each_other(lab):
    """A0 A3 and A1 A2 are convex, but together they are a circle."""
    graph = lab.graph_of(
        {"A0": ["in0"], "A1": ["in1"], "X0": ["A0"], "X1": ["A1"], "A2": ["X0", "A1"], "A3": ["X1", "A0"]}
    )
    crossed = [[node(graph, "A0"), node(graph, "A3")], [node(graph, "A1"), node(graph, "A2")]]
    assert all(region_faults(graph, claims(), [region]) == () for region in crossed)
    assert region_faults(graph, claims(), crossed) == (
        "regions wait for each other, or for a node between their nodes",
    )
    assert names(regions_of(graph)) == ["A0 A3", "A1", "A2"]


def test_branches_that_only_share_what_they_read_are_apart(lab):
    graph = lab.graph_of({"X0": ["in"], "A0": ["X0"], "A1": ["X0"], "A2": ["in"]})
    assert names(regions_of(graph)) == ["A0", "A1", "A2"]


def test_branches_of_a_claimed_node_are_together(lab):
    graph = lab.graph_of({"A0": ["in"], "A1": ["A0"], "A2": ["A0"], "X0": ["A1", "A2"]})
    assert names(regions_of(graph)) == ["A0 A1 A2"]


def test_a_chain_is_cut_by_the_number_of_nodes(lab):
    graph = lab.graph_of({f"A{n}": [f"A{n - 1}" if n else "in"] for n in range(8)})
    assert names(regions_of(graph, RegionLimits(nodes_max=3))) == ["A0 A1 A2", "A3 A4 A5", "A6 A7"]


def test_a_region_within_limits_that_none_of_its_parts_keeps_to(lab):
    """Eight branches between one input and one output: cut anywhere, more than two tensors cross."""
    branches = {f"A{n}": ["A0"] for n in range(1, 9)}
    graph = lab.graph_of({"A0": ["in"], **branches, "A9": list(branches)})
    assert len(regions_of(graph, RegionLimits(inputs_max=2, outputs_max=2))) == 1


def test_constants_that_are_shared_count_once(lab):
    graph = lab.graph_of({"A0": ["in", "const2"], "A1": ["A0", "const2"], "A2": ["A1", "const1"]})
    limit = RegionLimits(constant_bytes_max=16)
    assert names(regions_of(graph, limit)) == ["A0 A1", "A2"]


def test_inner_tensors_that_are_outputs_of_the_model_leave(lab):
    graph = lab.graph_of({"A0": ["in"], "A1": ["A0"]}, outputs=["A0", "A1"])
    assert names(regions_of(graph, RegionLimits(outputs_max=1))) == ["A0", "A1"]
    assert names(regions_of(graph, RegionLimits(outputs_max=2))) == ["A0 A1"]


def node(graph, name):
    return next(node for node in graph.nodes if node.name == name)


@pytest.mark.parametrize(
    ("regions", "limits", "fault"),
    [
        ([["A0", "A1"], ["A1", "A2"]], RegionLimits(), "'A1' is in two regions"),
        ([["A0", "X0"]], RegionLimits(), "'X0' is not claimed"),
        ([["A0", "A2"]], RegionLimits(), "regions wait for each other, or for a node between their nodes"),
        ([["A0", "A1"]], RegionLimits(nodes_max=1), "a region of ['A0', 'A1'] has 2 nodes; the limit is 1"),
        ([["A2"]], RegionLimits(inputs_max=1), "a region of ['A2'] has 2 inputs; the limit is 1"),
        ([["A0", "A1"]], RegionLimits(outputs_max=1), "a region of ['A0', 'A1'] has 2 outputs; the limit is 1"),
        (
            [["A2"]],
            RegionLimits(constant_bytes_max=4),
            "a region of ['A2'] has 8 constant bytes; the limit is 4",
        ),
    ],
)
def test_the_validator_finds(lab, regions, limits, fault):
    graph = lab.graph_of({"A0": ["in"], "A1": ["A0"], "X0": ["A0"], "A2": ["A1", "X0", "const1"]})
    picked = [[node(graph, name) for name in region] for region in regions]
    assert fault in region_faults(graph, claims(limits), picked)
    with pytest.raises(InvalidRegionsError, match=re.escape(fault)):
        validate_regions(graph, claims(limits), picked)


def test_the_validator_finds_what_could_be_one(lab):
    graph = lab.graph_of({"A0": ["in"], "A1": ["A0"]})
    apart = [[item] for item in graph.nodes]
    assert mergeable(graph, claims(), apart) == ("['A0'] and ['A1']",)
    assert mergeable(graph, claims(RegionLimits(nodes_max=1)), apart) == ()


@pytest.mark.parametrize("limits", [RegionLimits(), RegionLimits(nodes_max=20), RegionLimits(outputs_max=2)])
def test_four_thousand_nodes_take_a_second(lab, limits):
    """Blocks with a way around them, every eleventh node not claimed. In processor time."""
    nodes: dict[str, list[str]] = {}
    last = "in"

    def add(*reads: str) -> str:
        name = f"{'X' if len(nodes) % 11 == 10 else 'A'}{len(nodes)}"
        nodes[name] = list(reads)
        return name

    while len(nodes) < 4000:
        inner = add(add(add(last, "const1")), "const2")
        last = add(add(inner, last))
    graph = lab.graph_of(nodes)
    before = process_time()
    found = regions_of(graph, limits)
    assert process_time() - before < 3
    assert region_faults(graph, claims(limits), found) == ()
