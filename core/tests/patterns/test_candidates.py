from __future__ import annotations

import numpy as np
import pytest
from match_core.contract.claims import OperatorClaim, RegionClaims, RegionLimits
from match_core.contract.hardware import Unit
from match_core.contract.node_rule import NodeRule
from match_core.contract.pattern import Pattern
from match_core.contract.structure import Any, Const, Constraint, Match, Maybe, Op
from match_core.contract.workload import Workload
from match_core.match.candidates import find_candidates
from match_core.patterns import rules_requant, rules_tensors, windows
from match_core.patterns.rule import rule
from match_regions import region_pattern
from support_table import support_table

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
    rules = (windows.stride_is(1), windows.kernel_is(3))
    found = find_candidates(graph, ((Unit("a", ""), (pattern("p", *rules),)),))
    assert found.legal == ()
    assert [(r.nodes, r.rule, r.value) for r in found.refused] == [
        (("conv0",), "the kernel is 3x3", "kernel is 5x5"),
        (("conv1",), "stride is 1x1", "stride is 2x2"),
        (("conv1",), "the kernel is 3x3", "kernel is 5x5"),
    ]


def test_an_optional_node_that_may_not_be_fused_is_left_out(builder):
    graph = graph_of_convs(builder(), padded=True)
    never = rule("no_pad", "no padding", "pad")(lambda match: "padded")
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
    rules = (windows.no_dilation, windows.one_group)
    (row,) = support_table(((Unit("a", ""), (pattern("p", *rules),)),))
    assert row.as_json() == {
        "unit": "a",
        "pattern": "p",
        "description": "what p does",
        "rules": ["there is no dilation", "there is one group"],
    }


@pytest.mark.parametrize(
    ("rule", "attrs", "weights", "broken"),
    [
        (windows.no_dilation, {}, (4, 4, 3, 3), None),
        (windows.no_dilation, {"dilations": [2, 2]}, (4, 4, 3, 3), "dilation is 2x2"),
        (windows.stride_is(1), {}, (4, 4, 3, 3), None),
        (windows.stride_is(1, 2), {"strides": [1, 2]}, (4, 4, 3, 3), "stride is 1x2"),
        (windows.pads_at_most(1), {"pads": [0, 0, 2, 0]}, (4, 4, 3, 3), "padding is 0x0x2x0"),
        (windows.pads_at_most(1), {}, (4, 4, 3, 3), None),
        (windows.one_group, {"group": 2}, (4, 4, 3, 3), "there are 2 groups"),
        (windows.depthwise, {"group": 4}, (4, 1, 3, 3), None),
        (
            windows.depthwise,
            {"group": 2},
            (4, 2, 3, 3),
            "there are 2 groups of 2 input channels for 4 output channels",
        ),
        (windows.kernel_is(3), {}, (4, 4, 3, 3), None),
        (windows.kernel_is(3), {"kernel_shape": [1, 1]}, (4, 4, 1, 1), "kernel is 1x1"),
        (windows.explicit_padding.on("conv"), {"auto_pad": "VALID"}, (4, 4, 3, 3), "auto_pad is VALID"),
        (windows.explicit_padding.on("absent"), {"auto_pad": "VALID"}, (4, 4, 3, 3), None),
        (rules_tensors.types_are("x", "uint8", of=("x",)), {}, (4, 4, 3, 3), None),
        (rules_tensors.types_are("x", "int8", of=("x",)), {}, (4, 4, 3, 3), "x is uint8"),
        (rules_tensors.types_are("x", "int8", of=("absent",)), {}, (4, 4, 3, 3), None),
    ],
)
def test_rules(builder, rule, attrs, weights, broken):
    b = builder()
    x = b.input("x")
    structure = Op("Conv", "conv", (Any("x"), Const("weight")))
    y = b.node("Conv", [x, b.constant("w", np.zeros(weights, np.int8))], "conv", attrs)
    found = find_candidates(b.finish([y]), ((Unit("a", ""), (pattern("p", rule, structure=structure),)),))
    assert [r.value for r in found.refused] == ([] if broken is None else [broken])
    assert len(found.legal) == (broken is None)


@pytest.mark.parametrize(
    ("mode", "amounts", "inner", "value", "broken"),
    [
        ("constant", [0, 0, 1, 1, 0, 0, 1, 1], 0, 7, None),
        ("constant", [0, 0, 1, 1, 0, 0, 1, 1], 1, 0, None),
        ("constant", [0, 0, 1, 1, 0, 0, 1, 1], 1, 7, "the convolution pads by [1, 1, 1, 1] itself"),
        ("constant", [0, 1, 1, 1, 0, 0, 1, 1], 0, 0, "amounts are [0, 1, 1, 1, 0, 0, 1, 1]"),
        ("reflect", [0, 0, 1, 1, 0, 0, 1, 1], 0, 0, "mode is reflect"),
    ],
)
def test_what_a_pad_in_front_of_a_convolution_may_be(builder, mode, amounts, inner, value, broken):
    b = builder()
    structure = Op("Conv", "conv", (Op("Pad", "pad", (Any("input"),)), Const("weight")))
    constants = [b.constant("by", np.array(amounts, np.int64)), b.constant("value", np.array(value, np.uint8))]
    x = b.node("Pad", [b.input("x"), *constants], "pad", {"mode": mode})
    weight = b.constant("w", np.zeros((4, 4, 3, 3), np.int8))
    y = b.node("Conv", [x, weight], "conv", {"pads": [inner] * 4})
    found = find_candidates(b.finish([y]), ((Unit("a", ""), (pattern("p", windows.plain_pad, structure=structure),)),))
    assert [r.value for r in found.refused] == ([] if broken is None else [broken])


@pytest.mark.parametrize(
    ("rule", "divisor", "ok"),
    [
        (rules_requant.shift_at_most(16), 1 << 16, True),
        (rules_requant.shift_at_most(16), 1 << 17, False),
        (rules_requant.shift_at_most(16), 12, False),
        (rules_requant.shift_at_most(16), 0, False),
    ],
)
def test_divisors_are_powers_of_two(builder, rule, divisor, ok):
    b = builder()
    y = b.node("Scale", [b.input("x"), b.constant("m", np.array(divisor, np.int64))], "scale")
    structure = Op("Scale", "scale", (Any("x"), Const("divisor")))
    found = find_candidates(b.finish([y]), ((Unit("a", ""), (pattern("p", rule, structure=structure),)),))
    assert bool(found.legal) == ok
