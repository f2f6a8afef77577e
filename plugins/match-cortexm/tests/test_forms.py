"""Forms of workloads, which decide the figures that they have, and counts of their parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_cortexm.counts import counts_of
from match_cortexm.forms import figures_keys
from match_host.kernels.elementwise.loop import build_elementwise
from match_host.workload import host_workload

from .made_workloads import copy_of, counted, moved


def test_copies_count_runs():
    lines = copy_of("host_slice", (10, 32), (10, 20))
    assert counts_of(lines)["runs"] == 10 and figures_keys(lines)[0] == "host_slice 8, short runs"
    assert figures_keys(copy_of("host_slice", (10, 33), (10, 20)))[0] == "host_slice 8, short runs, odd"
    heads = moved((0, 2, 1, 3), (1, 6, 4, 64))
    assert counts_of(heads)["runs"] == 24 and figures_keys(heads)[0] == "host_transpose 8, long runs"
    square = moved((0, 2, 1, 3), (1, 8, 8, 128))  # sizes do not tell which axes changed places
    assert counts_of(square)["runs"] == 64 and figures_keys(square)[0] == "host_transpose 8, long runs"


@pytest.mark.parametrize(
    ("order", "shape", "form"),
    [
        ((0, 2, 3, 1), (1, 16, 2, 2), "whole"),
        ((0, 2, 3, 1), (1, 3, 9, 9), "lines of 3"),
        ((0, 2, 3, 1), (1, 12, 9, 9), "lines"),
        ((0, 2, 1, 3), (1, 30, 8, 2), "lines of 2, kept"),
        ((0, 2, 3, 1), (1, 24, 3, 3), "long lines"),
        ((0, 3, 1, 2), (1, 11, 3, 8), "long lines, even"),
        ((0, 3, 1, 2), (1, 20, 9, 9), "loops"),
        ((0, 2, 3, 1), (1, 4, 9, 9), "woven columns of 4"),
        ((0, 2, 3, 1), (1, 64, 2, 2), "woven rows, whole"),
        ((0, 2, 1, 3), (1, 8, 25, 2), "images, kept"),
    ],
)
def test_copies_of_single_elements_are_told_apart_by_their_loops(order, shape, form):
    assert figures_keys(moved(order, shape))[0] == f"host_transpose 8, elements, {form}"


def test_copies_of_single_elements_count_their_lines():
    """Five axes: 4 x 5 images of six lines of seven elements."""
    counts = counts_of(moved((0, 1, 4, 3, 2), (1, 20, 7, 6, 1)))
    assert counts == {"elements": 840, "lines": 120, "images": 20, "beyond": 0, "near": 0}
    assert counts_of(moved((0, 2, 3, 1), (1, 16, 2, 2)))["beyond"] == 24
    woven = counts_of(moved((0, 2, 3, 1), (1, 4, 9, 9)))  # five vectors of 16 positions, and one position
    assert (woven["vectors"], woven["rest"]) == (5, 1)


def test_copies_of_few_lines_of_an_even_number_are_told_apart():
    near = {lines: counts_of(moved((0, 2, 1), (1, 12, lines)))["near"] for lines in (28, 40)}
    assert near == {28: 12 * 28, 40: 0}


def test_runs_of_a_padding_begin_where_ends_are_as_wide():
    """A border of one position: runs of 154 bytes, every second one of which begins at a word, or of 176."""
    odd, even = (copy_of("host_pad", (1, 13, 11, size), (1, 15, 13, size)) for size in (14, 16))
    assert counts_of(odd)["unaligned"] == 13 * 11 * 14 // 2 and counts_of(even)["unaligned"] == 0


def test_runs_that_compilers_copy_in_a_loop_have_figures_of_their_own():
    assert [figures_keys(copy_of("host_slice", (10, 80), (10, size)))[0] for size in (32, 36, 64)] == [
        f"host_slice 8, {length}" for length in ("short runs", "runs", "long runs")
    ]


def test_blocks_of_channels_become_positions_like_other_copies():
    assert figures_keys(copy_of("host_depth_to_space", (1, 4, 9, 9), (1, 1, 18, 18)))[-1] == "moves 8"


def test_tiles_count_their_lines():
    """Three tiles of up to eight lines by two of up to eight elements, whose loop compilers unroll."""
    counts = counts_of(moved((1, 0), (16, 20)))
    assert counts == {"elements": 320, "lines": 40, "further": 0, "squares": 6}
    assert counts_of(moved((1, 0), (24, 20)))["further"] == counts_of(moved((1, 0), (24, 20)))["lines"] == 60


def test_runs_of_a_concatenation_begin_at_words_or_not():
    """The second of two rows of 637 bytes."""
    row, odd = copy_of("host_concat", (1, 636), (2, 636)), copy_of("host_concat", (1, 637), (2, 637))
    even, uneven = (replace(one, operands=(one.operands[0], *one.operands)) for one in (row, odd))
    assert counts_of(even)["unaligned"] == 0 and counts_of(uneven)["unaligned"] == 637


@pytest.mark.parametrize(
    ("factor", "divisor", "told"),
    [
        (257, 1 << 16, {"words": 100}),
        (1 << 26, 1 << 30, {}),  # a byte times that exceeds 32 bits
        (257, 7, {"quotients": 100}),  # 2^16 = 2 modulo 7, 2^18 = 1: gcc multiplies
        (257, 11 * 13, {"quotients": 200}),
    ],
)
def test_requantisations_tell_words_and_quotients(factor, divisor, told):
    sizes = [np.array(value, np.int64) for value in (factor, 5, divisor, -128, 127)]
    node = gs.Node("RequantI8", "scale", {}, domain="match.arith")
    constants = [gs.Constant(f"c{place}", value) for place, value in enumerate(sizes)]
    node.inputs, node.outputs = [gs.Variable("x", np.int8, (100,)), *constants], [gs.Variable("y", np.int8, (100,))]
    work = host_workload("host_requant_i8", build_elementwise((node,), "kernel"), node.outputs).parameters
    assert {name: work[name] for name in ("words", "quotients") if name in work} == told


def test_tiles_that_leave_rests_are_told_apart():
    for rows, form in ((16, "tiles"), (20, "odd tiles")):
        assert figures_keys(moved((1, 0), (rows, 24), np.float32))[0] == f"host_transpose 32, {form}"


def test_means_of_columns_are_told_from_those_of_rows():
    counts = (("elements", 36), ("memory", 936), ("floating", 900))
    for result, form in (((1, 36), "many taps, by columns"), ((36, 1), "many taps")):
        shapes = (("in0", "input", (1, 25, 36)), ("out0", "output", result))
        operands = tuple(
            Operand(name, role, tuple(Axis(f"a{axis}", size) for axis, size in enumerate(shape)), 32)
            for name, role, shape in shapes
        )
        mean = Workload("host_reduce_mean", (Dim("N", 36, tileable=False),), operands, 0, counts)
        assert figures_keys(mean)[0] == f"host_reduce_mean float, {form}"


def test_numbers_of_rows_are_read_before_their_elements():
    shapes = (("in0", "input", (8, 20)), ("in1", "input", (8, 1)), ("in2", "input", (20,)), ("out0", "output", (8, 20)))
    operands = [
        Operand(name, role, tuple(Axis(f"a{axis}", size) for axis, size in enumerate(shape)), 32)
        for name, role, shape in shapes
    ]
    counts = (("elements", 160), ("memory", 640), ("floating", 320), ("steps", 160))
    region = Workload("host_region", (Dim("N", 160, tileable=False),), tuple(operands), 0, counts)
    assert (counts_of(region)["rows"], counts_of(region)["memory"]) == (8, 640 - 160 + 8)
    assert figures_keys(region)[0].endswith("1 steps, by columns, by rows")


def _expanded(before, after):
    count = int(np.prod(after))
    return replace(copy_of("host_cast", before, after), geometry=(("elements", count), ("memory", 2 * count)))


@pytest.mark.parametrize(
    ("before", "after", "rows", "form"),
    [
        ((1, 8, 1, 1), (1, 8, 13, 11), 8, "by rows"),  # one loop goes through an image
        ((1, 8, 1, 1), (1, 8, 4, 4), 8, "by rows of few"),
        ((1, 1, 4, 1), (1, 8, 4, 1), 8, "by columns of few"),
        ((1, 6, 1, 5), (1, 6, 9, 5), 54, "by columns of few"),
    ],
)
def test_axes_along_which_the_same_is_repeated_are_one_line(before, after, rows, form):
    expanded = _expanded(before, after)
    assert counts_of(expanded)["rows"] == rows and figures_keys(expanded)[0].endswith(f", {form}")


def test_numbers_of_64_bits_are_told_from_those_of_32_and_from_places():
    double = counted("host_reduce_max", ("elements", 4), ("memory", 84), ("floating", 80))
    wide = tuple(replace(operand, element_bits=64) for operand in double.operands)
    assert figures_keys(replace(double, operands=wide))[-1] == "host_reduce_max double"
    places = double.operands[0], wide[1]
    assert figures_keys(replace(double, kind="host_arg_max", operands=places))[-1] == "host_arg_max float"


def test_parts_and_repetitions_count_the_runs_that_are_copied():
    parts = copy_of("host_split", (5, 16), (5, 8))
    parts = replace(parts, operands=(*parts.operands, replace(parts.operands[1], name="out1")))
    assert counts_of(parts)["runs"] == 10
    told = (("elements", 624), ("memory", 312), ("steps", 156), ("inner", 48), ("outer", 13), ("apart", 1))
    tiled = replace(copy_of("host_tile", (4, 12), (52, 12)), geometry=told)
    assert counts_of(tiled)["runs"] == 13 and figures_keys(tiled)[0] == "host_tile 8, runs"


def test_enlarged_columns_are_told_from_enlarged_rows():
    for after, name in (((1, 4, 10, 6), "host_resize 8"), ((1, 4, 5, 12), "host_resize 8 of columns")):
        assert figures_keys(copy_of("host_resize", (1, 4, 5, 6), after))[-1] == name


def test_figures_are_special_to_the_operations_per_element():
    long = counted("host_region", ("elements", 100), ("memory", 300), ("floating", 200))
    special = "host_region float, 3 memory 2 floating"
    assert figures_keys(long) == (special, special, "host_region float, plain", "host_region float")
    called = counted("host_region", ("elements", 100), ("memory", 300), ("floating", 200), ("special", 100))
    assert "host_region float, plain" not in figures_keys(called)
    assert figures_keys(counted("host_lut", ("elements", 7), ("memory", 14)))[0] == "host_lut 8, few, 2 memory"
    softmax = counted("host_softmax_i8", ("elements", 100), ("memory", 130))
    assert figures_keys(softmax)[0].endswith("8, uneven") and counts_of(softmax)["others"] == 99
    assert (
        figures_keys(counted("host_requant_i8", ("elements", 90), ("memory", 90)))[0]
        == "host_requant_i8 8 of bytes, 1 memory"
    )


def test_zeros_of_sums_count():
    axes = tuple(Axis(f"a{axis}", size) for axis, size in enumerate((4, 25)))
    operands = tuple(
        Operand(name, role, axes, 32) for name, role in (("in0", "input"), ("in1", "input"), ("out0", "output"))
    )
    counts = (("elements", 100), ("memory", 300), ("floating", 200), ("steps", 100))
    both = Workload("host_region", (Dim("N", 100, tileable=False),), operands, 0, counts)
    assert counts_of(both, 0.4)["nonzero"] == 60 and "nonzero" not in counts_of(both)


def test_rows_that_a_function_copies_are_told_apart():
    """Of a line of two columns, compilers know the lengths."""
    counts = (("dsp2_rows_clipped", 6), ("dsp2_rows_inside", 4), ("dsp2_steps", 9))
    found = []
    for columns in (2, 7):
        axes = tuple(Axis(f"a{axis}", size) for axis, size in enumerate((1, 5, columns, 8)))
        operands = (Operand("in0", "input", axes), Operand("out0", "output", axes))
        found.append(counts_of(Workload("cortexm_conv", (Dim("N", 80, tileable=False),), operands, 0, counts)))
    narrow, wide = found
    assert narrow["dsp2_rows_narrow"] == 6 and narrow["dsp2_rows_clipped"] == 0
    assert wide["dsp2_rows_called"] == 10 and wide["dsp2_rows_clipped"] == 6


def test_pooling_counts_the_taps_of_channels_that_fill_no_vector():
    shapes = (("in0", "input", (1, 9, 9, 24)), ("out0", "output", (1, 5, 5, 24)))
    operands = tuple(
        Operand(name, role, tuple(Axis(f"a{axis}", size) for axis, size in enumerate(shape)), 8)
        for name, role, shape in shapes
    )
    counts = (("elements", 600), ("memory", 6000), ("integer", 10800), ("steps", 6000))
    pool = Workload("host_nhwc_max_pool", (Dim("N", 600, tileable=False),), operands, 0, counts)
    assert {"positions": 25, "visits": 250, "rest": 2000}.items() <= counts_of(pool).items()
    assert counts_of(pool)["inside"] == round(600 * 9 * (13 / 15) ** 2)  # of each axis, the first and the last tap


def test_regions_that_combine_are_told_apart_by_what_they_compute():
    axes = [tuple(Axis(f"a{axis}", size) for axis, size in enumerate(shape)) for shape in ((4, 60), (4, 1))]
    operands = (Operand("in0", "input", axes[0], 32), Operand("out0", "output", axes[1], 32))
    counts = (("elements", 4), ("memory", 244), ("floating", 480), ("steps", 244))
    squares = Workload("host_region_reduce", (Dim("N", 4, tileable=False),), operands, 0, counts)
    assert figures_keys(squares)[0] == "host_region_reduce float, many taps, 2 floating"


def test_casts_of_bytes_are_told_from_those_of_floats():
    """On cores without an FPU, the latter call functions."""
    cast = counted("host_cast", ("elements", 100), ("memory", 200), ("integer", 100), ("steps", 100))
    source, result = cast.operands
    ends = {8: " of bytes", 32: ""}
    for bits, end in ends.items():
        wide = replace(cast, operands=(replace(source, element_bits=bits), replace(result, element_bits=32)))
        assert figures_keys(wide)[0] == f"host_cast 32{end}, 2 memory 1 integer 1 steps"


def test_what_is_the_same_along_rows_is_computed_once():
    """One number of each row, which its 54 elements repeat."""
    region = _expanded((1, 26, 1), (1, 26, 54))
    region = replace(region, kind="host_region", geometry=(*region.geometry, ("floating", 5 * 26 * 54)))
    assert {"rows": 26, "floating": 5 * 26, "elements": 26 * 54}.items() <= counts_of(region).items()
    other = replace(region, operands=(region.operands[0], region.operands[1], region.operands[1]))
    assert counts_of(other)["floating"] == 5 * 26 * 54


def test_copies_of_short_lines_of_an_image_are_unrolled():
    few, many = (copy_of("host_resize", (1, 4, 5, size), (1, 8, 10, size)) for size in (12, 30))
    assert figures_keys(few)[0].endswith(" of short lines") and not figures_keys(many)[0].endswith(" of short lines")


def test_weights_of_one_vector_stay_in_registers_if_nothing_is_copied():
    axes = tuple(Axis(f"a{axis}", size) for axis, size in enumerate((1, 8, 8, 16)))
    operands = (Operand("in0", "input", axes), Operand("out0", "output", axes))
    parts = {"mve_steps": 64, "mve_blocks": 64, "mve_single_blocks": 64}
    conv = Workload("cortexm_conv", (Dim("N", 256, tileable=False),), operands, 0, tuple(parts.items()))
    held = counts_of(conv)
    assert held["mve_held"] == 64 and held["mve_steps"] == 0
    for others in ({"mve_copied_bytes": 16}, {"mve_steps": 128}):
        assert "mve_held" not in counts_of(replace(conv, geometry=tuple({**parts, **others}.items())))


@pytest.mark.parametrize(
    ("others", "held"), [({}, True), ({"mve_rows": 128}, False), ({"mve_steps": 192}, False), ({"mve_tiles": 1}, False)]
)
def test_weights_of_two_vectors_stay_in_registers_where_positions_are_many(others, held):
    axes = tuple(Axis(f"a{axis}", size) for axis, size in enumerate((1, 8, 8, 32)))
    operands = (Operand("in0", "input", axes), Operand("out0", "output", axes))
    parts = {"mve_steps": 128, "mve_blocks": 64, "mve_single_blocks": 64, "mve_tiles": 64, "mve_results": 256, **others}
    conv = Workload("cortexm_conv", (Dim("N", 256, tileable=False),), operands, 0, tuple(parts.items()))
    counts = counts_of(conv)
    assert counts.get("mve_held_pairs", 0) == (64 if held else 0) and (counts["mve_steps"] == 0) == held


@pytest.mark.parametrize(("results", "tiles", "partial"), [(10, 1, 1), (12, 1, 0), (10, 5, 0)])
def test_the_last_vector_of_a_dense_layer_may_be_partial(results, tiles, partial):
    axes = (Axis("a0", 1), Axis("a1", results))
    parts = {"mve_steps": 8, "mve_blocks": 3, "mve_results": results, "mve_tiles": tiles, "mve_calls": 1}
    operands = (Operand("in0", "input", axes), Operand("out0", "output", axes))
    dense = Workload("cortexm_dense", (Dim("N", results, tileable=False),), operands, 0, tuple(parts.items()))
    assert counts_of(dense).get("mve_partial_calls", 0) == partial
