"""Layer normalisation and GELU written in elementary operators become one operator; look-alikes stay."""

from __future__ import annotations

import numpy as np
import pytest
from match_core.contract.model import qualified_op
from match_core.passes.pipeline import run_passes
from match_quant.recognise_functions import RECOGNISE_FUNCTIONS
from match_verify.reference import ReferenceRunner

from tests.all_passes import core_passes
from tests.pass_checks import VerifyPass

RANDOM = np.random.default_rng(41)
SLOPE = np.sqrt(2 / np.pi)
TYPES = {"float": np.float32, "float16": np.float16}

GELUS = {
    "half at the end": "d = Div (x, root) e = Erf (d) a = Add (e, one) p = Mul (x, a) y = Mul (p, half)",
    "gate first, halved by two": "d = Div (x, root) e = Erf (d) a = Add (one, e) p = Mul (a, x) y = Div (p, two)",
    "half of x first": "h = Mul (half, x) d = Mul (inverse, x) e = Erf (d) a = Add (e, one) y = Mul (h, a)",
    "half of the gate": "d = Mul (x, inverse) e = Erf (d) a = Add (one, e) h = Mul (a, half) y = Mul (x, h)",
    "x halved by two, gate first": "h = Div (x, two) d = Div (x, root) e = Erf (d) a = Add (e, one) y = Mul (a, h)",
}
#: Of tanh: the cube as power or product, x or the slope moved out of or into the sum.
TANHS = {
    "power": """c = Pow (x, three) k = Mul (c, cube) s = Add (x, k) t = Mul (s, slope) e = Tanh (t) a = Add (e, one)
        h = Mul (x, half) y = Mul (h, a)""",
    "products": """q = Mul (x, x) c = Mul (q, x) k = Mul (cube, c) s = Add (k, x) t = Mul (slope, s) e = Tanh (t)
        a = Add (one, e) g = Mul (half, a) y = Mul (x, g)""",
    "x outside": """q = Mul (x, x) k = Mul (q, cube) s = Add (k, one) u = Mul (x, s) t = Mul (u, slope) e = Tanh (t)
        a = Add (one, e) g = Mul (a, x) y = Mul (g, half)""",
    "slope inside": """c = Pow (x, three) k = Mul (c, both) l = Mul (x, slope) t = Add (l, k) e = Tanh (t)
        a = Add (one, e) g = Mul (a, x) y = Mul (g, half)""",
    "x is a product": """z = Mul (x, scale) c = Pow (z, three) k = Mul (c, cube) s = Add (z, k) t = Mul (s, slope)
        e = Tanh (t) a = Add (e, one) g = Mul (z, a) y = Mul (g, half)""",
}
NO_TANHS = {
    "another cube": """c = Pow (x, three) k = Mul (c, half) s = Add (x, k) t = Mul (s, slope) e = Tanh (t)
        a = Add (e, one) h = Mul (x, half) y = Mul (h, a)""",
    "a square": """c = Pow (x, two) k = Mul (c, cube) s = Add (x, k) t = Mul (s, slope) e = Tanh (t) a = Add (e, one)
        h = Mul (x, half) y = Mul (h, a)""",
    "no half": """c = Pow (x, three) k = Mul (c, cube) s = Add (x, k) t = Mul (s, slope) e = Tanh (t) a = Add (e, one)
        y = Mul (x, a)""",
    "another gate": """n = Neg (x) c = Pow (x, three) k = Mul (c, cube) s = Add (x, k) t = Mul (s, slope) e = Tanh (t)
        a = Add (e, one) h = Mul (n, half) y = Mul (h, a)""",
}
NO_GELUS = {
    "another root": "d = Div (x, two) e = Erf (d) a = Add (e, one) p = Mul (x, a) y = Mul (p, half)",
    "another summand": "d = Div (x, root) e = Erf (d) a = Add (e, two) p = Mul (x, a) y = Mul (p, half)",
    "another x": "n = Neg (x) d = Div (n, root) e = Erf (d) a = Add (e, one) p = Mul (x, a) y = Mul (p, half)",
    "quotient turned round": "d = Div (root, x) e = Erf (d) a = Add (e, one) p = Mul (x, a) y = Mul (p, half)",
    "read elsewhere": "d = Div (x, root) e = Erf (d) a = Add (e, one) p = Mul (x, a) h = Mul (p, half) y = Add (h, e)",
}
MEAN = "m = ReduceMean <keepdims = 1> (x, axes) d = Sub (x, m)"
NORMS = {
    "power": f"{MEAN} s = Pow (d, two) v = ReduceMean (s, axes) w = Add (v, eps) r = Sqrt (w) y = Div (d, r)",
    "product, bias": f"""{MEAN} s = Mul (d, d) v = ReduceMean (s, axes) w = Add (eps, v) r = Sqrt (w)
        q = Div (d, r) y = Add (bias, q)""",
    "scale and bias": f"""{MEAN} s = Pow (d, two) v = ReduceMean (s, axes) w = Add (v, eps) r = Sqrt (w)
        q = Div (d, r) t = Mul (q, scale) y = Add (t, bias)""",
}
ROOT = "v = ReduceMean (s, axes) w = Add (v, eps) r = Sqrt (w)"
NORMS |= {
    "reciprocal": f"""{MEAN} s = Mul (d, d) {ROOT} i = Reciprocal (r) q = Mul (d, i) t = Mul (scale, q)
        y = Add (t, bias)""",
    "power of the root": f"""{MEAN} s = Mul (d, d) v = ReduceMean (s, axes) w = Add (v, eps) i = Pow (w, minus)
        y = Mul (i, d)""",
    "two differences": f"""{MEAN} d2 = Sub (x, m) s = Pow (d, two) {ROOT} q = Div (d2, r) t = Mul (q, scale)
        y = Add (t, bias)""",
    "TensorFlow": f"""{MEAN} s = Mul (d, d) {ROOT} i = Reciprocal (r) g = Mul (i, scale) p = Mul (x, g) o = Mul (m, g)
        z = Sub (bias, o) y = Add (p, z)""",
}
RMS_NORMS = {
    "power": f"s = Pow (x, two) {ROOT} q = Div (x, r) y = Mul (scale, q)",
    "reciprocal": f"s = Mul (x, x) {ROOT} i = Div (one, r) q = Mul (x, i) y = Mul (q, scale)",
    "scale first": f"s = Mul (x, x) {ROOT} i = Reciprocal (r) g = Mul (i, scale) y = Mul (g, x)",
}
NO_RMS_NORMS = {
    "not scaled": f"s = Mul (x, x) {ROOT} y = Div (x, r)",
    "another x": f"n = Neg (x) s = Mul (x, x) {ROOT} q = Div (n, r) y = Mul (q, scale)",
    "not the last axis": """s = Mul (x, x) v = ReduceMean (s, other) w = Add (v, eps) r = Sqrt (w) q = Div (x, r)
        y = Mul (q, scale)""",
    "another mean subtracted": """m = ReduceMean <keepdims = 1> (x, other) d = Sub (x, m) s = Mul (d, d)
        v = ReduceMean (s, axes) w = Add (v, eps) r = Sqrt (w) q = Div (x, r) y = Mul (q, scale)""",
}
NO_NORMS = {
    "another power": f"{MEAN} s = Pow (d, three) v = ReduceMean (s, axes) w = Add (v, big) r = Sqrt (w) y = Div (d, r)",
    "other axes": f"{MEAN} s = Pow (d, two) v = ReduceMean (s, other) w = Add (v, eps) r = Sqrt (w) y = Div (d, r)",
    "not the last axes": """m = ReduceMean (x, other) d = Sub (x, m) s = Mul (d, d) v = ReduceMean (s, other)
        w = Add (v, eps) r = Sqrt (w) y = Div (d, r)""",
    "read elsewhere": f"""{MEAN} s = Pow (d, two) v = ReduceMean (s, axes) w = Add (v, eps) r = Sqrt (w) q = Div (d, r)
        y = Add (q, d)""",
}


