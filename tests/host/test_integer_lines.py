"""Integer softmax, normalisation, GELU, ... in C against ONNX Runtime running their function bodies, bit for bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, expected, import_graph, make_model
from match_core.match.candidates import find_candidates
from match_host.patterns import host_patterns
from match_host.unit import HOST_UNIT

RNG = np.random.default_rng(17)
I64 = np.int64
Made = tuple[onnx.ModelProto, dict[str, Array]]


def arith(op: str, *inputs: str, **attributes: object) -> onnx.NodeProto:
    return onnx.helper.make_node(op, list(inputs), ["y"], domain="match.arith", **attributes)


def values(dtype: str, low: int, high: int, *shape: int) -> Array:
    return RNG.integers(low, high, shape, dtype=np.dtype(dtype))


def wide(low: int, high: int, *shape: int) -> Array:
    return RNG.integers(low, high, shape, dtype=I64)


def scalars(**numbers: int) -> dict[str, Array]:
    return {name: np.array(value, I64) for name, value in numbers.items()}


def single(call: onnx.NodeProto, x: Array, **constants: Array) -> Made:
    return make_model([call], {"x": x}, constants), {"x": x}


def softmax_floor(x: Array, entries: int, largest: int) -> Made:
    table = (largest * np.exp(-0.04 * np.arange(entries))).astype(I64)
    return single(arith("SoftmaxFloorU8", "x", "t", "N"), x, t=table, **scalars(N=255))


def shift_softmax(x: Array, group: int) -> Made:
    return single(arith("ShiftSoftmaxU8", "x", "N", group=group), x, **scalars(N=255 * 256))


def norm(op: str, x: Array, weight: Array, bias: Array | None, divisor: int) -> Made:
    parameters = {"w": weight} if bias is None else {"w": weight, "b": bias}
    numbers = scalars(D=divisor, lo=-128, hi=127)
    return single(arith(op, "x", *parameters, *numbers), x, **parameters, **numbers)


def norm_requant(op: str, x: Array, multiplier: Array, addend: Array, epsilon: int) -> Made:
    numbers = scalars(D=1 << 20, E=epsilon, lo=-120 if op.endswith("I8") else 3, hi=127)
    return single(arith(op, "x", "m", "b", *numbers), x, m=multiplier, b=addend, **numbers)


def product(dtype: str) -> Made:
    limits = np.iinfo(dtype)
    a = values(dtype, limits.min, limits.max, 2, 3, 7)
    b = values(dtype, limits.min, limits.max, 2, 7, 4)
    return make_model([onnx.helper.make_node("MatMul", ["a", "b"], ["y"])], {"a": a, "b": b}), {"a": a, "b": b}


LEVEL = np.full((1, 4096), 200, np.uint8)
RAMP = np.arange(-128, 128, dtype=np.int8).reshape(2, 128)
CASES: dict[str, tuple[Callable[[], Made], str]] = {
    "softmax of int8": (
        lambda: softmax_floor(values("int8", -128, 128, 3, 5, 9), 256, 46_000),
        "host_softmax_floor_u8",
    ),
    "softmax of uint8, wide sums": (
        lambda: softmax_floor(values("uint8", 0, 256, 3, 40), 256, 2**30),
        "host_softmax_floor_u8",
    ),
    "softmax of int32": (lambda: softmax_floor(values("int32", -255, 256, 7, 8), 511, 46_000), "host_softmax_floor_u8"),
    "shift softmax in groups": (lambda: shift_softmax(values("int8", -128, 128, 4, 64), 16), "host_shift_softmax_u8"),
    "shift softmax of whole lines": (
        lambda: shift_softmax(values("uint8", 0, 256, 4, 3, 24), 24),
        "host_shift_softmax_u8",
    ),
    "shift softmax of a ramp": (
        lambda: shift_softmax(np.ascontiguousarray(RAMP[:, ::6][:, :20]), 4),
        "host_shift_softmax_u8",
    ),
    "layer norm, 32 bits": (
        lambda: norm("LayerNormI8", values("int8", -128, 128, 6, 32), wide(0, 3000, 32), wide(-999, 999, 32), 64),
        "host_layer_norm_i8",
    ),
    "layer norm, 64 bits": (
        lambda: norm("LayerNormI8", values("uint8", 0, 256, 6, 32), wide(0, 2**33, 32), wide(-999, 999, 32), 1 << 27),
        "host_layer_norm_i8",
    ),
    "layer norm of int32, odd divisor": (
        lambda: norm(
            "LayerNormI8", values("int32", -(2**20), 2**20, 4, 19), wide(-2000, 3000, 19), np.array(55, I64), 77
        ),
        "host_layer_norm_i8",
    ),
    "layer norm of equal values": (
        lambda: norm("LayerNormI8", np.full((2, 8), 5, np.int8), np.array(9, I64), wide(-900, 900, 8), 8),
        "host_layer_norm_i8",
    ),
    "rms norm": (
        lambda: norm("RmsNormI8", values("int8", -128, 128, 6, 32), wide(-3000, 3000, 32), None, 50),
        "host_rms_norm_i8",
    ),
    "layer norm of quantised int8": (
        lambda: norm_requant(
            "LayerNormRequantI8",
            values("int8", -128, 128, 2, 5, 48),
            wide(-(2**28), 2**28, 48),
            wide(-(2**27), 2**27, 48),
            1,
        ),
        "host_layer_norm_requant_i8",
    ),
    "layer norm of quantised uint8, long and equal lines": (
        lambda: norm_requant(
            "LayerNormRequantU8",
            np.concatenate([values("uint8", 0, 256, 3, 4096), values("uint8", 254, 256, 3, 4096), LEVEL]),
            np.array(2**31 - 1, I64),
            np.array(2**24, I64),
            1 << 51,
        ),
        "host_layer_norm_requant_u8",
    ),
    "gelu": (
        lambda: single(arith("IntegerGelu", "x", "b", "one"), RAMP, **scalars(b=-40, one=1743)),
        "host_integer_gelu",
    ),
    "gelu of int32, negative scale": (
        lambda: single(
            arith("IntegerGelu", "x", "b", "one"), values("int32", -3000, 3000, 99), **scalars(b=-80, one=-7091)
        ),
        "host_integer_gelu",
    ),
    "hardswish": (
        lambda: single(arith("IntegerHardswish", "x", "s", "t", "u"), RAMP, **scalars(s=5, t=60, u=120)),
        "host_integer_hardswish",
    ),
    "rounded quotient": (
        lambda: single(arith("RoundedQuotient", "x", "d"), values("int32", -99, 99, 80), **scalars(d=7)),
        "host_rounded_quotient",
    ),
    "requantisation of int64": (
        lambda: single(
            arith("RequantI8", "x", "m", "b", "d", "lo", "hi"),
            wide(-(2**40), 2**40, 4, 9),
            m=wide(1, 99, 4, 1),
            **scalars(b=-(2**30), d=2**39 + 1, lo=-128, hi=127),
        ),
        "host_requant_i8",
    ),
    "table of int32": (
        lambda: single(arith("LutI8", "x", "t"), RAMP, t=values("int32", -(2**20), 2**20, 256)),
        "host_lut_i8",
    ),
    "product of int32, wrapping around": (lambda: product("int32"), "host_mat_mul"),
    "product of int64, wrapping around": (lambda: product("int64"), "host_mat_mul"),
    "quantisation with a step of -1": (
        lambda: single(
            onnx.helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"]),
            np.arange(-300, 300).astype(np.float32),
            s=np.float32(-1),
            z=np.uint8(0),
        ),
        "host_quantize_linear",
    ),
}


@pytest.fixture(scope="module")
def results(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> dict[str, tuple[Case, dict[str, Array]]]:
    cases = {}
    for name, (make, pattern) in CASES.items():
        model, sample = make()
        cases[name] = Case(model, [sample], (pattern,))
    ran = run_cases(list(cases.values()))
    return {name: (case, samples[0]) for (name, case), samples in zip(cases.items(), ran, strict=True)}


@pytest.mark.parametrize("name", CASES)
def test_equals_the_function_body(name: str, results: dict[str, tuple[Case, dict[str, Array]]]) -> None:
    case, got = results[name]
    assert case.used == [CASES[name][1]]
    for key, want in expected(case.model, case.samples[0]).items():
        assert got[key].dtype == want.dtype
        np.testing.assert_array_equal(got[key], want)
        assert len(np.unique(want)) > 3, "the case tells little"


def refusals(model: onnx.ModelProto) -> str:
    found = find_candidates(import_graph(model), [(HOST_UNIT, host_patterns())])
    assert not found.legal
    return str(found.refused)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: softmax_floor(values("int8", -4, 4, 2, 8), 200, 999), "the table has 200 entries"),
        (
            lambda: norm("RmsNormI8", values("int8", -9, 9, 2, 8), wide(1, 9, 8), None, -4),
            "the divisor is not positive",
        ),
        (
            lambda: norm_requant("LayerNormRequantI8", values("int8", -9, 9, 2, 8), wide(1, 9, 8), wide(1, 9, 8), 0),
            "the divisor is 1048576, epsilon 0",
        ),
        (
            lambda: norm_requant(
                "LayerNormRequantI8", values("int8", -9, 9, 2, 8), wide(2**31, 2**32, 8), wide(1, 9, 8), 1
            ),
            "input 1 has more than 32 bits",
        ),
    ],
)
def test_what_is_refused(made: Callable[[], Made], why: str) -> None:
    assert why in refusals(made()[0])
