"""int16 activations with int8 weights: TFLite's reference kernels bit for bit, also in the C program."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from match_core.contract.passes import PassContext
from match_core.load.load import model_from_proto
from match_core.passes.pipeline import run_passes
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_quant.int16_products import INT16_PRODUCTS
from match_tflite.convert import tflite_to_onnx
from match_verify.reference import ReferenceRunner
from match_verify.verify import VerifyRequest, verify_model

from tests.tflite_files import integer_kernels as kernels
from tests.tflite_files.builder import CONV, POOL, SAME, VALID, Options, TfliteBuilder, saved
from tests.tflite_files.numpy_operators import Array, conv, padded, windows

RANDOM = np.random.default_rng(16)
S_X, S_Y = 0.0021, 0.0034


def drawn(*shape: int, low: int = -32768, high: int = 32767) -> Array:
    return RANDOM.integers(low, high, shape, endpoint=True).astype(np.int16)


def computed(content: bytes, *inputs: Array) -> Array:
    model = model_from_proto(tflite_to_onnx(content, "net.tflite"), "net", "net.tflite")
    fed = {tensor.name: array for tensor, array in zip(model.graph.inputs, inputs, strict=True)}
    return ReferenceRunner(model).run(fed)[model.graph.outputs[0].name]


def one(
    kind: str, inputs: list[tuple[Array, float]], y: tuple[tuple[int, ...], float], options: Options | None
) -> bytes:
    b = TfliteBuilder()
    fed = [b.tensor(f"x{i}", a.shape, "int16", scale=scale) for i, (a, scale) in enumerate(inputs)]
    result = b.tensor("y", y[0], "int16", scale=y[1])
    b.operator(kind, fed, [result], options)
    return b.content(fed, [result])


@pytest.mark.parametrize("activation", [0, 1, 3])
@pytest.mark.parametrize("bias", ["int64", "int32", "none"])
@pytest.mark.parametrize("per_channel", [True, False])
def test_convolution(bias: str, per_channel: bool, activation: int) -> None:
    x = drawn(1, 6, 5, 3) if activation != 3 else drawn(1, 6, 5, 3, low=-90, high=90)
    w = RANDOM.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8)
    scales = [0.004, 0.0081, 0.006, 0.0102] if per_channel else [0.007]
    values = RANDOM.integers(-(10**4), 10**4, 4).astype(np.int64 if bias == "none" else bias)
    b = TfliteBuilder()
    image = b.tensor("x", x.shape, "int16", scale=S_X)
    operands = [b.constant("w", w, scale=scales, zero=[0] * len(scales))]
    operands += [] if bias == "none" else [b.constant("b", values)]
    y = b.tensor("y", (1, 6, 5, 4), "int16", scale=S_Y)
    options = {**CONV, "Padding": SAME, "FusedActivationFunction": activation}
    b.operator("CONV_2D", [image, *operands], [y], ("Conv2DOptions", options))
    got = computed(b.content([image], [y]), x)
    sums = conv()(x.astype(np.int64), w.astype(np.int64)) + (0 if bias == "none" else values.astype(np.int64))
    reals = [
        float(np.float32(S_X)) * float(np.float32(s)) / float(np.float32(S_Y)) for s in scales * (4 // len(scales))
    ]
    bounds = kernels.activation_bounds(activation, float(np.float32(S_Y)), 0, "int16")
    expected = kernels.requantised(sums, reals, bounds, bias != "int32")
    np.testing.assert_array_equal(got, expected)
    assert len(np.unique(expected)) > 20


def test_depthwise_convolution() -> None:
    x, w = drawn(1, 5, 5, 4), RANDOM.integers(-127, 128, (1, 3, 3, 4)).astype(np.int8)
    bias, scales = RANDOM.integers(-(10**6), 10**6, 4), [0.01, 0.02, 0.03, 0.015]
    b = TfliteBuilder()
    image = b.tensor("x", x.shape, "int16", scale=S_X)
    # quantized_dimension is left out, as old converters did: the scales belong to the channels all the same
    filters = b.constant("w", w, scale=scales, zero=[0] * 4)
    y = b.tensor("y", (1, 3, 3, 4), "int16", scale=S_Y)
    options = {**CONV, "Padding": VALID, "DepthMultiplier": 1}
    b.operator("DEPTHWISE_CONV_2D", [image, filters, b.constant("b", bias)], [y], ("DepthwiseConv2DOptions", options))
    got = computed(b.content([image], [y]), x)
    view = windows(x.astype(np.int64), (3, 3), (1, 1))
    sums = np.einsum("nyxhwc,hwc->nyxc", view, w[0].astype(np.int64)) + bias
    reals = [float(np.float32(S_X)) * float(np.float32(s)) / float(np.float32(S_Y)) for s in scales]
    np.testing.assert_array_equal(got, kernels.requantised(sums, reals, (-32768, 32767), True))


@pytest.mark.parametrize("scales", [[0.004], [0.004, 0.002, 0.003]])
def test_fully_connected(scales: list[float]) -> None:
    x, w = drawn(2, 40), RANDOM.integers(-127, 128, (3, 40)).astype(np.int8)
    bias = RANDOM.integers(-(10**6), 10**6, 3)
    b = TfliteBuilder()
    rows = b.tensor("x", x.shape, "int16", scale=S_X)
    y = b.tensor("y", (2, 3), "int16", scale=0.01)
    operands = [b.constant("w", w, scale=scales, zero=[0] * len(scales)), b.constant("b", bias)]
    b.operator("FULLY_CONNECTED", [rows, *operands], [y], ("FullyConnectedOptions", {}))
    got = computed(b.content([rows], [y]), x)
    sums = x.astype(np.int64) @ w.T.astype(np.int64) + bias
    f32 = np.float32
    single = [float(f32(S_X) * f32(scales[0])) / float(f32(0.01))] * 3
    reals = single if len(scales) == 1 else [float(f32(S_X)) * float(f32(s)) / float(f32(0.01)) for s in scales]
    np.testing.assert_array_equal(got, kernels.requantised(sums, reals, (-32768, 32767), True))


@pytest.mark.parametrize("kind", ["ADD", "SUB", "MUL"])
@pytest.mark.parametrize("shape", [(1, 4, 5, 3), (3,)])
def test_pairs(kind: str, shape: tuple[int, ...]) -> None:
    a, b = drawn(1, 4, 5, 3), drawn(*shape)
    scales = [float(np.float32(s)) for s in (S_X, 0.0013, S_Y if kind != "MUL" else 0.09)]
    content = one(kind, [(a, scales[0]), (b, scales[1])], (a.shape, scales[2]), (f"{kind.title()}Options", {}))
    expected = (
        kernels.mul16(a, b, tuple(scales))
        if kind == "MUL"
        else kernels.add16(a, b, tuple(scales), 1 if kind == "ADD" else -1)
    )
    np.testing.assert_array_equal(computed(content, a, b), expected)


@pytest.mark.parametrize("scale", [2.0**-12, 2.0**-11, 0.00037, 0.002])
@pytest.mark.parametrize("kind", ["LOGISTIC", "TANH"])
def test_functions_by_table(kind: str, scale: float) -> None:
    x = np.append(np.arange(-32768, 32767, 5), 32767).astype(np.int16).reshape(1, -1)
    scale = float(np.float32(scale))
    got = computed(one(kind, [(x, scale)], (x.shape, 2.0**-15), None), x)
    m, shift = kernels.table_input(scale, (0,) if kind == "LOGISTIC" else (0, 1))
    function = kernels.sigmoid16 if kind == "LOGISTIC" else kernels.tanh16
    np.testing.assert_array_equal(got, kernels.each(lambda v: function(v, m, shift), x))
    reals = x.astype(np.float64) * scale
    real = 1 / (1 + np.exp(-reals)) if kind == "LOGISTIC" else np.tanh(reals)
    assert np.abs(got / 32768 - real).max() < 4e-4


@pytest.mark.parametrize("beta", [1.0, 0.7])
@pytest.mark.parametrize("columns", [2, 10, 40])
def test_softmax(columns: int, beta: float) -> None:
    x, scale = drawn(3, columns), float(np.float32(0.0003))
    got = computed(one("SOFTMAX", [(x, scale)], (x.shape, 2.0**-15), ("SoftmaxOptions", {"Beta": beta})), x)
    expected = [kernels.softmax16([int(v) for v in row], float(np.float32(beta)) * scale) for row in x]
    np.testing.assert_array_equal(got, expected)
    powers = np.exp((x - x.max(1, keepdims=True).astype(int)) * scale * beta)
    assert np.abs(got / 32768 - powers / powers.sum(1, keepdims=True)).max() < 2e-3


def test_average_pool() -> None:
    x = drawn(1, 7, 6, 3)
    options = {**POOL, "FilterHeight": 3, "FilterWidth": 3, "Padding": SAME}
    got = computed(one("AVERAGE_POOL_2D", [(x, S_X)], ((1, 4, 3, 3), S_X), ("Pool2DOptions", options)), x)
    sums, counts = (
        windows(padded(a, (3, 3), (2, 2), 1, SAME, 0), (3, 3), (2, 2)).sum((3, 4))
        for a in (x.astype(np.int64), np.ones_like(x, np.int64))
    )
    np.testing.assert_array_equal(got, kernels.average16(sums, counts))


def test_max_pool() -> None:
    x = drawn(1, 6, 6, 3)
    options = {**POOL, "Padding": VALID}
    got = computed(one("MAX_POOL_2D", [(x, S_X)], ((1, 3, 3, 3), S_X), ("Pool2DOptions", options)), x)
    np.testing.assert_array_equal(got, windows(x, (2, 2), (2, 2)).max((3, 4)))


def test_mean() -> None:
    x = drawn(1, 7, 5, 3)
    b = TfliteBuilder()
    image, y = b.tensor("x", x.shape, "int16", scale=S_X), b.tensor("y", (1, 3), "int16", scale=0.0009)
    b.operator("MEAN", [image, b.constant("axes", np.array([1, 2], np.int32))], [y], ("ReducerOptions", {}))
    real = float(np.float32(S_X)) / float(np.float32(0.0009))
    expected = kernels.mean16(x.astype(np.int64).sum((1, 2)), real, 35)
    np.testing.assert_array_equal(computed(b.content([image], [y]), x), expected)


@pytest.mark.parametrize(
    ("kind", "dtype", "zero"), [("QUANTIZE", "int8", 7), ("RELU", "int16", 0), ("RELU6", "int16", 0)]
)
def test_other_scales(kind: str, dtype: str, zero: int) -> None:
    x, scales = drawn(1, 50), [float(np.float32(s)) for s in (0.0021, 0.31 if dtype == "int8" else 0.0007)]
    b = TfliteBuilder()
    start, y = (
        b.tensor("x", x.shape, "int16", scale=scales[0]),
        b.tensor("y", x.shape, dtype, scale=scales[1], zero=zero),
    )
    b.operator(kind, [start], [y])
    low, high = kernels.activation_bounds({"RELU": 1, "RELU6": 3}.get(kind, 0), scales[1], zero, dtype)
    expected = kernels.each(lambda v: max(low, min(high, kernels.by_multiplier(v, scales[0] / scales[1]) + zero)), x)
    np.testing.assert_array_equal(computed(b.content([start], [y]), x), expected)


def network(seed: int = 4) -> bytes:
    """Convolution, depthwise, pooling, addition, product, dense layer and softmax on int16."""
    random, b = np.random.default_rng(seed), TfliteBuilder()

    def tensor(name: str, shape: tuple[int, ...], scale: float) -> int:
        return b.tensor(name, shape, "int16", scale=scale)

    def weights(name: str, shape: tuple[int, ...], axis: int) -> list[int]:
        count = shape[axis]
        held = {"scale": [float(s) for s in random.uniform(0.004, 0.02, count)], "zero": [0] * count, "axis": axis}
        w = b.constant(name, random.integers(-127, 128, shape).astype(np.int8), **held)
        return [w, b.constant(f"{name}_bias", random.integers(-(10**6), 10**6, count))]

    x = tensor("image", (1, 8, 6, 3), 0.0002)
    first = tensor("first", (1, 8, 6, 8), 0.0004)
    relu = {**CONV, "Padding": SAME, "FusedActivationFunction": 1}
    b.operator("CONV_2D", [x, *weights("stem", (8, 3, 3, 3), 0)], [first], ("Conv2DOptions", relu))
    second, total, gate = (
        tensor(name, (1, 8, 6, 8), scale) for name, scale in (("second", 0.0005), ("total", 0.0008), ("gate", 2**-15))
    )
    depthwise = ("DepthwiseConv2DOptions", {**relu, "DepthMultiplier": 1})
    b.operator("DEPTHWISE_CONV_2D", [first, *weights("depthwise", (1, 3, 3, 8), 3)], [second], depthwise)
    b.operator("ADD", [first, second], [total], ("AddOptions", {}))
    b.operator("LOGISTIC", [total], [gate])
    product = tensor("product", (1, 8, 6, 8), 0.0008)
    b.operator("MUL", [total, gate], [product], ("MulOptions", {}))
    pooled, flat, logits = (
        tensor("pooled", (1, 4, 3, 8), 0.0008),
        tensor("flat", (1, 96), 0.0008),
        tensor("logits", (1, 10), 0.001),
    )
    b.operator("AVERAGE_POOL_2D", [product], [pooled], ("Pool2DOptions", {**POOL, "Padding": VALID}))
    b.operator("RESHAPE", [pooled, b.constant("shape", np.array([1, 96], np.int32))], [flat])
    b.operator("FULLY_CONNECTED", [flat, *weights("dense", (10, 96), 0)], [logits], ("FullyConnectedOptions", {}))
    result = tensor("probabilities", (1, 10), 2**-15)
    b.operator("SOFTMAX", [logits], [result], ("SoftmaxOptions", {"Beta": 1.0}))
    return b.content([x], [result])


@pytest.mark.parametrize("target", ["host", "gap9", "stm32l4r5", "corstone300"])
def test_a_network_runs_bit_for_bit(target: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "net16.tflite", network())
    samples: dict[str, Any] = {"image": RANDOM.integers(-32768, 32767, (2, 1, 8, 6, 3)).astype(np.int16)}
    result = verify_model(VerifyRequest(path, target, arrays=samples, sanitize=target != "gap9"), Plugins.load())
    assert result.ok and result.bit_exact
    assert [(check.max_abs_lsb, check.dtype) for check in result.outputs] == [(0.0, "int16")]


def test_products_of_bytes_become_one_product(tmp_path: Path) -> None:
    """Where the target takes int16: kernels of its own compute layers with their scales."""
    path, plugins = saved(tmp_path / "net16.tflite", network()), Plugins.load()

    def operators(target: str, *skipped: str) -> Counter[str]:
        request = CompileRequest(path, target, without_passes=skipped, cache=False)
        return Counter(node.op for node in compile_model(request, plugins).compilation.model.graph.nodes)

    one = operators("stm32l4r5")
    assert (one["ConvIntegerI16"], one["MatMulIntegerI16"], one["RequantI16"]) == (2, 1, 3)
    assert not one["ConvInteger"] and not one["MatMulInteger"]
    for two in (operators("stm32l4r5", "int16_products"), operators("gap9")):
        assert two["ConvInteger"] == 4 and not two["ConvIntegerI16"]


@pytest.mark.parametrize(("largest", "one"), [(127, False), (50, True)])
def test_sums_that_32_bits_may_not_hold_stay_two_products(largest: int, one: bool, soc_units: PassContext) -> None:
    """1,152 weights, whose sizes add up to less than 2^16 if they are small."""
    b = TfliteBuilder()
    x, y = b.tensor("x", (1, 1152), "int16", scale=S_X), b.tensor("y", (1, 2), "int16", scale=0.1)
    held = {"scale": [0.01], "zero": [0]}
    w = b.constant("w", np.full((2, 1152), largest, np.int8), **held)
    b.operator("FULLY_CONNECTED", [x, w], [y], ("FullyConnectedOptions", {}))
    model = model_from_proto(tflite_to_onnx(b.content([x], [y]), "net.tflite"), "net", "net.tflite")
    changed = run_passes(model, (INT16_PRODUCTS,), soc_units)
    kinds = {node.op for node in changed.graph.nodes}
    assert ("MatMulIntegerI16" in kinds, "MatMulInteger" in kinds) == (one, not one)
    fed = {model.graph.inputs[0].name: drawn(1, 1152)}
    before, after = (ReferenceRunner(each).run(fed) for each in (model, changed))
    assert [a.tobytes() for a in before.values()] == [a.tobytes() for a in after.values()]


@pytest.fixture
def soc_units() -> PassContext:
    """A board whose core takes int16."""
    plugins = Plugins.load()
    soc = plugins.soc("stm32l4r5")
    return PassContext(soc, plugins.units_of(soc))
