"""Multiply-accumulates of nodes: with ones everywhere, the sum of a result is the number of products in it."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_core.contract.macs import node_macs
from match_core.contract.model import Model
from match_core.ir.functions import ensure_functions
from match_host.kernels.products.conv_shape import conv_shape
from match_host.kernels.products.dense import build_dense
from match_host.kernels.sequence.recurrent import build_recurrent


def made(op: str, inputs, outputs=1, dtype="float32", **attrs) -> gs.Node:
    """A node of tensors with these shapes; the shapes of results are what ONNX says they are."""
    domain, _, plain = op.rpartition("::")
    tensors = [gs.Variable(f"x{n}", np.dtype(dtype), list(shape)) for n, shape in enumerate(inputs)]
    whole = np.int32 if "Integer" in op else np.float32
    results = [gs.Variable(f"y{n}", np.dtype(whole), None) for n in range(outputs)]
    node = gs.Node(plain, "node", attrs, tensors, results, domain=domain or None)
    for result, value in zip(results, ran(node), strict=True):
        result.shape = list(value.shape)
    return node


def ran(node: gs.Node) -> list[np.ndarray]:
    graph = gs.Graph([node], list(node.inputs), list(node.outputs))
    ensure_functions(graph)
    session = onnxruntime.InferenceSession(Model("m", graph).to_onnx().SerializeToString())
    return session.run(None, {t.name: np.ones(t.shape, t.dtype) for t in node.inputs})


PRODUCTS = [
    ("Conv", [(2, 4, 7, 9), (6, 2, 3, 2)], {"group": 2, "strides": [2, 1], "dilations": [1, 2]}),
    ("Conv", [(1, 4, 9), (8, 4, 3)], {}),
    ("Conv", [(1, 6, 5, 5), (6, 1, 3, 3)], {"group": 6}),
    ("Conv", [(1, 2, 3, 4, 5), (3, 2, 1, 2, 3)], {}),
    (
        "match.nhwc::Conv",
        [(1, 7, 9, 4), (6, 2, 3, 2), (6,)],
        {"group": 2, "strides": [2, 1], "dilations": [1, 1], "pads": [0, 0, 0, 0], "kernel_shape": [3, 2]},
    ),
    ("ConvTranspose", [(2, 4, 5, 6), (4, 3, 3, 2)], {"group": 2, "strides": [2, 3]}),
    ("ConvTranspose", [(1, 3, 7), (3, 5, 4)], {"dilations": [2]}),
    ("MatMul", [(3, 1, 4, 5), (2, 5, 6)], {}),
    ("MatMul", [(5,), (2, 5, 6)], {}),
    ("MatMul", [(2, 4, 5), (5,)], {}),
    ("MatMul", [(5,), (5,)], {}),
    ("Gemm", [(4, 5), (5, 6)], {}),
    ("Gemm", [(5, 4), (6, 5)], {"transA": 1, "transB": 1}),
    ("Einsum", [(2, 3, 4), (2, 4, 5)], {"equation": "bij,bjk->bik"}),
    ("Einsum", [(2, 3, 4), (4, 5)], {"equation": "...j, jk"}),
    ("Einsum", [(7, 3, 4), (7, 5, 4)], {"equation": "...ij,...kj->...ik"}),
]


@pytest.mark.parametrize(("op", "inputs", "attrs"), PRODUCTS, ids=lambda value: str(value)[:40])
def test_the_sum_of_products_of_ones(op, inputs, attrs):
    node = made(op, inputs, **attrs)
    bias = node.outputs[0].shape if len(inputs) > 2 else ()
    assert node_macs(node) == int(sum(y.sum() for y in ran(node))) - (int(np.prod(bias)) if bias else 0)


@given(
    batch=st.integers(1, 3),
    group=st.integers(1, 3),
    channels=st.integers(1, 3),
    outs=st.integers(1, 3),
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    pads=st.integers(0, 2),
    integer=st.booleans(),
)
def test_convolutions_agree_with_the_hosts(batch, group, channels, outs, kernel, pads, integer):
    """Products with padding count."""
    node = made(
        "ConvInteger" if integer else "Conv",
        [(batch, group * channels, 6, 5), (group * outs, channels, *kernel)],
        dtype="uint8" if integer else "float32",
        group=group,
        pads=[pads] * 4,
    )
    assert node_macs(node) == conv_shape((node,)).macs


@pytest.mark.parametrize("op", ["MatMul", "Gemm", "MatMulInteger"])
def test_matrix_products_agree_with_the_hosts(op):
    node = made(op, [(8, 12), (12, 16)], dtype="uint8" if op == "MatMulInteger" else "float32")
    assert node_macs(node) == build_dense((node,), "kernel").work.products == 8 * 12 * 16


@pytest.mark.parametrize(("op", "gates", "outputs"), [("RNN", 1, 2), ("GRU", 3, 2), ("LSTM", 4, 3)])
@pytest.mark.parametrize("directions", [1, 2])
def test_recurrent_layers_agree_with_the_hosts(op, gates, outputs, directions):
    shapes = [(5, 2, 3), (directions, gates * 4, 3), (directions, gates * 4, 4)]
    node = gs.Node(
        op,
        "node",
        {"hidden_size": 4, "direction": "bidirectional" if directions == 2 else "forward"},
        [gs.Variable(f"x{n}", np.float32, list(shape)) for n, shape in enumerate(shapes)],
        [gs.Variable("y", np.float32, [5, directions, 2, 4])]
        + [gs.Variable(f"h{n}", np.float32, [directions, 2, 4]) for n in range(outputs - 1)],
    )
    assert node_macs(node) == build_recurrent((node,), "kernel").work.products


def _variable(name: str, *shape: int) -> gs.Variable:
    return gs.Variable(name, np.uint8, list(shape))


def test_quantised_operators_count_their_operands_not_their_scales():
    scale, zero = _variable("s"), _variable("z")
    x, w, y = _variable("x", 1, 4, 6, 6), _variable("w", 8, 4, 3, 3), _variable("y", 1, 8, 4, 4)
    conv = gs.Node("QLinearConv", "conv", {}, [x, scale, zero, w, scale, zero, scale, zero], [y])
    assert node_macs(conv) == 8 * 4 * 4 * 4 * 9
    a, b, c = _variable("a", 2, 3, 5), _variable("b", 5, 7), _variable("c", 2, 3, 7)
    product = gs.Node("QLinearMatMul", "product", {}, [a, scale, zero, b, scale, zero, scale, zero], [c])
    assert node_macs(product) == 2 * 3 * 7 * 5
    d, e, f = _variable("d", 5, 3), _variable("e", 7, 5), _variable("f", 3, 7)
    inputs = [d, scale, zero, e, scale, zero]
    gemm = gs.Node("QGemm", "gemm", {"transA": 1, "transB": 1}, inputs, [f], domain="com.microsoft")
    assert node_macs(gemm) == 3 * 7 * 5


@pytest.mark.parametrize(
    ("op", "shapes", "attrs"),
    [
        ("Relu", [(2, 3)], {}),
        ("AveragePool", [(1, 2, 4, 4)], {"kernel_shape": [2, 2]}),
        ("Mul", [(2, 3), (2, 3)], {}),
        ("Einsum", [(2, 3)], {"equation": "ij->i"}),
        ("Einsum", [(2, 3), (2, 3)], {"equation": "ij,ij->ij"}),
    ],
)
def test_operators_that_sum_no_products_have_none(op, shapes, attrs):
    assert node_macs(made(op, shapes, **attrs)) == 0


def test_a_convolution_of_another_domain_is_none_that_is_known():
    node = made("Conv", [(1, 4, 5, 5), (2, 4, 3, 3)])
    node.domain = "vendor"
    assert node_macs(node) == 0


def test_a_shape_that_is_not_static_is_told():
    node = made("MatMul", [(2, 3), (3, 4)])
    node.inputs[0].shape = ["n", 3]
    node.outputs[0].shape = ["n", 4]
    with pytest.raises(ValueError, match="y0"):
        node_macs(node)
