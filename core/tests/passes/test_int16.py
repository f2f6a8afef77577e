"""int16 activations: the integer graph, and what stays in float."""

from __future__ import annotations

import numpy as np
import pytest
from match_core.contract.hardware import Unit
from match_core.contract.passes import PassContext
from quantised import FLOAT_FORM, compare, lower, ops, parameters

INT16, INT8 = np.dtype(np.int16), np.dtype(np.int8)
CONV = """g (int16[1,4,9,8] x) => (int16[1,8,9,8] y) {{
    xf = DequantizeLinear (x, xs, xz)  wf = DequantizeLinear <axis = 0> (w, ws, wz)
    c = Conv <pads = [1, 1, 1, 1], group = {group}> (xf, wf, bf)  {clamp}  y = QuantizeLinear ({last}, ys, yz) }}"""


@pytest.fixture
def wide(soc_of) -> PassContext:
    """A unit that takes int16."""
    return soc_of(Unit("acc", "an accelerator", "L2", "NHWC", spatial_types=("int8", "int16", "uint8")))


def constants(group: int = 1, zero: int = 0, weight: type = np.int8, largest: int = 127) -> dict[str, object]:
    random = np.random.default_rng(16)
    return {
        **parameters("x", 1e-4, zero, np.int16),
        **parameters("y", 2e-4, 0, np.int16),
        "w": random.integers(-largest, largest + 1, (8, 4 // group, 3, 3)).astype(weight),
        "ws": random.uniform(0.005, 0.02, 8).astype(np.float32),
        "wz": np.zeros(8, weight),
        "bf": random.standard_normal(8).astype(np.float32),
    }


@pytest.mark.parametrize("clamp", ["", "r = Relu (c)"])
@pytest.mark.parametrize("group", [1, 4])
def test_convolution(model_of, wide, group, clamp):
    model = model_of(CONV.format(group=group, clamp=clamp, last="r" if clamp else "c"), constants(group))
    lowered = lower(model, wide)
    assert {"match.nhwc::ConvIntegerI16", "match.arith::RequantI16"} <= ops(lowered)
    assert not ops(lowered) & FLOAT_FORM
    compare(model, lowered, share=0.01)


def test_two_scales_around_a_relu_keep_both_roundings(model_of, wide):
    text = CONV.format(
        group=1, clamp="q = QuantizeLinear (c, ms, yz)  d = DequantizeLinear (q, ms, yz)  r = Relu (d)", last="r"
    )
    model = model_of(text, {**constants(), "ms": np.float32(1.7311e-4)})
    lowered = lower(model, wide)
    assert [node.op for node in lowered.graph.nodes].count("RequantI16") == 2
    compare(model, lowered, share=0.01)


def test_dense_addition_and_pools(model_of, wide):
    text = """g (int16[1,4,8,8] x, int16[1,4,8,8] z) => (int16[1,10] y) {
        xf = DequantizeLinear (x, xs, xz)  zf = DequantizeLinear (z, zs, xz)  a = Add (xf, zf)
        aq = QuantizeLinear (a, as, xz)  af = DequantizeLinear (aq, as, xz)
        m = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (af)
        p = AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (m)
        pq = QuantizeLinear (p, ps, xz)  pf = DequantizeLinear (pq, ps, xz)
        f = Flatten (pf)  wf = DequantizeLinear (w, ws, wz)  d = MatMul (f, wf)  y = QuantizeLinear (d, ys, xz) }"""
    given = {
        **parameters("x", 1e-4, 0, np.int16),
        **{
            "zs": np.float32(2.1357e-4),
            "as": np.float32(3.0171e-4),
            "ps": np.float32(2.717e-4),
            "ys": np.float32(0.001),
        },
        "w": np.random.default_rng(16).integers(-127, 128, (16, 10)).astype(np.int8),
        **parameters("w", 0.01, 0, np.int8),
    }
    model = model_of(text, given)
    lowered = lower(model, wide)
    assert {"match.arith::AddRequantI16", "match.nhwc::MaxPoolI16", "match.arith::MatMulIntegerI16"} <= ops(lowered)
    assert not ops(lowered) & (FLOAT_FORM)
    compare(model, lowered, share=0.05)


@pytest.mark.parametrize(
    "changed",
    [{"zero": 5}, {"weight": np.int16, "largest": 3000}],
    ids=["zero point", "weights of 16 bits"],
)
def test_what_stays_in_float(model_of, wide, changed):
    model = model_of(CONV.format(group=1, clamp="", last="c"), constants(**changed))
    lowered = lower(model, wide)
    assert "Conv" in {op.rsplit("::", 1)[-1] for op in ops(lowered)}
    assert not any("I16" in op for op in ops(lowered))
    compare(model, lowered, share=0)


def test_units_that_do_not_state_int16_leave_it_in_float(model_of, accelerated):
    lowered = lower(model_of(CONV.format(group=1, clamp="", last="c"), constants()), accelerated)
    assert not any("I16" in op for op in ops(lowered))
    assert [left.value for left in lowered.left] == ["the input of Conv has type int16"]


@pytest.mark.parametrize(("last", "integer"), [(1, True), (2, False)])
def test_sums_must_fit_32_bits(model_of, wide, last, integer):
    """Weights add up to 65,535 or 65,536, and sums reach 2^15 times as much."""
    weight = np.full((1024, 1), 64, np.int8)
    weight[-1] = 62 + last
    text = """g (int16[1,1024] x) => (int16[1,1] y) {
        xf = DequantizeLinear (x, xs, xz)  wf = DequantizeLinear (w, ws, wz)
        d = MatMul (xf, wf)  y = QuantizeLinear (d, ys, xz) }"""
    given = {
        **parameters("x", 1e-4, 0, np.int16),
        "w": weight,
        **parameters("w", 0.01, 0, np.int8),
        "ys": np.float32(0.1),
    }
    lowered = lower(model_of(text, given), wide)
    assert ("match.arith::MatMulIntegerI16" in ops(lowered)) == integer
    assert ("MatMul" in ops(lowered)) != integer
