from __future__ import annotations

from itertools import product

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from match_concurrent.boxes import TensorBox, overlap, view_box
from match_core.contract import geometry
from match_core.contract.geometry import AxisTile, axis_tile
from match_core.contract.loops import LoopSchedule
from match_core.contract.workload import Axis, Operand
from match_schedule.engine import schedule

from core.tests.schedule import tile_copies
from tests.examples import examples

ROWS = Axis("y", 8, (("OY", 2), ("FY", 1)), offset=1)


@pytest.mark.parametrize(
    ("start", "size", "expected"),
    [
        (0, 1, AxisTile(0, 2, 1, 0)),
        (0, 2, AxisTile(0, 4, 1, 0)),
        (1, 2, AxisTile(1, 5, 0, 0)),
        (3, 1, AxisTile(5, 3, 0, 0)),
        (3, 2, AxisTile(5, 3, 0, 2)),
        (0, 5, AxisTile(0, 8, 1, 2)),
        (5, 1, AxisTile(8, 0, 0, 3)),
    ],
)
def test_window_of_a_strided_padded_axis(start, size, expected):
    found = axis_tile(ROWS, {"OY": start}, {"OY": size, "FY": 3})
    assert found == expected
    assert found.pad_before + found.extent + found.pad_after == 2 * (size - 1) + 3


def test_tile_wholly_before_the_axis():
    axis = Axis("y", 4, (("OY", 1),), offset=3)
    assert axis_tile(axis, {"OY": 0}, {"OY": 2}) == AxisTile(0, 0, 2, 0)


def test_axis_without_terms_is_whole():
    assert axis_tile(Axis("f", 9), {"K": 3}, {"K": 1}) == AxisTile(0, 9, 0, 0)


def test_negative_coefficients_are_refused():
    with pytest.raises(ValueError, match="negative"):
        axis_tile(Axis("y", 4, (("OY", -1),)), {}, {"OY": 2})


def test_packed_axes_count_rounded_sizes():
    operand = Operand("w", "constant", (Axis("g", 2), Axis("c", 20, (("C", 1),), round_up=16), Axis("f", 3)))
    assert geometry.far_sizes(operand) == (2, 32, 3)
    assert geometry.far_strides(operand) == (96, 3, 1)
    assert geometry.far_bytes(operand) == 192
    assert tile_copies.tile_extents(operand, {"C": 16}, {"C": 4}) == (2, 16, 3)
    assert tile_copies.tile_far_offset(operand, {"C": 16}, {"C": 4}) == 48


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_copies_touch_exactly_the_bytes_of_each_tile_in_order(lab, data):
    """The far addresses of the copies, level by level, are those of the tile's elements in row-major order."""
    workload = data.draw(lab.workloads())
    answer = schedule(lab.request_for(workload, data.draw(st.integers(30, 400))))
    assume(isinstance(answer, LoopSchedule))
    whole = {dim.name: dim.size for dim in workload.dims}
    for starts, sizes, _ in lab.tiles_of(answer):
        for operand in workload.operands:
            extents = tile_copies.tile_extents(operand, starts, sizes)
            firsts = [axis_tile(axis, starts, sizes).first for axis in operand.axes]
            width = operand.element_bits // 8
            expected = []
            for point in product(*(range(f, f + e) for f, e in zip(firsts, extents, strict=True))):
                element = 0
                for index, size in zip(point, geometry.far_sizes(operand), strict=True):
                    element = element * size + index
                expected += [element * width + byte for byte in range(width)]
            moved = tile_copies.transfer_of(operand, extents, dict(answer.tile), whole)
            base = tile_copies.tile_far_offset(operand, starts, sizes)
            assert copied_addresses(moved, base) == expected
            assert moved.bytes == len(expected)


def copied_addresses(moved: tile_copies.Transfer, base: int) -> list[int]:
    levels = (*moved.repeats, (moved.planes, moved.plane_stride), (moved.rows, moved.row_stride))
    rows = [base]
    for count, stride in levels:
        rows = [row + stride * number for row in rows for number in range(count)]
    return [row + byte for row in rows for byte in range(moved.row_bytes)]


