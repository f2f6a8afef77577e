"""Branches and loops whose course is fixed compute what ONNX Runtime computes, without any control flow left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.errors import ModelError
from match_core.load.load import load_model
from match_verify.reference import ReferenceRunner

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'
Save = Callable[..., Path]


def same(path: Path, **feeds: np.ndarray) -> list[str]:
    """The loaded model gives the file's results, bit for bit; the operators that are left."""
    proto = onnx.load(path)
    model = load_model(path)
    expected, got = ReferenceRunner(proto).run(feeds), ReferenceRunner(model).run(feeds)
    assert list(expected) == list(got)
    for name in expected:
        assert expected[name].dtype == got[name].dtype
        assert np.array_equal(expected[name], got[name], equal_nan=True), name
    operators = [node.op for node in model.graph.nodes]
    assert not {"If", "Loop", "Scan"} & set(operators)
    return operators


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def test_a_branch_that_a_size_chooses(saved: Save) -> None:
    text = f"""{HEAD} g (float[2,3] x) => (float[n,m] y) <int64 three = {{3}}, int64 one = {{1}}> {{
        shape = Shape (x)
        width = Gather <axis = 0> (shape, one)
        wide = Equal (width, three)
        y = If (wide) <
            then_branch = t () => (float[n,m] a) {{ b = Neg (x)  a = Transpose (b) }},
            else_branch = e () => (float[n,m] c) {{ p = NonZero (x)  c = Cast <to = 1> (p) }}>
    }}"""
    assert same(saved(text), x=values(2, 3)) == ["Neg", "Transpose"]


def test_a_branch_that_is_a_tensor_around_it(saved: Save) -> None:
    text = f"""{HEAD} g (float[2,3] x) => (float[2,3] y, float[2,3] z) <bool no = {{0}}> {{
        y, z = If (no) <
            then_branch = t () => (float[2,3] a, float[2,3] b) {{ a = Neg (x)  b = Abs (x) }},
            else_branch = e () => (float[2,3] c, float[2,3] d) {{ c = Identity (x)  d = Relu (x) }}>
    }}"""
    assert same(saved(text), x=values(2, 3)) == ["Relu", "Identity"]


@pytest.mark.parametrize("flag", [False, True])
def test_data_choose_between_equal_shapes(saved: Save, flag: bool) -> None:
    text = f"""{HEAD} g (float[2,3] x, bool[1] c) => (float[2,3] y) {{
        y = If (c) <
            then_branch = t () => (float[2,3] a) {{ a = Neg (x) }},
            else_branch = e () => (float[2,3] b) {{ b = Abs (x) }}>
    }}"""
    assert "Where" in same(saved(text), x=values(2, 3), c=np.array([flag]))


LOOP = """y, rows = Loop (trips, go, x)
  <body = b (int64 i, bool on, float[2] s) => (bool more, float[2] t, float[2] r) {
    f = Cast <to = 1> (i)
    r = Mul (s, w)
    t = Add (r, f)
    more = Identity (on)
}>"""


@pytest.mark.parametrize("trips", [0, 1, 4])
def test_a_loop_with_a_constant_trip_count(saved: Save, trips: int) -> None:
    text = f"""{HEAD} g (float[2] x) => (float[2] y, float[n,2] rows)
        <int64 trips = {{{trips}}}, bool go = {{1}}, float[2] w = {{0.5, -2.0}}> {{ {LOOP} }}"""
    operators = same(saved(text), x=values(2))
    assert operators.count("Mul") == operators.count("Add") == trips


def test_a_loop_that_never_begins(saved: Save) -> None:
    text = f"""{HEAD} g (float[2] x) => (float[2] y, float[n,2] rows)
        <int64 trips = {{9}}, bool go = {{0}}, float[2] w = {{0.5, -2.0}}> {{ {LOOP} }}"""
    assert "Mul" not in same(saved(text), x=values(2))


def test_a_trip_count_from_a_size(saved: Save) -> None:
    text = f"""{HEAD} g (float[3,2] x) => (float[2] y) <int64 zero = {{0}}, float[2] start = {{0, 0}}> {{
        shape = Shape (x)
        trips = Gather <axis = 0> (shape, zero)
        y = Loop (trips, "", start) <body = b (int64 i, bool on, float[2] s) => (bool more, float[2] t) {{
            row = Gather <axis = 0> (x, i)
            t = Add (s, row)
            more = Identity (on)
        }}>
    }}"""
    assert same(saved(text), x=values(3, 2)).count("Gather") == 3


def test_a_condition_that_ends_the_loop_early_and_does_not_look_at_data(saved: Save) -> None:
    text = f"""{HEAD} g (float[2] x) => (float[2] y, float[n,2] rows) <bool go = {{1}}, int64 last = {{3}}> {{
        y, rows = Loop ("", go, x) <body = b (int64 i, bool on, float[2] s) => (bool more, float[2] t, float[2] r) {{
            t = Neg (s)
            r = Abs (s)
            more = Less (i, last)
        }}>
    }}"""
    assert same(saved(text), x=values(2)).count("Neg") == 4


