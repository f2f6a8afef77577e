"""Choosing among regions with several ways out, and what the user may ask of regions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from match_core.contract.claims import OperatorClaim, RegionClaims
from match_core.contract.errors import UnsupportedError
from match_core.contract.mapping import Mapping
from match_core.ir.groups import circles
from match_core.regions.choice import largest
from match_core.validate.mapping import validate_mapping
from match_map import mapper
from match_map.mapper import choose

CLAIMS = RegionClaims((OperatorClaim("Op"),))
CHAIN = {"a": ["in"], "b": ["a"], "c": ["b"], "d": ["c"]}


def offers(lab, model, host: int, *regions: tuple[str, str, int]):
    """Every node alone on the host in so many cycles, and regions (unit, nodes, cycles)."""
    names = [node.name for node in model.graph.nodes]
    alone = [lab.assignment(model, n, [name], host, unit="host") for n, name in enumerate(names)]
    claimed = []
    for number, (unit, nodes, cycles) in enumerate(regions, start=len(alone)):
        plain = lab.assignment(model, number, nodes.split(), cycles, unit=unit, region=True)
        pattern = replace(plain.candidate.pattern, claims=CLAIMS)
        claimed.append(replace(plain, candidate=replace(plain.candidate, pattern=pattern)))
    return (*alone, *claimed)


def chosen(mapping: Mapping) -> list[str]:
    return [f"{a.candidate.unit}: {' '.join(a.candidate.node_names)}" for a in mapping.assignments]


def mapped(model, offered) -> list[str]:
    mapping = choose(model, offered)
    validate_mapping(model.graph, mapping)
    return chosen(mapping)


# --- the cheapest ----------------------------------------------------------------------------------------------------


def test_a_region_that_wins_is_taken_and_one_that_loses_goes_back(lab):
    model = lab.model_of(CHAIN)
    assert mapped(model, offers(lab, model, 10, ("engine", "a b c d", 39))) == ["engine: a b c d"]
    assert mapped(model, offers(lab, model, 10, ("engine", "a b c d", 41))) == [f"host: {n}" for n in "abcd"]


def test_parts_of_a_region_that_another_pattern_offers(lab):
    """A package may offer the dear operators apart: the whole is too dear, a part of it is not."""
    model = lab.model_of(CHAIN)
    regions = (("engine", "a b c d", 50), ("engine", "b c", 5))
    assert mapped(model, offers(lab, model, 10, *regions)) == ["host: a", "engine: b c", "host: d"]


def test_overlapping_claims_of_two_units(lab):
    model = lab.model_of(CHAIN)
    regions = (("one", "a b c", 12), ("two", "b c d", 11), ("two", "d", 3))
    assert mapped(model, offers(lab, model, 10, *regions)) == ["one: a b c", "two: d"]


def test_two_units_whose_regions_wait_for_each_other(lab):
    model = lab.model_of({"a": ["in"], "b": ["in"], "x": ["a"], "y": ["b"], "c": ["x", "b"], "d": ["y", "a"]})
    regions = (("one", "a d", 1), ("two", "b c", 2))
    assert mapped(model, offers(lab, model, 10, *regions)) == ["host: b", "host: y", "one: a d", "host: x", "host: c"]


def crossings(count: int) -> tuple[dict[str, list[str]], list[tuple[str, str, int]]]:
    """Blocks one behind the other, each with a pair of regions that wait for each other; the first of a pair costs
    less."""
    nodes: dict[str, list[str]] = {}
    regions = []
    last = "in"
    for n in range(count):
        block = {"a": [last], "b": [last], "x": ["a"], "y": ["b"], "c": ["x", "b"], "d": ["y", "a"], "e": ["c", "d"]}
        nodes |= {f"{name}{n}": [r if r == last else f"{r}{n}" for r in reads] for name, reads in block.items()}
        regions += [("one", f"a{n} d{n}", 1), ("two", f"b{n} c{n}", 2)]
        last = f"e{n}"
    return nodes, regions


def test_more_circles_than_rounds(lab):
    """All circles of a round are forbidden at once, each in a component of its own."""
    nodes, regions = crossings(mapper.ROUNDS_MAX + 6)
    model = lab.model_of(nodes)
    mapping = choose(model, offers(lab, model, 10, *regions))
    validate_mapping(model.graph, mapping)
    assert chosen(mapping) == [
        line
        for n in range(mapper.ROUNDS_MAX + 6)
        for line in (f"host: b{n}", f"host: y{n}", f"one: a{n} d{n}", f"host: x{n}", f"host: c{n}", f"host: e{n}")
    ]
    assert mapping.solver.status == "optimal"


def test_regions_elsewhere_stay_where_one_circle_is_given_up(lab, monkeypatch):
    monkeypatch.setattr(mapper, "ROUNDS_MAX", 0)
    nodes, regions = crossings(2)
    model = lab.model_of(nodes)
    mapping = choose(model, offers(lab, model, 10, *regions[:3]))
    validate_mapping(model.graph, mapping)
    assert [line for line in chosen(mapping) if not line.startswith("host")] == ["one: a1 d1"]
    assert mapping.solver.status == "heuristic"


@pytest.mark.parametrize("rounds", [0, 64])
def test_regions_that_are_needed_and_wait_for_each_other_cannot_be(lab, monkeypatch, rounds):
    monkeypatch.setattr(mapper, "ROUNDS_MAX", rounds)
    nodes, regions = crossings(1)
    model = lab.model_of(nodes)
    offered = [
        a
        for a in offers(lab, model, 10, *regions)
        if a.candidate.node_names[0][0] not in "ad" or a.candidate.unit == "one"
    ]
    offered = [a for a in offered if a.candidate.node_names[0][0] not in "bc" or a.candidate.unit == "two"]
    with pytest.raises(UnsupportedError) as caught:
        choose(model, offered)
    assert caught.value.code == "MATCH-P002"


def test_circles_that_share_no_group():
    pair = ((0, 3), (1, 2))
    assert circles(pair, ((1,), (), (3,), ())) == ((0, 1),)
    twice = (*pair, (4, 7), (5, 6))
    assert circles(twice, ((1,), (4,), (3,), (5,), (5,), (), (7,), ())) == ((0, 1), (2, 3))
    assert circles(((0,), (1,)), ((1,), ())) == ()


# --- the largest -----------------------------------------------------------------------------------------------------


def taken(lab, model, offered):
    left, refused = largest(model.graph, offered)
    return mapped(model, left), {(" ".join(r.nodes), r.unit, r.value) for r in refused}


def test_a_legal_region_is_taken_though_it_is_dear(lab):
    model = lab.model_of(CHAIN)
    lines, refused = taken(lab, model, offers(lab, model, 10, ("engine", "a b c", 99)))
    assert lines == ["engine: a b c", "host: d"]
    assert refused == {(name, "host", "engine takes a region of 3 nodes here") for name in "abc"}


def test_without_regions_nothing_is_refused(lab):
    model = lab.model_of(CHAIN)
    offered = offers(lab, model, 10)
    assert largest(model.graph, offered) == (offered, ())


def test_of_regions_that_overlap_the_larger_is_taken(lab):
    model = lab.model_of(CHAIN)
    lines, refused = taken(lab, model, offers(lab, model, 10, ("one", "a b", 1), ("two", "b c d", 99)))
    assert lines == ["host: a", "two: b c d"]
    assert ("a b", "one", "two takes a region of 3 nodes here") in refused


def test_of_regions_that_wait_for_each_other_the_first_is_taken(lab):
    nodes, regions = crossings(3)
    model = lab.model_of(nodes)
    lines, _ = taken(lab, model, offers(lab, model, 1, *regions))
    assert [line for line in lines if not line.startswith("host")] == ["one: a0 d0", "one: a1 d1", "one: a2 d2"]


def test_a_region_that_would_leave_a_node_without_any_unit_is_not_taken(lab):
    """b runs only together with a."""
    model = lab.model_of(CHAIN)
    offered = list(offers(lab, model, 10, ("engine", "a", 1), ("engine", "c d", 99)))
    offered[1] = lab.assignment(model, 1, ["a", "b"], 5, unit="host")
    lines, _ = taken(lab, model, offered)
    assert lines == ["host: a b", "engine: c d"]
