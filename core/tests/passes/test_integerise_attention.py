"""Products of two quantised tensors, moves and splits around them, convolutions with one spatial axis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from match_core.contract.hardware import RequantSpec, Unit
from match_core.contract.model import Model
from match_core.contract.passes import PassContext
from match_core.passes.pipeline import run_passes
from quantised import FLOAT_FORM, compare, count, lower, ops, parameters, samples_of

from tests.all_passes import core_passes
from tests.operator_distance import operator_distances

INT8, UINT8 = np.dtype(np.int8), np.dtype(np.uint8)
Context = Callable[..., PassContext]
Make = Callable[..., Model]
#: A core without floating point that keeps int8.
SIGNED = Unit("core", "", "L2", None, RequantSpec(32, True, 63, 0, 62, activation_type="int8"))


@pytest.fixture(params=["uint8", "int8"])
def either(request: pytest.FixtureRequest, accelerated: PassContext, soc_of: Context) -> PassContext:
    """Socs that store activations as uint8 and as int8."""
    return accelerated if request.param == "uint8" else soc_of(SIGNED)


PRODUCTS = (
    ("p = MatMul (af, bf)", 0.09),
    ("m = MatMul (af, bf)  p = Mul (m, c)", 0.03),
    ("m = MatMul (af, bf)  p = Mul (c, m)", 0.03),
    ("m = MatMul (af, bf)  p = Div (m, c)", 0.3),
    ("m = MatMul (af, bf)  n = Mul (m, c)  p = Div (n, c)", 0.09),
)


@pytest.mark.parametrize(("nodes", "scale"), PRODUCTS)
@pytest.mark.parametrize(("zero_a", "zero_b"), [(0, 0), (5, 0), (0, -7), (-128, 11)])
def test_product_of_two_tensors(
    model_of: Make, either: PassContext, nodes: str, scale: float, zero_a: int, zero_b: int
) -> None:
    constants = {
        **parameters("a", 0.02, zero_a, INT8),
        **parameters("b", 0.05, zero_b, INT8),
        **parameters("y", scale, -3, INT8),
        "c": np.array(0.3, np.float32),
    }
    text = f"""g (int8[1,3,9,16] a, int8[1,3,16,10] b) => (int8[1,3,9,10] y) {{
        af = DequantizeLinear (a, as, az)  bf = DequantizeLinear (b, bs, bz)
        {nodes}  y = QuantizeLinear (p, ys, yz) }}"""
    model = model_of(text, constants)
    lowered = lower(model, either)
    assert not ops(lowered) & FLOAT_FORM
    (product,) = (node for node in lowered.graph.nodes if node.op == "MatMulInteger")
    shift = 128 if product.inputs[0].dtype == UINT8 else 0
    zeros = [int(tensor.values) for tensor in product.inputs[2:]]
    expected = [zero_a + shift, zero_b + shift]
    while expected and expected[-1] == 0:
        expected.pop()
    assert zeros == expected
    compare(model, lowered)


@pytest.mark.parametrize(
    "shapes", [("4,8", "8,5", "4,5"), ("2,1,4,8", "1,3,8,5", "2,3,4,5"), ("2,4,8", "8,5", "2,4,5")]
)
def test_product_broadcasts_leading_axes(model_of: Make, accelerated: PassContext, shapes: tuple[str, ...]) -> None:
    constants = {**parameters("a", 0.02, 4, UINT8), **parameters("y", 0.04, 100, UINT8)}
    text = f"""g (uint8[{shapes[0]}] a, uint8[{shapes[1]}] b) => (uint8[{shapes[2]}] y) {{
        af = DequantizeLinear (a, as, az)  bf = DequantizeLinear (b, as, az)  r = MatMul (af, bf)  p = Relu (r)
        y = QuantizeLinear (p, ys, yz) }}"""
    model = model_of(text, constants)
    lowered = lower(model, accelerated)
    assert ops(lowered) == {"MatMulInteger", "match.arith::RequantU8"}
    compare(model, lowered)


def test_product_that_overflows_stays_float(model_of: Make, accelerated: PassContext) -> None:
    """33100 products of 255 times 255 do not fit int32."""
    constants = {**parameters("a", 0.02, 0, UINT8), **parameters("y", 900.0, 0, UINT8)}
    text = """g (uint8[1,33100] a, uint8[33100,1] b) => (uint8[1,1] y) {
        af = DequantizeLinear (a, as, az)  bf = DequantizeLinear (b, as, az)  p = MatMul (af, bf)
        y = QuantizeLinear (p, ys, yz) }"""
    assert "MatMul" in ops(lower(model_of(text, constants), accelerated))


def test_product_scaled_by_what_is_read_elsewhere_stays_float(model_of: Make, accelerated: PassContext) -> None:
    constants = {**parameters("a", 0.02, 0, UINT8), **parameters("y", 0.1, 0, UINT8), "c": np.array(0.5, np.float32)}
    text = """g (uint8[4,8] a, uint8[8,5] b) => (uint8[4,5] y, float[4,5] m) {
        af = DequantizeLinear (a, as, az)  bf = DequantizeLinear (b, as, az)  m = MatMul (af, bf)  p = Mul (m, c)
        y = QuantizeLinear (p, ys, yz) }"""
    assert "MatMul" in ops(lower(model_of(text, constants), accelerated))


ATTENTION = """g (int8[1,12,48] x) => (int8[1,12,16] y) {
    xf = DequantizeLinear (x, xs, xz)  qf, kf, vf = Split <axis = 2, num_outputs = 3> (xf)
    q = QuantizeLinear (qf, xs, xz)  k = QuantizeLinear (kf, xs, xz)  v = QuantizeLinear (vf, xs, xz)
    q1 = DequantizeLinear (q, xs, xz)  k1 = DequantizeLinear (k, xs, xz)  v1 = DequantizeLinear (v, xs, xz)
    qr = Reshape (q1, heads)  kr = Reshape (k1, heads)  vr = Reshape (v1, heads)
    qt = Transpose <perm = [0, 2, 1, 3]> (qr)  qq = QuantizeLinear (qt, xs, xz)  qd = DequantizeLinear (qq, xs, xz)
    kt = Transpose <perm = [0, 2, 3, 1]> (kr)  kq = QuantizeLinear (kt, xs, xz)  kd = DequantizeLinear (kq, xs, xz)
    vt = Transpose <perm = [0, 2, 1, 3]> (vr)  vq = QuantizeLinear (vt, xs, xz)  vd = DequantizeLinear (vq, xs, xz)
    s = MatMul (qd, kd)  sc = Mul (s, half)  sq = QuantizeLinear (sc, ss, sz)  sd = DequantizeLinear (sq, ss, sz)
    p = Softmax <axis = 3> (sd)  pq = QuantizeLinear (p, ps, pz)  pd = DequantizeLinear (pq, ps, pz)
    o = MatMul (pd, vd)  oq = QuantizeLinear (o, os, oz)  od = DequantizeLinear (oq, os, oz)
    ot = Transpose <perm = [0, 2, 1, 3]> (od)  or = Reshape (ot, back)  y = QuantizeLinear (or, os, oz) }"""


def test_attention_with_merged_projections(model_of: Make, either: PassContext) -> None:
    """From the merged projection to the heads' results: integers only, each operator within 1 LSB."""
    constants = {
        **parameters("x", 0.03, -9, INT8),
        **parameters("s", 0.09, 4, INT8),
        **parameters("p", 1 / 256, -128, INT8),
        **parameters("o", 0.02, -9, INT8),
        "half": np.array(0.5, np.float32),
        "heads": np.array([1, 12, 4, 4]),
        "back": np.array([1, 12, 16]),
    }
    model = model_of(ATTENTION, constants)
    lowered = lower(model, either)
    assert not ops(lowered) & (FLOAT_FORM | {"Softmax"})
    assert count(lowered, "Split") == 1
    assert count(lowered, "MatMulInteger") == 2
    before_layout = [item for item in core_passes(either.soc, either.units) if item.name != "nhwc_layout"]
    integer = run_passes(model, before_layout, either)
    distances = operator_distances(model, integer, samples_of(model, np.random.default_rng(5), 4))
    assert {"sq", "pq", "oq"} <= {distance.tensor for distance in distances}
    assert max(distance.max_abs_lsb for distance in distances) <= 1
    assert max(distance.share for distance in distances) <= 0.005


