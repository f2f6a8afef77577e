"""Which nodes the patterns take, and what the workloads say of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from match_carfield.half import workloads
from match_carfield.half.changes import affine
from match_carfield.half.interfaces import HALF_INTERFACES
from match_core.plugin.answers import check_workload

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from .conftest import Half

INTERFACES = {interface.kind: interface for interface in HALF_INTERFACES}


def test_a_convolution_takes_all_changes_of_its_channels_and_the_relu(half: Callable[[], Half]) -> None:
    graph = half()
    x = graph.conv(graph.input(1, 8, 8, 4), 6)
    x = graph.node("Mul", [x, graph.constant(1, 1, 1, 6)], x.shape)
    x = graph.node("Add", [graph.constant(1, 1, 1, 6), x], x.shape)
    x = graph.node("Relu", [x], x.shape)
    matches = graph.matches(x)
    assert set(matches) == {"conv2d", "redmule_conv2d"}
    assert len(matches["conv2d"].nodes) == 4
    assert workloads.conv(matches["conv2d"]).parameters["relu"] == 1


def test_changes_are_one_multiply_add_in_the_order_of_the_graph(half: Callable[[], Half]) -> None:
    graph = half()
    x = graph.conv(graph.input(1, 4, 4, 4), 6)
    bias = graph.nodes[0].inputs[2].values.astype(np.float64)
    steps = [graph.constant(6), graph.constant(1, 1, 1, 6), graph.constant(value=3.0), graph.constant(6)]
    for op, by in zip(("Sub", "Mul", "Div", "Add"), steps, strict=True):
        x = graph.node(op, [x, by], x.shape)
    values = [step.values.astype(np.float64).reshape(-1) for step in steps]
    sums = np.linspace(-3, 3, 6)
    expected = (sums + bias - values[0]) * values[1] / values[2] + values[3]
    found = affine(graph.matches(x)["conv2d"], 6)
    np.testing.assert_allclose(sums * found.mul + found.add, expected, rtol=1e-5)


def test_a_constant_less_the_sum_turns_the_sign(half: Callable[[], Half]) -> None:
    graph = half()
    x = graph.conv(graph.input(1, 4, 4, 4), 6, bias=False)
    by = graph.constant(6)
    x = graph.node("Sub", [by, x], x.shape)
    found = affine(graph.matches(x)["conv2d"], 6)
    np.testing.assert_array_equal(found.mul, -1.0)
    np.testing.assert_array_equal(found.add, by.values.astype(np.float32))


@pytest.mark.parametrize(
    ("group", "outputs", "pattern"), [(8, 8, "depthwise2d"), (2, 12, "group2d"), (8, 16, "group2d")]
)
def test_grouped_convolutions(half: Callable[[], Half], group: int, outputs: int, pattern: str) -> None:
    graph = half()
    x = graph.conv(graph.input(1, 9, 9, 8), outputs, group=group, stride=2)
    matches = graph.matches(x)
    assert set(matches) == {pattern}
    candidate = graph.candidates(x).legal[0]
    assert candidate.workload.macs == outputs * 25 * 9 * 8 // group


def test_dense_layers_of_either_form(half: Callable[[], Half]) -> None:
    graph = half()
    source = graph.input(1, 16, 24)
    product = graph.node("MatMul", [source, graph.constant(24, 10)], (1, 16, 10))
    x = graph.node("Relu", [graph.node("Add", [product, graph.constant(10)], product.shape)], product.shape)
    assert len(graph.matches(x)["linear"].nodes) == 3

    graph = half()
    source = graph.input(1, 24)
    x = graph.node("Gemm", [source, graph.constant(10, 24), graph.constant(10)], (1, 10), transB=1, alpha=0.5)
    match = graph.matches(x)["linear"]
    workload = workloads.linear(match)
    assert [(dim.name, dim.size) for dim in workload.dims] == [("N", 1), ("K", 10), ("C", 24)]
    np.testing.assert_array_equal(affine(match, 10).mul, np.float32(0.5))


def attention(graph: Half, heads: int = 4) -> tuple[gs.Variable, gs.Variable]:
    """Scores and their product with the values, from [1, 16, heads, 8] tensors."""
    query, key, value = (graph.input(1, 16, heads, 8) for _ in range(3))
    query = graph.node("Transpose", [query], (1, heads, 16, 8), perm=[0, 2, 1, 3])
    key = graph.node("Transpose", [key], (1, heads, 8, 16), perm=[0, 2, 3, 1])
    scores = graph.node("MatMul", [query, key], (1, heads, 16, 16))
    scores = graph.node("Mul", [scores, graph.constant(value=0.25)], scores.shape)
    value = graph.node("Transpose", [value], (1, heads, 16, 8), perm=[0, 2, 1, 3])
    mixed = graph.node("MatMul", [scores, value], (1, heads, 16, 8))
    return scores, graph.node("Transpose", [mixed], (1, 16, heads, 8), perm=[0, 2, 1, 3])


def test_attention_takes_the_permutations_in(half: Callable[[], Half]) -> None:
    graph = half()
    scores, result = attention(graph)
    found = {c.match.output.name: c for c in graph.candidates(result).legal if c.pattern.name == "matmul"}
    first, second = found[scores.name].workload, found[result.name].workload
    assert len(found[scores.name].match.nodes) == 4
    assert [axis.name for axis in first.operand("left").axes] == ["m", "b", "c"]
    assert [axis.name for axis in first.operand("right").axes] == ["k", "b", "c"]
    assert [axis.name for axis in first.operand("output").axes] == ["b", "m", "k"]
    assert first.parameters["scale_bits"] == 0x3400
    assert first.scratch == ((("B", "K", "C"), 2),)
    assert [axis.name for axis in second.operand("right").axes] == ["c", "b", "k"]
    assert [axis.name for axis in second.operand("output").axes] == ["m", "b", "k"]
    assert second.scratch == ()


def test_one_head_is_dense_for_redmule(half: Callable[[], Half]) -> None:
    graph = half()
    scores, result = attention(graph, heads=1)
    assert "redmule_matmul" in graph.matches(result)
    assert "redmule_matmul" in {c.pattern.name for c in graph.candidates(result).legal if c.match.output is scores}


def test_permutations_of_two_batches_are_left_outside(half: Callable[[], Half]) -> None:
    graph = half()
    source = graph.input(2, 3, 4, 8)
    turned = graph.node("Transpose", [source], (3, 2, 4, 8), perm=[1, 0, 2, 3])
    x = graph.node("MatMul", [turned, graph.input(3, 2, 8, 6)], (3, 2, 4, 6))
    assert len(graph.matches(x)["matmul"].nodes) == 1
    assert graph.refusals(x, "matmul")[0][1] == "shapes are (3, 2, 4, 8) and (3, 2, 8, 6)"


def test_every_workload_fits_its_interface(half: Callable[[], Half]) -> None:
    graph = half()
    image = graph.input(1, 8, 8, 4)
    x = graph.node("Relu", [graph.conv(image, 8)], (1, 8, 8, 8))
    x = graph.conv(x, 8, group=8)
    x = graph.conv(x, 8, group=4)
    x = graph.node("Add", [x, graph.input(1, 8, 8, 8)], x.shape)
    x = graph.node("match.nhwc::AveragePool", [x], (1, 4, 4, 8), kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4)
    x = graph.node("match.nhwc::MaxPool", [x], (1, 2, 2, 8), kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4)
    x = graph.node("MatMul", [x, graph.constant(8, 8)], x.shape)
    x = graph.node("Softmax", [x], x.shape, axis=-1)
    x = graph.node("LayerNormalization", [x, graph.constant(8), graph.constant(8)], x.shape, axis=-1)
    x = graph.node("Gelu", [x], x.shape)
    x = graph.node("MatMul", [x, graph.input(1, 2, 8, 6)], (1, 2, 2, 6))
    x = graph.node("Transpose", [x], (1, 6, 2, 2), perm=[0, 3, 1, 2])
    found = graph.candidates(x).legal
    for candidate in found:
        check_workload(INTERFACES[candidate.workload.kind], candidate.workload)
    assert {candidate.workload.kind for candidate in found} == set(INTERFACES)
