"""Products with the region on their result: what joins, what does not, and that results stay the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, expected, import_graph, make_model
from match_host.product_region import find_product_regions

node = onnx.helper.make_node
RNG = np.random.default_rng(11)
NHWC = "match.nhwc"
PATTERN = "host_product_region"
Made = tuple[onnx.ModelProto, dict[str, Array]]


def f32(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def i8(*shape: int) -> Array:
    return RNG.integers(-128, 128, shape).astype(np.int8)


def conv(source: str, out: str, op: str = "Conv", inputs: tuple[str, ...] = ("w",), **other: object) -> onnx.NodeProto:
    full = {"kernel_shape": [3, 3], "pads": [1] * 4, "strides": [1, 1], "dilations": [1, 1], "group": 1, **other}
    return node(op, [source, *inputs], [out], domain=NHWC, **full)


def residual_convolution() -> Made:
    """x + batch normalisation of a convolution of x, Relu."""
    nodes = [
        conv("x", "c", inputs=("w", "b")),
        node("Mul", ["c", "scale"], ["m"]),
        node("Add", ["m", "shift"], ["n"]),
        node("Add", ["n", "x"], ["s"]),
        node("Relu", ["s"], ["y"]),
    ]
    x = f32(1, 7, 5, 12)
    per_channel = {name: f32(1, 1, 1, 12) for name in ("scale", "shift")}
    return make_model(nodes, {"x": x}, {"w": f32(12, 12, 3, 3), "b": f32(12), **per_channel}), {"x": x}


def dense_with_bias() -> Made:
    nodes = [
        node("MatMul", ["x", "w"], ["p"]),
        node("Add", ["p", "b"], ["s"]),
        node("Add", ["s", "r"], ["t"]),
        node("Relu", ["t"], ["y"]),
    ]
    inputs = {"x": f32(1, 9, 20), "r": f32(1, 9, 33)}
    return make_model(nodes, inputs, {"w": f32(20, 33), "b": f32(33)}), inputs


def requantised(channels: int, group: int) -> Made:
    """A padded integer convolution with requantisation, added to its input with another one."""
    shared = {"D": np.array(2**38, np.int64), "lo": np.array(-128, np.int64), "hi": np.array(127, np.int64)}
    constants = {
        "pads": np.array([0, 1, 1, 0, 0, 1, 1, 0], np.int64),
        "fill": np.array(-3, np.int8),
        "w": i8(channels, channels // group, 3, 3),
        "M": RNG.integers(2**26, 2**28, (1, 1, 1, channels)),
        "B": RNG.integers(-(2**40), 2**40, (1, 1, 1, channels)),
        "Ma": np.array(1098017566, np.int64),
        "Mb": np.array(415133429, np.int64),
        "Bs": np.array(-19706032632, np.int64),
        "Ds": np.array(2**31, np.int64),
        **shared,
    }
    nodes = [
        node("Pad", ["x", "pads", "fill"], ["p"]),
        conv("p", "c", "ConvInteger", pads=[0] * 4, group=group),
        node("RequantI8", ["c", "M", "B", "D", "lo", "hi"], ["q"], domain="match.arith"),
        node("AddRequantI8", ["q", "x", "Ma", "Mb", "Bs", "Ds", "lo", "hi"], ["y"], domain="match.arith"),
    ]
    x = i8(1, 6, 8, channels)
    return make_model(nodes, {"x": x}, constants), {"x": x}


MODELS: dict[str, Callable[[], Made]] = {
    "residual convolution": residual_convolution,
    "dense with bias": dense_with_bias,
    "requantised convolution": lambda: requantised(24, 1),
    "requantised depthwise": lambda: requantised(40, 40),
    "requantised depthwise of few channels": lambda: requantised(8, 8),
}


@pytest.fixture(scope="module")
def results(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> dict[str, tuple[Made, Array]]:
    made = {name: build() for name, build in MODELS.items()}
    outputs = run_cases([Case(model, [sample], (PATTERN,)) for model, sample in made.values()])
    return {name: (made[name], samples[0]["y"]) for name, samples in zip(made, outputs, strict=True)}


@pytest.mark.parametrize("name", MODELS)
def test_one_kernel_gives_the_same(name: str, results: dict[str, tuple[Made, Array]]) -> None:
    (model, sample), got = results[name]
    want = expected(model, sample)["y"]
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    else:
        np.testing.assert_array_equal(got, want)


def _joined(model: onnx.ModelProto) -> list[list[str]]:
    return [[node.op for node in match.nodes] for match in find_product_regions(import_graph(model))]


def test_a_product_that_others_read_stays_alone() -> None:
    inputs = {"x": f32(4, 6)}
    nodes = [
        node("MatMul", ["x", "w"], ["p"]),
        node("Add", ["p", "b"], ["y"]),
        node("Softmax", ["p"], ["z"]),
    ]
    assert _joined(make_model(nodes, inputs, {"w": f32(6, 5), "b": f32(5)}, ("y", "z"))) == []


def test_exponentials_stay_outside() -> None:
    inputs = {"x": f32(4, 6)}
    nodes = [node("MatMul", ["x", "w"], ["p"]), node("Add", ["p", "b"], ["s"]), node("Gelu", ["s"], ["y"])]
    assert _joined(make_model(nodes, inputs, {"w": f32(6, 5), "b": f32(5)})) == [["MatMul", "Add"]]


def test_a_region_that_enlarges_the_product_stays_outside() -> None:
    inputs = {"x": f32(4, 6), "r": f32(3, 4, 5)}
    nodes = [node("MatMul", ["x", "w"], ["p"]), node("Add", ["p", "r"], ["y"])]
    assert _joined(make_model(nodes, inputs, {"w": f32(6, 5)})) == []


def test_either_of_two_products_may_take_their_sum() -> None:
    inputs = {"x": f32(4, 6)}
    nodes = [
        node("MatMul", ["x", "w"], ["p"]),
        node("MatMul", ["x", "v"], ["q"]),
        node("Add", ["p", "q"], ["s"]),
        node("Relu", ["s"], ["y"]),
    ]
    found = _joined(make_model(nodes, inputs, {"w": f32(6, 5), "v": f32(6, 5)}))
    assert found == [["MatMul", "Add", "Relu"]] * 2
