"""What the analog array refuses, by the name of the rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from analog_graphs import Shape, analog, candidates, cells_of, only_match
from match_core import Model
from match_diana.analog import limits
from match_diana.analog.limits import Window
from match_diana.analog.rules import ANALOG_RULES
from match_diana.analog.workloads import conv

SHAPE = Shape(c=200, k=8)


def nodes(model: Model, op: str) -> list[gs.Node]:
    return [node for node in model.graph.nodes if node.op == op]


def set_constant(node: gs.Node, position: int, value: object) -> None:
    """Other values for a constant, which nobody else has."""
    old = node.inputs[position]
    node.inputs[position] = gs.Constant(f"{old.name}_other", np.asarray(value, old.values.dtype))


def weight_of_two(model: Model) -> None:
    cells = np.array(nodes(model, "ConvInteger")[0].inputs[1].values)
    cells[0, 0, 0, 0] = 2
    set_constant(nodes(model, "ConvInteger")[0], 1, cells)


def other_gain(model: Model) -> None:
    set_constant(nodes(model, "RequantI8")[2], 3, 1)


def no_power(model: Model) -> None:
    for node in nodes(model, "RequantI8")[1:]:
        set_constant(node, 3, 24)


def wide_sum(model: Model) -> None:
    set_constant(nodes(model, "RequantI8")[1], 5, 63)


def eight_bit_input(model: Model) -> None:
    set_constant(nodes(model, "Clip")[0], 2, 127)


def eight_bit_output(model: Model) -> None:
    set_constant(nodes(model, "AddRequantI8")[0], 7, 127)


def large_multiplier(model: Model) -> None:
    for position in (2, 3):
        values = np.array(nodes(model, "AddRequantI8")[0].inputs[position].values)
        values[0] = 128
        set_constant(nodes(model, "AddRequantI8")[0], position, values)


def unlike_multipliers(model: Model) -> None:
    node = nodes(model, "AddRequantI8")[0]
    set_constant(node, 3, np.array(node.inputs[3].values) + 1)


def divisor_of_three(model: Model) -> None:
    set_constant(nodes(model, "AddRequantI8")[0], 5, 3)


def other_channels(model: Model) -> None:
    set_constant(nodes(model, "Slice")[1], 1, [100])
    set_constant(nodes(model, "Slice")[1], 2, [172])


def dilated(model: Model) -> None:
    for node in nodes(model, "ConvInteger"):
        node.attrs["dilations"] = [2, 2]


def unlike_padding(model: Model) -> None:
    nodes(model, "ConvInteger")[0].attrs["pads"] = [2, 1, 0, 1]


@pytest.mark.parametrize(
    ("change", "rule", "why"),
    [
        (weight_of_two, "cells", "a weight 2"),
        (other_gain, "converters", "of a group are"),
        (no_power, "converters", "the gain is 24"),
        (wide_sum, "converters", "of a group are"),
        (eight_bit_input, "input", "-64 and 127"),
        (eight_bit_output, "batch norm", "-64 and 127"),
        (large_multiplier, "batch norm", "128"),
        (unlike_multipliers, "batch norm", "different multipliers"),
        (divisor_of_three, "batch norm", "the divisor is 3"),
        (other_channels, "groups", "other channels"),
        (dilated, "geometry", "dilation is 2x2"),
        (unlike_padding, "geometry", "different windows"),
    ],
)
def test_refusals(change: Callable[[Model], None], rule: str, why: str) -> None:
    model = analog(SHAPE, cells_of(SHAPE, 1))
    assert len(candidates(model).legal) == 1
    change(model)
    found = candidates(model)
    assert not found.legal
    (refusal,) = found.refused
    assert refusal.rule == next(each.description for each in ANALOG_RULES if each.name == rule)
    assert why in refusal.value


@pytest.mark.parametrize(
    ("c", "taps", "counts"),
    [(3, 9, (3,)), (128, 9, (128,)), (144, 9, (128, 16)), (300, 1, (128, 128, 44)), (130, 15, (64, 64, 2))],
)
def test_groups_of_input_channels(c: int, taps: int, counts: tuple[int, ...]) -> None:
    assert limits.groups(c, taps) == counts


def test_kernels_without_room_for_a_word_of_channels() -> None:
    assert [limits.group_channels(taps) for taps in (1, 9, 10, 15, 18, 19, 25)] == [128, 128, 64, 64, 64, 0, 0]


@pytest.mark.parametrize(
    ("c", "k", "kernel", "stride", "ox", "pixels"),
    [
        (64, 64, 3, 1, 16, 4),  # 4 * 64 columns; (4 + 2) * 64 * 3 = 1152 rows
        (64, 64, 3, 2, 16, 2),  # (3 * 2 + 3) * 64 * 3 = 1728 rows are too many, (2 + 3) * 64 * 3 = 960 are not
        (64, 64, 3, 1, 15, 1),  # 15 is odd
        (128, 64, 3, 1, 16, 1),  # (2 + 2) * 128 * 3 = 1536 rows
        (16, 256, 1, 1, 16, 2),  # 2 * 256 columns
        (16, 512, 1, 1, 16, 1),
    ],
)
def test_unrolled_pixels(c: int, k: int, kernel: int, stride: int, ox: int, pixels: int) -> None:
    window = Window(c, k, kernel, kernel, stride, ox * stride, ox * stride, ox, ox)
    assert limits.unroll(window) == pixels


def test_workload_of_two_groups() -> None:
    workload = conv(only_match(analog(SHAPE, cells_of(SHAPE, 1))))
    assert {dim.name: dim.size for dim in workload.dims} == {"OY": 6, "FY": 3, "G": 2, "B": 2}
    assert [axis.size for axis in workload.operand("input").axes] == [4, 6, 6, 64]
    assert [axis.size for axis in workload.operand("weights").axes] == [2, 1152 * 128 // 4]
    assert [axis.size for axis in workload.operand("output").axes] == [1, 6, 6, 64]
    assert workload.macs == 200 * 8 * 9 * 36
    numbers = workload.parameters
    assert (numbers["channels"], numbers["last_channels"]) == (128, 72)
