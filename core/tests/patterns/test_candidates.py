from __future__ import annotations

import numpy as np
import pytest
from match_core.hardware import RequantSpec, Unit
from match_core.patterns import constraints
from match_core.patterns.candidates import find_candidates
from match_core.patterns.language import Any, Const, Constraint, Match, Maybe, Op, Pattern
from match_core.patterns.rules import NodeRule
from match_core.patterns.support import support_table
from match_core.regions.claims import OperatorClaim, RegionClaims, RegionLimits
from match_core.regions.pattern import region_pattern
from match_core.schedule.workload import Workload

CONV = Op("Conv", "conv", (Maybe(Op("Pad", "pad", (Any("x"),))), Const("w")))


def workload(match: Match) -> Workload:
    return Workload("test", (), (), macs=len(match.nodes))


def pattern(name: str, *rules: Constraint, structure=CONV, **extra) -> Pattern:
    return Pattern(name, f"what {name} does", structure, rules, workload, **extra)


def graph_of_convs(b, strides=((1, 1), (2, 2)), kernel=(3, 3), padded=False):
    x = b.input("x")
    for number, stride in enumerate(strides):
        if padded:
            x = b.node("Pad", [x], f"pad{number}")
        w = b.constant(f"w{number}", np.zeros((4, 4, *kernel), np.int8))
        x = b.node("Conv", [x, w], f"conv{number}", {"strides": list(stride)})
    return b.finish([x])


def test_all_candidates_of_all_units_with_running_indices(builder):
    graph = graph_of_convs(builder())
    units = ((Unit("a", ""), (pattern("p"), pattern("q"))), (Unit("b", ""), (pattern("r"),)))
    found = find_candidates(graph, units)
    assert [(c.index, c.unit, c.pattern.name, c.node_names) for c in found.legal] == [
        (0, "a", "p", ("conv0",)),
        (1, "a", "p", ("conv1",)),
        (2, "a", "q", ("conv0",)),
        (3, "a", "q", ("conv1",)),
        (4, "b", "r", ("conv0",)),
        (5, "b", "r", ("conv1",)),
    ]
    assert found.refused == ()


def test_a_refusal_lists_every_broken_rule(builder):
    graph = graph_of_convs(builder(), kernel=(5, 5))
    rules = (constraints.stride_in("conv", (1, 1)), constraints.kernel_in("conv", (3, 3), (1, 1)))
    found = find_candidates(graph, ((Unit("a", ""), (pattern("p", *rules),)),))
    assert found.legal == ()
    assert [(r.nodes, r.rule, r.value) for r in found.refused] == [
        (("conv0",), "kernel is 3x3 or 1x1", "kernel is 5x5"),
        (("conv1",), "stride is 1x1", "stride is 2x2"),
        (("conv1",), "kernel is 3x3 or 1x1", "kernel is 5x5"),
    ]


def test_an_optional_node_that_may_not_be_fused_is_left_out(builder):
    graph = graph_of_convs(builder(), padded=True)
    never = constraints.rule("no_pad", "no padding", lambda match: "padded", "pad")
    found = find_candidates(graph, ((Unit("a", ""), (pattern("p", never),)),))
    assert [c.node_names for c in found.legal] == [("conv0",), ("conv1",)]
    assert [r.nodes for r in found.refused] == [("pad0", "conv0"), ("pad1", "conv1")]


def test_search_replaces_the_structure(builder):
    graph = graph_of_convs(builder())

    def search(graph):
        nodes = tuple(graph.nodes)
        return (Match(nodes, {}), Match(nodes[:1], {}))

    found = find_candidates(graph, ((Unit("a", ""), (pattern("p", structure=None, search=search),)),))
    assert [c.node_names for c in found.legal] == [("conv0",), ("conv0", "conv1")]


def test_support_table_tells_the_rules_of_regions_by_operator():
    real, small, pure = (NodeRule(name, f"it is {name}", lambda node: None) for name in ("real", "small", "pure"))
    operators = (
        OperatorClaim("A|B", (real, small)),
        OperatorClaim("C", (real, pure)),
        OperatorClaim("D", (real, small)),
    )
    claims = RegionClaims((*operators, OperatorClaim("E", (real,))), RegionLimits(nodes_max=3))
    (row,) = support_table(((Unit("a", ""), (region_pattern("p", "regions", claims),)),))
    assert row.rules == (
        "it is real",
        "A, B, D: it is small",
        "C: it is pure",
        "E: nothing else",
        "shapes and element types are known, and tensors have elements",
        "a region has at most 3 nodes",
    )


def test_support_table_repeats_the_rules_in_words():
    rules = (constraints.no_dilation("conv"), constraints.ungrouped("conv"))
    (row,) = support_table(((Unit("a", ""), (pattern("p", *rules),)),))
    assert row.as_json() == {
        "unit": "a",
        "pattern": "p",
        "description": "what p does",
        "rules": ["dilation is 1", "one group"],
    }


