"""Covers with stored forms: the dynamic program against CP-SAT, and against every cover."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import cast

import pytest
from match_core.contract.mapping import Assignment
from match_map.conversions import Conversion
from match_map.cover import Component
from match_map.exact import by_cp_sat, by_states
from match_map.option import Option

NODES = 5


def component_of(random: Random) -> Component:
    """Options of one or two nodes in a chain, and conversions between some that follow each other."""
    spans = [(node,) for node in range(NODES) for _ in range(2)] + [(node, node + 1) for node in range(NODES - 1)]
    options = tuple(Option(index, random.randrange(1, 40), nodes) for index, nodes in enumerate(spans))
    conversions = []
    for node in range(-1, NODES):
        makers = tuple(o.index for o in options if o.nodes[-1] == node and random.random() < 0.6)
        readers = tuple(o.index for o in options if o.nodes[0] == node + 1 and random.random() < 0.6)
        made, read = node == -1, node == NODES - 1
        if makers or readers:
            exists = cast(Assignment, object()) if random.random() < 0.7 else None
            cost = random.randrange(1, 30) if exists is not None else 0
            conversions.append(Conversion(f"t{node}", "a", "b", makers, readers, made, read, cost, exists))
    return Component(tuple(range(NODES)), options, conversions=tuple(conversions))


def cheapest(component: Component) -> int | None:
    """The least cost of all covers."""
    found = []
    for count in range(1, NODES + 1):
        for chosen in combinations(component.options, count):
            if sorted(node for option in chosen for node in option.nodes) == list(component.nodes):
                indices = frozenset(option.index for option in chosen)
                needed = [each for each in component.conversions if each.needed(indices)]
                if all(each.assignment is not None for each in needed):
                    found.append(sum(o.cost for o in chosen) + sum(each.cost for each in needed))
    return min(found, default=None)


@pytest.mark.parametrize("seed", range(40))
def test_the_dynamic_program_finds_the_cheapest_cover_with_its_conversions(seed: int) -> None:
    component = component_of(Random(seed))
    cover, finished = by_states(component)
    assert finished
    assert (cover.cost if cover is not None else None) == cheapest(component)
    if cover is not None:
        indices = frozenset(option.index for option in cover.options)
        assert (cover.bound, cover.status) == (cover.cost, "optimal")
        assert cover.conversions == tuple(each for each in component.conversions if each.needed(indices))


@pytest.mark.parametrize("seed", range(3))
def test_cp_sat_agrees(seed: int) -> None:
    component = component_of(Random(seed))
    one, other = by_states(component)[0], by_cp_sat(component)
    assert (one and one.cost) == (other and other.cost)
