"""Depthwise convolutions in NHWC: every form of the kernel against ONNX Runtime, integers bit for bit."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, build_and_run, expected, import_graph, make_model
from hypothesis import given, settings
from hypothesis import strategies as st
from match_host.kernels.products.depthwise import build_depthwise
from match_host.kernels.products.depthwise_shape import depthwise_shape, takes, tap_groups
from match_host.machine import MACHINES
from pytest import TempPathFactory

from tests.examples import examples

node = onnx.helper.make_node
NHWC = "match.nhwc"
Run = Callable[..., list[list[dict[str, Array]]]]


@dataclass(frozen=True)
class Layer:
    """``before`` and ``after``: padding of both axes; ``fill``: value of a Pad in front (None: the operator's own
    padding)."""

    dtype: str
    size: tuple[int, int]
    channels: int
    kernel: tuple[int, int]
    stride: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0
    fill: int | None = None
    batch: int = 1
    bias: bool = True
    requant: bool = True
    weight: int | None = None  # all weights


def build(layer: Layer) -> tuple[onnx.ModelProto, dict[str, Array]]:
    rng = np.random.default_rng(5)
    shape, floating = (layer.batch, *layer.size, layer.channels), layer.dtype.startswith("float")
    integers = np.iinfo("int8" if floating else layer.dtype)
    x = rng.integers(integers.min, integers.max, shape, endpoint=True).astype(layer.dtype)
    w = rng.integers(-128, 128, (layer.channels, 1, *layer.kernel)).astype(np.int8)
    if layer.weight is not None:
        w = np.full_like(w, layer.weight)
    pads = [layer.before, layer.before, layer.after, layer.after]
    attributes = {
        "kernel_shape": layer.kernel,
        "strides": [layer.stride] * 2,
        "dilations": [layer.dilation] * 2,
        "pads": [0] * 4 if layer.fill is not None else pads,
        "group": layer.channels,
    }
    nodes, constants = [], {}
    if layer.fill is not None:
        amounts = [0, layer.before, layer.before, 0, 0, layer.after, layer.after, 0]
        constants |= {"pads": np.array(amounts, np.int64), "fill": np.array(layer.fill, layer.dtype)}
        nodes.append(node("Pad", ["x", "pads", "fill"], ["padded"]))
    source = "padded" if nodes else "x"
    if floating:
        x = (x / 32).astype(layer.dtype)
        constants["w"] = (w / 64).astype(layer.dtype)
        inputs = [source, "w"]
        if layer.bias:
            constants["b"] = rng.normal(size=layer.channels).astype(layer.dtype)
            inputs.append("b")
        nodes.append(node("Conv", inputs, ["sums"], domain=NHWC, **attributes))
        nodes.append(node("Relu", ["sums"], ["y"]))
        return make_model(nodes, {"x": x}, constants), {"x": x}
    constants["w"] = w
    nodes.append(node("ConvInteger", [source, "w"], ["sums" if layer.requant else "y"], domain=NHWC, **attributes))
    if layer.requant:
        constants |= {
            "M": rng.integers(2**29, 2**31, (1, 1, 1, layer.channels)),
            "B": rng.integers(-(2**39), 2**39, (1, 1, 1, layer.channels)),
            "D": np.array(2**40, np.int64),
            "lo": np.array(-128, np.int64),
            "hi": np.array(127, np.int64),
        }
        nodes.append(node("RequantI8", ["sums", "M", "B", "D", "lo", "hi"], ["y"], domain="match.arith"))
    return make_model(nodes, {"x": x}, constants), {"x": x}


LAYERS = {
    "float, same padding": Layer("float32", (7, 5), 12, (3, 3), before=1, after=1),
    "float, no padding, batch": Layer("float32", (6, 5), 9, (3, 2), batch=2, bias=False),
    "float, stride and uneven padding": Layer("float32", (8, 7), 20, (3, 3), stride=2, after=1),
    "float, dilation": Layer("float32", (9, 9), 4, (3, 3), dilation=2, before=2, after=2),
    "float, many taps": Layer("float32", (9, 8), 130, (5, 5), before=2, after=2),
    "double": Layer("float64", (5, 5), 3, (3, 3), before=1, after=1),
    "half": Layer("float16", (5, 6), 8, (3, 3), before=1, after=1),
    "half, many taps": Layer("float16", (5, 6), 8, (5, 6)),
    "bytes, fill": Layer("int8", (7, 5), 64, (3, 3), before=1, after=1, fill=-128),
    "unsigned bytes, fill": Layer("uint8", (7, 5), 24, (3, 3), stride=2, before=1, after=1, fill=131),
    "bytes, no requantisation": Layer("int8", (7, 5), 10, (3, 3), before=1, after=1, requant=False),
    "bytes, many taps and fill": Layer("int8", (6, 6), 67, (5, 5), before=2, after=2, fill=7),
    "bytes, many taps, stride and gaps": Layer("int8", (9, 8), 6, (5, 4), stride=2, dilation=2, before=3, after=2),
    "few channels, fill": Layer("int8", (7, 6), 8, (3, 3), before=1, after=1, fill=-7),
    "few channels, stride": Layer("uint8", (5, 17), 3, (3, 3), stride=2, batch=2),
    "few channels, no padding": Layer("int8", (5, 8), 8, (3, 3)),
    "few channels, width of a prime": Layer("int8", (5, 9), 8, (3, 3)),
    "bytes, one row": Layer("int8", (1, 12), 128, (1, 10)),
    "pooling": Layer("int8", (6, 5), 67, (6, 5), weight=1),
    "pooling with padding, many taps": Layer("int8", (9, 8), 10, (5, 5), before=2, after=2, fill=-9, weight=1),
    "windows of one number": Layer("uint8", (6, 5), 21, (6, 5), weight=-3),
    "pooling, batch": Layer("int8", (6, 5), 12, (6, 5), batch=3, weight=1),
    "pooling with padding": Layer("uint8", (6, 5), 16, (3, 3), stride=2, before=1, after=1, weight=1),
}


Results = dict[tuple[str, str], tuple[onnx.ModelProto, dict[str, Array], Array]]
#: Cores with vectors and without.
HOSTS = ("generic", "scalar")


@pytest.fixture(scope="module")
def results(tmp_path_factory: TempPathFactory) -> Results:
    built = {(name, machine): build(layer) for name, layer in LAYERS.items() for machine in HOSTS}
    cases = [Case(model, [sample], machine=machine) for (_, machine), (model, sample) in built.items()]
    outputs = build_and_run(cases, tmp_path_factory.mktemp("depthwise"))
    return {key: (*built[key], samples[0]["y"]) for key, samples in zip(built, outputs, strict=True)}


@pytest.mark.parametrize("machine", HOSTS)
@pytest.mark.parametrize("name", LAYERS)
def test_result(name: str, machine: str, results: Results) -> None:
    model, sample, got = results[name, machine]
    assert takes(tuple(import_graph(model).toposort().nodes)), "another kernel ran it"
    want = expected(model, sample)["y"]
    if want.dtype.kind == "f":
        tolerance = {"float16": 2.0**-10, "float32": 1e-5, "float64": 1e-13}[want.dtype.name]
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * float(np.abs(want).max()))
    else:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("name", "product"),
    [
        ("float, many taps", "x0[3] * w[3]"),
        ("bytes, many taps and fill", "x0[3] * w[3]"),
        ("bytes, many taps, stride and gaps", "x0[3] * w[3]"),
        ("pooling", "x0[3]"),
        ("windows of one number", "x0[3] * -3"),
    ],
)
def test_sums_of_many_taps_have_registers_without_vectors(name: str, product: str) -> None:
    nodes = tuple(import_graph(build(LAYERS[name])[0]).toposort().nodes)
    code = {machine: build_depthwise(nodes, "kernel", MACHINES[machine]).code.definition for machine in HOSTS}
    assert f"s3 += {product};" in code["scalar"]
    assert "sum[c] += " in code["generic"]


@pytest.mark.parametrize(("name", "alone"), [("float, same padding", True), ("float, many taps", False)])
def test_kernels_with_a_pointer_for_each_tap_are_no_part_of_their_caller(name: str, alone: bool) -> None:
    """Compilers would know the addresses of weights there, and keep them in the registers of the taps."""
    code = build_depthwise(
        tuple(import_graph(build(LAYERS[name])[0]).toposort().nodes), "kernel", MACHINES["scalar"]
    ).code
    assert ("\nHOST_APART\nstatic void kernel(" in code.definition) == alone
    assert ("HOST_APART" in dict(code.helpers)) == alone


@pytest.mark.parametrize(
    ("name", "loops"), [("pooling", 1), ("pooling, batch", 1), ("half, many taps", 1), ("bytes, many taps and fill", 2)]
)
def test_taps_of_whole_images_are_one_loop(name: str, loops: int) -> None:
    """Compilers hold fewer places in registers than for rows and columns."""
    nodes = tuple(import_graph(build(LAYERS[name])[0]).toposort().nodes)
    code = build_depthwise(nodes, "kernel", MACHINES["generic"]).code.definition
    assert len(re.findall(r"for \(int32_t k[xy] = ", code)) == loops


def test_pooling_carries_no_weights() -> None:
    for name in ("pooling", "pooling with padding"):
        graph = import_graph(build(LAYERS[name])[0]).toposort()
        conv = depthwise_shape(tuple(graph.nodes))
        assert conv.factor == 1


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_groups_of_taps_never_leave_16_bits(data: st.DataObject) -> None:
    """The largest sum of every group, over all inputs, is an int16."""
    source = data.draw(st.sampled_from(["int8", "uint8"]))
    limit = data.draw(st.integers(1, 128))
    weights = data.draw(st.lists(st.integers(-limit, min(limit, 127)), min_size=18, max_size=18))
    model, _ = build(Layer(source, (4, 4), 2, (3, 3), requant=False))
    graph = import_graph(model).toposort()
    graph.nodes[0].inputs[1].values = np.array(weights, np.int8).reshape(2, 1, 3, 3)
    conv = depthwise_shape(tuple(graph.nodes))
    groups = tap_groups(conv)
    assert [tap for group in groups for tap in group] == list(range(9))
    low, high = int(np.iinfo(source).min), int(np.iinfo(source).max)
    for group in groups:
        if len(group) == 1:
            continue
        for channel in range(2):
            values = conv.weight[group, channel].astype(int)
            assert int(np.maximum(values * low, values * high).sum()) < 2**15
            assert int(np.minimum(values * low, values * high).sum()) >= -(2**15)