SPEC = RequantSpec(multiplier_bits=8, multiplier_signed=False, product_bits=32, shift_max=16)


@pytest.mark.parametrize(
    ("rule", "attrs", "weights", "broken"),
    [
        (constraints.no_dilation("conv"), {}, (4, 4, 3, 3), None),
        (constraints.no_dilation("conv"), {"dilations": [2, 2]}, (4, 4, 3, 3), "dilation is 2x2"),
        (constraints.stride_in("conv", (1, 1)), {}, (4, 4, 3, 3), None),
        (constraints.pads_at_most("conv", 1), {"pads": [0, 0, 2, 0]}, (4, 4, 3, 3), "padding is 0x0x2x0"),
        (constraints.pads_at_most("conv", 1), {}, (4, 4, 3, 3), None),
        (constraints.symmetric_pads("conv"), {"pads": [1, 0, 1, 0]}, (4, 4, 3, 3), None),
        (constraints.symmetric_pads("conv"), {"pads": [0, 0, 1, 1]}, (4, 4, 3, 3), "padding is 0x0x1x1"),
        (constraints.ungrouped("conv"), {"group": 2}, (4, 4, 3, 3), "group is 2"),
        (constraints.depthwise("conv"), {"group": 4}, (4, 1, 3, 3), None),
        (
            constraints.depthwise("conv"),
            {"group": 2},
            (4, 2, 3, 3),
            "group is 2 with 4 output and 4 input channels",
        ),
        (constraints.kernel_in("conv", (3, 3)), {}, (4, 4, 3, 3), None),
        (constraints.kernel_in("conv", (3, 3)), {"kernel_shape": [1, 1]}, (4, 4, 1, 1), "kernel is 1x1"),
        (constraints.dtype_is("x", "uint8"), {}, (4, 4, 3, 3), None),
        (constraints.dtype_is("x", "int8", "float32"), {}, (4, 4, 3, 3), "x is uint8"),
        (constraints.rank_is("x", 2, 3), {}, (4, 4, 3, 3), "x has rank 4"),
        (constraints.same_shape("x", "w"), {}, (4, 4, 3, 3), "x is 1x4x8x8, w is 4x4x3x3"),
        (constraints.axis_multiple_of("w", 0, 16), {}, (4, 4, 3, 3), "axis 0 of w is 4"),
        (constraints.axis_at_most("w", 0, 4), {}, (4, 4, 3, 3), None),
        (constraints.axis_at_most("w", 0, 3), {}, (4, 4, 3, 3), "axis 0 of w is 4"),
        (constraints.constant_within("w", 1, 9), {}, (4, 4, 3, 3), "w spans 0 to 0"),
        (constraints.per_tensor("w"), {}, (4, 4, 3, 3), None),
        (constraints.per_channel("w", 1), {}, (1, 4, 1, 1), None),
        (constraints.per_channel("w", 1), {}, (4, 4, 1, 1), "w has shape 4x4x1x1"),
        (constraints.attribute_in("conv", "group", (1,), 1), {"group": 3}, (4, 4, 3, 3), "group is 3"),
        (constraints.dtype_is("absent", "int8"), {}, (4, 4, 3, 3), None),
    ],
)
def test_rules(builder, rule, attrs, weights, broken):
    b = builder()
    x = b.input("x")
    y = b.node("Conv", [x, b.constant("w", np.zeros(weights, np.int8))], "conv", attrs)
    found = find_candidates(b.finish([y]), ((Unit("a", ""), (pattern("p", rule),)),))
    assert [r.value for r in found.refused] == ([] if broken is None else [broken])
    assert len(found.legal) == (broken is None)


@pytest.mark.parametrize(
    ("rule", "values", "ok"),
    [
        (constraints.multiplier_fits("m", SPEC), [0, 255], True),
        (constraints.multiplier_fits("m", SPEC), [256], False),
        (constraints.multiplier_fits("m", SPEC), [-1], False),
        (constraints.divisor_fits("m", SPEC), [1 << 16], True),
        (constraints.divisor_fits("m", SPEC), [1 << 17], False),
        (constraints.divisor_fits("m", SPEC), [12], False),
        (constraints.divisor_fits("m", SPEC), [0], False),
        (constraints.divisor_fits("m", SPEC), [4, 8], False),
    ],
)
def test_requantisation_rules(builder, rule, values, ok):
    b = builder()
    y = b.node("Scale", [b.input("x"), b.constant("m", np.array(values, np.int64))], "scale")
    structure = Op("Scale", "scale", (Any("x"), Const("m")))
    found = find_candidates(b.finish([y]), ((Unit("a", ""), (pattern("p", rule, structure=structure),)),))
    assert bool(found.legal) == ok