def test_a_condition_on_data_keeps_the_states(saved: Save) -> None:
    text = f"""{HEAD} g (float[1] x) => (float[1] y) <int64 trips = {{6}}, float[1] most = {{20.0}}, bool go = {{1}}> {{
        y = Loop (trips, go, x) <body = b (int64 i, bool on, float[1] s) => (bool more, float[1] t) {{
            t = Add (s, s)
            more = Less (t, most)
        }}>
    }}"""
    path = saved(text.replace("bool more", "bool[1] more"))
    for start in (1.0, 9.0, 30.0):
        same(path, x=np.float32([start]))


def test_rows_whose_number_the_model_states(saved: Save) -> None:
    text = f"""{HEAD} g (float[2] x, int64 trips, bool go) => (float[2] y, float[3,2] rows)
        <float[2] w = {{0.5, -2.0}}> {{ {LOOP} }}"""
    operators = same(saved(text), x=values(2), trips=np.array(3, np.int64), go=np.array(True))
    assert operators.count("Mul") == 3


def test_branches_in_loops_in_branches(saved: Save) -> None:
    """Bodies read tensors of all bodies around them, and names of one iteration are not those of the next."""
    text = f"""{HEAD} g (float[2] x) => (float[2] y) <bool yes = {{1}}, int64 three = {{3}}, int64 one = {{1}}> {{
        k = Neg (x)
        y = If (yes) <
            then_branch = t () => (float[2] a) {{
                h = Abs (k)
                a = Loop (three, yes, x) <body = b (int64 i, bool on, float[2] s) => (bool more, float[2] u) {{
                    odd = Equal (i, one)
                    d = If (odd) <
                        then_branch = p () => (float[2] q) {{ q0 = Sub (s, h)  q = Mul (q0, k) }},
                        else_branch = r () => (float[2] v) {{ v = Add (s, x) }}>
                    u = Relu (d)
                    more = Identity (on)
                }}>
            }},
            else_branch = e () => (float[2] w) {{ w = Exp (x) }}>
    }}"""
    assert same(saved(text), x=values(2)) == ["Neg", "Abs", "Add", "Relu", "Sub", "Mul", "Relu", "Add", "Relu"]
    model = load_model(saved(text))
    names = [node.name for node in model.graph.nodes]
    assert len(set(names)) == len(names)
    assert model.provenance[names[-1]] == ("If_1/Loop_1/Relu_2",)


@pytest.mark.parametrize("attributes", ["", "scan_input_directions = [1, 0],", "scan_output_directions = [1],"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_scans_along_all_axes_both_ways(saved: Save, attributes: str, axis: int) -> None:
    first = [3, 2] if axis == 0 else [2, 3]
    text = f"""{HEAD} g (float[2] start, float{first} x, float[3,2] z) => (float[2] last, float[n,m] rows) {{
        last, rows = Scan <num_scan_inputs = 2, {attributes} scan_input_axes = [{axis}, 0], scan_output_axes = [{axis}],
            body = b (float[2] s, float[2] e, float[2] f) => (float[2] t, float[2] r) {{
                p = Mul (s, e)
                t = Add (p, f)
                r = Neg (t)
            }}> (start, x, z)
    }}"""
    same(saved(text), start=values(2), x=values(*first), z=values(3, 2) * 2)


def test_scan_of_opset_8_takes_batches(saved: Save) -> None:
    text = """<ir_version: 3, opset_import: ["" : 8]>
    g (float[2,2] start, float[2,3,2] x) => (float[2,2] y, float[2,3,2] z) {
        y, z = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] t, float[2] r) {
            t = Add (s, e)
            r = Identity (t)
        }> ("", start, x)
    }"""
    model = load_model(saved(text))
    start, x = values(2, 2), values(2, 3, 2)
    got = ReferenceRunner(model).run({"start": start, "x": x})
    sums = start[:, None] + np.cumsum(x, axis=1)
    assert np.allclose(got["z"], sums, atol=1e-6)
    assert np.allclose(got["y"], sums[:, -1], atol=1e-6)


_ENDLESS = "<body = b (int64 i, bool on, float[2] s) => (bool m, float[2] t) {t = Neg (s) m = Identity (on)}>"
_UNLIKE = """<then_branch = t () => (float[2] a) {a = Neg (x)},
    else_branch = e () => (float[4] b) {b = Concat <axis = 0> (x, x)}>"""


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (f"Loop (n, go, x) {_ENDLESS}", "trip count"),
        (f'Loop ("", c, x) {_ENDLESS}', "no trip count"),
        (f"If (c) {_UNLIKE}", "[2] and [4]"),
    ],
)
def test_what_depends_on_data_is_refused(saved: Save, node: str, words: str) -> None:
    text = f"{HEAD} g (float[2] x, int64 n, bool c) => (float[k] y) <bool go = {{1}}> {{ [this] y = {node} }}"
    with pytest.raises(ModelError) as caught:
        load_model(saved(text))
    assert caught.value.code == "MATCH-F007"
    assert "'this'" in caught.value.where
    assert words in caught.value.why
