"""Single quantised layers with weights, and the form of whole models: the integer operator is within 1 LSB of the
original, few values differ, and nothing of the float form is left."""

from __future__ import annotations

import numpy as np
import pytest
from match_core.contract.hardware import RequantSpec, Unit
from match_verify.reference import ReferenceRunner

from core.tests.passes.integerise_cases import FLOAT_FORM, INT8, UINT8, compare, lower, ops, parameters

RANDOM = np.random.default_rng(17)


@pytest.mark.parametrize("per_channel", [True, False])
@pytest.mark.parametrize("group", [1, 4])
@pytest.mark.parametrize("clamp", ["", "Relu", "Clip"])
@pytest.mark.parametrize(
    ("x_type", "x_zero", "y_type", "y_zero"),
    [(INT8, -128, INT8, -128), (INT8, 5, INT8, -20), (UINT8, 0, UINT8, 128), (UINT8, 100, INT8, 0)],
)
def test_convolution(model_of, accelerated, per_channel, group, clamp, x_type, x_zero, y_type, y_zero):
    constants = {
        **parameters("x", 0.03, x_zero, x_type),
        **parameters("y", 0.05, y_zero, y_type),
        "w": RANDOM.integers(-127, 128, (8, 4 // group, 3, 3)).astype(np.int8),
        "ws": RANDOM.uniform(0.002, 0.006, 8).astype(np.float32) if per_channel else np.float32(0.004),
        "wz": np.zeros(8, np.int8) if per_channel else np.int8(0),
        "b": RANDOM.integers(-2000, 2000, 8).astype(np.int32),
        "lo": np.float32(0.0),
        "hi": np.float32(6.0),
    }
    constants["bs"] = (constants["xs"] * constants["ws"]).astype(np.float32)
    clamped = {"": "r = Identity (c)", "Relu": "r = Relu (c)", "Clip": "r = Clip (c, lo, hi)"}[clamp]
    axis = "<axis = 0>" if per_channel else ""
    text = f"""g ({x_type.name}[1,4,9,8] x) => ({y_type.name}[1,8,5,4] y) {{
        xf = DequantizeLinear (x, xs, xz)
        wf = DequantizeLinear {axis} (w, ws, wz)
        bf = DequantizeLinear {axis} (b, bs)
        [conv] c = Conv <group = {group}, pads = [1, 1, 1, 1], strides = [2, 2]> (xf, wf, bf)
        {clamped}
        y = QuantizeLinear (r, ys, yz) }}"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert not ops(lowered) & FLOAT_FORM
    assert {"match.nhwc::ConvInteger", "match.arith::RequantU8"} <= ops(lowered)
    padded = x_zero != int(np.iinfo(x_type).min)
    assert ("Pad" in ops(lowered)) == padded, "zero padding needs no Pad where the stored zero point is 0"
    compare(model, lowered, x_type, (1, 4, 9, 8))
    (conv,) = (node for node in lowered.graph.nodes if node.op == "ConvInteger")
    assert "conv" in lowered.provenance[conv.name]


def test_convolution_on_a_host_alone_stays_int8_and_nchw(model_of, host_only):
    constants = {
        **parameters("x", 0.03, 3, np.int8),
        **parameters("y", 0.0513, -7, np.int8),  # the ratio of scales is 1/171: no sum is a tie, which float32 may lose
        "w": RANDOM.integers(-127, 128, (8, 4, 3, 3)).astype(np.int8),
        **parameters("w", 0.01, 0, np.int8),
    }
    text = """g (int8[1,4,9,8] x) => (int8[1,8,9,8] y) {
        xf = DequantizeLinear (x, xs, xz)  wf = DequantizeLinear (w, ws, wz)
        c = Conv <pads = [1, 1, 1, 1]> (xf, wf)  y = QuantizeLinear (c, ys, yz) }"""
    model = model_of(text, constants)
    lowered = lower(model, host_only)
    assert ops(lowered) == {"Pad", "ConvInteger", "match.arith::RequantI8"}
    compare(model, lowered, INT8, (1, 4, 9, 8), share=1e-4)


def test_unsigned_weights_around_128_become_signed(model_of, accelerated):
    constants = {
        **parameters("x", 0.03, 0, np.uint8),
        **parameters("y", 0.3, 9, np.uint8),
        "w": RANDOM.integers(0, 256, (6, 4, 1, 1)).astype(np.uint8),
        **parameters("w", 0.01, 128, np.uint8),
    }
    text = """g (uint8[1,4,5,5] x) => (uint8[1,6,5,5] y) {
        xf = DequantizeLinear (x, xs, xz)  wf = DequantizeLinear (w, ws, wz)
        c = Conv (xf, wf)  y = QuantizeLinear (c, ys, yz) }"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert not ops(lowered) & FLOAT_FORM
    compare(model, lowered, UINT8, (1, 4, 5, 5))


def test_weights_that_do_not_fit_int8_are_two_terms(model_of, accelerated):
    constants = {
        **parameters("x", 0.03, 0, np.uint8),
        **parameters("y", 0.3, 9, np.uint8),
        "w": RANDOM.integers(0, 256, (6, 4, 1, 1)).astype(np.uint8),
        **parameters("w", 0.01, 3, np.uint8),
    }
    text = """g (uint8[1,4,5,5] x) => (uint8[1,6,5,5] y) {
        xf = DequantizeLinear (x, xs, xz)  wf = DequantizeLinear (w, ws, wz)
        c = Conv (xf, wf)  y = QuantizeLinear (c, ys, yz) }"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert not ops(lowered) & FLOAT_FORM
    (layer,) = (node for node in lowered.graph.nodes if node.op == "ConvInteger")
    assert layer.inputs[1].shape[1] == 2 * 4
    compare(model, lowered, UINT8, (1, 4, 5, 5))


DENSE = (
    ("Gemm <transB = 1> (xf, wf, bf)", (10, 32), 0),
    ("Gemm (xf, wf, bf)", (32, 10), 1),
    ("Gemm <alpha = 0.5, beta = 2.0> (xf, wf, bf)", (32, 10), 1),
    ("MatMul (xf, wf)", (32, 10), 1),
    ("MatMul (xf, wf)", (32, 10), None),
    ("Gemm <transB = 1> (xf, wf, bf)", (10, 32), None),
)


@pytest.mark.parametrize(("node", "shape", "axis"), DENSE)
@pytest.mark.parametrize(("x_type", "x_zero"), [(INT8, 89), (UINT8, 0)])
def test_dense(model_of, accelerated, node, shape, axis, x_type, x_zero):
    constants = {
        **parameters("x", 0.05, x_zero, x_type),
        **parameters("y", 0.4, 10, np.int8),
        "w": RANDOM.integers(-127, 128, shape).astype(np.int8),
        "ws": np.float32(0.01) if axis is None else RANDOM.uniform(0.005, 0.02, 10).astype(np.float32),
        "wz": np.int8(0) if axis is None else np.zeros(10, np.int8),
        "bf": RANDOM.standard_normal(10).astype(np.float32),
    }
    attribute = "" if axis is None else f"<axis = {axis}>"
    text = f"""g ({x_type.name}[1,32] x) => (int8[1,10] y) {{
        xf = DequantizeLinear (x, xs, xz)  wf = DequantizeLinear {attribute} (w, ws, wz)
        m = {node}  y = QuantizeLinear (m, ys, yz) }}"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert not ops(lowered) & FLOAT_FORM
    assert "MatMulInteger" in ops(lowered)
    compare(model, lowered, x_type, (1, 32), share=0.01, samples=20)


@pytest.mark.parametrize("first", ["m, bias", "bias, m"])
def test_matmul_with_added_bias_on_rank_three(model_of, accelerated, first):
    constants = {
        **parameters("x", 0.05, -3, np.int8),
        **parameters("y", 0.4, 10, np.int8),
        "w": RANDOM.integers(-127, 128, (16, 6)).astype(np.int8),
        **parameters("w", 0.01, 0, np.int8),
        "bias": RANDOM.standard_normal(6).astype(np.float32),
    }
    text = f"""g (int8[1,7,16] x) => (int8[1,7,6] y) {{
        xf = DequantizeLinear (x, xs, xz)  wf = DequantizeLinear (w, ws, wz)
        m = MatMul (xf, wf)  a = Add ({first})  y = QuantizeLinear (a, ys, yz) }}"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert ops(lowered) == {
        "match.arith::OffsetI8ToU8", "MatMulInteger", "match.arith::RequantU8", "match.arith::OffsetU8ToI8",
    }  # fmt: skip
    compare(model, lowered, INT8, (1, 7, 16))


def test_concat_of_other_scales(model_of, accelerated):
    constants = {
        **parameters("x", 0.04, -3, np.int8),
        **parameters("h", 0.03, 5, np.int8),
        **parameters("y", 0.04, -3, np.int8),
    }
    text = """g (int8[1,3,4,4] x) => (int8[1,6,4,4] y) {
        xf = DequantizeLinear (x, xs, xz)  n = Neg (xf)  h = QuantizeLinear (n, hs, hz)
        hf = DequantizeLinear (h, hs, hz)  c = Concat <axis = 1> (xf, hf)  y = QuantizeLinear (c, ys, yz) }"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert [node.op for node in lowered.graph.nodes].count("LutU8") == 2, "the negation, and one input's scale"
    compare(model, lowered, INT8, (1, 3, 4, 4), share=0.0)


def test_moves_in_front_and_behind_the_quantisers(model_of, accelerated):
    constants = {
        **parameters("x", 0.04, -3, np.int8),
        "s1": np.array([1, 4, 6]),
        "s2": np.array([1, 24]),
    }
    text = """g (int8[1,2,3,4] x) => (int8[1,24] y, int8[24,1] z) {
        xf = DequantizeLinear (x, xs, xz)  a = Reshape (xf, s1)  q = QuantizeLinear (a, xs, xz)
        r = Reshape (q, s2)  rf = DequantizeLinear (r, xs, xz)  n = Neg (rf)  y = QuantizeLinear (n, xs, xz)
        z = Transpose <perm = [1, 0]> (r) }"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert not ops(lowered) & FLOAT_FORM
    x = RANDOM.integers(-128, 128, (1, 2, 3, 4)).astype(np.int8)
    before, after = ReferenceRunner(model).run({"x": x}), ReferenceRunner(lowered).run({"x": x})
    assert np.array_equal(before["y"], after["y"])
    assert np.array_equal(before["z"], after["z"])


def test_float_ends(model_of, accelerated):
    """Tools that keep inputs and outputs float: QuantizeLinear and DequantizeLinear at the ends."""
    constants = {
        **parameters("x", 0.04, -3, np.int8),
        **parameters("y", 0.06, 7, np.int8),
        "w": RANDOM.integers(-127, 128, (6, 4, 3, 3)).astype(np.int8),
        "ws": RANDOM.uniform(0.002, 0.01, 6).astype(np.float32),
        "wz": np.zeros(6, np.int8),
    }
    text = """g (float[1,4,8,8] x) => (float[1,6,6,6] y) {
        q = QuantizeLinear (x, xs, xz)  xf = DequantizeLinear (q, xs, xz)
        wf = DequantizeLinear <axis = 0> (w, ws, wz)  c = Conv (xf, wf)
        r = QuantizeLinear (c, ys, yz)  y = DequantizeLinear (r, ys, yz) }"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert "Conv" not in ops(lowered)
    assert not {op for op in ops(lowered) if "Offset" in op}, "the quantisers write and read uint8 themselves"
    x = RANDOM.standard_normal((1, 4, 8, 8)).astype(np.float32) * 2
    before, after = ReferenceRunner(model).run({"x": x})["y"], ReferenceRunner(lowered).run({"x": x})["y"]
    assert np.max(np.abs(before - after)) <= 0.06 * 1.001
    assert np.mean(np.abs(before - after) > 0.01) <= 0.005


def test_what_stays_float_reads_and_writes_stored_tensors(model_of, accelerated):
    """The larger of two tensors has no integer form: DequantizeLinear and QuantizeLinear move to uint8 around it."""
    constants = {
        **parameters("x", 0.04, -3, np.int8),
        **parameters("y", 0.06, 7, np.int8),
    }
    text = """g (int8[1,64] x, int8[1,64] w) => (int8[1,64] y) {
        xf = DequantizeLinear (x, xs, xz)  wf = DequantizeLinear (w, xs, xz)  d = Max (xf, wf)
        q = QuantizeLinear (d, ys, yz)  qf = DequantizeLinear (q, ys, yz)  r = Relu (qf)  y = QuantizeLinear (r, ys, yz)
        }"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert {"Max", "DequantizeLinear", "QuantizeLinear", "match.arith::LutU8"} <= ops(lowered)
    feeds = {name: RANDOM.integers(-128, 128, (1, 64)).astype(np.int8) for name in "xw"}
    before, after = ReferenceRunner(model).run(feeds)["y"], ReferenceRunner(lowered).run(feeds)["y"]
    assert np.array_equal(before, after)


def test_shared_arithmetic_that_is_too_narrow_is_noted(model_of, narrow, accelerated):
    """Without a wider choice among the units, 64-bit products are used and said so."""
    constants = {
        **parameters("x", 1.0, 0, np.uint8),
        **parameters("y", 1.0, 0, np.uint8),
        "w": np.full((2, 512, 3, 3), 127, np.int8),
        "ws": np.array([1e-3, 1e-7], np.float32),
        "wz": np.zeros(2, np.int8),
    }
    constants["w"][1, 1:] = 0
    text = """g (uint8[1,512,3,3] x) => (uint8[1,2,1,1] y) {
        xf = DequantizeLinear (x, xs, xz)  wf = DequantizeLinear <axis = 0> (w, ws, wz)
        [big] c = Conv (xf, wf)  y = QuantizeLinear (c, ys, yz) }"""
    model = model_of(text, constants)
    model.graph.tensors()["ws"].values[1] = 0.004
    assert any(note.startswith("big: 32-bit products") for note in lower(model, narrow).notes)
    assert lower(model, accelerated).notes == ()


def test_units_that_want_int8_get_int8(model_of, soc_of):
    """Also where the model is unsigned."""
    unit = Unit("acc", "an accelerator", "L2", None, RequantSpec(32, True, 64, 0, 62, activation_type="int8"))
    constants = {
        **parameters("x", 0.03, 100, np.uint8),
        **parameters("y", 0.3, 9, np.uint8),
        "w": RANDOM.integers(-127, 128, (6, 4, 3, 3)).astype(np.int8),
        **parameters("w", 0.01, 0, np.int8),
    }
    text = """g (uint8[1,4,5,5] x) => (uint8[1,6,5,5] y) {
        xf = DequantizeLinear (x, xs, xz)  wf = DequantizeLinear (w, ws, wz)
        c = Conv <pads = [1, 1, 1, 1]> (xf, wf)  y = QuantizeLinear (c, ys, yz) }"""
    model = model_of(text, constants)
    lowered = lower(model, soc_of(unit))
    assert [node.op for node in lowered.graph.nodes] == [
        "OffsetU8ToI8", "Pad", "ConvInteger", "RequantI8", "OffsetI8ToU8",
    ]  # fmt: skip
    compare(model, lowered, UINT8, (1, 4, 5, 5))
