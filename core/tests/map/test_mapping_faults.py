"""Faults of mappings that the validator finds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from match_core.contract.structure import Constraint
from match_core.validate.mapping import InvalidMappingError, mapping_faults, validate_mapping
from match_map.mapper import choose

from core.tests.map.test_mapper import CHAIN


@pytest.fixture
def good(lab):
    model = lab.model_of(CHAIN)
    return model, choose(model, lab.offer(model, ("a b", 1), ("c", 1), ("d", 1)))


def test_a_right_mapping_has_no_faults(good):
    validate_mapping(good[0].graph, good[1])


def test_missing_and_doubled_nodes(good):
    model, mapping = good
    assert "'d' is in 0 assignments" in "; ".join(
        mapping_faults(model.graph, replace(mapping, assignments=mapping.assignments[:-1]))
    )
    doubled = replace(mapping, assignments=(*mapping.assignments, mapping.assignments[-1]))
    with pytest.raises(InvalidMappingError, match="'d' is in 2 assignments"):
        validate_mapping(model.graph, doubled)


def test_wrong_order(good):
    model, mapping = good
    turned = replace(mapping, assignments=mapping.assignments[::-1])
    assert "comes before" in "; ".join(mapping_faults(model.graph, turned))


def test_wrong_sum(good):
    model, mapping = good
    wrong = replace(mapping, solver=replace(mapping.solver, objective=7))
    assert "the sum is 3 cycles" in "; ".join(mapping_faults(model.graph, wrong))


def test_a_rule_that_does_not_hold(lab):
    model = lab.model_of({"a": ["in"]})
    rule = Constraint("r", "rule", lambda match: "broken")
    mapping = choose(model, (lab.assignment(model, 0, ["a"], 1, rules=(rule,)),))
    assert "rule, but broken" in "; ".join(mapping_faults(model.graph, mapping))


def test_a_hidden_value_that_others_read(lab):
    model = lab.model_of({"a": ["in"], "b": ["a"], "c": ["a"]})
    mapping = choose(model, lab.offer(model, ("a b", 1), ("c", 1)))
    assert "hidden inside" in "; ".join(mapping_faults(model.graph, mapping))
    model = lab.model_of({"a": ["in"], "b": ["a"]}, outputs=["a", "b"])
    mapping = choose(model, lab.offer(model, ("a b", 1)))
    assert "hidden inside" in "; ".join(mapping_faults(model.graph, mapping))
