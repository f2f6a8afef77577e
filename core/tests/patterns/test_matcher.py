from __future__ import annotations

import numpy as np
import pytest
from match_core.contract.structure import Any, Const, Match, Maybe, OneOf, Op
from match_core.ir.topology import Topology

from tests.matches import find_matches

PADDED = Op("Conv", "conv", (Maybe(Op("Pad", "pad", (Any("x"),))), Const("w")))
REQUANT = Op("match.arith::RequantU8", "requant", (PADDED, Const("m")))


def names(match: Match) -> list[str]:
    return [node.name for node in match.nodes]


def conv_chain(b, padded: bool):
    x = b.input("x")
    source = b.node("Pad", [x], "pad") if padded else x
    conv = b.node("Conv", [source, b.constant("w", np.zeros((4, 4, 3, 3), np.int8))], "conv")
    return conv, b.node("match.arith::RequantU8", [conv, b.constant("m", np.int64(3))], "requant")


@pytest.mark.parametrize("padded", [True, False])
def test_optional_node_is_taken_where_it_is(builder, padded):
    b = builder()
    _, y = conv_chain(b, padded)
    (match,) = find_matches(b.finish([y]), REQUANT)
    assert names(match) == (["pad", "conv", "requant"] if padded else ["conv", "requant"])
    assert match.has("pad") == padded
    assert match.tensor("x").name == "x"
    assert match.output is y
    assert match.const("m") == 3
    assert match.shape("w") == (4, 4, 3, 3)


def test_shared_optional_node_is_left_outside(builder):
    b = builder()
    x = b.input("x")
    pad = b.node("Pad", [x], "pad")
    conv = b.node("Conv", [pad, b.constant("w", np.zeros((4, 4, 3, 3), np.int8))], "conv")
    other = b.node("Relu", [pad], "other")
    (match,) = find_matches(b.finish([conv, other]), PADDED)
    assert names(match) == ["conv"]
    assert match.tensor("x") is pad


def test_inner_node_with_two_readers_does_not_match(builder):
    b = builder()
    conv, y = conv_chain(b, False)
    other = b.node("Relu", [conv], "other")
    assert find_matches(b.finish([y, other]), REQUANT) == ()


def test_inner_node_read_twice_by_the_same_node_does_not_match(builder):
    b = builder()
    x = b.input("x")
    relu = b.node("Relu", [x])
    y = b.node("Add", [relu, relu])
    structure = Op("Add", "add", (Op("Relu", "relu", (Any("x"),)), Any("other")))
    assert find_matches(b.finish([y]), structure) == ()


def test_inner_node_that_is_a_graph_output_does_not_match(builder):
    b = builder()
    conv, y = conv_chain(b, False)
    assert find_matches(b.finish([y, conv]), REQUANT) == ()


def test_inner_node_with_a_used_second_output_does_not_match(builder):
    b = builder()
    x = b.input("x")
    first = b.node("Split", [x], "split", outputs=2)
    second = b.nodes[-1].outputs[1]
    y = b.node("Relu", [first], "relu")
    z = b.node("Neg", [second], "neg")
    structure = Op("Relu", "relu", (Op("Split", "split", (Any("x"),)),))
    assert find_matches(b.finish([y, z]), structure) == ()
    assert find_matches(b.finish([y]), structure) == ()  # still read by neg


def test_second_output_of_a_node_is_not_its_result(builder):
    b = builder()
    x = b.input("x")
    b.node("MaxPool", [x], "pool", outputs=2)
    y = b.node("Relu", [b.nodes[-1].outputs[1]], "relu")
    structure = Op("Relu", "relu", (Op("MaxPool", "pool", (Any("x"),)),))
    assert find_matches(b.finish([y]), structure) == ()


def test_commutative_operands_are_swapped_and_rebound(builder):
    b = builder()
    x = b.input("x")
    y = b.node("Add", [b.constant("c", np.zeros(4, np.uint8)), x], "add")
    structure = Op("Add", "add", (Any("a"), Const("k")))
    graph = b.finish([y])
    assert find_matches(graph, structure) == ()
    (match,) = find_matches(graph, Op("Add", "add", (Any("a"), Const("k")), commutative=True))
    assert match.tensor("a") is x
    assert match.tensor("k").name == "c"


