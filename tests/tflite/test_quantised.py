"""Quantised tensors against TFLite's definition: real = (q - zero_point) * scale, results rounded to the nearest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tflite
from match_core.contract.errors import ModelError
from match_core.contract.model import Model
from match_core.load.load import model_from_proto
from match_tflite.convert import tflite_to_onnx
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray

from tests.tflite_files.builder import CONV, POOL, RELU6, SAME, VALID, TfliteBuilder
from tests.tflite_files.numpy_operators import conv, padded, windows

RANDOM = np.random.default_rng(5)
CONV_OPTIONS = ("Conv2DOptions", {**CONV, "Padding": SAME, "FusedActivationFunction": RELU6})


def loaded(content: bytes) -> Model:
    return model_from_proto(tflite_to_onnx(content, "net.tflite"), "net", "net.tflite")


def run(content: bytes, *arrays: NDArray[Any]) -> NDArray[Any]:
    model = loaded(content)
    fed = {tensor.name: array for tensor, array in zip(model.graph.inputs, arrays, strict=True)}
    return ReferenceRunner(model).run(fed)[model.graph.outputs[0].name]


def quantise(real: NDArray[Any], scale: float, zero: int, dtype: str) -> NDArray[Any]:
    limits = np.iinfo(dtype)
    return np.clip(np.rint(real / np.float32(scale)) + zero, limits.min, limits.max).astype(dtype)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("per_channel", [True, False])
@pytest.mark.parametrize("bias_scale", [True, False])
def test_convolution(dtype: str, per_channel: bool, bias_scale: bool) -> None:
    """``bias_scale`` False: the file leaves the scale of the bias to the reader. Weights have the zero point of their
    type; per channel only signed ones exist."""
    limits = np.iinfo(dtype)
    narrow = "uint8" if dtype == "uint8" and not per_channel else "int8"
    zero, w_zero = (0, 0) if dtype == "int16" else (int(limits.min) + 100, 120 if narrow == "uint8" else 0)
    scales = [0.004, 0.008, 0.006, 0.01, 0.005] if per_channel else [0.007]
    x = RANDOM.integers(max(limits.min, -200), min(limits.max, 255), (1, 6, 5, 3)).astype(dtype)
    w = RANDOM.integers(np.iinfo(narrow).min, np.iinfo(narrow).max, (5, 3, 3, 3)).astype(narrow)
    bias = RANDOM.integers(-3000, 3000, 5).astype(np.int64 if dtype == "int16" else np.int32)
    steps = np.array(scales, np.float32) * np.float32(0.02)
    b = TfliteBuilder()
    image = b.tensor("x", x.shape, dtype, scale=0.02, zero=zero)
    filters = b.constant("w", w, scale=scales, zero=[w_zero] * len(scales), axis=0)
    held = {"scale": [float(s) for s in steps], "zero": [0] * len(scales)} if bias_scale else {}
    added = b.constant("b", bias, **held)
    y = b.tensor("y", (1, 6, 5, 5), dtype, scale=6 / 255, zero=zero)
    b.operator("CONV_2D", [image, filters, added], [y], CONV_OPTIONS)
    got = run(b.content([image], [y]), x)
    sums = conv()(x.astype(np.float64) - zero, w.astype(np.float64) - w_zero) + bias
    expected = quantise(np.clip(sums * steps, 0, 6), 6 / 255, zero, dtype)
    difference = np.abs(got.astype(int) - expected)
    assert got.dtype == dtype and difference.max() <= 1 and (difference > 0).mean() < 0.01
    assert len(np.unique(expected)) > 20


def test_bytes_of_weights_are_kept() -> None:
    """int8 weights stay int8 in the model, and int4 weights become int8."""
    b = TfliteBuilder()
    x = b.tensor("x", (1, 4), "int8", scale=0.1)
    w = b.constant("w", RANDOM.integers(-127, 127, (3, 4)).astype(np.int8), scale=0.02)
    packed = bytes([0x21, 0x43, 0xFE, 0x8F, 0x70, 0x07])
    int4 = b.tensor("w4", (4, 3), data=packed, scale=0.02, element=tflite.TensorType.INT4)
    y, z = (b.tensor(name, (1, size), "int8", scale=0.1) for name, size in (("y", 3), ("z", 4)))
    b.operator("FULLY_CONNECTED", [x, w], [y], ("FullyConnectedOptions", {}))
    b.operator("FULLY_CONNECTED", [y, int4], [z], ("FullyConnectedOptions", {}))
    proto = tflite_to_onnx(b.content([x], [z]), "net.tflite")
    values = {tensor.name: tensor.raw_data for tensor in proto.graph.initializer}
    assert len(values["w"]) == 12
    assert np.frombuffer(values["w4"], np.int8).tolist() == [1, 2, 3, 4, -2, -1, -1, -8, 0, 7, 7, 0]


def test_weights_of_float_networks() -> None:
    """float16 behind DEQUANTIZE, int8 behind DEQUANTIZE, and int8 read directly: the activations stay float."""
    x = RANDOM.uniform(-1, 1, (1, 4)).astype(np.float32)
    half = RANDOM.uniform(-1, 1, (3, 4)).astype(np.float16)
    small = RANDOM.integers(-127, 127, (5, 3)).astype(np.int8)
    last = RANDOM.integers(-127, 127, (2, 5)).astype(np.int8)
    b = TfliteBuilder()
    start = b.tensor("x", (1, 4))
    wide, real = b.tensor("wide", (3, 4)), b.tensor("real", (5, 3))
    b.operator("DEQUANTIZE", [b.constant("half", half)], [wide])
    b.operator("DEQUANTIZE", [b.constant("small", small, scale=0.01)], [real])
    h, g, y = b.tensor("h", (1, 3)), b.tensor("g", (1, 5)), b.tensor("y", (1, 2))
    direct = b.constant("last", last, scale=[0.01, 0.02], zero=[0, 0], axis=0)
    for source, weights, result in ((start, wide, h), (h, real, g), (g, direct, y)):
        b.operator("FULLY_CONNECTED", [source, weights], [result], ("FullyConnectedOptions", {}))
    got = run(b.content([start], [y]), x)
    scales = np.array([[0.01], [0.02]], np.float32)
    expected = x @ half.astype(np.float32).T @ (small * np.float32(0.01)).T @ (last * scales).T
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_another_scale_for_the_same_values() -> None:
    """QUANTIZE between quantised tensors, float ends, and moves that change scales."""
    x = RANDOM.uniform(-2, 2, (1, 2, 3, 4)).astype(np.float32)
    b = TfliteBuilder()
    start = b.tensor("x", x.shape)
    first = b.tensor("first", x.shape, "int8", scale=0.02, zero=3)
    second = b.tensor("second", x.shape, "uint8", scale=0.03, zero=100)
    third = b.tensor("third", (1, 6, 4), "uint8", scale=0.04, zero=90)
    end = b.tensor("end", (1, 6, 4))
    b.operator("QUANTIZE", [start], [first])
    b.operator("QUANTIZE", [first], [second])
    b.operator("RESHAPE", [second], [third])
    b.operator("DEQUANTIZE", [third], [end])
    got = run(b.content([start], [end]), x)
    values = (quantise(x, 0.02, 3, "int8").astype(np.float32) - 3) * np.float32(0.02)
    values = (quantise(values, 0.03, 100, "uint8").astype(np.float32) - 100) * np.float32(0.03)
    values = (quantise(values, 0.04, 90, "uint8").astype(np.float32) - 90) * np.float32(0.04)
    np.testing.assert_allclose(got, values.reshape(1, 6, 4), atol=0.0401)
    assert (np.abs(got - values.reshape(1, 6, 4)) > 0.001).mean() < 0.05


def test_padding_in_front_of_a_convolution_is_one_operator_with_it() -> None:
    """Padded zeros are real zeros: what is padded is not quantised again, so that the convolution can take it over."""
    x = RANDOM.integers(-128, 127, (1, 5, 5, 2)).astype(np.int8)
    w = RANDOM.integers(-127, 127, (3, 3, 3, 2)).astype(np.int8)
    b = TfliteBuilder()
    image = b.tensor("x", x.shape, "int8", scale=0.05, zero=-7)
    pixels = b.tensor("pixels", x.shape, "int8", scale=0.05, zero=-7)
    single = {**POOL, "Padding": VALID, "StrideH": 1, "StrideW": 1, "FilterHeight": 1, "FilterWidth": 1}
    b.operator("MAX_POOL_2D", [image], [pixels], ("Pool2DOptions", single))
    wide = b.tensor("wide", (1, 7, 7, 2), "int8", scale=0.05, zero=-7)
    amounts = b.constant("amounts", np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32))
    b.operator("PAD", [pixels, amounts], [wide])
    y = b.tensor("y", (1, 3, 3, 3), "int8", scale=0.05, zero=0)
    options = {**CONV, "Padding": VALID, "StrideH": 2, "StrideW": 2}
    b.operator("CONV_2D", [wide, b.constant("w", w, scale=0.01)], [y], ("Conv2DOptions", options))
    content = b.content([image], [y])
    model = loaded(content)
    (convolution,) = (node for node in model.graph.nodes if node.op == "Conv")
    assert convolution.inputs[0].inputs[0].op == "Pad"
    assert sum(node.op == "Pad" for node in model.graph.nodes) == 1
    real = np.pad(x.astype(np.float64) + 7, [(0, 0), (1, 1), (1, 1), (0, 0)])
    view = windows(padded(real, (3, 3), (2, 2), 1, VALID, 0.0), (3, 3), (2, 2))
    expected = quantise(np.einsum("nyxhwc,ohwc->nyxo", view, w.astype(np.float64)) * 0.05 * 0.01, 0.05, 0, "int8")
    assert np.abs(run(content, x).astype(int) - expected).max() <= 1


def test_integers_that_an_operator_counts_in_32_bits_are_refused() -> None:
    b = TfliteBuilder()
    x, y = (b.tensor(name, (1, 4), dtype, scale=0.1) for name, dtype in (("x", "int8"), ("y", "int32")))
    b.operator("RELU", [x], [y])
    with pytest.raises(ModelError) as caught:
        loaded(b.content([x], [y]))
    assert caught.value.code == "MATCH-F023"