def test_more_than_three_levels_are_repeats():
    axes = tuple(Axis(name, 4, ((name, 1),)) for name in "abcd")
    operand = Operand("x", "input", axes)
    sizes, tile = dict.fromkeys("abcd", 4), dict.fromkeys("abcd", 2)
    moved = tile_copies.transfer_of(operand, (2, 2, 2, 2), tile, sizes)
    assert (moved.row_bytes, moved.rows, moved.row_stride) == (2, 2, 4)
    assert (moved.planes, moved.plane_stride, moved.repeats) == (2, 16, ((2, 64),))


def test_whole_inner_axes_join_and_single_indices_vanish():
    axes = tuple(Axis(name, 4, ((name, 1),)) for name in "abc")
    operand = Operand("x", "input", axes, 16)
    sizes = dict.fromkeys("abc", 4)
    moved = tile_copies.transfer_of(operand, (2, 4, 4), {"a": 2, "b": 4, "c": 4}, sizes)
    assert (moved.row_bytes, moved.rows, moved.planes) == (64, 1, 1)
    moved = tile_copies.transfer_of(operand, (4, 1, 2), {"a": 4, "b": 1, "c": 2}, sizes)
    assert (moved.row_bytes, moved.rows, moved.row_stride, moved.planes) == (4, 4, 32, 1)
    # A remainder of one index keeps its level: the same code moves all tiles.
    moved = tile_copies.transfer_of(operand, (4, 1, 2), {"a": 4, "b": 3, "c": 2}, sizes)
    assert (moved.row_bytes, moved.rows, moved.planes) == (4, 1, 4)


def test_a_strided_operand_lies_in_blocks_in_the_buffer():
    """Rows of a [6, 8] tensor as two blocks of four columns: the buffer is [2][rows][4]."""
    axes = (Axis("c1", 2, (("C1", 1),), stride=4), Axis("s", 6, (("S", 1),), stride=8), Axis("c0", 4, stride=1))
    operand = Operand("x", "input", axes)
    sizes = {"C1": 2, "S": 6}
    moved = tile_copies.transfer_of(operand, (2, 3, 4), {"C1": 2, "S": 3}, sizes)
    base = tile_copies.tile_far_offset(operand, {"C1": 0, "S": 3}, {"C1": 2, "S": 3})
    assert copied_addresses(moved, base) == [c1 * 4 + s * 8 + c0 for c1 in (0, 1) for s in (3, 4, 5) for c0 in range(4)]
    whole = Operand("x", "input", (Axis("c1", 1, (("C1", 1),), stride=4), *axes[1:2], axes[2]))
    assert tile_copies.transfer_of(whole, (1, 6, 4), {"C1": 1, "S": 6}, {"C1": 1, "S": 6}).rows == 6
    with pytest.raises(ValueError, match="strides"):
        Operand("x", "input", (axes[0], Axis("s", 6)))


def test_regions_of_strided_operands_are_those_of_the_tensor():
    axes = (Axis("c1", 2, (("C1", 1),), stride=4), Axis("s", 3, (("S", 1),), stride=8), Axis("c0", 4, stride=1))
    box = view_box(Operand("x", "input", axes, base=24))
    assert box.ranges == ((24, 48),)
    assert overlap(box, TensorBox((6, 8), (4, 0), (5, 1)))
    assert not overlap(box, TensorBox((6, 8), (2, 0), (3, 8)))
    head = view_box(Operand("x", "input", (Axis("c1", 1, stride=4), *axes[1:]), base=20))
    assert head.ranges == ((20, 24), (28, 32), (36, 40))


def test_blocks_of_columns_may_begin_anywhere_in_a_row():
    """Two blocks of four columns from column 3 on, of a [5, 11] tensor: neither divides a row."""
    axes = (Axis("c1", 2, (("C1", 1),), stride=4), Axis("s", 3, (("S", 1),), stride=11), Axis("c0", 4, stride=1))
    box = view_box(Operand("x", "input", axes, base=14))
    assert box.ranges == ((14, 22), (25, 33), (36, 44))
    assert not overlap(box, TensorBox((5, 11), (1, 0), (4, 3)))