@pytest.mark.parametrize("y_scale", [0.03, 0.05])
def test_split_of_other_parameters(model_of: Make, either: PassContext, y_scale: float) -> None:
    """Results with parameters of their own, or a clamp behind them, get a table."""
    constants = {
        **parameters("x", 0.03, -9, INT8),
        **parameters("y", y_scale, -9, INT8),
        "sizes": np.array([3, 5]),
    }
    text = """g (int8[2,8] x) => (int8[2,3] y, int8[2,5] z) {
        xf = DequantizeLinear (x, xs, xz)  a, b = Split <axis = 1> (xf, sizes)  r = Relu (b)
        y = QuantizeLinear (a, ys, yz)  z = QuantizeLinear (r, xs, xz) }"""
    model = model_of(text, constants)
    lowered = lower(model, either)
    assert not ops(lowered) & FLOAT_FORM
    assert count(lowered, "Split") == 1
    assert sum("Lut" in op for op in ops(lowered)) == 1
    tables = sum(node.op.startswith("Lut") for node in lowered.graph.nodes)
    assert tables == (1 if y_scale == 0.03 else 2)
    compare(model, lowered, share=0.0)


def test_split_of_integers(model_of: Make, accelerated: PassContext) -> None:
    """Split reads the quantised tensor itself."""
    text = """g (int8[2,8] x) => (int8[2,4] y, int8[2,4] z) {
        xf = DequantizeLinear (x, xs, xz)  n = Neg (xf)  q = QuantizeLinear (n, xs, xz)
        y, b = Split <axis = -1, num_outputs = 2> (q)
        bf = DequantizeLinear (b, xs, xz)  m = Tanh (bf)  z = QuantizeLinear (m, xs, xz) }"""
    model = model_of(text, parameters("x", 0.03, -9, INT8))
    lowered = lower(model, accelerated)
    assert ops(lowered) == {
        "Split", "match.arith::LutU8", "match.arith::OffsetI8ToU8", "match.arith::OffsetU8ToI8"
    }  # fmt: skip
    compare(model, lowered, share=0.0)


