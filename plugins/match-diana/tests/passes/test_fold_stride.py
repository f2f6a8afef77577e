"""Convolutions of stride 2 with large kernels: the same results, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from diana_forms import layers
from diana_pass_models import (
    FOLD_STRIDE,
    SYMMETRIC_PADDING,
    Network,
    Scale,
    context,
    integer_graph,
    operators,
    random_int8,
    results,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from match_core import Model
from match_core.ir.geometry import conv_geometry
from test_symmetric_padding import convolution

from tests.examples import examples


@settings(max_examples=examples(40), deadline=None)
@given(
    size=st.tuples(st.integers(9, 18), st.integers(9, 18)),
    kernel=st.tuples(st.integers(1, 14), st.integers(1, 14)),
    pads=st.tuples(*[st.integers(0, 5)] * 4),
)
def test_results_keep_every_bit(
    size: tuple[int, int], kernel: tuple[int, int], pads: tuple[int, int, int, int]
) -> None:
    assume(all(n + pads[a] + pads[a + 2] >= kernel[a] for a, n in enumerate(size)))
    model = convolution(size, kernel, 2, pads)
    folded = FOLD_STRIDE.run(model, context())
    after = SYMMETRIC_PADDING.run(folded, context())
    x = random_int8(1, 1, 4, *size)
    np.testing.assert_array_equal(results(after, x=x), results(model, x=x))
    if folded is not model:
        assert layers(after)[0].lacks == ""


def test_the_first_layer_of_the_keyword_network() -> None:
    net = Network(1)
    net.input("x", (1, 1, 49, 10), Scale(0.58, 83))
    scales = net.random.uniform(0.001, 0.004, 64)
    weight = net.weights(64, 1, 10, 4)
    net.layer("Conv", "x", "y", weight, scales, Scale(0.6, -128), clamp="Relu", strides=[2, 2], pads=[4, 1, 5, 1])
    model = net.model("y")
    after = integer_graph(model)
    assert [layer.lacks for layer in layers(after)] == [""]
    (conv,) = [node for node in after.graph.nodes if node.op == "ConvInteger"]
    assert conv_geometry(conv).kernel == (5, 3) and conv_geometry(conv).strides == (1, 1)
    assert operators(after) == ["Pad", "Reshape", "Transpose", "Reshape", "ConvInteger", "RequantI8"]
    x = random_int8(2, 1, 1, 49, 10)
    assert np.abs(results(after, x=x) - results(model, x=x)).mean() < 2


@pytest.mark.parametrize(
    "model",
    [
        convolution((12, 12), (3, 3), 2, (0, 0, 1, 1)),
        convolution((18, 18), (16, 3), 2, (1, 1, 1, 1)),
        convolution((18, 18), (9, 9), 1, (1, 1, 1, 1)),
        convolution((18, 18), (9, 9), 2, (1, 1, 1, 1), group=4),
        convolution((18, 18), (9, 9), 2, (1, 1, 1, 1), multiplier=3),
    ],
)
def test_others_stay(model: Model) -> None:
    assert FOLD_STRIDE.run(model, context()) is model
