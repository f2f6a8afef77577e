"""Packed constants mean what the graph says: the contexts' formulas over them equal ONNX's operators."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_carfield.half import pack, workloads
from match_core import Match
from match_core.contract.geometry import far_bytes
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

if TYPE_CHECKING:
    from .conftest import Half

Reals = NDArray[np.float64]


def onnx_conv(match: Match, image: Reals) -> Reals:
    """The convolution with its bias, from NHWC to NHWC, in float64."""
    node = match.node("conv")
    weight, bias = (tensor.values.astype(np.float64) for tensor in node.inputs[1:])
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w", "b"], ["y"], **dict(node.attrs))],
        "conv",
        [helper.make_tensor_value_info("x", TensorProto.DOUBLE, None)],
        [helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")],
    )
    (result,) = ReferenceEvaluator(helper.make_model(graph)).run(None, {"x": image.transpose(0, 3, 1, 2)})
    return np.asarray(result, np.float64).transpose(0, 2, 3, 1)


def context_conv(match: Match, image: Reals, groups: int, packed: pack.Arrays) -> Reals:
    """output[oy][ox][g][k] by the formula of the contexts, with weights [g][fy][fx][c][k]."""
    parameters = workloads.conv(match).parameters
    top, left = match.node("conv").attrs["pads"][:2]
    weight = packed["weight"].astype(np.float64)
    fy, fx, c, k = weight.shape[1:]
    _, oy, ox, channels = match.output.shape
    result = np.zeros((oy, ox, groups, k))
    for y, x, g in product(range(oy), range(ox), range(groups)):
        for ky, kx in product(range(fy), range(fx)):
            iy, ix = y * parameters["stride_y"] + ky - top, x * parameters["stride_x"] + kx - left
            if 0 <= iy < image.shape[1] and 0 <= ix < image.shape[2]:
                result[y, x, g] += image[0, iy, ix, g * c : (g + 1) * c] @ weight[g, ky, kx]
    changed = result.reshape(oy, ox, channels) * packed["mul"].astype(np.float64) + packed["add"].astype(np.float64)
    return changed[np.newaxis]


@pytest.mark.parametrize(
    ("name", "channels", "outputs", "group"),
    [("conv", 3, 5, 1), ("group", 6, 8, 2), ("depthwise", 6, 6, 6)],
)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_convolutions(
    half: Callable[..., Half], name: str, channels: int, outputs: int, group: int, data: st.DataObject
) -> None:
    kernel, stride = data.draw(st.sampled_from([1, 3])), data.draw(st.sampled_from([1, 2]))
    graph = half(np.random.default_rng(data.draw(st.integers(0, 1000))))
    x = graph.conv(graph.input(1, 5, 6, channels), outputs, kernel=kernel, stride=stride, group=group)
    match = next(iter(graph.matches(x).values()))
    workload = getattr(workloads, name)(match)
    packed = getattr(pack, name)(match, workload)
    for operand in (operand for operand in workload.operands if operand.role == "constant"):
        assert packed[operand.name].nbytes == far_bytes(operand)
        assert packed[operand.name].flags.c_contiguous
    image = graph.random.standard_normal((1, 5, 6, channels))
    weight = packed["weight"]
    if name == "conv":
        weight = weight[np.newaxis]
    elif name == "depthwise":
        weight = weight.transpose(2, 0, 1)[..., np.newaxis, np.newaxis]
    found = context_conv(match, image, group, {**packed, "weight": weight})
    np.testing.assert_allclose(found, onnx_conv(match, image), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("turned", [0, 1])
def test_dense(half: Callable[[], Half], turned: int) -> None:
    graph = half()
    weight = graph.constant(*((10, 24) if turned else (24, 10)))
    x = graph.node("Gemm", [graph.input(3, 24), weight, graph.constant(10)], (3, 10), transB=turned)
    packed = pack.linear(graph.matches(x)["linear"], workloads.linear(graph.matches(x)["linear"]))
    np.testing.assert_array_equal(packed["weight"], weight.values.T if turned else weight.values)
    assert packed["weight"].flags.c_contiguous
    np.testing.assert_array_equal(packed["add"], graph.nodes[0].inputs[2].values)
    np.testing.assert_array_equal(packed["mul"], np.ones(10, np.float16))


@pytest.mark.parametrize("bias", [True, False])
def test_normalisation(half: Callable[[], Half], bias: bool) -> None:
    graph = half()
    scale, rest = graph.constant(8), [graph.constant(8)] if bias else []
    x = graph.node("LayerNormalization", [graph.input(2, 8), scale, *rest], (2, 8), axis=-1)
    match = graph.matches(x)["layernorm"]
    packed = pack.layernorm(match, workloads.layernorm(match))
    np.testing.assert_array_equal(packed["scale"], scale.values)
    np.testing.assert_array_equal(packed["bias"], rest[0].values if bias else np.zeros(8))
    assert {array.dtype for array in packed.values()} == {np.dtype(np.float16)}
