"""Quantisation as old converters wrote it: scales repeated by channel, the axis left out, biases with scales of their
own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from match_core.load.load import model_from_proto
from match_core.plugin.facade import Plugins
from match_tflite.convert import tflite_to_onnx
from match_verify.reference import ReferenceRunner
from match_verify.verify import VerifyRequest, verify_model

from tests.tflite_files.builder import CONV, SAME, TfliteBuilder, saved
from tests.tflite_files.numpy_operators import Array, conv, windows

RANDOM = np.random.default_rng(31)
CHANNELS = 8
SCALES = [float(scale) for scale in RANDOM.uniform(0.004, 0.02, CHANNELS)]


def quantised(real: Array, scale: float | Array, zero: int) -> Array:
    return np.clip(np.rint(real / np.float32(scale)) + zero, -128, 127).astype(np.int8)


def computed(content: bytes, x: Array) -> Array:
    model = model_from_proto(tflite_to_onnx(content, "net.tflite"), "net", "net.tflite")
    return ReferenceRunner(model).run({"x": x})[model.graph.outputs[0].name]


def network(repeated: bool, axis: int | None, bias_scale: float | None) -> tuple[bytes, list[Array]]:
    """Convolution, depthwise convolution, dense layer. ``repeated``: scales of activations are vectors of equal values;
    ``axis``: stated for all weights, None for the right one; ``bias_scale``: of all biases."""
    random, b, arrays = np.random.default_rng(5), TfliteBuilder(), []

    def activations(name: str, shape: tuple[int, ...], scale: float, zero: int) -> int:
        count = shape[-1] if repeated else 1
        held: dict[str, Any] = {"scale": [scale] * count, "zero": [zero] * count, "axis": len(shape) - 1}
        return b.tensor(name, shape, "int8", **held)

    def weights(name: str, shape: tuple[int, ...], right: int) -> list[int]:
        values = random.integers(-127, 128, shape).astype(np.int8)
        biases = random.integers(-3000, 3000, CHANNELS).astype(np.int32)
        arrays.extend((values, biases))
        kept = {"scale": SCALES, "zero": [0] * CHANNELS, "axis": right if axis is None else axis}
        own = {} if bias_scale is None else {"scale": bias_scale}
        return [b.constant(name, values, **kept), b.constant(f"{name}_bias", biases, **own)]

    x = activations("x", (1, 6, 6, 3), 0.02, 4)
    first, second = (activations(name, (1, 6, 6, CHANNELS), scale, -128) for name, scale in (("a", 0.05), ("b", 0.1)))
    relu = {**CONV, "Padding": SAME, "FusedActivationFunction": 1}
    b.operator("CONV_2D", [x, *weights("w", (CHANNELS, 3, 3, 3), 0)], [first], ("Conv2DOptions", relu))
    depthwise = ("DepthwiseConv2DOptions", {**relu, "DepthMultiplier": 1})
    b.operator("DEPTHWISE_CONV_2D", [first, *weights("d", (1, 3, 3, CHANNELS), 3)], [second], depthwise)
    y = activations("y", (1, CHANNELS), 0.7, 9)
    flat = weights("f", (CHANNELS, 36 * CHANNELS), 0)
    b.operator("FULLY_CONNECTED", [second, *flat], [y], ("FullyConnectedOptions", {}))
    return b.content([x], [y]), arrays


def expected(x: Array, arrays: list[Array]) -> Array:
    """Real numbers, rounded after each layer."""
    w, w_bias, d, d_bias, f, f_bias = (array.astype(np.float64) for array in arrays)
    scales = np.array(SCALES, np.float32).astype(np.float64)
    steps = [np.float32(scale).astype(np.float64) * scales for scale in (0.02, 0.05, 0.1)]
    a = quantised(np.maximum((conv()(x - 4.0, w) + w_bias) * steps[0], 0), 0.05, -128)
    view = windows(np.pad(a + 128.0, [(0, 0), (1, 1), (1, 1), (0, 0)]), (3, 3), (1, 1))
    b = quantised(np.maximum((np.einsum("nyxhwc,hwc->nyxc", view, d[0]) + d_bias) * steps[1], 0), 0.1, -128)
    return quantised((b.reshape(1, -1) + 128.0) @ f.T * steps[2] + f_bias * steps[2], 0.7, 9)


FORMS = [(True, None, None), (False, 0, None), (True, 0, 0.5), (False, 1, 1e-9)]


@pytest.mark.parametrize(("repeated", "axis", "bias_scale"), FORMS)
def test_every_form_is_read_the_same(repeated: bool, axis: int | None, bias_scale: float | None) -> None:
    content, arrays = network(repeated, axis, bias_scale)
    x = RANDOM.integers(-128, 128, (1, 6, 6, 3)).astype(np.int8)
    plain = computed(network(False, None, None)[0], x)
    np.testing.assert_array_equal(computed(content, x), plain)
    assert np.abs(plain.astype(int) - expected(x, arrays)).max() <= 1 and len(np.unique(plain)) > 4


@pytest.mark.parametrize("target", ["host", "gap9"])
def test_units_take_them(target: str, tmp_path: Path) -> None:
    """Bit for bit, and on GAP9 no layer is left to the host."""
    content, arrays = network(True, 0, 0.5)
    x = RANDOM.integers(-128, 128, (3, 1, 6, 6, 3)).astype(np.int8)
    result = verify_model(
        VerifyRequest(saved(tmp_path / "old.tflite", content), target, arrays={"x": x}), Plugins.load()
    )
    assert result.ok and result.bit_exact
    for sample in range(3):
        assert np.abs(result.run.outputs["y"][sample].astype(int) - expected(x[sample], arrays)).max() <= 1
    if target == "gap9":
        chosen = [task.assignment.candidate for task in result.compilation.program.tasks]
        left = {candidate.pattern.name for candidate in chosen if candidate.unit == "host"}
        assert left == {"host_offset_i8_to_u8", "host_view", "host_offset_u8_to_i8"}


@pytest.mark.parametrize("target", ["host", "gap9"])
def test_different_scales_on_activations(target: str, tmp_path: Path) -> None:
    """By channel, before and after a function and between convolutions, whose images are stored as planes."""
    scales = np.array([0.05, 0.02, 0.08, 0.03], np.float32)
    kept: dict[str, Any] = {"scale": scales.tolist(), "zero": [3, -2, 0, 5], "axis": 3}
    b = TfliteBuilder()
    x, y = (b.tensor(name, (1, 4, 4, 4), "int8", **kept) for name in ("x", "y"))
    w, z = b.constant("w", np.eye(4, dtype=np.float32).reshape(4, 1, 1, 4)), b.tensor("z", (1, 4, 4, 4))
    b.operator("ABS", [x], [y])
    b.operator("CONV_2D", [y, w], [z], ("Conv2DOptions", {**CONV, "Padding": SAME}))
    values = RANDOM.integers(-128, 128, (2, 1, 4, 4, 4)).astype(np.int8)
    path = saved(tmp_path / "net.tflite", b.content([x], [z]))
    result = verify_model(VerifyRequest(path, target, arrays={"x": values}), Plugins.load())
    zeros = np.array(kept["zero"])
    real = np.clip(np.rint(np.abs((values - zeros) * scales) / scales) + zeros, -128, 127) - zeros
    assert result.ok
    np.testing.assert_allclose(result.run.outputs["z"], real * scales, rtol=1e-5)
