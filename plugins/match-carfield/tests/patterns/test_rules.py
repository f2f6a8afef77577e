"""Constraints refuse what kernels cannot do, and say what it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from match_carfield.patterns import PULP_PATTERNS, SPATZ_PATTERNS

if TYPE_CHECKING:
    from .conftest import Half


def test_every_rule_is_described_once_per_pattern() -> None:
    for pattern in PULP_PATTERNS:
        descriptions = [constraint.description for constraint in pattern.constraints]
        assert descriptions
        assert len(set(descriptions)) == len(descriptions)


def test_spatz_has_the_patterns_of_the_cores() -> None:
    names = [pattern.name for pattern in SPATZ_PATTERNS]
    assert [pattern.name for pattern in PULP_PATTERNS if not pattern.name.startswith(("redmule_", "int8_"))] == names


def test_groups(half: Callable[[], Half]) -> None:
    graph = half()
    x = graph.conv(graph.input(1, 4, 4, 8), 8, group=2)
    assert graph.refusals(x, "conv2d") == [("there is one group", "there are 2 groups")]
    assert graph.refusals(x, "depthwise2d") == [
        (
            "each output channel reads its own input channel",
            "there are 2 groups of 4 input channels for 8 output channels",
        )
    ]
    graph = half()
    x = graph.conv(graph.input(1, 4, 4, 8), 8, group=8)
    assert graph.refusals(x, "group2d")[0][1] == "each channel is a group"


def test_other_types(half: Callable[[], Half]) -> None:
    graph = half()
    x = graph.conv(graph.input(1, 4, 4, 8), 8)
    graph.inputs[0].dtype = np.float32
    assert graph.refusals(x, "conv2d") == [("tensors and weights are float16", "input is float32")]


def test_padding_by_name(half: Callable[[], Half]) -> None:
    graph = half()
    x = graph.conv(graph.input(1, 4, 4, 8), 8)
    graph.nodes[0].attrs["auto_pad"] = "SAME_UPPER"
    assert graph.refusals(x, "conv2d") == [("padding is given in numbers", "auto_pad is SAME_UPPER")]


def test_a_map_is_no_change_of_channels(half: Callable[[], Half]) -> None:
    graph = half()
    inner = graph.conv(graph.input(1, 4, 4, 8), 8)
    x = graph.node("Add", [inner, graph.constant(1, 4, 4, 8)], inner.shape)
    assert graph.refusals(x, "conv2d")[0][1] == "one has the shape (1, 4, 4, 8) for 8 channels"
    assert [c.match.output.name for c in graph.candidates(x).legal if c.pattern.name == "conv2d"] == [inner.name]


def test_a_constant_divided_by_the_sum(half: Callable[[], Half]) -> None:
    graph = half()
    x = graph.conv(graph.input(1, 4, 4, 8), 8)
    x = graph.node("Div", [graph.constant(8), x], x.shape)
    assert graph.refusals(x, "conv2d")[0] == (
        "no constant is divided by its result",
        "a constant is divided by its result",
    )


def test_changes_that_leave_the_range(half: Callable[[], Half]) -> None:
    graph = half()
    x = graph.conv(graph.input(1, 4, 4, 8), 8)
    for _ in range(2):
        x = graph.node("Mul", [x, graph.constant(8, value=3e4)], x.shape)
    assert graph.refusals(x, "conv2d") == [("combined factors and addends are binary16 numbers", "one is not finite")]


def test_a_computed_bias(half: Callable[[], Half]) -> None:
    graph = half()
    bias = graph.node("Abs", [graph.input(10)], (10,))
    x = graph.node("Gemm", [graph.input(1, 24), graph.constant(24, 10), bias], (1, 10))
    assert graph.refusals(x, "linear") == [
        ("the bias is constant, with one number per channel", "the bias is computed")
    ]


def test_redmule(half: Callable[[], Half]) -> None:
    graph = half()
    x = graph.conv(graph.input(1, 8, 8, 6), 8, stride=2)
    assert graph.refusals(x, "redmule_conv2d") == [
        ("the length of sums is a multiple of the array's height, 4", "there are 6"),
        ("stride is 1 in x", "stride is 2 in x"),
    ]


@pytest.mark.parametrize(
    ("attributes", "value"),
    [
        ({"pads": [1, 1, 1, 1]}, "padding is not counted"),
        ({"pads": [2, 2, 2, 2], "count_include_pad": 1}, "padding 2 covers a whole window of 2x2"),
        ({"pads": [0, 0, 0, 0], "ceil_mode": 1}, "ceil_mode is set"),
        ({"pads": [0, 0, 0, 0], "dilations": [2, 2]}, "there is dilation"),
    ],
)
def test_pooling(half: Callable[[], Half], attributes: dict[str, object], value: str) -> None:
    graph = half()
    source = graph.input(1, 8, 8, 4)
    x = graph.node("match.nhwc::AveragePool", [source], (1, 4, 4, 4), kernel_shape=[2, 2], strides=[2, 2], **attributes)
    assert [found for _, found in graph.refusals(x, "pool2d")] == [value]


def test_axes_of_rows(half: Callable[[], Half]) -> None:
    graph = half()
    x = graph.node("Softmax", [graph.input(1, 4, 8)], (1, 4, 8), axis=1)
    assert graph.refusals(x, "softmax") == [("it runs over the last axis", "it runs over axis 1 of 3")]


def test_approximate_gelu(half: Callable[[], Half]) -> None:
    graph = half()
    x = graph.node("Gelu", [graph.input(1, 4, 8)], (1, 4, 8), approximate="tanh")
    assert graph.refusals(x, "gelu") == [("it is x * (1 + erf(x / sqrt(2))) / 2", "approximate is tanh")]


def test_sums_of_different_shapes(half: Callable[[], Half]) -> None:
    graph = half()
    x = graph.node("Add", [graph.input(1, 4, 8), graph.input(8)], (1, 4, 8))
    assert graph.refusals(x, "add") == [("both inputs have the same shape", "shapes are (1, 4, 8) and (8,)")]
