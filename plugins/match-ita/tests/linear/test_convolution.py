"""Convolutions as linear layers: the same results, bit for bit."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ita_small_models import Ints, context, convolution, finish, linear, random_int8, reshape, results, start, table
from match_core import Model
from match_ita.passes.convolution import run


def weights(*shape: int) -> Ints:
    return np.random.default_rng(3).integers(-127, 128, shape)


def operators(model: Model) -> Counter[str]:
    return Counter(str(node.op) for node in model.graph.nodes)


def same(before: Model, after: Model, shape: tuple[int, ...]) -> None:
    x = {"x": random_int8(shape)}
    np.testing.assert_array_equal(results(after, x), results(before, x))


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_1d_convolutions(data: st.DataObject) -> None:
    def number(low: int, high: int) -> int:
        return data.draw(st.integers(low, high))

    channels, taps, step, gap = number(1, 5), number(1, 4), number(1, 3), number(1, 2)
    length, left, right = number((taps - 1) * gap + 1, 20), number(0, 3), number(0, 3)
    shape = (1, channels, 1, length)
    editor, x = start(shape)
    y = convolution(
        editor,
        x,
        weights(6, channels, 1, taps),
        strides=(1, step),
        dilations=(1, gap),
        pads=(0, left, 0, right),
        pad_value=-7,
    )
    before = finish(editor, y)
    after = run(before, context())
    assert operators(after)["MatMulInteger"] == 1 and "ConvInteger" not in operators(after)
    same(before, after, shape)


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5), st.integers(1, 3), st.integers(0, 2))
@settings(max_examples=25, deadline=None)
def test_patches(channels: int, height: int, width: int, across: int, rest: int) -> None:
    shape = (1, channels, 2 * height + min(rest, height - 1), across * width)
    editor, x = start(shape)
    before = finish(editor, convolution(editor, x, weights(5, channels, height, width), strides=(height, width)))
    after = run(before, context())
    assert "ConvInteger" not in operators(after)
    same(before, after, shape)


def test_patches_of_a_vision_transformer() -> None:
    """The model turns the result into tokens itself: only the image's axes change places."""
    shape = (1, 3, 28, 42)
    editor, x = start(shape)
    y = reshape(editor, convolution(editor, x, weights(64, 3, 14, 14), strides=(14, 14)), (1, 64, 6), "flat")
    tokens = editor.node(
        "Transpose", [y], np.int8, (1, 6, 64), name="tokens", origin=("tokens",), attrs={"perm": [0, 2, 1]}
    )
    before = finish(editor, tokens)
    after = run(before, context())
    assert operators(after) == Counter(Reshape=3, Transpose=1, MatMulInteger=1, RequantI8=1)
    same(before, after, shape)


def test_two_1d_convolutions_with_tables() -> None:
    """As speech encoders begin: rows stay rows between the convolutions and to the tokens behind them."""
    shape = (1, 8, 1, 20)
    editor, x = start(shape)
    first = convolution(editor, x, weights(16, 8, 1, 3), pads=(0, 1, 0, 1), pad_value=-68, name="first")
    bent = table(editor, reshape(editor, first, (1, 16, 20), "a"), np.arange(-128, 128)[::-1], "bend")
    again = reshape(editor, bent, (1, 16, 1, 20), "b")
    second = convolution(
        editor, again, weights(16, 16, 1, 3), strides=(1, 2), pads=(0, 1, 0, 1), pad_value=9, name="second"
    )
    bent = table(editor, reshape(editor, second, (1, 16, 10), "c"), np.arange(-128, 128) // 2, "bend_2")
    tokens = editor.node(
        "Transpose", [bent], np.int8, (1, 10, 16), name="tokens", origin=("tokens",), attrs={"perm": [0, 2, 1]}
    )
    before = finish(editor, tokens)
    after = run(before, context())
    assert operators(after) == Counter(Reshape=4, Transpose=1, Pad=2, Gather=2, MatMulInteger=2, RequantI8=2, LutI8=2)
    same(before, after, shape)


@pytest.mark.parametrize("kind", ["depthwise", "overlapping", "part of a patch"])
def test_other_convolutions_stay(kind: str) -> None:
    shape = (1, 4, 6, 7) if kind != "depthwise" else (1, 4, 1, 7)
    editor, x = start(shape)
    if kind == "depthwise":
        y = convolution(editor, x, weights(4, 4, 1, 3))
        conv = y.inputs[0].inputs[0].inputs[0]
        conv.attrs["group"] = 4
        conv.inputs[1] = editor.constant("depthwise", weights(4, 1, 1, 3).astype(np.int8))
    elif kind == "overlapping":
        y = convolution(editor, x, weights(4, 4, 3, 3), strides=(2, 2))
    else:
        y = convolution(editor, x, weights(4, 4, 3, 3), strides=(3, 3))
    before = finish(editor, y)
    assert run(before, context()) is before


def test_models_without_convolutions_are_returned_as_they_are() -> None:
    editor, x = start((4, 8))
    before = finish(editor, linear(editor, x, weights(8, 8), 3, 0, 64))
    assert run(before, context()) is before