def test_padding_of_quantised_tensors(model_of: Make, either: PassContext) -> None:
    """The value becomes the stored integer; other parameters on the result need a table in front."""
    constants = {
        **parameters("x", 0.03, -9, INT8),
        **parameters("z", 0.04, 11, INT8),
        "pads": np.array([0, 1, 0, 0, 0, 2]),
        "value": np.array(0.5, np.float32),
    }
    text = """g (int8[1,4,5] x) => (int8[1,5,7] y, int8[1,5,7] z) {
        xf = DequantizeLinear (x, xs, xz)  a = Pad (xf, pads)  y = QuantizeLinear (a, xs, xz)
        b = Pad (xf, pads, value)  z = QuantizeLinear (b, zs, zz) }"""
    model = model_of(text, constants)
    lowered = lower(model, either)
    assert not ops(lowered) & FLOAT_FORM
    assert count(lowered, "Pad") == 2
    compare(model, lowered, share=0.0)


def test_gather_of_rows_and_of_a_constant_table(model_of: Make, either: PassContext) -> None:
    constants = {
        **parameters("x", 0.03, -9, INT8),
        **parameters("t", 0.05, 3, INT8),
        "rows": np.array([2, 0, 0, 3]),
        "table": np.random.default_rng(2).integers(-128, 128, (256, 6)).astype(np.int8),
    }
    text = """g (int8[4,6] x, uint8[5] token) => (int8[4,6] y, int8[5,6] z) {
        xf = DequantizeLinear (x, xs, xz)  a = Gather (xf, rows)  y = QuantizeLinear (a, xs, xz)
        tf = DequantizeLinear (table, ts, tz)  i = Cast <to = 7> (token)  b = Gather (tf, i)
        z = QuantizeLinear (b, xs, xz) }"""
    model = model_of(text, constants)
    lowered = lower(model, either)
    assert not ops(lowered) & FLOAT_FORM
    assert count(lowered, "Gather") == 2
    compare(model, lowered, share=0.0)


@pytest.mark.parametrize("quantised", [False, True])
def test_concat_with_a_constant(model_of: Make, either: PassContext, quantised: bool) -> None:
    """A class token: float, or quantised with parameters of its own."""
    generator = np.random.default_rng(3)
    constants = {
        **parameters("x", 0.03, -9, INT8),
        **parameters("t", 0.011, 6, INT8),
        "stored": generator.integers(-128, 128, (1, 1, 6)).astype(np.int8),
        "real": generator.normal(0, 2, (1, 1, 6)).astype(np.float32),
    }
    token = "t = DequantizeLinear (stored, ts, tz)" if quantised else "t = Identity (real)"
    text = f"""g (int8[1,4,6] x) => (int8[1,5,6] y) {{
        xf = DequantizeLinear (x, xs, xz)  {token}  c = Concat <axis = 1> (t, xf)
        y = QuantizeLinear (c, xs, xz) }}"""
    model = model_of(text, constants)
    lowered = lower(model, either)
    assert not ops(lowered) & FLOAT_FORM
    compare(model, lowered, share=0.0)


@pytest.mark.parametrize("group", [1, 4])
@pytest.mark.parametrize("zero", [0, -40])
def test_convolution_along_one_axis(model_of: Make, either: PassContext, group: int, zero: int) -> None:
    generator = np.random.default_rng(4)
    constants = {
        **parameters("x", 0.03, zero, INT8),
        **parameters("y", 0.05, -5, INT8),
        **parameters("w", 0.004, 0, INT8),
        "w": generator.integers(-127, 128, (8, 4 // group, 3)).astype(np.int8),
        "b": generator.integers(-2000, 2000, 8).astype(np.int32),
        "bs": np.array(0.03 * 0.004, np.float32),
    }
    text = f"""g (int8[1,4,17] x) => (int8[1,8,9] y) {{
        xf = DequantizeLinear (x, xs, xz)  wf = DequantizeLinear (w, ws, wz)  bf = DequantizeLinear (b, bs)
        c = Conv <group = {group}, pads = [1, 1], strides = [2]> (xf, wf, bf)
        y = QuantizeLinear (c, ys, yz) }}"""
    model = model_of(text, constants)
    lowered = lower(model, either)
    assert not ops(lowered) & FLOAT_FORM
    (conv,) = (node for node in lowered.graph.nodes if node.op == "ConvInteger")
    assert list(conv.attrs["kernel_shape"]) == [1, 3]
    compare(model, lowered)
