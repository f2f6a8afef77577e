"""What regions become: which operators are fused, and what the code and its constants look like."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from dnnl_networks import Network
from match_core import RegionRequest
from match_core.contract.region import Region
from match_dnnl.claims import CLAIMS, REGION
from match_dnnl.lower import compile_region

Build = Callable[[Network], None]


def _region(build: Build) -> Region:
    n = Network()
    build(n)
    graph = gs.import_onnx(n.model())
    nodes = [node for node in graph.nodes if node.op != "Constant"]
    return Region.of(nodes, graph.outputs)


def _nodes(build: Build) -> list[dict[str, Any]]:
    document = json.loads(compile_region(RegionRequest("net", _region(build))).content)
    nodes: list[dict[str, Any]] = document["nodes"]
    return nodes


def _conv(n: Network, source: str, channels: int = 16) -> str:
    return n.node("Conv", [source, n.floats(channels, channels, 1, 1), n.floats(channels)], kernel_shape=[1, 1])


def test_a_residual_block_is_two_convolutions() -> None:
    """The addition and both activations are post-operations; what is added is a further input."""

    def build(n: Network) -> None:
        source = n.input(1, 16, 4, 4)
        first = n.node("Relu", [_conv(n, source)])
        n.case("y", "Relu", [n.node("Add", [_conv(n, first), source])])

    nodes = _nodes(build)
    assert [(node["op"], node["attributes"].get("post")) for node in nodes] == [
        ("dnnl::convolution", ["relu"]),
        ("dnnl::convolution", ["sum", "relu"]),
    ]
    assert (len(nodes[1]["inputs"]), nodes[1]["attributes"]["own"]) == (4, 3)


def test_additions_per_channel_go_into_the_bias() -> None:
    """At once, not while running."""

    def build(n: Network) -> None:
        n.case("y", "Add", [_conv(n, n.input(1, 16, 4, 4)), n.constant(np.full((16, 1, 1), 2, np.float32))])

    region = _region(build)
    code = compile_region(RegionRequest("net", region))
    bias = next(np.asarray(t.values) for t in region.constants if t.values.shape == (16,))
    assert len(json.loads(code.content)["nodes"]) == 1
    assert np.array_equal(code.constants[1], bias + 2)


def test_a_result_that_leaves_is_not_fused() -> None:
    """Nor one that two nodes read."""

    def build(n: Network) -> None:
        made = _conv(n, n.input(1, 16, 4, 4))
        n.case("one", "Relu", [made])
        n.case("other", "Sigmoid", [made])

    assert [node["op"] for node in _nodes(build)] == ["dnnl::convolution", "dnnl::eltwise", "dnnl::eltwise"]


def test_an_addition_behind_an_activation_is_a_node_of_its_own() -> None:
    """oneDNN's fast convolutions add first."""

    def build(n: Network) -> None:
        source = n.input(1, 16, 4, 4)
        n.case("y", "Add", [n.node("Relu", [_conv(n, source)]), source])

    assert [node["op"] for node in _nodes(build)] == ["dnnl::convolution", "dnnl::binary"]


def test_zeros_in_front_become_padding() -> None:
    """A Pad with another value stays, as constants beside the tensor."""

    def build(value: float) -> Build:
        def written(n: Network) -> None:
            amounts = n.constant([0, 0, 1, 0, 0, 0, 0, 2])
            n_value = n.constant(np.array(value, np.float32))
            n.case("y", "Conv", [n.node("Pad", [n.input(1, 4, 5, 5), amounts, n_value]), n.floats(4, 4, 2, 2)])

        return written

    (node,) = _nodes(build(0.0))
    assert (node["attributes"]["before"], node["attributes"]["after"]) == ([1, 0], [0, 2])
    assert [node["op"] for node in _nodes(build(1.0))] == ["dnnl::concat", "dnnl::concat", "dnnl::convolution"]


def test_groups_have_an_axis_of_their_own() -> None:
    """Weights of four groups of three channels."""

    def build(n: Network) -> None:
        n.case("y", "Conv", [n.input(1, 12, 5, 5), n.floats(8, 3, 2, 2)], group=4)

    (weights,) = compile_region(RegionRequest("net", _region(build))).constants
    assert weights.shape == (4, 2, 3, 2, 2)