def model(model_of, kind, body):
    values = {"root": np.sqrt(2), "inverse": np.sqrt(0.5), "one": 1, "two": 2, "three": 3, "half": 0.5, "eps": 1e-5}
    values |= {"big": 100, "minus": -0.5, "slope": SLOPE, "cube": 0.044715, "both": SLOPE * 0.044715}
    constants = {name: np.array(value, TYPES[kind]) for name, value in values.items()}
    constants |= {name: RANDOM.normal(1, 0.5, 24).astype(TYPES[kind]) for name in ("scale", "bias")}
    constants |= {"axes": np.array([-1]), "other": np.array([1])}
    used = {name: value for name, value in constants.items() if f"{name})" in body or f"{name}," in body}
    return model_of(f"g ({kind}[1,6,24] x) => ({kind}[1,6,24] y) {{ {body} }}", used)


def recognised(given, context):
    return [
        qualified_op(node) for node in run_passes(given, (RECOGNISE_FUNCTIONS,), context, [VerifyPass()]).graph.nodes
    ]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", GELUS)
def test_gelu(model_of, host_only, kind, name):
    assert recognised(model(model_of, kind, GELUS[name]), host_only) == ["Gelu"]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", NORMS)
def test_layer_normalisation(model_of, host_only, kind, name):
    assert recognised(model(model_of, kind, NORMS[name]), host_only) == ["LayerNormalization"]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", TANHS)
