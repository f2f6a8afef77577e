"""Products, functions, combinations, lines, reductions and views with odd parameters, against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from dnnl_networks import Network, check_operators

REDUCTIONS = ("L1", "L2", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")


def test_products(tmp_path: Path) -> None:
    """Constant and computed operands, ranks that differ, batches that are repeated, bias, transposition."""
    n = Network()
    rows, batch = n.input(5, 12), n.input(3, 4, 12)
    n.case("constant", "MatMul", [rows, n.floats(12, 7)])
    n.case("constant_left", "MatMul", [n.floats(9, 5), rows])
    n.case("rows", "MatMul", [batch, n.floats(12, 33)])
    n.case("batches", "MatMul", [batch, n.input(3, 12, 5)])
    n.case("repeated", "MatMul", [n.input(2, 1, 4, 6), n.input(3, 6, 5)])
    n.case("batch_constant", "MatMul", [batch, n.floats(3, 12, 5)])
    n.case("biased", "Add", [n.node("MatMul", [batch, n.floats(12, 6)]), n.floats(6)])
    n.case("scaled", "Mul", [n.node("MatMul", [batch, n.input(3, 12, 5)]), n.constant(np.array(0.125, np.float32))])
    n.case("gemm", "Gemm", [rows, n.floats(7, 12), n.floats(7)], transB=1)
    n.case("gemm_computed", "Gemm", [rows, n.input(12, 3)])
    n.case("gemm_turned", "Gemm", [n.input(12, 5), n.floats(12, 4), n.floats(1)], transA=1)
    n.case("gemm_factors", "Gemm", [rows, n.floats(12, 4), n.floats(4)], alpha=0.5, beta=2.0)
    turned = n.node("Transpose", [n.input(3, 5, 12)], perm=[0, 2, 1])
    n.case("turned", "MatMul", [batch, turned])
    check_operators(n, tmp_path)


def test_links_of_products(tmp_path: Path) -> None:
    """What oneDNN does behind a product: additions of lines and of tensors, functions, per column factors."""
    n = Network()
    batch = n.input(3, 4, 12)
    product = n.node("Add", [n.floats(6), n.node("MatMul", [batch, n.floats(12, 6)])])
    n.case("added", "Relu", [n.node("Add", [n.input(3, 4, 6), product])])
    gelu = n.node("Gelu", [n.node("Add", [n.node("MatMul", [batch, n.floats(12, 8)]), n.floats(8)])])
    n.case("gelu", "MatMul", [gelu, n.floats(8, 4)])
    n.case("columns", "Mul", [n.node("Gemm", [n.input(3, 5), n.floats(5, 6), n.floats(6)]), n.floats(6)])
    own = n.node("MatMul", [n.input(6, 6), n.floats(6, 6)])
    n.case("itself", "Add", [own, own])
    source = n.input(5, 5)
    n.case("source", "Add", [n.node("MatMul", [source, n.floats(5, 5)]), source])
    n.case("late", "Add", [n.node("Tanh", [n.node("MatMul", [source, n.floats(5, 5)])]), source])
    n.case("subtracted", "Sub", [source, n.node("MatMul", [source, n.floats(5, 5)])])
    check_operators(n, tmp_path)


def test_functions(tmp_path: Path) -> None:
    """Functions of one value, with their parameters."""
    n = Network()
    x = n.input(3, 5, 7)
    positive = n.node("Add", [n.node("Abs", [x]), n.constant(np.array([0.5], np.float32))])
    for op in ("Abs", "Exp", "HardSwish", "Mish", "Neg", "Relu", "Round", "Sigmoid", "Softplus", "Tanh"):
        n.case(op.lower(), op, [x])
    for op in ("Log", "Reciprocal", "Sqrt"):
        n.case(op.lower(), op, [positive])
    n.case("clip", "Clip", [x, n.constant(np.array(-0.3, np.float32)), n.constant(np.array(0.7, np.float32))])
    n.case("clip_high", "Clip", [x, "", n.constant(np.array(0.2, np.float32))])
    n.case("clip_open", "Clip", [x, n.constant(np.array(-np.inf, np.float32)), n.constant(np.array(0.1, np.float32))])
    n.case("leaky", "LeakyRelu", [x], alpha=0.3)
    n.case("elu", "Elu", [x], alpha=1.7)
    n.case("hard_sigmoid", "HardSigmoid", [x], alpha=0.4, beta=0.3)
    n.case("gelu", "Gelu", [x])
    n.case("gelu_tanh", "Gelu", [x], approximate="tanh")
    n.case("power", "Pow", [positive, n.constant(np.array(1.5, np.float32))])
    n.case("square", "Pow", [x, n.constant(np.array(2, np.float32))])
    check_operators(n, tmp_path)


def test_arithmetic(tmp_path: Path) -> None:
    """With numbers on either side, lines, planes, and tensors of lower rank."""
    n = Network()
    x, y = n.input(2, 3, 4, 5), n.input(2, 3, 4, 5)
    third, shifted = n.constant(np.array(1 / 3, np.float32)), n.node("Add", [n.node("Abs", [x]), n.floats(1, low=0.5)])
    for op in ("Add", "Div", "Max", "Min", "Mul", "Sub"):
        n.case(f"{op.lower()}_tensor", op, [y, shifted])
        n.case(f"{op.lower()}_number", op, [x, third])
        n.case(f"{op.lower()}_line", op, [x, n.floats(5, low=0.5)])
        n.case(f"{op.lower()}_plane", op, [x, n.floats(3, 1, 1, low=0.5)])
        n.case(f"{op.lower()}_computed", op, [y, n.node("Exp", [n.input(4, 1)])])
    for op in ("Add", "Div", "Max", "Min", "Mul", "Sub"):
        n.case(f"{op.lower()}_turned", op, [third, shifted])
    for op in ("Add", "Max", "Min", "Mul"):
        n.case(f"{op.lower()}_left", op, [n.floats(3, 1, 5), x])
    n.case("column", "Mul", [n.input(2, 1, 1, 1), x])
    n.case("long", "Add", [n.input(1, 2, 1, 3, 2, 4), n.floats(2, 4)])
    check_operators(n, tmp_path)


def test_lines(tmp_path: Path) -> None:
    """Softmax along any axis, normalisation of lines of one and of two axes."""
    n = Network()
    x = n.input(3, 7, 6)
    n.case("last", "Softmax", [x])
    n.case("middle", "Softmax", [x], axis=1)
    n.case("first", "Softmax", [x], axis=0)
    n.case("log", "LogSoftmax", [x], axis=-1)
    n.case("log_middle", "LogSoftmax", [x], axis=1)
    n.case("normal", "LayerNormalization", [x, n.floats(6), n.floats(6)])
    n.case("normal_plain", "LayerNormalization", [x, n.floats(6)], epsilon=1e-2)
    n.case("normal_two", "LayerNormalization", [x, n.floats(7, 6), n.floats(7, 6)], axis=1)
    check_operators(n, tmp_path)


def test_reductions(tmp_path: Path) -> None:
    """Over one axis, several, and all, which are kept or not."""
    n = Network()
    x = n.input(3, 4, 5, 6)
    for name in REDUCTIONS:
        n.case(f"{name}_kept", f"Reduce{name}", [x, n.constant([1])], keepdims=1)
        n.case(f"{name}_two", f"Reduce{name}", [x, n.constant([-1, 0])], keepdims=0)
        n.case(f"{name}_all", f"Reduce{name}", [n.input(2, 3)], keepdims=0)
    check_operators(n, tmp_path)


def test_views(tmp_path: Path) -> None:
    """Views between operators that compute, of tensors whose layout oneDNN chose, and as outputs."""
    n = Network()
    image = n.input(1, 20, 6, 4)
    conv = n.node("Conv", [image, n.floats(24, 20, 3, 3)], pads=[1, 1, 1, 1])
    n.case("flat", "Flatten", [conv])
    n.case("shaped", "Reshape", [conv, n.constant([0, 4, 6, -1])])
    n.case("turned", "Transpose", [conv], perm=[3, 0, 2, 1])
    n.case("dense", "MatMul", [n.node("Flatten", [conv]), n.floats(576, 3)])
    moved = n.node("Transpose", [n.node("Reshape", [conv, n.constant([4, 6, 24])])], perm=[1, 0, 2])
    n.case("moved", "Softmax", [moved], axis=1)
    n.case("squeezed", "Sigmoid", [n.node("Squeeze", [conv, n.constant([0])])])
    n.case("unsqueezed", "Tanh", [n.node("Unsqueeze", [conv, n.constant([1, 5])])])
    n.case("six", "Exp", [n.node("Transpose", [n.input(2, 1, 3, 2, 4, 3)], perm=[5, 2, 0, 4, 1, 3])])
    check_operators(n, tmp_path)


def test_concatenation(tmp_path: Path) -> None:
    """Of images that convolutions made, of channels that fill no block, of a constant."""
    n = Network()
    image = n.input(1, 20, 6, 4)
    parts = [n.node("Conv", [image, n.floats(count, 20, 1, 1)]) for count in (3, 16, 5)]
    n.case("channels", "Concat", parts, axis=1)
    n.case("behind", "Conv", [n.node("Concat", parts, axis=1), n.floats(8, 24, 3, 3)])
    n.case("lines", "Relu", [n.node("Concat", [n.input(2, 3), n.floats(2, 4), n.input(2, 1)], axis=-1)])
    n.case("twice", "Relu", [n.node("Concat", [image, image], axis=2)])
    check_operators(n, tmp_path)
