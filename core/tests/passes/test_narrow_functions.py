"""Attention, functions and normalisation in float tensors with integers get integer types."""

from __future__ import annotations

import numpy as np
import pytest
from match_core.contract.passes import PassContext
from match_quant.narrow_functions import gelu
from narrow_chains import ModelOf, narrowed, ops, rq, whole

ATTENTION = f"""g (float[1,8,16] x) => (float[1,8,16] y) {{
    q0 = MatMul (x, wq) q1 = Add (bq, q0) q = {rq("q1")}
    k0 = MatMul (x, wk) k = {rq("k0")}
    v0 = MatMul (x, wv) v = {rq("v0")}
    qh = Reshape (q, heads) qt = Transpose <perm = [0,2,1,3]> (qh)
    kh = Reshape (k, heads) kt = Transpose <perm = [0,2,3,1]> (kh)
    vh = Reshape (v, heads) vt = Transpose <perm = [0,2,1,3]> (vh)
    s0 = MatMul (qt, kt) s = {rq("s0", m="m2")}
    p = {{softmax}} (s)
    o0 = MatMul (p, vt) o1 = {rq("o0", m="m2")}
    o2 = Transpose <perm = [0,2,1,3]> (o1) o3 = Reshape (o2, flat)
    o4 = MatMul (o3, wo) o = {rq("o4")}
    i = {rq("x", m="m3", b="z")} j = {rq("o", m="m4")}
    r0 = Add (i, j) y = {rq("r0", m="m3", b="z")}
}}"""
SOFTMAXES = {
    "iSoftmax": "iSoftmax <coeffA = 1, coeffB = 173, coeffC = 15599, log2 = 127, n_levels = 256>",
    "ITAMax": "ITAMax <n_levels = 256>",
    "ITAPartialMax": "ITAPartialMax <n_levels = 256, group_width = 4>",
}


@pytest.mark.parametrize("softmax", SOFTMAXES)
def test_attention(model_of: ModelOf, accelerated: PassContext, softmax: str) -> None:
    constants = {
        **{name: whole(-60, 60, 16, 16) for name in ("wq", "wk", "wv", "wo")},
        "bq": whole(-900, 900, 16),
        "m": np.float32(5), "m2": np.float32(40), "m3": np.float32(1024), "m4": np.float32(300),
        "b": np.float32(100), "z": np.float32(0),
        "heads": np.array([1, 8, 2, 8]), "flat": np.array([1, 8, 16]),
    }  # fmt: skip
    result = narrowed(model_of(ATTENTION.replace("{softmax}", SOFTMAXES[softmax]), constants), accelerated)
    found = ops(result)
    assert found["MatMulInteger"] == 6
    assert found["AddRequantU8"] == 1
    assert found["SoftmaxFloorU8"] + found["ShiftSoftmaxU8"] == 1
    assert not {"MatMul", "Add"} & set(found)
    # Products of two computed tensors state their offsets as zero points.
    products = [node for node in result.graph.nodes if node.op == "MatMulInteger" and len(node.inputs) == 4]
    assert sorted(int(t.values) for node in products for t in node.inputs[2:]) == [0, 128, 128, 128]


def test_functions_of_one_byte_become_tables(model_of: ModelOf, accelerated: PassContext) -> None:
    text = f"""g (float[1,64] x) => (float[1,64] y) {{ a = MatMul (x, w) r = {rq("a")}
        e = iGELU <b = -40, one = 1743> (r) y = {rq("e", m="m2")} }}"""
    constants = {"w": whole(-9, 9, 64, 64), "m": np.float32(60), "m2": np.float32(3), "b": np.float32(0)}
    result = narrowed(model_of(text, constants), accelerated)
    assert ops(result)["LutU8"] == 1
    (table,) = (node.inputs[1].values for node in result.graph.nodes if node.op == "LutU8")
    values = np.clip((gelu(np.arange(-128, 128), -40, 1743) * 3 + 512) // 1024, -128, 127)
    assert table.dtype in (np.uint8, np.int8)
    assert np.array_equal(table.astype(np.int64) - (128 if table.dtype == np.uint8 else 0), values)


@pytest.mark.parametrize(
    "operator", ["iGELU <b = -40, one = 1743>", "iHardswish <one_over_six = 3, three = 9, six = 18>"]
)
def test_functions_of_wider_integers_are_computed(model_of: ModelOf, accelerated: PassContext, operator: str) -> None:
    text = f"g (float[1,64] x) => (float[1,64] y) {{ e = {operator} (x) y = {rq('e', m='m')} }}"
    found = ops(narrowed(model_of(text, {"m": np.float32(3), "b": np.float32(0)}), accelerated))
    assert found["IntegerGelu"] + found["IntegerHardswish"] == 1


def test_tables_behind_an_operator_that_stays_signed(model_of: ModelOf, accelerated: PassContext) -> None:
    text = f"""g (float[1,4,16] x) => (float[1,4,16] y) {{ a = MatMul (x, w) r = {rq("a")}
        n = iLayerNorm <D = 1024, n_levels = 256> (r, g, h) y = {rq("n", m="m2")} }}"""
    constants = {
        "w": whole(-60, 60, 16, 16), "g": whole(9000, 60000, 16), "h": whole(-5000, 5000, 16),
        "m": np.float32(9), "m2": np.float32(700), "b": np.float32(0),
    }  # fmt: skip
    found = ops(narrowed(model_of(text, constants), accelerated))
    assert (found["LayerNormI8"], found["LutI8"]) == (1, 1)


def test_what_requantises_to_itself_goes(model_of: ModelOf, accelerated: PassContext) -> None:
    text = f"""g (float[1,64] x) => (float[1,64] y) {{ a = MatMul (x, w) r = {rq("a")}
        s = {rq("r", m="same", b="z")} y = {rq("s", m="same", b="z")} }}"""
    constants = {"w": whole(-9, 9, 64, 64), "m": np.float32(60), "b": np.float32(0), "same": np.float32(1024)}
    result = narrowed(model_of(text, {**constants, "z": np.float32(0)}), accelerated)
    assert ops(result)["RequantU8"] == 1
    assert not ops(result)["LutU8"]


def test_normalisation_and_mean(model_of: ModelOf, accelerated: PassContext) -> None:
    text = f"""g (float[1,6,16] x) => (float[1,4] y) {{
        a = MatMul (x, w) r = {rq("a")}
        n = iLayerNorm <D = 1024, n_levels = 256> (r, g, h) q = iRMSNorm <D = 512, n_levels = 256> (n, g)
        t = IntegerMean <axes = [1], keepdims = 0> (q) f = Gemm (t, d) y = {rq("f", 0)} }}"""
    constants = {
        "w": whole(-60, 60, 16, 16), "g": whole(9000, 60000, 16), "h": whole(-5000, 5000, 16),
        "d": whole(-99, 99, 16, 4), "m": np.float32(9), "b": np.float32(0),
    }  # fmt: skip
    found = ops(narrowed(model_of(text, constants), accelerated))
    assert (found["LayerNormI8"], found["RmsNormI8"], found["ReduceSum"], found["MatMulInteger"]) == (1, 1, 1, 2)
    assert not {"RoundedQuotient", "Gemm", "MatMul"} & set(found)
