"""What the product kernels refuse, in words, and how they requantise what they take."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_ita.snitch_products.patterns import PATTERNS
from match_ita.snitch_products.requant import Scale, scale

from tests.matches import find_matches

from .test_products_layers import Layer


def _broken(graph: gs.Graph, name: str) -> dict[str, str]:
    """Rules of a pattern that do not hold for its largest match, with what they say."""
    pattern = next(pattern for pattern in PATTERNS if pattern.name == name)
    assert pattern.structure is not None
    match = max(find_matches(graph, pattern.structure), key=lambda match: len(match.nodes))
    found = {rule.name: rule.check(match) for rule in pattern.constraints}
    return {name: wrong for name, wrong in found.items() if wrong is not None}


def _linear(multiplier: object, addend: object, divisor: int, zero: int = 0) -> gs.Graph:
    layer = Layer()
    x = layer.input(np.zeros((4, 64), np.int8))
    weight = layer.constant(np.full((64, 3), 127), np.int8)
    sums = layer.node("MatMulInteger", [x, weight, layer.constant(zero, np.int8)], [4, 3], np.int32)
    numbers = [layer.constant(value) for value in (multiplier, addend, divisor, -128, 127)]
    layer.node("match.arith::RequantI8", [sums, *numbers], [4, 3], np.int8)
    return layer.graph


@pytest.mark.parametrize(
    ("graph", "rule", "words"),
    [
        (_linear(5, 0, 100), "shift", "the divisor is 100"),
        (_linear(5, 0, 64, zero=3), "zero points", "there are zero points"),
        (_linear(1 << 31, 0, 1 << 40), "product", "a multiplier is 2147483648"),
        (_linear(1 << 20, 0, 1 << 16), "product", "multiplier 1048576 is too large for a shift by 16 only"),
        (_linear(1, 1 << 62, 1 << 40), "product", "a product reaches"),
        (_linear([1, 2, 3, 4], 0, 64), "product", "neither of the tensor nor of the channels"),
    ],
)
def test_linear_refuses(graph: gs.Graph, rule: str, words: str) -> None:
    assert words in _broken(graph, "linear")[rule]


def test_products_of_rows_that_are_not_contiguous_are_refused() -> None:
    layer = Layer()
    a, b = layer.input(np.zeros((8, 4), np.int8)), layer.input(np.zeros((8, 5), np.int8))
    turned = layer.node("Transpose", [a], [4, 8], np.int8, perm=[1, 0])
    sums = layer.node("MatMulInteger", [turned, b], [4, 5], np.int32)
    numbers = [layer.constant(value) for value in (1, 0, 64, -128, 127)]
    layer.node("match.arith::RequantI8", [sums, *numbers], [4, 5], np.int8)
    assert _broken(layer.graph, "matmul")["layout"] == "a row of the first input is not contiguous"


@pytest.mark.parametrize(("group", "padded", "rule"), [(2, (0, 0), "groups"), (1, (1, 0), "padding")])
def test_conv2d_refuses(group: int, padded: tuple[int, int], rule: str) -> None:
    """Groups, and padding of channels."""
    layer = Layer()
    channels = 2 + sum(padded)
    x = layer.input(np.zeros((1, 2, 6, 6), np.int8))
    amounts = layer.constant([0, padded[0], 0, 0, 0, padded[1], 0, 0])
    whole = layer.node("Pad", [x, amounts], [1, channels, 6, 6], np.int8)
    weight = layer.constant(np.zeros((4, channels // group, 3, 3)), np.int8)
    attributes = {"group": group, "pads": [0, 0, 0, 0], "strides": [1, 1], "dilations": [1, 1]}
    sums = layer.node("ConvInteger", [whole, weight], [1, 4, 4, 4], np.int32, **attributes)
    numbers = [layer.constant(value) for value in (1, 0, 64, -128, 127)]
    layer.node("match.arith::RequantI8", [sums, *numbers], [1, 4, 4, 4], np.int8)
    assert set(_broken(layer.graph, "conv2d")) == {rule}


@given(
    reach=st.integers(0, 2**24),
    multiplier=st.integers(-(2**30), 2**30),
    addend=st.integers(-(2**40), 2**40),
    places=st.integers(0, 62),
    data=st.data(),
)
def test_scales_give_the_same_result(
    reach: int, multiplier: int, addend: int, places: int, data: st.DataObject
) -> None:
    """In the kernels' arithmetic: 32 bits, or the upper word of 64."""
    ends = np.array([reach], dtype=object)
    numbers = (np.array([value], dtype=object) for value in (multiplier, addend))
    found = scale(-ends, ends, *numbers, places)
    if isinstance(found, str):
        return
    total = data.draw(st.integers(-reach, reach))
    product = total * int(found.multiplier[0]) + int(found.addend[0])
    assert abs(product) < (1 << 63 if found.wide else 1 << 31)
    shifted = (product >> 32) >> found.shift if found.wide else product >> found.shift
    assert shifted == (total * multiplier + addend) >> places
    assert isinstance(found, Scale)
    assert -(1 << 31) <= shifted < 1 << 31
