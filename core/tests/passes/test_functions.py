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
TYPES = {"float": np.float32, "float16": np.float16}

GELUS = {
    "half at the end": "d = Div (x, root) e = Erf (d) a = Add (e, one) p = Mul (x, a) y = Mul (p, half)",
    "gate first, halved by two": "d = Div (x, root) e = Erf (d) a = Add (one, e) p = Mul (a, x) y = Div (p, two)",
    "half of x first": "h = Mul (half, x) d = Mul (inverse, x) e = Erf (d) a = Add (e, one) y = Mul (h, a)",
    "x halved by two, gate first": "h = Div (x, two) d = Div (x, root) e = Erf (d) a = Add (e, one) y = Mul (a, h)",
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
    values["big"] = 100
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


@pytest.mark.parametrize("name", [*NO_GELUS, *NO_NORMS])
def test_others_stay(model_of, host_only, name):
    for cases in (NO_GELUS, NO_NORMS):
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
