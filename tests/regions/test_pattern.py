"""Region patterns: candidates, what they are to the rest, and why nodes are refused."""

from __future__ import annotations

from match_core.contract.claims import OperatorClaim, RegionClaims, RegionLimits
from match_core.contract.hardware import Unit
from match_core.contract.node_rule import NodeRule
from match_core.match.candidates import find_candidates
from match_regions import region_pattern

UNIT = Unit("engine", "an engine")


def found(graph, *operators, **claims):
    pattern = region_pattern("engine_region", "a region", RegionClaims(tuple(operators), **claims))
    return find_candidates(graph, [(UNIT, (pattern,))])


def named(candidates):
    return [" ".join(candidate.node_names) for candidate in candidates.legal]


def told(candidates):
    return [(" ".join(r.nodes), r.rule, r.value) for r in candidates.refused]


A, B = OperatorClaim("A"), OperatorClaim("B|C")


def test_adjacent_claimed_nodes_are_one_region(lab):
    graph = lab.graph_of({"A0": ["in"], "B0": ["A0", "const1"], "X0": ["B0"], "C0": ["X0"], "A1": ["C0"]})
    assert named(found(graph, A, B)) == ["A0 B0", "C0 A1"]


def test_captures_results_and_workload(lab):
    graph = lab.graph_of(
        {"A0": ["in1", "const3"], "A1": ["A0", "const1"], "B0": ["A0", "in0", "const3"], "X0": ["A1"]},
        outputs=["X0", "B0", "A0"],
    )
    (candidate,) = found(graph, A, B).legal
    match, workload = candidate.match, candidate.workload
    assert [tensor.name for tensor in match.outputs] == ["A0", "A1", "B0"]
    assert {capture: tensor.name for capture, tensor in match.captures.items()} == {
        "in0": "in1",
        "in1": "in0",
        "const0": "const3",
        "const1": "const1",
        "out0": "A0",
        "out1": "A1",
        "out2": "B0",
    }
    assert [(operand.name, operand.role, operand.element_bits) for operand in workload.operands] == [
        ("in0", "input", 32),
        ("in1", "input", 32),
        ("const0", "constant", 32),
        ("const1", "constant", 32),
        ("out0", "output", 32),
        ("out1", "output", 32),
        ("out2", "output", 32),
    ]
    assert (workload.kind, workload.macs, workload.dims[0].size, workload.dims[0].tileable) == (
        "engine_region",
        0,
        12,
        False,
    )
    assert dict(workload.geometry) == {
        "elements": 12,
        "nodes": 3,
        "nodes_A": 2,
        "elements_A": 8,
        "nodes_B": 1,
        "elements_B": 4,
    }


def odd(node):
    return f"number {node.name[-1]}" if int(node.name[-1]) % 2 else None


EVEN = NodeRule("even", "the number is even", odd)


def test_a_node_that_breaks_a_rule_is_in_no_region_and_told(lab):
    graph = lab.graph_of({"A0": ["in"], "A1": ["A0"], "A2": ["A1"], "B1": ["A2"]})
    candidates = found(graph, OperatorClaim("A", (EVEN,)), B)
    assert named(candidates) == ["A0", "A2 B1"]
    assert told(candidates) == [("A1", "the number is even", "number 1")]


def test_claims_of_one_operator_are_alternatives(lab):
    low = NodeRule("low", "the number is below 3", lambda node: None if int(node.name[-1]) < 3 else "number 3")
    graph = lab.graph_of({"A0": ["in"], "A1": ["A0"], "A3": ["A1"]})
    candidates = found(graph, OperatorClaim("A", (EVEN,)), OperatorClaim("A", (low,)))
    assert named(candidates) == ["A0 A1"]
    assert told(candidates) == [
        ("A3", "the number is even", "number 3"),
        ("A3", "the number is below 3", "number 3"),
    ]


def test_a_node_without_a_static_shape_is_refused(lab):
    graph = lab.graph_of({"A0": ["in"], "A1": ["A0"]})
    graph.nodes[1].outputs[0].shape = ["n", 4]
    candidates = found(graph, A)
    assert named(candidates) == ["A0"]
    assert told(candidates) == [
        ("A1", "shapes and element types are known, and tensors have elements", "shape is ['n', 4]")
    ]


def test_worth_is_asked_of_regions_only(lab):
    asked = []

    def worth(region):
        asked.append([node.name for node in region.nodes])
        return None if len(region.nodes) > 1 else f"{len(region.nodes)} node"

    graph = lab.graph_of({"A0": ["in"], "B0": ["A0"], "X0": ["B0"], "A2": ["X0"], "A1": ["A2"]})
    candidates = found(graph, OperatorClaim("A", (EVEN,)), B, worth=worth, worth_rule="two nodes or more")
    assert named(candidates) == ["A0 B0"]
    assert told(candidates) == [("A2", "two nodes or more", "1 node"), ("A1", "the number is even", "number 1")]
    assert asked == [["A0", "B0"], ["A2"]]


def test_a_node_that_alone_exceeds_a_limit_is_told(lab):
    graph = lab.graph_of({"A0": ["in", "const1"], "A1": ["A0", "const9"], "B0": ["A1"]})
    candidates = found(graph, A, B, limits=RegionLimits(constant_bytes_max=64))
    assert named(candidates) == ["A0", "B0"]
    assert told(candidates) == [("A1", "a region has at most 64 constant bytes", "72 constant bytes")]


def test_results_that_nobody_reads_do_not_leave(lab):
    import numpy as np
    import onnx_graphsurgeon as gs

    graph = lab.graph_of({"A0": ["in"], "B0": ["A0"]})
    graph.nodes[0].outputs.append(gs.Variable("unread", np.dtype(np.float32), [1, 4]))
    (candidate,) = found(graph, A, B).legal
    assert [tensor.name for tensor in candidate.match.outputs] == ["B0"]


def test_a_graph_without_claimed_nodes(lab):
    assert found(lab.graph_of({"X0": ["in"]}), A).legal == ()
