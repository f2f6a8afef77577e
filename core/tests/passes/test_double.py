"""Requantisation with two roundings: numbers, the pass, and the operator, against gemmlowp's definition in integers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import onnx
import onnxruntime
import pytest
from match_core.contract.hardware import RequantSpec, Unit
from match_core.contract.structure import Any, Const, Op
from match_core.ir.functions import function_protos
from match_core.ir.topology import Topology
from match_core.passes.pipeline import run_passes
from match_core.patterns.matcher import matches_at
from match_core.plugin.facade import Plugins
from match_quant.double import double_requantised, double_rounding, double_rule, doubled
from match_quant.double.numbers import Single, doubled_numbers
from match_verify.reference import ReferenceRunner

from core.tests.passes.conftest import context

SPEC = RequantSpec(32, True, 64, shift_max=31, rounding="double", activation_type="int8")


def gemmlowp(total: int, multiplier: int, shift: int, zero: int, low: int, high: int) -> int:
    """SaturatingRoundingDoublingHighMul, RoundingDivideByPOT, offset and clamp, step by step, in Python integers."""
    product = total * multiplier
    nudge = (1 << 30) if product >= 0 else 1 - (1 << 30)
    high_half = abs(product + nudge) // (1 << 31) * (1 if product + nudge >= 0 else -1)  # C divides towards zero
    mask = (1 << shift) - 1
    remainder, threshold = high_half & mask, (mask >> 1) + (1 if high_half < 0 else 0)
    return min(max((high_half >> shift) + (1 if remainder > threshold else 0) + zero, low), high)


def _operator(rng, channels, shape):
    numbers = {
        "M": rng.integers(1 << 30, 1 << 31, channels),
        "B": rng.integers(-(1 << 20), 1 << 20, channels),
        "D": np.int64(1) << rng.integers(0, 20, channels),
        "zero": np.array(-7), "lo": np.array(-128), "hi": np.array(127),
    }  # fmt: skip
    node = onnx.helper.make_node("RequantDoubleI8", ["x", *numbers], ["y"], domain="match.arith")
    graph = onnx.helper.make_graph(
        [node], "g",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.INT32, shape)],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.INT8, shape)],
        [onnx.numpy_helper.from_array(np.asarray(v, np.int64), name) for name, v in numbers.items()],
    )  # fmt: skip
    opsets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("match.arith", 1)]
    own = [proto for proto in function_protos() if proto.name == "RequantDoubleI8"]
    return onnx.helper.make_model(graph, functions=own, opset_imports=opsets, ir_version=10), numbers


def test_the_operator_is_what_gemmlowp_computes():
    rng = np.random.default_rng(5)
    model, n = _operator(rng, 6, (400, 6))
    x = rng.integers(-(1 << 24), 1 << 24, (400, 6)).astype(np.int32)
    x[:40] = rng.integers(-50, 50, (40, 6))  # next to ties
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": x})
    shifts = [int(d).bit_length() - 1 for d in n["D"]]
    wanted = [
        [gemmlowp(int(v) + int(n["B"][c]), int(n["M"][c]), shifts[c], -7, -128, 127) for c, v in enumerate(row)]
        for row in x
    ]
    assert found.tolist() == wanted


@pytest.mark.parametrize("seed", range(2))
def test_numbers_are_within_one_of_the_single_rounding(seed):
    """Every sum of small layers, in exact fractions: at most 1 from the real function, and few differ."""
    rng = np.random.default_rng(seed)
    channels, shift = 4, 40
    real = rng.uniform(0.002, 0.05, channels)
    zero = int(rng.integers(-20, 20))
    bias = rng.integers(-300, 300, channels)
    multiplier = np.rint(real * 2.0**shift).astype(np.int64)
    addend = np.rint((bias * real + zero + 0.5) * 2.0**shift).astype(np.int64)
    multiplier[3], addend[3] = 0, np.int64(9) << shift  # a channel with one result
    least, most = np.full(channels, -1000), np.full(channels, 1000)
    single = Single(multiplier, addend, shift, -128, 127, least, most)
    found = doubled_numbers(single, 31)
    assert not isinstance(found, str)
    differing = 0
    for c in range(channels):
        for total in range(-1000, 1001):
            numbers = (int(values[c]) for values in (found.multiplier, found.shift))
            got = gemmlowp(total + int(found.addend[c]), *numbers, found.zero, -128, 127)
            assert got == found.result(np.full((channels, 1), total), -128, 127)[c, 0]
            exact = Fraction(int(multiplier[c]) * total + int(addend[c]), 1 << shift)
            wanted = min(max(exact.__floor__(), -128), 127)
            assert abs(got - wanted) <= 1
            differing += got != wanted
    assert differing <= 0.02 * channels * 2001
    assert found.zero == zero


@pytest.mark.parametrize(
    ("multiplier", "shift_max", "words"),
    [(3 << 39, 31, "between 0 and 1"), (-5, 31, "between 0 and 1"), (1 << 20, 15, "needs a shift of 19 bits")],
)
def test_what_two_roundings_cannot_do(multiplier, shift_max, words):
    one = np.ones(1, np.int64)
    found = doubled_numbers(Single(one * multiplier, one, 40, -128, 127, -99 * one, 99 * one), shift_max)
    assert isinstance(found, str) and words in found


@pytest.fixture
def layers(model_of):
    """Two convolutions with scales by channel, a ReLU, and a dense layer, quantised."""
    rng = np.random.default_rng(2)
    text = """g (int8[1,4,8,8] x) => (int8[1,5] y)
        <float sx = {0.05}, float sa = {0.07}, float sb = {0.06}, float sy = {0.2}, int8 z = {-3}, int8 n = {0}> {
        xr = DequantizeLinear (x, sx, z)
        wr = DequantizeLinear <axis=0> (w, sw, zw) br = DequantizeLinear <axis=0> (b, sbias, zb)
        c = Conv <kernel_shape=[3,3], pads=[1,1,1,1]> (xr, wr, br) r = Relu (c)
        a = QuantizeLinear (r, sa, n) ar = DequantizeLinear (a, sa, n)
        vr = DequantizeLinear (v, sv, n)
        d = Conv <kernel_shape=[8,8]> (ar, vr) q = QuantizeLinear (d, sb, z) qr = DequantizeLinear (q, sb, z)
        f = Flatten (qr) ur = DequantizeLinear (u, sv, n)
        e = MatMul (f, ur) y = QuantizeLinear (e, sy, z) }"""
    sw = rng.uniform(0.005, 0.02, 6).astype(np.float32)
    constants = {
        "w": rng.integers(-127, 128, (6, 4, 3, 3)).astype(np.int8), "sw": sw, "zw": np.zeros(6, np.int8),
        "b": rng.integers(-500, 500, 6).astype(np.int32), "sbias": sw * np.float32(0.05), "zb": np.zeros(6, np.int32),
        "v": rng.integers(-127, 128, (7, 6, 8, 8)).astype(np.int8), "sv": np.float32(0.003),
        "u": rng.integers(-127, 128, (7, 5)).astype(np.int8),
    }  # fmt: skip
    return model_of(text, constants)


def _lowered(model, exact=frozenset()):
    unit = Unit("core", "a core", "L2", "NHWC", SPEC)
    target = context(unit, precision="exact")
    passes = [*Plugins.load().transforms(target.soc), double_rounding("core", SPEC)]
    return run_passes(model, passes, replace(target, exact_nodes=frozenset(exact)), [])


def test_the_pass_rewrites_layers_within_one_step(layers):
    result = _lowered(layers)
    kinds = [node.op for node in result.graph.nodes if node.op.startswith("Requant")]
    assert kinds == ["RequantDoubleI8"] * 3
    rng = np.random.default_rng(3)
    samples = [{"x": rng.integers(-128, 128, (1, 4, 8, 8)).astype(np.int8)} for _ in range(20)]
    found, wanted = (
        np.concatenate([runner.run(sample)["y"] for sample in samples])
        for runner in map(ReferenceRunner, (result, layers))
    )
    assert np.abs(found.astype(int) - wanted).max() <= 1


def test_layers_that_must_stay_exact_keep_one_rounding(layers):
    names = {name for node in layers.graph.nodes for name in layers.origin([node])}
    kinds = [node.op for node in _lowered(layers, names).graph.nodes if node.op.startswith("Requant")]
    assert "RequantI8" in kinds


def test_patterns_read_the_numbers(layers):
    result = _lowered(layers)
    structure = double_requantised(Op("match.nhwc::ConvInteger", "conv", (Any("input"), Const("weight"))), "I8")
    topology = Topology.of(result.graph)
    found = [match for node in result.graph.nodes for match in matches_at(topology, node, structure)]
    assert len(found) == 2
    for match in found:
        numbers = doubled(match, len(match.const("weight")))
        assert numbers.multiplier.min() >= 1 << 30 and 0 <= numbers.shift.min() <= numbers.shift.max() <= 31
        assert double_rule(31).check(match) is None and "the shift is" in double_rule(0).check(match)
