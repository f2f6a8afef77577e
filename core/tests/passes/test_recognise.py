"""Requantisation written in elementary operators becomes one operator without changing a bit, or stays."""

from __future__ import annotations

import numpy as np
import pytest
from match_core.contract.model import qualified_op
from match_core.passes.pipeline import run_passes
from match_quant.recognise_requant import RECOGNISE_REQUANT

from tests.pass_checks import VerifyPass

RANDOM = np.random.default_rng(29)

TEXT = """g ({x}[1,4,8,8] x) => ({y}[1,6,8,8] y) {{
    acc = ConvInteger <kernel_shape = [3,3], pads = [1,1,1,1]> (x, w{zero})
    {bias}
    d = Cast <to = {wide}> (a)
    m = Mul (d, M)  b = Add (m, B)  q = Div (b, D)  f = Floor (q)  c = Clip (f, lo, hi)
    y = Cast <to = {to}> (c) }}"""


def make(model_of, x="int8", y="int8", zero=None, bias=True, **changed):
    constants = {
        "w": RANDOM.integers(-127, 128, (6, 4, 3, 3)).astype(np.int8),
        "b0": RANDOM.integers(-5000, 5000, (1, 6, 1, 1)).astype(np.int32),
        "M": RANDOM.integers(1, 99, (1, 6, 1, 1)).astype(np.float64),
        "B": np.float64(16384),
        "D": np.float64(32768),
        "lo": np.float64(-128 if y == "int8" else 0),
        "hi": np.float64(127 if y == "int8" else 255),
        **changed,
    }
    if zero is not None:
        constants["zx"] = np.array(zero, x)
    text = TEXT.format(
        x=x,
        y=y,
        zero="" if zero is None else ", zx",
        bias="a = Add (acc, b0)" if bias else "a = Identity (acc)",
        wide=11,
        to=3 if y == "int8" else 2,
    )
    if not bias:
        text = text.replace("a = Identity (acc)\n", "").replace("(a)", "(acc)")
    return model_of(text, constants)


def ops(model) -> set[str]:
    return {qualified_op(node) for node in model.graph.nodes}


def recognised(model, context):
    for seed in range(3):
        result = run_passes(model, (RECOGNISE_REQUANT,), context, [VerifyPass(seed=seed)])
    return result


@pytest.mark.parametrize(("x", "zero"), [("int8", None), ("int8", -128), ("int8", 9), ("uint8", None), ("uint8", 200)])
@pytest.mark.parametrize("y", ["int8", "uint8"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("context_name", ["accelerated", "host_only"])
def test_recognised(model_of, request, x, zero, y, bias, context_name):
    result = recognised(make(model_of, x, y, zero, bias), request.getfixturevalue(context_name))
    signed = context_name == "host_only" and y == "int8"
    assert ("match.arith::RequantI8" if signed else "match.arith::RequantU8") in ops(result)
    assert not ops(result) & {"Floor", "Mul", "Div", "Clip"}


@pytest.mark.parametrize(
    "changed",
    [
        {"D": np.float64(30000)},
        {"D": np.full((1, 6, 1, 1), 32768.0) * np.array([1, 2, 1, 1, 1, 1]).reshape(1, 6, 1, 1)},
        {"M": np.float64(0.5)},
        {"M": np.float64(-3)},
        {"M": np.float64(2**40)},
        {"B": np.float64(0.25)},
        {"lo": np.float64(-128.5)},
        {"b0": RANDOM.integers(0, 9, (1, 1, 8, 8)).astype(np.int32)},
    ],
)
def test_other_numbers_stay(model_of, accelerated, changed):
    assert "ConvInteger" in ops(recognised(make(model_of, **changed), accelerated))


def test_what_fits_no_unit_stays(model_of, narrow):
    model = make(model_of, M=np.float64(60_000), D=np.float64(2**26))
    assert "Floor" in ops(recognised(model, narrow))


def test_values_that_others_read_stay(model_of, accelerated):
    model = make(model_of)
    model.graph.outputs.append(model.graph.tensors()["q"])
    assert "Floor" in ops(recognised(model, accelerated))


def test_a_chain_stays_in_the_stored_type(model_of, accelerated):
    text = """g (int8[1,4,6,6] x) => (int8[1,4,6,6] y) {
        a1 = ConvInteger <kernel_shape = [1,1]> (x, w)
        d1 = Cast <to = 11> (a1)  m1 = Mul (d1, M)  q1 = Div (m1, D)  f1 = Floor (q1)
        c1 = Clip (f1, lo, hi)  t = Cast <to = 3> (c1)
        a2 = ConvInteger <kernel_shape = [1,1]> (t, w)
        d2 = Cast <to = 11> (a2)  m2 = Mul (d2, M)  q2 = Div (m2, D)  f2 = Floor (q2)
        c2 = Clip (f2, lo, hi)  y = Cast <to = 3> (c2) }"""
    constants = {
        "w": RANDOM.integers(-127, 128, (4, 4, 1, 1)).astype(np.int8),
        "M": np.float64(77),
        "D": np.float64(16384),
        "lo": np.float64(-128),
        "hi": np.float64(127),
    }
    result = recognised(model_of(text, constants), accelerated)
    assert [node.op for node in result.graph.nodes] == [
        "OffsetI8ToU8", "ConvInteger", "RequantU8", "ConvInteger", "RequantU8", "OffsetU8ToI8",
    ]  # fmt: skip


def test_all_micro_benchmarks_are_recognised(shared, accelerated):
    for kind in ("std", "dw"):
        for name in ("16x16_c16_int", "16x16_c16_pc_int", "16x16_c16_relu_u8_int", "2x2_c1_int", "32x32_c64_int"):
            model, samples = shared(f"micro_conv_{kind}_{name}")
            result = run_passes(model, (RECOGNISE_REQUANT,), accelerated, [VerifyPass(samples[0])])
            assert "match.arith::RequantU8" in ops(result), name
