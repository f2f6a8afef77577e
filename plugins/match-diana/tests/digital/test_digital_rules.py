"""What the digital array refuses, in words and with numbers."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from digital_graphs import DigitalGraph
from hypothesis import given, settings
from hypothesis import strategies as st
from match_core import Constraint, Match
from match_core.patterns import rules_tensors, windows
from match_diana.digital import rules
from match_diana.digital import structures as s

from tests.examples import examples


def one_conv(
    c: int = 16, k: int = 16, size: tuple[int, int] = (8, 16), **numbers: object
) -> tuple[DigitalGraph, gs.Variable]:
    g = DigitalGraph()
    return g, g.conv(g.input(1, c, *size), k, **numbers)  # type: ignore[arg-type]


def one_sum(c: int = 16, **numbers: object) -> tuple[DigitalGraph, gs.Variable]:
    g = DigitalGraph()
    return g, g.add(g.input(1, c, 4, 4), g.input(1, c, 4, 4), **numbers)  # type: ignore[arg-type]


def refusal(g: DigitalGraph, y: gs.Variable, pattern: str) -> tuple[str, str]:
    found = g.refusals(y, pattern)
    assert len(found) == 1, found
    return found[0]


def test_a_legal_convolution_is_taken_in_both_forms() -> None:
    g, y = one_conv()
    assert set(g.matches(y)) == {"digital_conv", "digital_conv_channels"}


@pytest.mark.parametrize(
    ("changes", "rule", "value"),
    [
        ({"group": 2}, windows.one_group, "there are 2 groups"),
        ({"kernel": (3, 4)}, rules.kernel, "it is 3x4"),
        ({"kernel": (9, 9)}, rules.kernel, "it is 9x9"),
        ({"stride": 3}, windows.stride_is(1, 2), "stride is 3x3"),
        ({"strides": (1, 2)}, windows.stride_is(1, 2), "stride is 1x2"),
        ({"dilation": 2}, windows.no_dilation, "dilation is 2x2"),
        ({"pads": (0, 0, 0, 1)}, rules.padding, "0 columns on the left, 1 on the right"),
        ({"pads": (3, 1, 1, 1)}, rules.padding, "it is 3, 1, 1, 1"),
        ({"multiplier": 3}, rules.requant, "the multiplier is 3"),
        ({"shift": 32}, rules.requant, "the multiplier is 2^0 and the divisor 2^32"),
        ({"low": -5}, rules.bounds, "bounds are -5 and 127"),
        ({"high": 100}, rules.bounds, "bounds are -128 and 100"),
        ({"bias": np.full((16, 1, 1), 1 << 31)}, rules.accumulator, None),
    ],
)
def test_refused_convolutions(changes: dict[str, object], rule: Constraint, value: str | None) -> None:
    g, y = one_conv(**changes)  # type: ignore[arg-type]
    found = refusal(g, y, "digital_conv")
    assert found[0] == rule.description
    assert value is None or found[1] == value


def test_right_padding_that_no_output_reads_may_be_missing() -> None:
    """32 columns, stride 2, 3 taps, one column on the left: the last output reads columns 29 to 31."""
    g, y = one_conv(size=(32, 32), stride=2, pads=(1, 1, 0, 0))
    assert "digital_conv" in g.matches(y)


def test_a_copy_moves_32_bytes_at_least() -> None:
    g, y = one_conv(c=1, size=(1, 16))
    assert refusal(g, y, "digital_conv") == (rules.size.description, "it has 16 bytes")
    g, y = one_conv(c=1, size=(1, 17))
    assert "digital_conv" in g.matches(y)


def test_channels_are_written_in_whole_rows_only() -> None:
    g, y = one_conv(size=(8, 20))
    assert refusal(g, y, "digital_conv_channels") == (rules.whole_lanes.description, "there are 20")


def test_channels_with_multipliers_of_their_own_are_refused() -> None:
    g, y = one_conv()
    g.nodes[-1].inputs[1] = g.constant(2 ** np.arange(16))
    assert refusal(g, y, "digital_conv") == (rules.requant.description, "there are 16 multipliers")


def test_divisors_that_are_no_power_of_two_are_refused() -> None:
    g, y = one_conv()
    g.nodes[-1].inputs[3] = g.constant(500)
    assert refusal(g, y, "digital_conv") == (rules.requant.description, "the divisor is 500")


def test_unsigned_activations_are_refused() -> None:
    g, y = one_conv()
    g.inputs[0].dtype = np.dtype(np.uint8)
    assert refusal(g, y, "digital_conv") == (rules_tensors.int8_tensors.description, "input is uint8")


def test_zero_points_are_refused() -> None:
    g, y = one_conv()
    g.nodes[0].inputs.append(g.constant(3, np.int8))
    assert refusal(g, y, "digital_conv")[0] == rules_tensors.no_zero_points.description
    g.nodes[0].inputs[2] = g.constant(0, np.int8)
    assert "digital_conv" in g.matches(y)


def test_batches_are_refused() -> None:
    g, y = one_conv()
    g.inputs[0].shape = [2, 16, 8, 16]
    assert (rules.image.description, "its shape is [2, 16, 8, 16]") in g.refusals(y, "digital_conv")


@pytest.mark.parametrize("shape", [(1, 16, 8, 16), (1, 5, 25, 5)])
def test_depthwise_convolutions_are_told_from_others(shape: tuple[int, ...]) -> None:
    g = DigitalGraph()
    y = g.conv(g.input(*shape), shape[1], depthwise=True)
    assert set(g.matches(y)) == {"digital_depthwise", "digital_depthwise_blocks"}
    assert refusal(g, y, "digital_conv")[1] == f"there are {shape[1]} groups"


def test_two_outputs_for_a_channel_are_not_depthwise() -> None:
    g, y = one_conv(c=8, k=16, group=8)
    assert refusal(g, y, "digital_depthwise")[0] == windows.depthwise.description


def test_dense_layers_take_one_vector() -> None:
    g = DigitalGraph()
    y = g.dense(g.input(1, 64), 10, low=0)
    assert set(g.matches(y)) == {"digital_dense"}
    g = DigitalGraph()
    y = g.dense(g.input(3, 64), 10)
    assert refusal(g, y, "digital_dense") == (rules.vector.description, "its shape is [3, 64]")


@pytest.mark.parametrize(
    ("changes", "rule", "value"),
    [
        ({"low": 0}, rules.signed, "bounds are 0 and 127"),
        ({"multipliers": (2, 4)}, rules.requant, "there are 2 multipliers"),
        ({"addend": 1}, rules.no_bias, "1 is added"),
        ({"multipliers": (4, 4), "addend": -1}, rules.no_bias, "-1 is added"),
    ],
)
def test_refused_sums(changes: dict[str, object], rule: Constraint, value: str) -> None:
    g, y = one_sum(**changes)  # type: ignore[arg-type]
    assert refusal(g, y, "digital_add") == (rule.description, value)


def test_what_a_multiplier_shifts_out_of_an_addend_is_no_bias() -> None:
    g, y = one_sum(multipliers=(4, 4), addend=3)
    assert set(g.matches(y)) == {"digital_add", "digital_add_channels"}


def test_sums_with_relu_have_a_pattern_of_their_own() -> None:
    g, y = one_sum(low=0)
    assert set(g.matches(y)) == {"digital_add_relu"}
    g, y = one_sum()
    assert refusal(g, y, "digital_add_relu") == (rules.positive.description, "bounds are -128 and 127")


def test_sums_with_relu_take_16_channels_at_a_time() -> None:
    g, y = one_sum(c=24, low=0)
    assert refusal(g, y, "digital_add_relu") == (rules.whole_blocks.description, "there are 24")


def test_sums_of_different_shapes_are_refused() -> None:
    g = DigitalGraph()
    y = g.add(g.input(1, 8, 4, 4), g.input(1, 8, 1, 1))
    assert refusal(g, y, "digital_add")[0] == rules_tensors.same_shapes.description


@given(
    st.integers(0, 20),
    st.integers(0, 31),
    st.lists(st.integers(-(1 << 40), 1 << 40), min_size=4, max_size=4),
    st.integers(-(1 << 30), 1 << 30),
)
@settings(max_examples=examples(200), deadline=None)
def test_the_shift_gives_what_the_graph_means(exponent: int, shift: int, addends: list[int], acc: int) -> None:
    """floor((acc 2^j + B) / 2^(S + j)) with any B."""
    g = DigitalGraph()
    y = g.conv(g.input(1, 4, 4, 4), 4, shift=shift, multiplier=1 << exponent)
    g.nodes[-1].inputs[2] = g.constant(np.reshape(addends, (4, 1, 1)))
    structure = s.requant_of(_match(g, y))
    assert not isinstance(structure, str)
    for addend, bias in zip(addends, structure.bias.tolist(), strict=True):
        assert (acc + bias) >> structure.shift == ((acc << exponent) + addend) >> (shift + exponent)


def _match(g: DigitalGraph, y: gs.Variable) -> Match:
    """The match without the rules, which would refuse large biases."""
    requant, conv = g.nodes[-1], g.nodes[-2]
    names = ("multiplier", "addend", "divisor", "low", "high")
    captures = {"requant": requant, "conv": conv, **dict(zip(names, requant.inputs[1:], strict=True))}
    return Match((conv, requant), captures)
