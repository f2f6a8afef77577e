"""The arithmetic in numpy and the graph that the pass writes, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from analog_arithmetic import layer as computed
from analog_arithmetic import normalised
from analog_graphs import Shape, analog, cells_of, layer, only_match, random_input, results
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from match_diana.analog import limits
from match_diana.analog import structures as s
from match_diana.analog.arithmetic import Norm, converted


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Convolutions that the array has, some with several groups of input channels."""
    kernel = draw(st.sampled_from([(1, 1), (3, 3), (1, 3), (3, 1), (3, 5)]))
    return Shape(
        c=draw(st.sampled_from([1, 5, 64, 100, 128, 129, 200, 260])),
        k=draw(st.integers(1, 20)),
        size=(draw(st.integers(5, 7)), draw(st.integers(5, 9))),
        kernel=kernel,
        stride=draw(st.sampled_from([1, 2])),
        pads=tuple(draw(st.integers(0, kernel[axis % 2] // 2)) for axis in range(4)),
    )


@settings(max_examples=30, deadline=None)
@given(shapes(), st.booleans(), st.integers(0, 1000))
def test_graph_equals_reference(shape: Shape, relu: bool, seed: int) -> None:
    cells = cells_of(shape, seed)
    assume(cells.any() and len(limits.groups(shape.c, shape.kernel[0] * shape.kernel[1])) <= limits.GROUPS_MAX)
    model, x = analog(shape, cells, relu=relu), random_input(shape, seed)
    match = only_match(model)
    norm = s.norm_of(match)
    assert s.group_count(match) == len(limits.groups(shape.c, shape.kernel[0] * shape.kernel[1]))
    wanted = computed(x[0].astype(np.int64) >> 1, cells, shape.pads, shape.stride, norm)
    assert norm.relu == relu
    assert np.array_equal(results(model, {"x": x})[0], wanted)


def test_converters_round_down_and_saturate() -> None:
    sums = np.array([-1000, -33, -32, -1, 0, 1, 31, 32, 1000])
    assert converted(sums, 1).tolist() == [-32, -32, -32, -1, 0, 1, 31, 31, 31]
    assert converted(sums, 16).tolist() == [-32, -3, -2, -1, 0, 0, 1, 2, 31]


def test_stage_behind_rounds_down_and_saturates() -> None:
    total = np.array([-100, -3, 0, 3, 100]).reshape(1, 1, 5)
    numbers = (np.array([3]), np.array([1]), 1)
    assert normalised(total, Norm(1, *numbers, relu=False)).reshape(-1).tolist() == [-64, -4, 0, 5, 63]
    assert normalised(total, Norm(1, *numbers, relu=True)).reshape(-1).tolist() == [0, 0, 0, 5, 63]
    with pytest.raises(ValueError, match="16 bits"):
        normalised(np.full((1, 1, 1), 400), Norm(1, np.array([127]), np.array([0]), 0, relu=False))


@pytest.mark.parametrize("c", [64, 144, 400])
def test_distance_to_plain_arithmetic(c: int) -> None:
    """6 bits of each group: a step or two of 7 bits, and what saturates."""
    shape = Shape(c=c, k=32, size=(8, 8))
    cells = cells_of(shape, 5)
    x = {"x": random_input(shape)}
    difference = results(analog(shape, cells), x) - results(layer(shape, cells), x)
    assert abs(difference.mean()) < 0.5
    assert np.sqrt(np.square(difference).mean()) < 2.0
