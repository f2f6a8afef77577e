"""Samples of a batch stay apart between convolutions, and join where an operator reads all of them."""

from __future__ import annotations

import numpy as np
import pytest
from match_core.passes.pipeline import run_passes
from match_quant.sample_by_sample import SAMPLE_BY_SAMPLE
from quantised import count, lower, ops

from tests.pass_checks import VerifyPass

CONSTANTS = {
    "w": np.random.default_rng(0).integers(-127, 128, (4, 4, 3, 3)).astype(np.int8),
    "s": np.float32(0.05),
    "t": np.float32(0.01),
    "z": np.int8(3),
    "o": np.int8(0),
    "shape": np.array([3, 36, 4], np.int64),
}
CHAIN = """g (int8[3,4,6,6] x) => (int8[{shape}] y) {{
    d = DequantizeLinear (x, s, z)  v = DequantizeLinear (w, t, o)
    c = Conv <pads = [1, 1, 1, 1]> (d, v)  r = Relu (c)  q = QuantizeLinear (r, s, z)  e = DequantizeLinear (q, s, z)
    {rest} }}"""


def test_quantisers_and_additions_follow_their_layers(model_of, accelerated):
    rest = """f = Conv <pads = [1, 1, 1, 1]> (e, v)  g = QuantizeLinear (f, s, z)  h = DequantizeLinear (g, s, z)
        a = Add (h, e)  y = QuantizeLinear (a, s, z)"""
    model = model_of(CHAIN.format(shape="3,4,6,6", rest=rest), CONSTANTS)
    result = run_passes(model, [SAMPLE_BY_SAMPLE], accelerated, [VerifyPass()])
    assert (count(result, "Split"), count(result, "Concat")) == (1, 1)
    assert count(result, "Relu") == count(result, "Add") == 3
    assert not ops(lower(model, accelerated)) & {"Conv", "Add", "QuantizeLinear", "DequantizeLinear"}


@pytest.mark.parametrize(
    "rest",
    [
        "t1 = Transpose <perm = [0, 2, 3, 1]> (e)  t2 = Reshape (t1, shape)  y = QuantizeLinear (t2, s, z)",
        "t1 = Transpose <perm = [1, 0, 2, 3]> (e)  t2 = Reshape (t1, shape)  y = QuantizeLinear (t2, s, z)",
    ],
)
def test_results_do_not_change(model_of, accelerated, rest):
    model = model_of(CHAIN.format(shape="3,36,4", rest=rest), CONSTANTS)
    result = run_passes(model, [SAMPLE_BY_SAMPLE], accelerated, [VerifyPass()])
    mixed = "[1, 0, 2, 3]" in rest
    assert count(result, "Transpose") == (1 if mixed else 3)


def test_one_sample_stays(model_of, accelerated):
    text = CHAIN.format(shape="1,4,6,6", rest="y = QuantizeLinear (e, s, z)").replace("3,4,6,6", "1,4,6,6")
    model = model_of(text, CONSTANTS)
    assert run_passes(model, [SAMPLE_BY_SAMPLE], accelerated) is model
