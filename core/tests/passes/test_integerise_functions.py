"""Quantised sums, poolings and functions: the integer operator is within 1 LSB of the original, few values differ."""

from __future__ import annotations

import numpy as np
import pytest
from match_verify.reference import ReferenceRunner

from core.tests.passes.integerise_cases import INT8, compare, lower, ops, parameters

RANDOM = np.random.default_rng(17)


@pytest.mark.parametrize("op", ["Add", "Sub"])
def test_addition(model_of, accelerated, op):
    constants = {
        **parameters("x", 0.04, -10, np.int8),
        **parameters("h", 0.07, 20, np.int8),
        **parameters("y", 0.09, -128, np.int8),
    }
    text = f"""g (int8[1,3,8,8] x) => (int8[1,3,8,8] y) {{
        xf = DequantizeLinear (x, xs, xz)  n = Transpose <perm = [0, 1, 3, 2]> (xf)  h = QuantizeLinear (n, hs, hz)
        hf = DequantizeLinear (h, hs, hz)  s = {op} (xf, hf)  r = Relu (s)  y = QuantizeLinear (r, ys, yz) }}"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert ops(lowered) == {
        "match.arith::OffsetI8ToU8", "match.arith::LutU8", "Transpose", "match.arith::AddRequantU8",
        "match.arith::OffsetU8ToI8",
    }  # fmt: skip
    compare(model, lowered, INT8, (1, 3, 8, 8))


@pytest.mark.parametrize("zero", [0, -11])
@pytest.mark.parametrize("gate", [(1, 3, 1, 1), (1, 3, 8, 8), (1, 1, 8, 8)])
def test_product_of_two_tensors(model_of, accelerated, fast, gate, zero):
    """Also where the smaller tensor is the first one."""
    constants = {
        **parameters("x", 0.04, zero, np.int8),
        **parameters("g", 1 / 250, -128, np.int8),
        **parameters("y", 0.035, zero, np.int8),
    }
    sizes = ",".join(map(str, gate))
    text = f"""g (int8[1,3,8,8] x, int8[{sizes}] g) => (int8[1,3,8,8] y) {{
        xf = DequantizeLinear (x, xs, xz)  gf = DequantizeLinear (g, gs, gz)
        p = Mul (gf, xf)  y = QuantizeLinear (p, ys, yz) }}"""
    model = model_of(text, constants)
    x, g = (RANDOM.integers(-128, 128, shape).astype(np.int8) for shape in ((1, 3, 8, 8), gate))
    (expected,) = ReferenceRunner(model).run({"x": x, "g": g}).values()
    for context, share in ((accelerated, 0.0), (fast, 0.02)):
        lowered = lower(model, context)
        assert not ops(lowered) & {"DequantizeLinear", "QuantizeLinear"}
        (product,) = (node for node in lowered.graph.nodes if node.op == "Mul")
        assert tuple(product.inputs[0].shape) == (1, 3, 8, 8)
        (found,) = ReferenceRunner(lowered).run({"x": x, "g": g}).values()
        off = np.abs(found.astype(int) - expected)
        assert off.max() <= 1
        assert np.mean(off > 0) <= share


def test_product_in_whole_words_of_the_addend(model_of, accelerated):
    """A kernel of 32 bits drops 17 bits of the addend."""
    constants = {**parameters("x", 0.04, 3, np.int8), **parameters("g", 0.0031, 5, np.int8)}
    constants |= parameters("y", 0.0123, -7, np.int8)
    text = """g (int8[1,3,8,8] x, int8[1,3,8,8] g) => (int8[1,3,8,8] y) {
        xf = DequantizeLinear (x, xs, xz)  gf = DequantizeLinear (g, gs, gz)
        p = Mul (xf, gf)  y = QuantizeLinear (p, ys, yz) }"""
    lowered = lower(model_of(text, constants), accelerated)
    (requant,) = (node for node in lowered.graph.nodes if node.op == "RequantU8")
    addend, divisor = (int(requant.inputs[position].values) for position in (2, 3))
    assert divisor >= 1 << 34
    assert addend % (1 << 17) == 0


@pytest.mark.parametrize(
    ("pool", "shape", "y_scale"),
    [
        ("AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (xf)", (1, 4, 4, 4), 0.03),
        ("AveragePool <kernel_shape = [3, 3]> (xf)", (1, 4, 6, 6), 0.0213),
        ("AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1> (xf)", (1, 4, 8, 8), 0.0213),
        ("GlobalAveragePool (xf)", (1, 4, 1, 1), 0.011),
        ("ReduceMean (xf, axes)", (1, 4, 1, 1), 0.011),
        ("ReduceMean <keepdims = 0> (xf, axes)", (1, 4), 0.011),
    ],
)
@pytest.mark.parametrize("zero", [-128, 4])
def test_average_pooling(model_of, accelerated, fast, pool, shape, y_scale, zero):
    constants = {**parameters("x", 0.03, zero, np.int8), **parameters("y", y_scale, zero, np.int8)}
    constants["axes"] = np.array([2, 3])
    sizes = ",".join(map(str, shape))
    text = f"""g (int8[1,4,8,8] x) => (int8[{sizes}] y) {{
        xf = DequantizeLinear (x, xs, xz)  p = {pool}  y = QuantizeLinear (p, ys, yz) }}"""
    model = model_of(text, constants)
    for context in (accelerated, fast):
        lowered = lower(model, context)
        assert not ops(lowered) & {"AveragePool", "GlobalAveragePool", "ReduceMean", "DequantizeLinear"}
        ties = y_scale == 0.03
        if not (ties and context is accelerated):
            assert "match.arith::RequantU8" in ops(lowered)
        # A tie between two integers goes one way in float32 noise; halves of every fourth mean may differ when fast.
        compare(model, lowered, INT8, (1, 4, 8, 8), share=0.15 if ties else 0.02, samples=64)


def test_pooling_that_leaves_padding_out_stays_float(model_of, accelerated):
    constants = {**parameters("x", 0.03, 0, np.int8), **parameters("y", 0.03, 0, np.int8)}
    text = """g (int8[1,4,8,8] x) => (int8[1,4,8,8] y) {
        xf = DequantizeLinear (x, xs, xz)  p = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (xf)
        y = QuantizeLinear (p, ys, yz) }"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert "AveragePool" in ops(lowered)
    compare(model, lowered, INT8, (1, 4, 8, 8), share=0.0)


