"""The local functions compute what their description says: compared with integers of Python in ONNX Runtime."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.model import Model
from match_core.ir.editor import Editor
from match_core.ir.functions import ensure_functions, function_protos
from match_verify.reference import ReferenceRunner

RANDOM = np.random.default_rng(5)


def run(op, inputs, dtype, shape, attrs=None):
    """One call of ``domain::op`` on constants and one variable (the first input)."""
    domain, _, name = op.rpartition("::")
    variable = gs.Variable("x", dtype=inputs[0].dtype, shape=list(inputs[0].shape))
    rest = [gs.Constant(f"c{i}", np.asarray(v)) for i, v in enumerate(inputs[1:])]
    y = gs.Variable("y", dtype=dtype, shape=list(shape))
    graph = gs.Graph([gs.Node(name, "n", attrs or {}, [variable, *rest], [y], domain=domain)], [variable], [y])
    ensure_functions(graph)
    model = Model("m", graph)
    onnx.checker.check_model(model.to_onnx())
    return ReferenceRunner(model).run({"x": inputs[0]})["y"]


def i64(value):
    return np.asarray(value, np.int64)


@pytest.mark.parametrize(("op", "dtype", "lo", "hi"), [("U8", np.uint8, 0, 255), ("I8", np.int8, -128, 127)])
def test_requant_is_an_arithmetic_shift_and_a_clip(op, dtype, lo, hi):
    x = RANDOM.integers(-(2**24), 2**24, (1, 4, 5, 5)).astype(np.int32)
    m, b = RANDOM.integers(0, 50, (1, 4, 1, 1)), RANDOM.integers(-(2**26), 2**26, (1, 4, 1, 1))
    y = run(f"match.arith::Requant{op}", [x, i64(m), i64(b), i64(1 << 17), i64(lo), i64(hi)], dtype, x.shape)
    expected = [
        min(max((int(v) * int(mm) + int(bb)) >> 17, lo), hi)
        for v, mm, bb in zip(x.flat, np.broadcast_to(m, x.shape).flat, np.broadcast_to(b, x.shape).flat, strict=True)
    ]
    assert y.dtype == dtype
    assert y.flatten().tolist() == expected


def test_requant_clips_what_exceeds_32_bits():
    x = np.array([12_000_000, 16_843_010, -12_000_000, 8_421_505, 0], np.int32)
    y = run("match.arith::RequantI8", [x, i64(255), i64(0), i64(1), i64(-128), i64(127)], np.int8, x.shape)
    assert y.tolist() == [127, 127, -128, 127, 0]


def test_requant_floors_negative_sums():
    x = np.array([-1, -2, -3, 1], np.int32)
    y = run("match.arith::RequantI8", [x, i64(1), i64(0), i64(2), i64(-128), i64(127)], np.int8, x.shape)
    assert y.tolist() == [-1, -1, -2, 0]


@pytest.mark.parametrize(("op", "dtype", "lo", "hi"), [("U8", np.uint8, 0, 255), ("I8", np.int8, -128, 127)])
def test_add(op, dtype, lo, hi):
    a, b = (RANDOM.integers(lo, hi + 1, (1, 300)).astype(dtype) for _ in range(2))
    m_a, m_b, addend = 70_000, 30_011, -5_000_000
    constants = [i64(v) for v in (m_a, m_b, addend, 1 << 16, lo, hi)]
    y = run(f"match.arith::AddRequant{op}", [a, b, *constants], dtype, a.shape)
    sums = a.astype(np.int64) * m_a + b.astype(np.int64) * m_b + addend
    assert np.array_equal(y, np.clip(sums >> 16, lo, hi))


def test_offsets_are_inverse():
    x = np.arange(-128, 128).astype(np.int8)
    u = run("match.arith::OffsetI8ToU8", [x], np.uint8, x.shape)
    assert np.array_equal(u, np.arange(256).astype(np.uint8))
    assert np.array_equal(run("match.arith::OffsetU8ToI8", [u], np.int8, u.shape), x)


def test_tables():
    table = RANDOM.integers(0, 256, 256).astype(np.uint8)
    x = RANDOM.integers(0, 256, (1, 7, 7)).astype(np.uint8)
    assert np.array_equal(run("match.arith::LutU8", [x, table], np.uint8, x.shape), table[x])
    signed, x8 = table.view(np.int8), x.view(np.int8)
    assert np.array_equal(run("match.arith::LutI8", [x8, signed], np.int8, x.shape), signed[x8.astype(np.int64) + 128])


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("scale", [0.02, 0.17, 2.0])
def test_softmax_is_within_one_of_the_real_one(axis, scale):
    x = RANDOM.integers(0, 256, (1, 12, 9)).astype(np.uint8)
    table = np.rint(np.exp(-np.arange(256) * scale) * 2.0**24).astype(np.int64)
    inputs = [x, table, i64(256), i64(0), i64(0), i64(255)]
    y = run("match.arith::SoftmaxU8", inputs, np.uint8, x.shape, {"axis": axis})
    powers = np.exp((x.astype(np.float64) - x.max(axis=axis, keepdims=True)) * scale)
    real = np.clip(256 * powers / powers.sum(axis=axis, keepdims=True), 0, 255)
    assert np.max(np.abs(y - real)) <= 0.5 + 1e-3


def test_nhwc_operators_equal_their_nchw_ones():
    x = RANDOM.integers(0, 256, (1, 9, 7, 4)).astype(np.uint8)
    w = RANDOM.integers(-128, 128, (6, 2, 3, 3)).astype(np.int8)
    attrs = {"pads": [1, 0, 1, 2], "strides": [2, 1], "dilations": [1, 1], "group": 2, "kernel_shape": [3, 3]}
    y = run("match.nhwc::ConvInteger", [x, w], np.int32, (1, 5, 7, 6), attrs)
    nchw = run("ConvInteger", [np.ascontiguousarray(x.transpose(0, 3, 1, 2)), w], np.int32, (1, 6, 5, 7), attrs)
    assert np.array_equal(y.transpose(0, 3, 1, 2), nchw)
    pool = {"kernel_shape": [2, 2], "pads": [0, 0, 0, 0], "strides": [2, 2], "dilations": [1, 1], "ceil_mode": 1}
    y = run("match.nhwc::MaxPool", [x], np.uint8, (1, 5, 4, 4), pool)
    nchw = run("MaxPool", [np.ascontiguousarray(x.transpose(0, 3, 1, 2))], np.uint8, (1, 4, 5, 4), pool)
    assert np.array_equal(y.transpose(0, 3, 1, 2), nchw)


def test_a_graph_gets_the_functions_that_it_calls_and_no_others():
    x = gs.Variable("x", dtype=np.int8, shape=[3])
    y = gs.Variable("y", dtype=np.uint8, shape=[3])
    graph = gs.Graph([gs.Node("OffsetI8ToU8", "n", {}, [x], [y], domain="match.arith")], [x], [y])
    ensure_functions(graph)
    assert [f.name for f in graph.functions] == ["OffsetI8ToU8"]
    graph.nodes[0].op, graph.nodes[0].domain = "Identity", None
    ensure_functions(graph)
    assert graph.functions == []
    assert [entry.domain for entry in graph.import_domains] == [""]


def test_operators_of_a_target_bring_what_they_call():
    text = """<domain: "match.chip", opset_import: ["" : 21, "match.arith" : 1]>
{name} (x) => (y) {{
    moved = match.arith.OffsetI8ToU8 (x)
    y = match.arith.OffsetU8ToI8 (moved)
}}"""
    protos = [onnx.parser.parse_function(text.format(name=name)) for name in ("Used", "Spare")]
    editor = Editor(Model("m", gs.Graph(inputs=[gs.Variable("x", dtype=np.int8, shape=[3])])))
    editor.define(protos)
    y = editor.node("match.chip::Used", [editor.graph.inputs[0]], np.int8, (3,), name="n", origin=("n",))
    editor.graph.outputs = [y]
    model = editor.finish()
    assert [f.name for f in model.graph.functions] == ["OffsetI8ToU8", "OffsetU8ToI8", "Used"]
    x = np.array([-128, 0, 127], np.int8)
    assert np.array_equal(ReferenceRunner(model).run({"x": x})[y.name], x)
    ensure_functions(model.graph)  # a later pass, which does not define it, keeps it
    assert [f.name for f in model.graph.functions] == ["OffsetI8ToU8", "OffsetU8ToI8", "Used"]


def test_the_library_is_sorted_and_valid():
    names = [(f.domain, f.name) for f in function_protos()]
    assert names == sorted(names)
    assert len(names) == len(set(names)) >= 12