@pytest.mark.parametrize(("channels", "stride", "expected"), [(16, 1, "winograd"), (3, 1, "direct"), (16, 2, "direct")])
def test_where_winograd_is_allowed(channels: int, stride: int, expected: str) -> None:
    """Not where blocks of channels are not filled, nor with strides; never where the preset says so."""

    def build(n: Network) -> None:
        weights = n.floats(16, channels, 3, 3)
        n.case("y", "Conv", [n.input(1, channels, 9, 9), weights], strides=[stride] * 2)

    (node,) = _nodes(build)
    assert node["attributes"]["algorithm"] == f"convolution_{expected}"
    request = RegionRequest("net", _region(build))
    assert b"convolution_direct" in compile_region(request, winograd=False).content


def test_every_claimed_operator_has_a_lowering() -> None:
    """No claim can be taken that the compiler does not know."""
    from match_dnnl.functions import FUNCTIONS
    from match_dnnl.lower import OPERATORS

    names = {name for claim in CLAIMS.operators for name in claim.names}
    assert names - set(FUNCTIONS) - {"Pow"} <= set(OPERATORS)


def test_no_name_of_the_model_is_in_the_code() -> None:
    def build(n: Network) -> None:
        n.case("secret", "Relu", [n.input(1, 3)])

    assert b"secret" not in compile_region(RegionRequest("net", _region(build))).content


@pytest.mark.parametrize(
    ("build", "value"),
    [
        (lambda n: n.case("y", "LRN", [n.input(1, 4, 5, 5)], size=4), "it is 4"),
        (lambda n: n.case("y", "Sub", [n.floats(1, 4), n.input(3, 4)]), "the first operand has the result's shape"),
        (lambda n: n.case("y", "Max", [n.input(4), n.input(4), n.input(4)]), "there are 3"),
        (lambda n: n.case("y", "Exp", [n.input(1, 1, 1, 1, 1, 1, 2)]), "one has 7 axes"),
        (lambda n: n.case("y", "MatMul", [n.input(4), n.input(4, 3)]), "one has 1 axis"),
        (lambda n: n.case("y", "ReduceSum", [n.input(1, 4), n.constant([0])]), "axes [0] have one element"),
        (lambda n: n.case("y", "Pad", [n.input(3, 3), n.constant([1, 0, 0, 0])], mode="edge"), "it is edge"),
        (
            lambda n: n.case(
                "y", "Resize", [n.input(1, 2, 3, 3), "", n.constant(np.array([1, 1, 2, 2], np.float32))], mode="cubic"
            ),
            "it is cubic",
        ),
        (
            lambda n: n.case("y", "Resize", [n.input(1, 2, 4, 4), "", "", n.constant([1, 2, 6, 6])], mode="nearest"),
            "it is half_pixel with round_prefer_floor, from [1, 2, 4, 4] to [1, 2, 6, 6]",
        ),
        (
            lambda n: n.case(
                "y",
                "AveragePool",
                [n.input(1, 2, 6, 6)],
                kernel_shape=[3, 3],
                strides=[2, 2],
                ceil_mode=1,
                count_include_pad=1,
            ),
            "both are set",
        ),
        (
            lambda n: n.case(
                "y", "ConvTranspose", [n.input(1, 2, 4, 4), n.floats(2, 2, 2, 2)], output_padding=[1, 1], strides=[2, 2]
            ),
            "output_padding is [1, 1]",
        ),
        (lambda n: n.case("y", "Conv", [n.input(1, 2, 4, 4), n.input(3, 2, 2, 2)]), "one is computed"),
    ],
)
def test_what_is_refused(build: Build, value: str) -> None:
    """In words, with what broke the rule."""
    n = Network()
    build(n)
    graph = gs.import_onnx(n.model())
    assert REGION.search is not None
    (match,) = REGION.search(graph)
    values = [text for rule in REGION.constraints if (text := rule.check(match)) is not None]
    assert len(values) == 1
    assert value in values[0]
