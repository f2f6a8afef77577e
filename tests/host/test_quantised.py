"""Operators of the integer graph against ONNX Runtime running their function bodies, bit for bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, expected, make_model

node = onnx.helper.make_node
RNG = np.random.default_rng(7)
I64 = np.int64


def u8(*shape: int) -> Array:
    return RNG.integers(0, 256, shape, dtype=np.uint8)


def i8(*shape: int) -> Array:
    return RNG.integers(-128, 128, shape, dtype=np.int8)


def i32(*shape: int) -> Array:
    return RNG.integers(-(2**14), 2**14, shape, dtype=np.int32)


def f32(*shape: int) -> Array:
    return RNG.normal(0, 3, shape).astype(np.float32)


def arith(op: str, *inputs: str, out: str = "y", **attributes: object) -> onnx.NodeProto:
    return node(op, list(inputs), [out], domain="match.arith", **attributes)


def requant(shape: tuple[int, ...], shift: int = 16, lo: int = 0, hi: int = 255) -> dict[str, Array]:
    return {
        "M": RNG.integers(1, 2**10, shape, dtype=I64),
        "B": RNG.integers(-(2**20), 2**23, shape, dtype=I64),
        "D": np.array(1 << shift, I64),
        "lo": np.array(lo, I64),
        "hi": np.array(hi, I64),
    }


HALVES = np.arange(-300, 300).astype(np.float32) / 2
Q = ("M", "B", "D", "lo", "hi")
SIGNED = {"lo": -128, "hi": 127}


def conv(domain: str, source: str, out: str, **attributes: object) -> onnx.NodeProto:
    full = {"pads": [0] * 4, "strides": [1, 1], "dilations": [1, 1], "group": 1, **attributes}
    return node("ConvInteger", [source, "w"], [out], domain=domain, **full)


def pad_conv(domain: str, value: int, group: int = 1) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """Pad with a zero point, convolution, requantisation."""
    last = domain != ""
    x = u8(1, 9, 7, 6) if last else u8(1, 6, 9, 7)
    pads = [0, 1, 2, 0, 0, 1, 1, 0] if last else [0, 0, 1, 2, 0, 0, 1, 1]
    nodes = [
        node("Pad", ["x", "pads", "value"], ["p"]),
        conv(domain, "p", "a", kernel_shape=[3, 3], strides=[2, 1], group=group),
        arith("RequantU8", "a", *Q),
    ]
    channels = (1, 1, 1, 12) if last else (1, 12, 1, 1)
    constants = {
        "pads": np.array(pads, I64),
        "value": np.array(value, np.uint8),
        "w": i8(12, 6 // group, 3, 3),
        **requant(channels),
    }
    return make_model(nodes, {"x": x}, constants), {"x": x}


def conv_requant(
    domain: str, group: int, outputs: int, shift: int = 16, **attributes: object
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    last = domain != ""
    x = i8(1, 10, 11, 8) if last else i8(1, 8, 10, 11)
    nodes = [conv(domain, "x", "a", group=group, **attributes), arith("RequantI8", "a", *Q)]
    kernel = attributes["kernel_shape"]
    constants = {"w": i8(outputs, 8 // group, *kernel), **requant((), shift, **SIGNED)}  # type: ignore[misc]
    return make_model(nodes, {"x": x}, constants), {"x": x}


def one(nodes: list[onnx.NodeProto], x: Array, **constants: Array) -> tuple[onnx.ModelProto, dict[str, Array]]:
    return make_model(nodes, {"x": x}, constants), {"x": x}


def add_requant(signed: bool) -> tuple[onnx.ModelProto, dict[str, Array]]:
    make = i8 if signed else u8
    inputs = {"a": make(1, 5, 4, 3), "b": make(1, 5, 4, 3)}
    limits = SIGNED if signed else {}
    constants = {"Ma": np.array(70000, I64), "Mb": np.array(51234, I64), **requant((), 17, **limits)}
    call = arith(f"AddRequant{'I8' if signed else 'U8'}", "a", "b", "Ma", "Mb", "B", "D", "lo", "hi")
    del constants["M"]
    return make_model([call], inputs, constants), inputs


def scaled_bytes(signed: bool) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """Requantisation of an 8-bit tensor with factors of both signs per channel and an addend per element."""
    x = i8(1, 7, 12) if signed else u8(1, 7, 12)
    constants = requant((12,), 9, **(SIGNED if signed else {}))
    constants["M"] = constants["M"] * RNG.choice([-1, 1], 12)
    constants["B"] = RNG.integers(-(2**14), 2**14, (7, 12), dtype=I64)
    return one([arith(f"Requant{'I8' if signed else 'U8'}", "x", *Q)], x, **constants)


def attention_product(signed: bool) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """The product of two tensors with zero points, for each of a batch of heads."""
    make, dtype = (i8, np.int8) if signed else (u8, np.uint8)
    inputs = {"a": make(1, 3, 5, 16), "b": make(1, 3, 16, 7)}
    constants = {"za": np.array(17, dtype), "zb": np.array(5, dtype), **requant((), 18, **(SIGNED if signed else {}))}
    nodes = [
        node("MatMulInteger", ["a", "b", "za", "zb"], ["p"]),
        arith(f"Requant{'I8' if signed else 'U8'}", "p", *Q),
    ]
    return make_model(nodes, inputs, constants), inputs


def softmax(
    signed: bool, axis: int, shape: tuple[int, ...] = (2, 5, 10), rate: float = 0.05, largest: int = 2**24
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    x = i8(*shape) if signed else u8(*shape)
    table = np.round(largest * np.exp(-np.arange(256) * rate)).astype(I64)
    lo, hi = (-128, 127) if signed else (0, 255)
    scalars = {"N": 255, "z": lo, "lo": lo, "hi": hi}
    constants = {"t": table, **{name: np.array(value, I64) for name, value in scalars.items()}}
    call = arith(f"Softmax{'I8' if signed else 'U8'}", "x", "t", "N", "z", "lo", "hi", axis=axis)
    return make_model([call], {"x": x}, constants), {"x": x}


CONV, NHWC = "host_conv_integer_requant", "match.nhwc"
CASES: dict[str, tuple[Callable[[], tuple[onnx.ModelProto, dict[str, Array]]], str]] = {
    "requant per tensor": (lambda: one([arith("RequantU8", "x", *Q)], i32(1, 7, 3), **requant(())), "host_requant_u8"),
    "requant per channel": (
        lambda: one([arith("RequantI8", "x", *Q)], i32(1, 6, 5, 4), **requant((1, 6, 1, 1), **SIGNED)),
        "host_requant_i8",
    ),
    "requant by a divisor that is no power of two": (
        lambda: one([arith("RequantI8", "x", *Q)], i32(40), **{**requant((), **SIGNED), "D": np.array(77777, I64)}),
        "host_requant_i8",
    ),
    "add u8": (lambda: add_requant(False), "host_add_requant_u8"),
    "add i8": (lambda: add_requant(True), "host_add_requant_i8"),
    "offset up": (lambda: one([arith("OffsetI8ToU8", "x")], i8(1, 300)), "host_offset_i8_to_u8"),
    "offset down": (lambda: one([arith("OffsetU8ToI8", "x")], u8(1, 300)), "host_offset_u8_to_i8"),
    "table u8": (lambda: one([arith("LutU8", "x", "t")], u8(3, 100), t=u8(256)), "host_lut_u8"),
    "table i8": (lambda: one([arith("LutI8", "x", "t")], i8(3, 100), t=i8(256)), "host_lut_i8"),
    "softmax u8": (lambda: softmax(False, -1), "host_softmax_u8"),
    "softmax i8 over the middle axis": (lambda: softmax(True, 1), "host_softmax_i8"),
    "pad conv requant NCHW": (lambda: pad_conv("", 131), "host_pad_conv_integer_requant"),
    "pad conv requant NHWC": (lambda: pad_conv(NHWC, 131), "host_pad_conv_integer_requant"),
    "pad conv requant NHWC in groups": (lambda: pad_conv(NHWC, 3, group=3), "host_pad_conv_integer_requant"),
    "conv requant 1x1": (lambda: conv_requant("", 1, 5, kernel_shape=[1, 1]), CONV),
    "conv requant 1x1 NHWC, stride 2": (lambda: conv_requant(NHWC, 1, 5, kernel_shape=[1, 1], strides=[2, 2]), CONV),
    "depthwise NHWC": (lambda: conv_requant(NHWC, 8, 8, kernel_shape=[3, 3], pads=[1, 1, 1, 1]), CONV),
    "depthwise NCHW, dilated": (
        lambda: conv_requant("", 8, 16, kernel_shape=[3, 2], pads=[2, 0, 1, 1], dilations=[2, 1]),
        CONV,
    ),
    "whole-image kernel (average pool)": (lambda: conv_requant(NHWC, 8, 8, 20, kernel_shape=[10, 11]), CONV),
    "1x1 with padding": (lambda: conv_requant("", 1, 3, kernel_shape=[1, 1], pads=[1, 0, 0, 2]), CONV),
    "matrix product and requantisation": (
        lambda: one(
            [node("MatMulInteger", ["x", "w"], ["a"]), arith("RequantU8", "a", *Q)],
            u8(1, 40),
            w=i8(40, 9),
            **requant((1, 9)),
        ),
        "host_mat_mul_integer_requant",
    ),
    "batched matrix product and requantisation": (
        lambda: one(
            [node("MatMulInteger", ["x", "w"], ["a"]), arith("RequantU8", "a", *Q)],
            u8(2, 3, 5, 16),
            w=i8(16, 9),
            **requant((9,)),
        ),
        "host_mat_mul_integer_requant",
    ),
    "product of two tensors u8": (lambda: attention_product(False), "host_mat_mul_integer_requant"),
    "product of two tensors i8": (lambda: attention_product(True), "host_mat_mul_integer_requant"),
    "requant of bytes u8": (lambda: scaled_bytes(False), "host_requant_u8"),
    "requant of bytes i8": (lambda: scaled_bytes(True), "host_requant_i8"),
    "quantise": (
        lambda: one([node("QuantizeLinear", ["x", "s", "z"], ["y"])], f32(1, 500), s=np.float32(0.05), z=np.uint8(77)),
        "host_quantize_linear",
    ),
    "quantise ties": (
        lambda: one([node("QuantizeLinear", ["x", "s"], ["y"])], HALVES, s=np.float32(1)),
        "host_quantize_linear",
    ),
    "quantise per axis": (
        lambda: one(
            [node("QuantizeLinear", ["x", "s", "z"], ["y"], axis=1)],
            f32(2, 3, 40),
            s=np.array([0.05, 0.1, 0.02], np.float32),
            z=np.array([0, -5, 9], np.int8),
        ),
        "host_quantize_linear",
    ),
    "dequantise": (
        lambda: one([node("DequantizeLinear", ["x", "s", "z"], ["y"])], i8(1, 400), s=np.float32(0.037), z=np.int8(-3)),
        "host_dequantize_linear",
    ),
    "dequantise per axis": (
        lambda: one(
            [node("DequantizeLinear", ["x", "s"], ["y"], axis=-1)], i32(4, 3), s=np.array([0.1, 0.01, 0.3], np.float32)
        ),
        "host_dequantize_linear",
    ),
    "softmax i8 of long lines": (lambda: softmax(True, -1, (3, 200)), "host_softmax_i8"),
    "softmax u8 of steep lines over the first axis": (lambda: softmax(False, 0, (40, 7), 0.4), "host_softmax_u8"),
    "softmax u8 of sums beyond 32 bits": (lambda: softmax(False, -1, (2, 300), 0.05, 2**30), "host_softmax_u8"),
}
FLOAT_RESULTS = {"dequantise", "dequantise per axis"}


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
    want = expected(case.model, case.samples[0])
    assert case.used == [CASES[name][1]]
    for key, values in want.items():
        assert got[key].dtype == values.dtype
        assert got[key].shape == values.shape
        np.testing.assert_array_equal(got[key], values)
        assert len(np.unique(values)) > 3, "the case tells little"