@pytest.mark.parametrize("y_scale", [0.03, 0.05])
def test_max_pooling(model_of, accelerated, y_scale):
    constants = {**parameters("x", 0.03, 4, np.int8), **parameters("y", y_scale, 4, np.int8)}
    text = """g (int8[1,4,8,8] x) => (int8[1,4,4,4] y) {
        xf = DequantizeLinear (x, xs, xz)
        p = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 0, 0], strides = [2, 2]> (xf)
        y = QuantizeLinear (p, ys, yz) }"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert "match.nhwc::MaxPool" in ops(lowered)
    assert ("match.arith::LutU8" in ops(lowered)) == (y_scale != 0.03)
    compare(model, lowered, INT8, (1, 4, 8, 8), share=0.0)


@pytest.mark.parametrize("y_scale", [0.03, 0.05])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_nearest_elements_are_taken_as_integers(model_of, accelerated, y_scale, mode):
    constants = {
        **parameters("x", 0.03, 4, np.int8),
        **parameters("a", 0.04, -7, np.int8),
        **parameters("y", y_scale, 4, np.int8),
        # of its own: a step of c that rounds differently is up to two steps of y, and whether one does depends on w
        "w": np.random.default_rng(5).integers(-127, 128, (4, 4, 1, 1)).astype(np.int8),
        "ws": np.float32(0.004),
        "wz": np.int8(0),
        "scales": np.array([1, 1, 1.5, 2], np.float32),
    }
    text = f"""g (int8[1,4,6,6] x) => (int8[1,4,9,12] y) {{
        xf = DequantizeLinear (x, xs, xz)  wf = DequantizeLinear (w, ws, wz)
        c = Conv <kernel_shape = [1, 1]> (xf, wf)
        aq = QuantizeLinear (c, as, az)  af = DequantizeLinear (aq, as, az)
        r = Resize <mode = "{mode}", nearest_mode = "floor"> (af, , scales)
        y = QuantizeLinear (r, ys, yz) }}"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    (resize,) = (node for node in lowered.graph.nodes if node.op == "Resize")
    assert (np.dtype(resize.inputs[0].dtype).itemsize == 1) == (mode == "nearest")
    compare(model, lowered, INT8, (1, 4, 6, 6))


