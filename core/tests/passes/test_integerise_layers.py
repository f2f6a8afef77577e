"""Transposed, volume and sequence convolutions, and weights of nine bits: integers equal to what the layer computes.

The reference computes the layer in float64 and rounds half up, which is the documented arithmetic; the lowered model
may differ from it by 1 LSB for few values only (docs/requantisation.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from match_core.contract.hardware import Unit
from match_core.load.load import model_from_proto
from onnx import helper, numpy_helper
from quantised import compare, lower, ops

from core.tests.passes.conftest import EXACT, FAST, context
from tests.examples import examples

#: As the fixture ``accelerated``.
UNIT = Unit("acc", "an accelerator", "L2", "NHWC", FAST, EXACT)


@dataclass(frozen=True)
class Layer:
    """A quantised layer of its own; ``zero`` of the input, and of the weights if they are uint8."""

    op: str
    shape: tuple[int, ...]
    weight: tuple[int, ...]
    attrs: dict[str, object] = field(default_factory=dict)
    zero: int = 7
    weight_type: str = "int8"
    weight_zero: int = 0
    per_channel: bool = False
    activations: str = "int8"
    seed: int = 0


def model(layer: Layer):
    """DequantizeLinear -> layer -> QuantizeLinear with a result that uses its range."""
    random = np.random.default_rng(layer.seed)
    limits = np.iinfo(layer.weight_type)
    weight = random.integers(limits.min, int(limits.max) + 1, layer.weight).astype(layer.weight_type)
    axis = 1 if layer.op in ("ConvTranspose", "MatMul") else 0
    groups = int(layer.attrs.get("group", 1))  # type: ignore[call-overload]
    outputs = layer.weight[axis] * (groups if layer.op == "ConvTranspose" else 1)
    scales = random.uniform(0.005, 0.02, layer.weight[axis] if layer.per_channel else ()).astype(np.float32)
    whole = np.abs(weight.astype(np.float64) - layer.weight_zero)
    spread = 0.05 * 74 * float(np.max(scales)) * np.sqrt(np.square(whole).sum() / outputs)
    constants = {
        "xs": np.float32(0.05),
        "xz": np.array(layer.zero, layer.activations),
        "w": weight,
        "ws": scales,
        "wz": np.full(scales.shape, layer.weight_zero, layer.weight_type),
        "b": random.normal(0, spread / 4, outputs).astype(np.float32),
        "ys": np.float32(spread / 40),
        "yz": np.array(3, layer.activations),
    }
    inputs = ["xd", "wd"] + (["b"] if layer.op != "MatMul" else [])
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["xd"], "read"),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], "weights", axis=axis),
        helper.make_node(layer.op, inputs, ["real"], "layer", **layer.attrs),
        helper.make_node("QuantizeLinear", ["real", "ys", "yz"], ["y"], "write"),
    ]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(layer.activations))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", kind, layer.shape)],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(np.asarray(values), name) for name, values in constants.items()],
    )
    return model_from_proto(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), "net", "net.onnx"
    )


def checked(layer: Layer, context) -> set[str]:
    """The operators of the lowered layer, whose results are those of the original."""
    source = model(layer)
    lowered = lower(source, context)
    assert not ops(lowered) & {"Conv", "ConvTranspose", "MatMul", "QuantizeLinear", "DequantizeLinear"}
    compare(source, lowered, share=0.002)
    return ops(lowered)


TRANSPOSED = {
    "stride 2, kernel 3": ((1, 4, 5, 6), (4, 3, 3, 3), {"strides": [2, 2]}),
    "padded, kernel 4": ((1, 4, 5, 6), (4, 3, 4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "output padding": ((1, 4, 5, 5), (4, 3, 3, 3), {"strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]}),
    "two groups": ((1, 4, 4, 4), (4, 3, 3, 3), {"strides": [2, 3], "group": 2, "pads": [1, 0, 0, 2]}),
    "depthwise": ((1, 4, 4, 4), (4, 1, 2, 2), {"strides": [2, 2], "group": 4}),
    "no stride": ((1, 3, 5, 5), (3, 2, 3, 3), {"pads": [1, 1, 1, 1]}),
    "dilated": ((1, 3, 5, 5), (3, 2, 3, 2), {"strides": [2, 1], "dilations": [2, 3]}),
    "kernel below the stride": ((1, 3, 4, 4), (3, 2, 1, 2), {"strides": [2, 3]}),
    "much padding": ((1, 3, 6, 6), (3, 2, 2, 2), {"strides": [1, 2], "pads": [2, 3, 1, 2]}),
    "same size": ((1, 3, 5, 4), (3, 2, 3, 3), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    "stated size": ((1, 3, 5, 4), (3, 2, 3, 3), {"strides": [2, 2], "output_shape": [10, 9]}),
    "sequence": ((1, 3, 7), (3, 2, 4), {"strides": [2], "pads": [1, 1]}),
}


@pytest.mark.parametrize("name", TRANSPOSED)
@pytest.mark.parametrize("per_channel", [False, True])
def test_transposed(accelerated, name, per_channel):
    shape, weight, attrs = TRANSPOSED[name]
    made = checked(Layer("ConvTranspose", shape, weight, attrs, per_channel=per_channel), accelerated)
    assert "match.nhwc::ConvInteger" in made


VOLUMES = {
    "padded": ((1, 3, 5, 4, 4), (4, 3, 3, 3, 3), {"pads": [1] * 6}),
    "strides": ((1, 3, 6, 5, 4), (4, 3, 2, 3, 2), {"strides": [2, 1, 2], "pads": [1, 0, 1, 0, 2, 0]}),
    "dilated": ((1, 2, 7, 5, 5), (3, 2, 3, 2, 2), {"dilations": [2, 1, 2]}),
    "groups": ((1, 4, 4, 4, 4), (6, 2, 3, 1, 1), {"group": 2, "pads": [1, 0, 0, 1, 0, 0]}),
    "pointwise": ((1, 4, 3, 3, 3), (5, 4, 1, 1, 1), {}),
}


@pytest.mark.parametrize("name", VOLUMES)
def test_volumes(accelerated, name):
    shape, weight, attrs = VOLUMES[name]
    assert "match.nhwc::ConvInteger" in checked(Layer("Conv", shape, weight, attrs, per_channel=True), accelerated)


SEQUENCES = {
    "plain": ((1, 3, 12), (4, 3, 3), {"pads": [1, 1]}),
    "strided": ((1, 3, 12), (4, 3, 4), {"strides": [2], "pads": [2, 1]}),
    "depthwise": ((1, 4, 12), (4, 1, 3), {"group": 4, "pads": [1, 1]}),
    "dilated": ((1, 3, 12), (4, 3, 3), {"dilations": [2], "pads": [2, 2]}),
    "dilated, causal": ((1, 3, 12), (4, 3, 3), {"dilations": [4], "pads": [8, 0]}),
    "dilated, odd": ((1, 3, 11), (4, 3, 3), {"dilations": [2], "pads": [1, 2]}),
    "dilated depthwise": ((1, 4, 12), (4, 1, 3), {"dilations": [3], "group": 4, "pads": [3, 3]}),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences(accelerated, name):
    shape, weight, attrs = SEQUENCES[name]
    checked(Layer("Conv", shape, weight, attrs), accelerated)


WIDE = {
    "convolution": ((1, 3, 5, 5), (4, 3, 3, 3), {"pads": [1] * 4}),
    "depthwise": ((1, 4, 6, 6), (4, 1, 3, 3), {"group": 4, "pads": [1, 0, 1, 1], "strides": [2, 2]}),
    "dilated depthwise": ((1, 4, 6, 6), (4, 1, 3, 3), {"group": 4, "dilations": [2, 2]}),
    "groups": ((1, 4, 5, 5), (4, 2, 3, 3), {"group": 2}),
    "sequence": ((1, 3, 9), (4, 3, 3), {"pads": [1, 1]}),
    "volume": ((1, 2, 3, 4, 4), (3, 2, 2, 2, 2), {}),
}


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("zero", [0, 100, 128, 255])
def test_unsigned_weights(accelerated, name, zero):
    shape, weight, attrs = WIDE[name]
    layer = Layer("Conv", shape, weight, attrs, weight_type="uint8", weight_zero=zero, activations="uint8", zero=120)
    checked(layer, accelerated)


@pytest.mark.parametrize("zero", [0, 100, 128, 255])
def test_unsigned_dense_weights(accelerated, zero):
    checked(Layer("MatMul", (3, 8), (8, 5), weight_type="uint8", weight_zero=zero, activations="uint8"), accelerated)


@st.composite
def geometries(draw, transposed: bool):
    """Layers of one to three spatial axes."""
    rank = draw(st.integers(1, 2 if transposed else 3))
    axes = [draw(st.tuples(*(st.integers(1, 3) for _ in range(3)))) for _ in range(rank)]  # kernel, stride, dilation
    sizes = [draw(st.integers((kernel - 1) * dilation + 1, 8)) for kernel, _, dilation in axes]
    pads = [draw(st.integers(0, 2)) for _ in range(2 * rank)]
    groups = draw(st.sampled_from((1, 2, 4)))
    inner = 4 // groups
    weight = (4, inner) if not transposed else (4, draw(st.integers(1, 3)))
    attrs: dict[str, object] = {
        "strides": [stride for _, stride, _ in axes],
        "dilations": [dilation for _, _, dilation in axes],
        "pads": pads,
        "group": groups,
    }
    if transposed:
        extra = [draw(st.integers(0, stride - 1)) for _, stride, _ in axes]
        attrs["output_padding"] = extra
        reach = [
            (size - 1) * stride + more + (kernel - 1) * dilation + 1 - before - after
            for size, more, (kernel, stride, dilation), before, after in zip(
                sizes, extra, axes, pads[:rank], pads[rank:], strict=True
            )
        ]
        assume(min(reach) > 0)
    wide = draw(st.booleans())
    return Layer(
        "ConvTranspose" if transposed else "Conv",
        (1, 4, *sizes),
        (*weight, *(kernel for kernel, _, _ in axes)),
        attrs,
        zero=draw(st.integers(0, 127)),
        weight_type="uint8" if wide else "int8",
        weight_zero=draw(st.integers(0, 255)) if wide else 0,
        per_channel=draw(st.booleans()),
        activations=draw(st.sampled_from(("int8", "uint8"))),
        seed=draw(st.integers(0, 99)),
    )


@settings(max_examples=examples(90), deadline=None)
@given(geometries(transposed=True))
def test_any_transposed_layer(layer):
    checked(layer, context(UNIT))


@settings(max_examples=examples(90), deadline=None)
@given(geometries(transposed=False))
def test_any_layer(layer):
    checked(layer, context(UNIT))