def test_commutative_swap_backtracks_out_of_a_deep_failure(builder):
    b = builder()
    x, z = b.input("x"), b.input("z")
    left = b.node("Relu", [b.node("Neg", [x], "neg")], "relu_x")
    right = b.node("Relu", [z], "relu_z")
    y = b.node("Add", [left, right], "add")
    deep = Op("Relu", "outer", (Op("Neg", "neg", (Any("n"),)),))
    plain = Op("Relu", "plain", (Any("p"),))
    (match,) = find_matches(b.finish([y]), Op("Add", "add", (plain, deep), commutative=True))
    assert match.node("plain").name == "relu_z"
    assert match.tensor("n") is x


def test_alternatives_are_tried_in_order(builder):
    b = builder()
    x = b.input("x")
    y = b.node("Add", [b.node("Relu", [x], "relu"), x], "add")
    first = OneOf((Op("Relu", "relu", (Any("r"),)), Any("t")))
    (match,) = find_matches(b.finish([y]), Op("Add", "add", (first, Any("o"))))
    assert match.has("relu")
    (match,) = find_matches(b.finish([y]), Op("Add", "add", (OneOf(first.options[::-1]), Any("o"))))
    assert not match.has("relu")


def test_operator_alternatives_and_domains(builder):
    b = builder()
    x = b.input("x")
    y = b.node("match.nhwc::MaxPool", [x], "pool")
    graph = b.finish([y])
    assert find_matches(graph, Op("MaxPool", "p", (Any("x"),))) == ()
    assert len(find_matches(graph, Op("AveragePool|match.nhwc::MaxPool", "p", (Any("x"),)))) == 1


def test_a_capture_named_twice_means_one_tensor(builder):
    b = builder()
    x, z = b.input("x"), b.input("z")
    same = b.node("Mul", [x, x], "same")
    other = b.node("Mul", [x, z], "other")
    matches = find_matches(b.finish([same, other]), Op("Mul", "square", (Any("a"), Any("a"))))
    assert [names(match) for match in matches] == [["same"]]


def test_missing_and_empty_inputs_do_not_match(builder):
    import onnx_graphsurgeon as gs

    b = builder()
    x = b.input("x")
    y = b.node("Clip", [x], "short")
    z = b.node("Clip", [x, gs.Variable.empty(), b.constant("hi", np.uint8(6))], "gap")
    structure = Op("Clip", "clip", (Any("x"), Any("lo")))
    assert find_matches(b.finish([y, z]), structure) == ()


def test_optional_and_alternative_results(builder):
    b = builder()
    x = b.input("x")
    conv = b.node("Conv", [x, b.constant("w", np.zeros((4, 4, 3, 3), np.int8))], "conv")
    y = b.node("Relu", [conv], "relu")
    z = b.node("Neg", [y], "neg")
    core = Op("Conv", "conv", (Any("x"), Const("w")))
    graph = b.finish([z])
    optional = find_matches(graph, Maybe(Op("Relu", "relu", (core,))))
    assert [names(match) for match in optional] == [["conv"], ["conv", "relu"]]
    either = find_matches(graph, OneOf((Op("Neg", "neg", (Any("t"),)), core)))
    assert [names(match) for match in either] == [["conv"], ["neg"]]
    assert find_matches(graph, Any("t")) == ()


def test_order_is_topological_even_if_the_graph_is_not_sorted(builder):
    b = builder()
    x = b.input("x")
    first = b.node("Relu", [x], "first")
    second = b.node("Relu", [first], "second")
    b.nodes.reverse()
    matches = find_matches(b.finish([second]), Op("Relu", "r", (Any("x"),)))
    assert [names(match) for match in matches] == [["first"], ["second"]]


def test_cycles_and_double_producers_are_refused(builder):
    b = builder()
    x = b.input("x")
    y = b.node("Add", [x, x], "a")
    b.nodes[0].inputs[1] = b.node("Relu", [y], "b")
    with pytest.raises(ValueError, match="cycle"):
        Topology.of(b.finish([y]))


def test_a_structure_with_inputs_leaves_out_no_activation(builder):
    """Else a Concat of three would be taken for one of two, and nobody would read or make the third part."""
    b = builder()
    x, y, z = b.input("x"), b.input("y"), b.input("z")
    three = b.node("Concat", [x, y, z], "three")
    constant = b.node("Concat", [x, y, b.constant("c", np.zeros((1, 4, 8, 8), np.uint8))], "constant")
    graph = b.finish([three, constant])
    two = Op("Concat", "concat", (Any("a"), Any("b")))
    assert [names(match) for match in find_matches(graph, two)] == [["constant"]]
    assert len(find_matches(graph, Op("Concat", "concat"))) == 2