UNARY = (
    "Sigmoid (xf)",
    "Tanh (xf)",
    "HardSigmoid (xf)",
    "HardSwish (xf)",
    "LeakyRelu <alpha = 0.1> (xf)",
    "Elu (xf)",
    "Gelu (xf)",
    "Erf (xf)",
    "Relu (xf)",
    "Clip (xf, low)",
    "Mul (xf, low)",
    "Identity (xf)",
)


@pytest.mark.parametrize("node", UNARY)
@pytest.mark.parametrize("context_name", ["accelerated", "host_only"])
def test_functions_of_one_tensor_become_tables(model_of, request, node, context_name):
    constants = {
        **parameters("x", 0.04, -3, np.int8),
        **parameters("y", 0.021, 11, np.int8),
        "low": np.float32(-0.6),
    }
    text = f"""g (int8[1,300] x) => (int8[1,300] y) {{
        xf = DequantizeLinear (x, xs, xz)  f = {node}  y = QuantizeLinear (f, ys, yz) }}"""
    model = model_of(text, constants)
    lowered = lower(model, request.getfixturevalue(context_name))
    lut = "match.arith::LutU8" if context_name == "accelerated" else "match.arith::LutI8"
    assert {op for op in ops(lowered) if "Offset" not in op} == {lut}
    compare(model, lowered, INT8, (1, 300), share=0.004)


def test_a_function_written_in_several_operators_is_one_table(model_of, accelerated):
    """x * 0.5 * (1 + erf(x / sqrt(2)))"""
    constants = {
        **parameters("x", 0.03, 0, np.int8),
        **parameters("y", 0.02, -100, np.int8),
        "root": np.float32(np.sqrt(2)),
        "one": np.float32(1),
        "half": np.float32(0.5),
    }
    text = """g (int8[1,300] x) => (int8[1,300] y) {
        xf = DequantizeLinear (x, xs, xz)
        d = Div (xf, root)  e = Erf (d)  a = Add (e, one)  m = Mul (xf, a)  h = Mul (m, half)
        y = QuantizeLinear (h, ys, yz) }"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert [node.op for node in lowered.graph.nodes] == ["OffsetI8ToU8", "LutU8", "OffsetU8ToI8"]
    compare(model, lowered, INT8, (1, 300), share=0.004)


@pytest.mark.parametrize("axis", [-1, 1])
@pytest.mark.parametrize("scale", [0.02, 0.17])
def test_softmax(model_of, accelerated, axis, scale):
    constants = {**parameters("x", scale, 24, np.int8), **parameters("y", 1 / 256, -128, np.int8)}
    text = f"""g (int8[1,12,10] x) => (int8[1,12,10] y) {{
        xf = DequantizeLinear (x, xs, xz)  s = Softmax <axis = {axis}> (xf)  y = QuantizeLinear (s, ys, yz) }}"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert "match.arith::SoftmaxU8" in ops(lowered)
    compare(model, lowered, INT8, (1, 12, 10), samples=30)
