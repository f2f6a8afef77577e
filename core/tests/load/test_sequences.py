"""Sequences of static length and optionals leave nothing but tensors."""

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
X = np.random.default_rng(5).standard_normal((2, 7, 3)).astype(np.float32)
Save = Callable[..., Path]


def same(path: Path) -> list[str]:
    """The loaded model gives the file's results; the operators that are left."""
    model = load_model(path)
    expected, got = ReferenceRunner(onnx.load(path)).run({"x": X}), ReferenceRunner(model).run({"x": X})
    for name in expected:
        assert np.array_equal(expected[name], got[name])
    operators = [node.op for node in model.graph.nodes]
    assert not any("Sequence" in op or "Optional" in op for op in operators)
    return operators


@pytest.mark.parametrize("version", [11, 17])
@pytest.mark.parametrize("split", ["", ", two", ", parts"])
@pytest.mark.parametrize("axis", [1, -2])
def test_splitting_and_joining(saved: Save, version: int, split: str, axis: int) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : {version}]> g (float[2,7,3] x) => (float[a,b,c] y, int64 n)
        <int64 two = {{2}}, int64[3] parts = {{1, 4, 2}}, int64 last = {{-1}}, int64 first = {{0}}> {{
        s = SplitToSequence <axis = {axis}> (x{split})
        e = SequenceAt (s, last)
        t = SequenceInsert (s, e, first)
        u = SequenceErase (t, last)
        n = SequenceLength (u)
        y = ConcatFromSequence <axis = {axis}> (u)
    }}"""
    assert set(same(saved(text))) == {"Split", "Concat", "Identity"}


def test_rows_without_their_axis(saved: Save) -> None:
    text = f"""{HEAD} g (float[2,7,3] x) => (float[7,2,3] y) {{
        s = SplitToSequence <axis = 1, keepdims = 0> (x)
        y = ConcatFromSequence <axis = 0, new_axis = 1> (s)
    }}"""
    assert same(saved(text)).count("Squeeze") == 7


def test_a_sequence_that_a_loop_builds(saved: Save) -> None:
    text = f"""{HEAD} g (float[2,7,3] x) => (float[2,21,3] y) <int64 trips = {{3}}, bool go = {{1}}> {{
        empty = SequenceEmpty ()
        all = Loop (trips, go, empty) <body = b (int64 i, bool on, seq(float) s) => (bool more, seq(float) t) {{
            f = Cast <to = 1> (i)
            e = Add (x, f)
            t = SequenceInsert (s, e)
            more = Identity (on)
        }}>
        y = ConcatFromSequence <axis = 1> (all)
    }}"""
    operators = same(saved(text))
    assert operators.count("Add") == 3
    assert "Loop" not in operators


def test_a_body_for_each_element(saved: Save) -> None:
    text = f"""{HEAD} g (float[2,7,3] x) => (float[2,7,3] y) {{
        s = SplitToSequence <axis = 0> (x)
        k = ReduceMax <keepdims = 0> (x)
        t, u = SequenceMap (s, s, k)
          <body = b (float[1,7,3] e, float[1,7,3] f, float m) => (float[1,7,3] p, float[1,7,3] q) {{
            p = Mul (e, m)
            q = Add (f, p)
        }}>
        y = ConcatFromSequence <axis = 0> (u)
    }}"""
    assert same(saved(text)).count("Mul") == 2


def test_optionals(saved: Save) -> None:
    text = f"""{HEAD} g (float[2,7,3] x) => (float[2,7,3] y) {{
        o = Optional (x)
        has = OptionalHasElement (o)
        y = If (has) <
            then_branch = t () => (float[2,7,3] a) {{ e = OptionalGetElement (o)  a = Neg (e) }},
            else_branch = e () => (float[2,7,3] b) {{ b = Identity (x) }}>
    }}"""
    path = saved(text)
    model = load_model(path)
    assert [node.op for node in model.graph.nodes] == ["Neg"]
    assert np.array_equal(ReferenceRunner(model).run({"x": X})["y"], -X)


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("y = SequenceAt (s, n)", "MATCH-F007", "position in the sequence"),
        ("y = SequenceAt (s, nine)", "MATCH-F007", "position 9 is outside a sequence of length 2"),
        ("z = SequenceEmpty () y = ConcatFromSequence <axis = 0> (z)", "MATCH-F007", "empty"),
        ("y = Neg (s)", "MATCH-F008", "gets a sequence"),
        ("o = Optional () y = OptionalGetElement (o)", "MATCH-F007", "is empty"),
    ],
)
def test_what_has_no_static_meaning_is_refused(saved: Save, line: str, code: str, words: str) -> None:
    text = f"""{HEAD} g (float[2,7,3] x, int64 n) => (float[a,b,c] y) <int64 nine = {{9}}> {{
        s = SplitToSequence <axis = 0> (x)
        {line}
    }}"""
    path = saved(text)
    with pytest.raises(ModelError) as caught:
        load_model(path)
    assert caught.value.code == code
    assert words in caught.value.why