def test_gelu_by_tanh(model_of, host_only, kind, name):
    found = recognised(model(model_of, kind, TANHS[name]), host_only)
    assert found == (["Mul", "Gelu"] if name == "x is a product" else ["Gelu"])


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", RMS_NORMS)
def test_rms_normalisation(model_of, host_only, halves, kind, name):
    given = model(model_of, kind, RMS_NORMS[name])
    assert recognised(given, host_only) == ["match.norm::RMSNormalization"]
    if kind == "float16":  # a unit that computes its elementary operators keeps them
        assert recognised(given, halves) == [qualified_op(node) for node in given.graph.nodes]


@pytest.mark.parametrize("name", [*NO_GELUS, *NO_TANHS, *NO_NORMS, *NO_RMS_NORMS])
def test_others_stay(model_of, host_only, name):
    for cases in (NO_GELUS, NO_TANHS, NO_NORMS, NO_RMS_NORMS):
        if name in cases:
            given = model(model_of, "float", cases[name])
            assert recognised(given, host_only) == [qualified_op(node) for node in given.graph.nodes]


def test_wrong_parameters_stay_behind(model_of, host_only):
    """A factor per row is no scale of the normalised elements."""
    body = NORMS["power"].replace("y = Div", "q = Div")
    given = model_of(
        f"g (float[1,6,24] x) => (float[1,6,24] y) {{ {body} y = Mul (q, rows) }}",
        {
            "axes": np.array([-1]),
            "two": np.float32(2),
            "eps": np.float32(1e-5),
            "rows": RANDOM.random((6, 1), np.float32),
        },
    )
    assert recognised(given, host_only) == ["LayerNormalization", "Mul"]


@pytest.mark.parametrize(
    ("name", "norms", "gelus"), [("matcha_convnext_block_f16", 3, 3), ("transformer_enc128_gelu_f16", 2, 1)]
)
def test_float16_networks(shared, halves, name, norms, gelus, record_property):
    """All are found, and results move by no more than roundings to float16 do."""
    given, samples = shared(name)
    result = run_passes(given, core_passes(halves.soc, halves.units), halves, [VerifyPass()])
    names = [qualified_op(node) for node in result.graph.nodes]
    assert (names.count("LayerNormalization"), names.count("Gelu"), names.count("Erf")) == (norms, gelus, 0)
    for key, expected in ReferenceRunner(given).run(samples[0]).items():
        got = ReferenceRunner(result).run(samples[0])[key].astype(np.float64)
        distance = float(np.abs(got - expected).max() / np.abs(expected).max())
        print(f"{name}: passes move {key} by {distance:.2e} of its largest value")
        record_property("distance", distance)
        assert distance <= 2.0**-8
