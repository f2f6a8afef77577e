"""Sizes that data give, in models that state the sizes of their results all the same; operators that fill tensors; and
values of folded nodes, which are those of ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.errors import ModelError
from match_core.load.load import load_model
from match_core.load.static.evaluate import Evaluator
from match_verify.reference import ReferenceRunner
from onnx import TensorProto, helper

HEAD = '<ir_version: 8, opset_import: ["" : 18]>'
X = np.random.default_rng(3).standard_normal((6, 5)).astype(np.float32)
Save = Callable[..., Path]


def same(path: Path, **feeds: np.ndarray) -> list[str]:
    """The loaded model gives the file's results, bit for bit; the operators that are left."""
    model = load_model(path)
    expected, got = ReferenceRunner(onnx.load(path)).run(feeds), ReferenceRunner(model).run(feeds)
    for name in expected:
        assert np.array_equal(expected[name], got[name], equal_nan=True)
    return [node.op for node in model.graph.nodes]


def test_a_stated_size_reaches_the_reduction_before_it(saved: Save) -> None:
    """The axes are read when the program runs: [6, 5] -> [5] could be no other one, but nothing needs to know that."""
    text = f"""{HEAD} g (float[6,5] x, int64[1] axes) => (float[5] y) {{
        a = Abs (x)
        s = ReduceSum <keepdims = 0> (a, axes)
        r = Sqrt (s)
        y = Cast <to = 1> (r)
    }}"""
    assert "ReduceSum" in same(saved(text), x=X, axes=np.array([0]))


def test_an_input_that_gives_a_size_has_the_stated_one(saved: Save) -> None:
    """The middle of x is cut out; the sizes of all tensors between follow from that of the result."""
    text = f"""{HEAD} g (float[6,5] x, int64[2] shape) => (float[4,3] y) <int64[2] two = {{2, 2}}> {{
        full = Shape (x)
        rest = Sub (full, shape)
        start = Div (rest, two)
        end = Add (start, shape)
        part = Slice (x, start, end)
        ones = ConstantOfShape <value = float[1] {{1.0}}> (shape)
        y = Add (part, ones)
    }}"""
    assert "Slice" in same(saved(text), x=X, shape=np.array([4, 3]))


def test_what_does_not_matter_need_not_be_known(saved: Save) -> None:
    text = f"""{HEAD} g (float[3] x, int64[3] size) => (float[2,7,3] y)
        <int64[2] which = {{0, 2}}, int64[1] three = {{3}}> {{
        outer = Gather <axis = 0> (size, which)
        shape = Concat <axis = 0> (outer, three)
        zeros = ConstantOfShape (shape)
        y = Add (zeros, x)
    }}"""
    for unused in (1, 99):
        same(saved(text), x=X[0, :3], size=np.array([2, unused, 7]))


def test_sizes_that_leave_a_choice_are_refused(saved: Save) -> None:
    """Halving loses whether the size was even."""
    text = f"""{HEAD} g (float[6,5] x, int64 size) => (float[3,5] y) <int64 two = {{2}}, int64[1] zero = {{0}}> {{
        half = Div (size, two)
        end = Unsqueeze (half, zero)
        part = Slice (x, zero, end, zero)
        c = Cast <to = 1> (size)
        y = Add (part, c)
    }}"""
    with pytest.raises(ModelError) as caught:
        load_model(saved(text))
    assert caught.value.code == "MATCH-F014"


@pytest.mark.parametrize(
    ("kind", "start", "step", "count"),
    [("float", 0.0, 0.1, 300), ("float", 3.0, -0.7, 1), ("int64", -4, 3, 20), ("int32", 9, -2, 5), ("int16", 0, 7, 9)],
)
def test_ranges(saved: Save, kind: str, start: float, step: float, count: int) -> None:
    """Known when the model is compiled, or when it runs with a stated size: the same bits as ONNX Runtime."""
    dtype = np.dtype("float32" if kind == "float" else kind)
    given = {name: np.array(v, dtype) for name, v in (("a", start), ("b", start + step * count), ("c", step))}
    known = f"{kind} a = {{{given['a']}}}, {kind} b = {{{given['b']}}}, {kind} c = {{{given['c']}}}"
    body = "r = Range (a, b, c) y = Cast <to = 1> (r)"
    fixed = saved(f"{HEAD} g (float x) => (float[n] y, float z) <{known}> {{ {body} z = Neg (x) }}", "fixed.onnx")
    assert "Range" not in same(fixed, x=np.array(1, np.float32))
    length = load_model(fixed).graph.outputs[0].shape[0]
    run = saved(f"{HEAD} g ({kind} a, {kind} b, {kind} c) => (float[{length}] y) {{ {body} }}", "run.onnx")
    assert "Range" not in same(run, **given)


