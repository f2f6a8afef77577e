"""Energy and the energy-delay product as objectives, against trying every cover."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from match_core.contract.cost import Cost
from match_core.contract.loops import Objective
from match_core.validate.mapping import mapping_faults
from match_map.mapper import choose

from tests.examples import examples

#: (cycles, energy in pJ) of the choices for each node of a chain.
Figures = list[list[tuple[int, int]]]
figures = st.lists(
    st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=4), min_size=1, max_size=5
)


def offered(lab, chain: Figures):
    """One node after the other, each with its choices on units of their own."""
    names = [f"n{number}" for number in range(len(chain))]
    model = lab.model_of({name: [names[i - 1] if i else "in"] for i, name in enumerate(names)})
    assignments = []
    for name, choices in zip(names, chain, strict=True):
        for unit, (cycles, energy) in enumerate(choices):
            assignment = lab.assignment(model, len(assignments), [name], cycles, unit=f"unit{unit}")
            cost = Cost(compute_cycles=cycles, energy_pj=float(energy))
            assignments.append(replace(assignment, schedule=replace(assignment.schedule, cost=cost)))
    return model, tuple(assignments)


def best_of(chain: Figures, objective: Objective) -> int:
    """The least value over all combinations."""
    totals = [(sum(c for c, _ in picked), sum(e for _, e in picked)) for picked in product(*chain)]
    if objective == "latency":
        return min(cycles for cycles, _ in totals)
    if objective == "energy":
        return min(energy for _, energy in totals)
    return min(cycles * energy for cycles, energy in totals)


@pytest.mark.parametrize("objective", ["latency", "energy", "edp"])
@settings(deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chain=figures)
def test_no_cover_is_better(lab, objective: Objective, chain: Figures) -> None:
    model, assignments = offered(lab, chain)
    mapping = choose(model, assignments, objective=objective)
    assert mapping.objective_value == mapping.solver.objective == mapping.solver.bound == best_of(chain, objective)
    assert mapping_faults(model.graph, mapping) == ()


def test_the_product_may_want_neither_extreme(lab) -> None:
    """The fastest cover and the most frugal one cost 100 each, the one between them 36."""
    chain = [[(1, 100), (6, 6), (100, 1)]]
    model, assignments = offered(lab, chain)
    mapping = choose(model, assignments, objective="edp")
    assert (mapping.predicted_cycles, mapping.energy_pj) == (6, 6)


def test_a_wrong_value_is_found(lab) -> None:
    model, assignments = offered(lab, [[(5, 7)]])
    mapping = choose(model, assignments, objective="edp")
    assert "the sum is 5 cycles and 7 pJ" in "; ".join(
        mapping_faults(model.graph, replace(mapping, objective="energy"))
    )
