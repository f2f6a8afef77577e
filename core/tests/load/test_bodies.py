"""Bodies of functions and of the standard's composite operators: attributes, defaults, opsets, limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import onnx
import pytest
from match_core.contract.errors import ModelError
from match_core.load.load import load_model
from match_core.load.static import limits
from match_core.load.static.limits import MOST_NESTED
from match_verify.reference import ReferenceRunner

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'
X = np.random.default_rng(2).standard_normal((2, 3, 4, 5)).astype(np.float32)
Save = Callable[..., Path]


def same(path: Path, **feeds: np.ndarray) -> None:
    """The loaded model computes what the file says."""
    expected, got = ReferenceRunner(onnx.load(path)).run(feeds), ReferenceRunner(load_model(path)).run(feeds)
    for name in expected:
        assert np.allclose(expected[name], got[name], rtol=1e-5, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize(
    ("version", "call"),
    [
        (18, "MeanVarianceNormalization (x)"),
        (18, "MeanVarianceNormalization <axes = [1]> (x)"),
        (18, "Shrink (x)"),
        (18, "Shrink <bias = 0.25, lambd = 0.3> (x)"),
        (18, "ThresholdedRelu (x)"),
        (18, "ThresholdedRelu <alpha = 0.1> (x)"),
        (18, "Celu <alpha = 2.0> (x)"),
    ],
)
def test_bodies_with_attributes_given_and_left_out(saved: Save, version: int, call: str) -> None:
    text = (
        f'<ir_version: 8, opset_import: ["" : {version}]> g (float[2,3,4,5] x) => (float[2,3,4,5] y) {{ y = {call} }}'
    )
    same(saved(text), x=X)


def test_attributes_reach_through_functions_and_subgraphs(saved: Save) -> None:
    text = """<ir_version: 10, opset_import: ["" : 17, "own" : 1]>
    g (float[2,3,4,5] x) => (float[2,3,4,5] y, float[2,3,4,5] z) {
        y = own.outer <slope = 0.5> (x)
        z = own.outer (x)
    }
    <domain: "own", opset_import: ["" : 17, "own" : 1]>
    outer <slope: float = 0.125> (a) => (b) {
        one = Constant <value_int: int = 1> ()
        yes = Cast <to = 9> (one)
        b = If (yes) <
            then_branch = t () => (float[2,3,4,5] c) { c = own.inner <alpha: float = @slope> (a) },
            else_branch = e () => (float[2,3,4,5] d) { d = Identity (a) }>
    }
    <domain: "own", opset_import: ["" : 17]>
    inner <alpha> (p) => (q) { q = LeakyRelu <alpha: float = @alpha> (p) }"""
    model = load_model(saved(text))
    got = ReferenceRunner(model).run({"x": X})
    for name, slope in (("y", 0.5), ("z", 0.125)):
        assert np.array_equal(got[name], np.where(X < 0, np.float32(slope) * X, X))
    assert [node.op for node in model.graph.nodes] == ["LeakyRelu", "LeakyRelu"]


def test_inputs_that_a_call_leaves_out(saved: Save) -> None:
    text = """<ir_version: 10, opset_import: ["" : 17, "own" : 1]> g (float[4] x) => (float[4] y) { y = own.f (x) }
    <domain: "own", opset_import: ["" : 17]> f (a, low, high) => (b) { b = Clip (a, low, high) }"""
    model = load_model(saved(text))
    x = np.float32([-3, 0, 1, 9])
    assert np.array_equal(ReferenceRunner(model).run({"x": x})["y"], x)


def test_a_function_whose_operators_mean_something_else_in_the_models_opset(saved: Save) -> None:
    text = """<ir_version: 10, opset_import: ["" : 17, "own" : 1]> g (float[2,3] x) => (float[2,3] y) { y = own.f (x) }
    <domain: "own", opset_import: ["" : 11]> f (a) => (b) { b = Softmax <axis = 1> (a) }"""
    assert refusal(saved(text)).code == "MATCH-F003"


def refusal(path: Path) -> ModelError:
    start = perf_counter()
    with pytest.raises(ModelError) as caught:
        load_model(path)
    assert perf_counter() - start < 60
    return caught.value


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that are reached in a moment; with the real ones the models here are refused within 10 s."""
    monkeypatch.setattr(limits, "MOST_UNROLLED", 400)
    monkeypatch.setattr(limits, "MOST_CONSTANT_BYTES", 1 << 20)