def test_operators_of_the_first_opsets(saved: Save) -> None:
    text = """<ir_version: 3, opset_import: ["" : 1]> g (float[2,3] x) => (float[6,2] y) {
        a = Relu <consumed_inputs = [0]> (x)
        b = Concat <axis = 1> (a, x)
        c = Pad <paddings = [0, 0, 1, 0]> (b)
        d = Reshape <shape = [9, 2]> (c)
        e = Cast <to = "FLOAT"> (d)
        y = Slice <starts = [0], ends = [6], axes = [0]> (e)
    }"""
    model = load_model(saved(text))
    x = X[:2, :3]
    got = ReferenceRunner(model).run({"x": x})["y"]
    assert np.array_equal(got, np.concatenate([np.maximum(x, 0), x], axis=1).reshape(6, 2))


def test_operators_that_changed_after_the_first_opsets_are_refused(saved: Save) -> None:
    text = """<ir_version: 3, opset_import: ["" : 1]> g (float[2,3] x, float t, float a) => (float[4,3] y) {
        y = Tile (x, t, a)
    }"""
    with pytest.raises(ModelError) as caught:
        load_model(saved(text))
    assert caught.value.code == "MATCH-F005"
    assert "Tile" in caught.value.where


INTEGERS = np.array([-9, -4, -1, 0, 1, 5, 8], np.int64)
DIVISORS = np.array([-3, -2, -1, 1, 2, 3, 7], np.int64)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize(
    ("op", "attributes", "inputs"),
    [
        ("Add", {}, (INTEGERS, DIVISORS)),
        ("Sub", {}, (INTEGERS, DIVISORS)),
        ("Mul", {}, (INTEGERS, DIVISORS)),
        ("Div", {}, (INTEGERS, DIVISORS)),
        ("Mod", {}, (INTEGERS, DIVISORS)),
        ("Mod", {"fmod": 1}, (INTEGERS, DIVISORS)),
        ("Pow", {}, (INTEGERS, np.abs(DIVISORS))),
        ("Max", {}, (INTEGERS, DIVISORS)),
        ("Neg", {}, (INTEGERS,)),
        ("Abs", {}, (INTEGERS,)),
        ("Sign", {}, (INTEGERS,)),
        ("Less", {}, (INTEGERS, DIVISORS)),
        ("Equal", {}, (INTEGERS, DIVISORS)),
        ("ReduceSum", {}, (INTEGERS,)),
        ("ReduceProd", {}, (INTEGERS,)),
        ("ReduceMax", {}, (INTEGERS,)),
        ("ReduceMean", {}, (INTEGERS,)),
        ("Cast", {"to": TensorProto.FLOAT}, (INTEGERS,)),
        ("Cast", {"to": TensorProto.BOOL}, (INTEGERS,)),
        ("NonZero", {}, (INTEGERS,)),
    ],
)
def test_folded_values_are_those_of_onnxruntime(
    op: str, attributes: dict[str, int], inputs: tuple[np.ndarray, ...], dtype: type
) -> None:
    feeds = {f"i{n}": values.astype(dtype) for n, values in enumerate(inputs)}
    node = helper.make_node(op, list(feeds), ["y"], **attributes)
    given = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in feeds.items()
    ]
    graph = helper.make_graph([node], "g", given, [onnx.ValueInfoProto(name="y")])
    opsets = [helper.make_opsetid("", 21)]
    inferred = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=opsets, ir_version=10))
    types = {value.name: value.type for value in (*inferred.graph.input, *inferred.graph.output)}
    results = Evaluator(opsets).evaluate(node, feeds, types)
    assert results is not None
    expected = ReferenceRunner(inferred).run(feeds)["y"]
    assert results[0].dtype == expected.dtype
    assert np.array_equal(results[0], expected)
