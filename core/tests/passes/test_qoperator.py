"""QOperators in QDQ form compute what onnxruntime's own kernels compute, within 1 LSB."""

from __future__ import annotations

import numpy as np
import pytest
from match_core.passes.pipeline import run_passes
from match_quant.qoperator_to_qdq import QOPERATOR_TO_QDQ
from match_verify.reference import ReferenceRunner

from tests.all_passes import core_passes

RANDOM = np.random.default_rng(31)


def quantised(**parameters: tuple[float, int]) -> dict:
    constants = {}
    for name, (scale, zero) in parameters.items():
        constants[f"{name}s"], constants[f"{name}z"] = np.float32(scale), np.int8(zero)
    return constants


QUANT = quantised(x=(0.03, -7), y=(0.05, 12), w=(0.01, 0))
CASES = {
    "conv": ("[1,4,8,8]", "[1,6,6,6]", "QLinearConv (x, xs, xz, w, pcs, pcz, ys, yz, b)"),
    "conv without bias": ("[1,4,8,8]", "[1,6,6,6]", "QLinearConv (x, xs, xz, w, ws, wz, ys, yz)"),
    "matmul": ("[1,3,16]", "[1,3,6]", "QLinearMatMul (x, xs, xz, m, ws, wz, ys, yz)"),
    "add": ("[1,64]", "[1,64]", "com.microsoft.QLinearAdd (x, xs, xz, x, xs, xz, ys, yz)"),
    "mul": ("[1,64]", "[1,64]", "com.microsoft.QLinearMul (x, xs, xz, x, xs, xz, ys, yz)"),
    "gemm": ("[1,16]", "[1,6]", "com.microsoft.QGemm <alpha = 1.0, transB = 1> (x, xs, xz, g, pcs, pcz, b, ys, yz)"),
    "gemm scaled": ("[1,16]", "[1,6]", "com.microsoft.QGemm <alpha = 0.5> (x, xs, xz, m, ws, wz, b, ys, yz)"),
    "average pool": (
        "[1,4,8,8]",
        "[1,4,6,6]",
        "com.microsoft.QLinearAveragePool <kernel_shape = [3,3]> (x, xs, xz, ys, yz)",
    ),
    "global pool": ("[1,4,8,8]", "[1,4,1,1]", "com.microsoft.QLinearGlobalAveragePool (x, xs, xz, ys, yz)"),
    "softmax": ("[1,16]", "[1,16]", "com.microsoft.QLinearSoftmax <axis = -1, opset = 13> (x, xs, xz, ps, pz)"),
    "sigmoid": ("[1,64]", "[1,64]", "com.microsoft.QLinearSigmoid (x, xs, xz, ps, pz)"),
    "leaky": ("[1,64]", "[1,64]", "com.microsoft.QLinearLeakyRelu <alpha = 0.2> (x, xs, xz, ys, yz)"),
    "concat": ("[1,8]", "[1,16]", "com.microsoft.QLinearConcat <axis = 1> (ys, yz, x, xs, xz, x, xs, xz)"),
}


def constants() -> dict:
    return {
        **QUANT,
        **quantised(p=(1 / 256, -128)),
        "w": RANDOM.integers(-127, 128, (6, 4, 3, 3)).astype(np.int8),
        "m": RANDOM.integers(-127, 128, (16, 6)).astype(np.int8),
        "g": RANDOM.integers(-127, 128, (6, 16)).astype(np.int8),
        "pcs": RANDOM.uniform(0.005, 0.02, 6).astype(np.float32),
        "pcz": np.zeros(6, np.int8),
        "b": RANDOM.integers(-3000, 3000, 6).astype(np.int32),
    }


@pytest.mark.parametrize("name", CASES)
def test_operator(model_of, accelerated, name):
    shape, result, call = CASES[name]
    used = {key: value for key, value in constants().items() if f"{key}," in call or f"{key})" in call}
    model = model_of(f"g (int8{shape} x) => (int8{result} y) {{ [source] y = {call} }}", used)
    expanded = run_passes(model, (QOPERATOR_TO_QDQ,), accelerated)
    assert {node.domain or "" for node in expanded.graph.nodes} == {""}
    assert {node.op for node in expanded.graph.nodes} >= {"DequantizeLinear", "QuantizeLinear"}
    assert all(origin == ("source",) for origin in expanded.provenance.values())
    lowered = run_passes(model, core_passes(accelerated.soc, accelerated.units), accelerated)
    runners = [ReferenceRunner(m) for m in (model, expanded, lowered)]
    for _ in range(5):
        x = RANDOM.integers(-128, 128, tuple(model.graph.inputs[0].shape)).astype(np.int8)
        original, *others = (runner.run({"x": x})["y"].astype(np.int64) for runner in runners)
        for other in others:
            assert np.max(np.abs(original - other)) <= 1


def test_a_gemm_with_float_result(model_of, accelerated):
    text = "g (int8[1,16] x) => (float[1,6] y) { y = com.microsoft.QGemm (x, xs, xz, m, ws, wz, b) }"
    used = {key: value for key, value in constants().items() if key in ("xs", "xz", "ws", "wz", "m", "b")}
    model = model_of(text, used)
    expanded = run_passes(model, (QOPERATOR_TO_QDQ,), accelerated)
    x = RANDOM.integers(-128, 128, (1, 16)).astype(np.int8)
    first, second = (ReferenceRunner(m).run({"x": x})["y"] for m in (model, expanded))
    assert np.allclose(first, second, rtol=1e-4, atol=1e-4)


def test_channels_last_is_not_understood(model_of, accelerated):
    """It stays as it is, for the mapper to refuse."""
    text = """g (int8[1,8,8,4] x) => (int8[1,6,6,4] y) {
        y = com.microsoft.QLinearAveragePool <kernel_shape = [3,3], channels_last = 1> (x, xs, xz, ys, yz) }"""
    model = model_of(text, {key: QUANT[key] for key in ("xs", "xz", "ys", "yz")})
    lowered = run_passes(model, core_passes(accelerated.soc, accelerated.units), accelerated)
    assert [node.op for node in lowered.graph.nodes] == ["QLinearAveragePool"]