ENDLESS = """y = Loop (trips, go, x) <body = b (int64 i, bool on, float[2] s) => (bool more, float[2] t) {{
    {body}
    more = Identity (on)
}}>"""
INNER = """t = Loop (trips, go, s) <body = c (int64 j, bool in, float[2] p) => (bool in2, float[2] r) {
    q = Neg (p)
    r = Identity (q)
    in2 = Identity (in)
}>"""


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("t = Neg (s)", "400 operators"),
        ("t = Identity (s)", "400 operators"),
        ("j = Mul (i, i) k = Add (j, j) l = Cast <to = 1> (k) t = Add (s, l)", "400 operators"),
        (INNER, "400 operators"),
        ("c = ConstantOfShape (large) d = ReduceSum (c) t = Add (s, d)", "1048576 bytes"),
        ("c = Range (zero, million, one) d = ReduceSum (c) f = Cast <to = 1> (d) t = Add (s, f)", "1048576 bytes"),
    ],
)
def test_loops_that_are_too_long(saved: Save, body: str, words: str) -> None:
    text = f"""{HEAD} g (float[2] x) => (float[2] y)
        <int64 trips = {{9223372036854775807}}, bool go = {{1}}, int64[1] large = {{4096}}, int64 zero = {{0}},
         int64 one = {{1}}, int64 million = {{1000000}}> {{ {ENDLESS.format(body=body)} }}"""
    error = refusal(saved(text))
    assert error.code == "MATCH-F018"
    assert words in error.why


def test_huge_sizes_are_computed_by_nobody(saved: Save) -> None:
    """Tensors of 2^62 elements, and a sum over 4096^4 products."""
    text = f"""{HEAD} g (float[4] x) => (float y) <int64[2] huge = {{2147483648, 2147483648}}, int64 zero = {{0}},
        int64[1] many = {{4096}}, int64 last = {{4611686018427387904}}, int64 one = {{1}}> {{
        c = ConstantOfShape (huge)
        r = Range (zero, last, one)
        v = ConstantOfShape (many)
        e = Einsum <equation = "a,b,c,d->"> (v, v, v, v)
        s = Size (c)
        f = Cast <to = 1> (s)
        y = Add (f, e)
    }}"""
    start = perf_counter()
    try:
        load_model(saved(text))
    except ModelError as error:
        assert error.code.startswith("MATCH-F")
    assert perf_counter() - start < 20


def test_deep_nests(saved: Save) -> None:
    imports = 'domain: "own", opset_import: ["" : 17, "own" : 1]'
    text = '<ir_version: 10, opset_import: ["" : 17, "own" : 1]> g (float[4] x) => (float[4] y) { y = own.f0 (x) }'
    text += "".join(f"<{imports}> f{i} (x) => (y) {{ y = own.f{i + 1} (x) }}" for i in range(4 * MOST_NESTED))
    text += f"<{imports}> f{4 * MOST_NESTED} (x) => (y) {{ y = Neg (x) }}"
    error = refusal(saved(text))
    assert error.code == "MATCH-F016"
    assert str(MOST_NESTED) in error.why


@pytest.mark.parametrize(
    "node",
    [
        "y = Loop (n, go, x) <body = b (int64 i, bool on) => (bool more) { more = Identity (on) }>",
        "y, z = If (go) <then_branch = t () => (float[2] a) { a = Neg (x) }, "
        "else_branch = e () => (float[2] b) { b = Abs (x) }>",
        "y = Scan <num_scan_inputs = 5, body = b (float e) => (float r) { r = Neg (e) }> (x)",
        "y = Scan <num_scan_inputs = 1, scan_input_axes = [0, 0], body = b (float e) => (float r) { r = Neg (e) }> (x)",
    ],
)
def test_subgraphs_that_do_not_fit_their_nodes(saved: Save, node: str) -> None:
    text = f"{HEAD} g (float[2] x) => (float[2] y) <int64 n = {{2}}, bool go = {{1}}> {{ {node} }}"
    assert refusal(saved(text)).code == "MATCH-F003"
