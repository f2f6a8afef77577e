"""Atoms: operators that are in a region together or not at all; parts of regions; what regions hold and count."""

from __future__ import annotations

from itertools import combinations

import pytest
from match_core.contract.claims import AtomClaim, OperatorClaim, RegionClaims
from match_core.contract.hardware import Unit
from match_core.contract.region import Region
from match_core.contract.structure import Any, Constraint, Maybe, Op
from match_core.ir.topology import Topology
from match_core.match.candidates import find_candidates
from match_regions import atoms_in, region_pattern
from match_regions.dag import Dag, members
from match_regions.parts import parts_of

UNIT = Unit("engine", "an engine")
#: B after A, perhaps with P in front.
PAIR = AtomClaim("pair", Op("B", "b", (Op("A", "a", (Maybe(Op("P", "p", (Any("x"),))),)),)))


def _odd(match):
    name = match.node("a").name
    return f"it is {name}" if int(name[1:]) % 2 else None


EVEN = AtomClaim("pair", PAIR.structure, (Constraint("even", "the number of A is even", _odd),))


def found(graph, *operators, **claims):
    single = tuple(claim for claim in operators if isinstance(claim, OperatorClaim))
    atoms = tuple(claim for claim in operators if isinstance(claim, AtomClaim))
    pattern = region_pattern("engine_region", "a region", RegionClaims(single, atoms=atoms, **claims))
    return find_candidates(graph, [(UNIT, (pattern,))])


def named(candidates):
    return [" ".join(candidate.node_names) for candidate in candidates.legal]


def told(candidates):
    return [(" ".join(r.nodes), r.rule, r.value) for r in candidates.refused]


def test_atoms_are_joined_and_their_operators_alone_are_not_claimed(lab):
    graph = lab.graph_of({"A0": ["in"], "B0": ["A0"], "A2": ["B0"], "X0": ["A2"], "A4": ["X0"], "B4": ["A4"]})
    assert named(found(graph, PAIR)) == ["A0 B0", "A4 B4"]
    assert told(found(graph, PAIR)) == []


def test_optional_nodes_belong_to_the_atom(lab):
    graph = lab.graph_of({"P0": ["in"], "A0": ["P0"], "B0": ["A0"], "P1": ["B0"]})
    assert named(found(graph, PAIR)) == ["P0 A0 B0"]


def test_a_refused_atom_is_reported_once_with_all_its_nodes(lab):
    graph = lab.graph_of({"A0": ["in"], "B0": ["A0"], "A1": ["B0"], "B1": ["A1"], "A2": ["B1"], "B2": ["A2"]})
    candidates = found(graph, EVEN)
    assert named(candidates) == ["A0 B0", "A2 B2"]
    assert told(candidates) == [("A1 B1", "the number of A is even", "it is A1")]


def test_atoms_and_single_operators_make_one_region(lab):
    graph = lab.graph_of({"A0": ["in"], "B0": ["A0"], "C0": ["B0"], "A1": ["C0"], "B1": ["A1"]})
    assert named(found(graph, EVEN, OperatorClaim("C"))) == ["A0 B0 C0"]


def test_the_atoms_of_a_region_by_name(lab):
    graph = lab.graph_of({"A0": ["in"], "B0": ["A0"], "A2": ["B0"], "B2": ["A2"]})
    region = Region.of(tuple(Topology.of(graph).nodes), graph.outputs)
    atoms = atoms_in(region, RegionClaims(atoms=(PAIR,)))
    assert [(name, match.node("a").name) for name, match in atoms] == [("pair", "A0"), ("pair", "A2")]


def test_counts_and_holdings_are_those_of_the_region(lab):
    graph = lab.graph_of({"A0": ["in"], "B0": ["A0"], "A2": ["B0"], "B2": ["A2"]})
    counts = lambda region: {"cycles": 7 * len(region.nodes)}  # noqa: E731
    holds = lambda region: {"weights": len(region.nodes)}  # noqa: E731
    candidates = found(graph, PAIR, counts=counts, holds=holds, parts_max=9)
    made = {" ".join(c.node_names): c.workload for c in candidates.legal}
    assert {name: (w.parameters["cycles"], w.holds) for name, w in made.items()} == {
        "A0 B0": (14, (("weights", 2),)),
        "A2 B2": (14, (("weights", 2),)),
        "A0 B0 A2 B2": (28, (("weights", 4),)),
    }


DIAMOND = {"A0": ["in"], "B0": ["A0"], "A2": ["B0"], "B2": ["A2"], "A4": ["B0"], "B4": ["A4"], "C0": ["B2", "B4"]}


def test_parts_are_all_connected_convex_sets_of_atoms(lab):
    """Of a diamond of four atoms: four alone, four pairs, and three of three (without an end or with both middles)."""
    topology = Topology.of(lab.graph_of(DIAMOND))
    dag = Dag.of(topology)
    place = {node.name: number for number, node in enumerate(topology.nodes)}
    atoms = [sum(1 << place[name] for name in pair.split()) for pair in ("A0 B0", "A2 B2", "A4 B4", "C0")]
    parts = parts_of(dag, atoms, 100)
    assert set(parts) == _by_trying_all(dag, atoms)
    assert [sum(bool(part & atom) for atom in atoms) for part in parts] == sorted(
        sum(bool(part & atom) for atom in atoms) for part in parts
    )
    assert parts_of(dag, atoms, 5) == parts[:5]


def _by_trying_all(dag, atoms):
    every = set()
    for size in range(1, len(atoms)):
        for chosen in combinations(atoms, size):
            nodes = sum(chosen)
            if _connected(dag, nodes) and _convex(dag, nodes):
                every.add(nodes)
    return every


def _reached(dag, start, step, within):
    seen, waiting = 0, [start]
    while waiting:
        for position in members(step[waiting.pop()] & within & ~seen):
            seen |= 1 << position
            waiting.append(position)
    return seen


def _connected(dag, nodes):
    both = [before | after for before, after in zip(dag.before, dag.after, strict=True)]
    first = next(members(nodes))
    return (_reached(dag, first, both, nodes) | 1 << first) & nodes == nodes


def _convex(dag, nodes):
    whole = (1 << len(dag)) - 1
    after = [_reached(dag, position, dag.after, whole) for position in range(len(dag))]
    inside = list(members(nodes))
    between = [p for p in range(len(dag)) if not nodes >> p & 1 and any(after[i] >> p & 1 for i in inside)]
    return not any(after[p] & nodes for p in between)


def test_the_mapper_is_offered_regions_and_parts(lab):
    candidates = found(lab.graph_of(DIAMOND), PAIR, OperatorClaim("C"), parts_max=4)
    assert len(candidates.legal) == 5
    assert max(len(candidate.node_names) for candidate in candidates.legal) == 7


@pytest.mark.parametrize("most", [0, 1])
def test_without_parts_there_is_one_candidate(lab, most):
    graph = lab.graph_of({"A0": ["in"], "B0": ["A0"]})
    assert named(found(graph, PAIR, parts_max=most)) == ["A0 B0"]
