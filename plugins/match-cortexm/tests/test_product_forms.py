"""Forms of products and of windows over images, which decide the figures that they have, and counts of their parts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_cortexm.counts import counts_of
from match_cortexm.forms import figures_keys

from .made_workloads import product_of


def test_products_of_several_steps_have_figures_of_their_own():
    gates = product_of("host_gru", (4, 1, 12), (1, 12, 24), (1, 1, 8))
    assert figures_keys(gates)[0] == "host_gru float, floating recurrent"


def test_products_are_told_apart_by_their_inner_loops_and_tiles():
    """Weights are [blocks of outputs, rows, columns, inputs, outputs]."""
    inner = product_of("host_nhwc_conv", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12))
    assert figures_keys(inner)[0] == "host_nhwc_conv float, floating windows of 4"
    image = product_of("host_conv_activation", (1, 3, 12, 12), (3, 2, 2, 3, 4), (1, 12, 11, 11))
    assert figures_keys(image)[0] == "regions, floating windows, short of 4"


def test_loops_of_few_statements_are_unrolled():
    """A turn has 40 statements with tiles of four by four, and 10 with one by four: 12 turns are 480 or 168."""
    for positions, short, alone in ((4, "", ""), (1, ", short", " alone")):
        conv = product_of("host_nhwc_conv", (1, 9, 9, 4), (3, 3, 3, 4, 4), (1, 9, 9, 12), positions)
        assert figures_keys(conv)[0] == f"host_nhwc_conv float, floating windows{short} of 4{alone}"


def test_groups_are_told_apart():
    grouped = product_of("host_nhwc_conv", (1, 9, 9, 32), (4, 3, 3, 8, 4), (1, 9, 9, 16))
    assert figures_keys(grouped)[0] == "host_nhwc_conv float, floating grouped windows of 4"


def test_convolutions_count_tiles_lines_and_edges():
    """Nine positions are three tiles, of which the last overlaps; 25 of 27 rows are inside of the image."""
    inner = counts_of(product_of("host_nhwc_conv", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12)))
    assert (inner["tiles"], inner["lines"], inner["edges"]) == (3 * 9 * 3, 3 * 25 * 1, 3 * 25 * 2 * 3 * 4)
    assert inner["inside"] == 3 * 25 * 3 * (4 * 3 * 16 * 4)
    one = counts_of(product_of("host_nhwc_conv", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12), 9))
    assert (one["tiles"], one["lines"], one["edges"]) == (3 * 9, 3 * 25 * 3, 0)
    single = counts_of(product_of("host_nhwc_conv", (1, 9, 9, 1), (1, 3, 3, 1, 1), (1, 9, 9, 1), 3))
    assert (single["lines"], single["edges"], single["copied"]) == (25 * 3, 0, 25 * (8 + 3))
    groups = counts_of(product_of("host_conv_activation", (1, 4, 4, 16), (12, 3, 3, 4, 4), (1, 2, 2, 48), 2))
    assert (groups["tiles"], groups["lines"]) == (12 * 2, 12 * 2 * 3 * 3)


def test_lines_and_volumes_count_what_images_do():
    """Weights are [blocks of outputs, taps along each axis, inputs, outputs]; those of matrices are in one block."""
    line = product_of("host_conv", (1, 8, 30), (2, 5, 8, 8), (1, 16, 30), 3)
    assert figures_keys(line)[0] == "host_conv float, floating windows of 8"
    found = counts_of(line)
    assert (found["tiles"], found["lines"], found["edges"]) == (2 * 10, 2 * 8 * 5, 2 * 2 * 5 * 3)
    volume = counts_of(product_of("host_conv", (1, 16, 4, 4, 9), (1, 3, 3, 3, 16, 8), (1, 8, 4, 4, 9), 9))
    assert (volume["tiles"], volume["edges"]) == (16, 0)
    assert volume["inside"] == (10 * 10) * 9 * 3 * 16 * 8
    matrix = product_of("host_product_region", (1, 30, 8), (1, 2, 8, 8), (1, 30, 16))
    assert "products" in figures_keys(replace(matrix, macs=30 * 16 * 8))[0]


def test_axes_that_may_be_of_channels_are_those_of_one_group():
    """Sixteen columns may be two groups of eight channels."""
    conv = product_of("host_conv_integer", (1, 8, 16, 16), (4, 3, 3, 8, 4), (1, 16, 16, 16))
    assert "grouped" not in figures_keys(conv)[0] and counts_of(conv)["inside"] == 46 * (4 * 4) * 3 * 8 * 16


def test_transposed_convolutions_count_the_taps_that_hit_a_source():
    shapes = (("in0", "input", (1, 6, 5, 5)), ("in1", "constant", (6, 4, 2, 2)), ("out0", "output", (1, 4, 10, 10)))
    operands = tuple(
        Operand(name, role, tuple(Axis(f"a{axis}", size) for axis, size in enumerate(shape)), 32)
        for name, role, shape in shapes
    )
    macs = 400 * 6
    counts = (("elements", 400), ("floating_macs", macs), ("steps", 400))
    conv = Workload("host_conv_transpose", (Dim("N", 400, tileable=False),), operands, macs, counts)
    assert figures_keys(conv)[0] == "host_conv_transpose float, floating transposed, strided"
    assert {"starts": 400, "lines": 400, "inside": 2400, "rolled": 0, "nonzero": 1200}.items() <= counts_of(
        conv, 0.5
    ).items()


def test_rows_of_padding_that_is_not_zero_are_computed():
    zeros = product_of("host_conv_integer_requant", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12))
    zeros = replace(zeros, geometry=(*zeros.geometry, ("tile_macs", zeros.macs)))
    numbers = replace(zeros, kind="host_pad_conv_integer_requant")
    assert counts_of(zeros)["inside"] * 27 == counts_of(numbers)["inside"] * 25
    assert counts_of(numbers)["lines"] == 3 * 7 * 3 * 1


def test_taps_in_the_image_and_zeros_are_counted():
    """Of the 27 taps of an axis with 9 positions, two are outside; convolutions compute those of columns, with 0."""
    inner = product_of("host_nhwc_conv", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12))
    inside = round(inner.macs * (25 / 27) ** 2)
    assert "nonzero" not in counts_of(inner)
    assert counts_of(inner, 0.25)["nonzero"] == round(0.75 * inside)
    dense = product_of("host_gemm", (1, 64), (3, 64, 4), (1, 12))
    assert counts_of(dense, 0.5)["nonzero"] == dense.macs // 2 and "inside" not in counts_of(dense)
    operands = tuple(Operand(name, "input", (Axis("a0", size),), 32) for name, size in (("in0", 900), ("out0", 100)))
    counts = (("elements", 100), ("memory", 1000), ("floating", 900), ("steps", 900))
    mean = Workload("host_reduce_mean", (Dim("N", 100, tileable=False),), operands, 0, counts)
    assert counts_of(mean, 0.0)["nonzero"] == 900


def test_tiles_of_lines_and_of_outputs_may_not_be_whole():
    """Ten positions in tiles of four, 19 outputs in tiles of four."""
    rest = counts_of(product_of("host_nhwc_conv", (1, 8, 10, 3), (5, 3, 3, 3, 4), (1, 8, 10, 19)))
    whole = counts_of(product_of("host_nhwc_conv", (1, 8, 12, 3), (5, 3, 3, 3, 4), (1, 8, 12, 20)))
    assert (rest["clamped"], rest["partial"]) == (rest["tiles"], rest["tiles"])
    assert (whole["clamped"], whole["partial"]) == (0, 0)


def test_products_of_regions_have_figures_of_their_own_before_those_of_all():
    region = product_of("host_product_region", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12))
    assert figures_keys(region)[:2] == ("regions, floating windows of 4", "products, floating windows of 4")


def test_zero_points_at_run_time_are_told_apart():
    """Scalars that are operands: no own kernel subtracts them, so their products do not count twice."""
    conv = product_of("host_conv_integer", (1, 8, 9, 9), (4, 3, 3, 8, 4), (1, 16, 9, 9))
    counts = tuple((name.removeprefix("floating_"), count) for name, count in conv.parameters.items())
    zero = Operand("in2", "input", (), 8)
    shifted = replace(conv, operands=(*conv.operands[:2], zero, conv.operands[2]), geometry=counts)
    assert figures_keys(shifted)[0] == "host_conv_integer 32, shifted windows of 4"
    assert "nonzero" not in counts_of(shifted, 0.5)


@pytest.mark.parametrize(
    ("rows", "columns", "end"), [(3, 4, " of 1 to few"), (9, 9, " of 1"), (20, 24, " of 1, long lines")]
)
def test_windows_to_few_results_and_over_long_lines_are_told_apart(rows, columns, end):
    """Of one output; compilers unroll the loops of the former whole."""
    layer = product_of("host_nhwc_conv", (1, rows, columns, 1), (1, 3, 3, 1, 1), (1, rows, columns, 1))
    keys = figures_keys(layer)
    assert keys[0].endswith(end) and any(key.endswith(" of 1") for key in keys)
    two = product_of("host_nhwc_conv", (1, rows, columns, 1), (1, 3, 3, 1, 2), (1, rows, columns, 2))
    assert not figures_keys(two)[0].endswith("long lines")


def test_tiles_of_fewer_outputs_than_weights_have_figures_of_their_own():
    layer = product_of("host_nhwc_conv", (1, 9, 9, 16), (1, 1, 1, 16, 8), (1, 9, 9, 5), 3)
    told = {**dict(layer.geometry), "held_columns": 5}
    keys = figures_keys(replace(layer, geometry=tuple(told.items())))
    form = "host_nhwc_conv float, floating pointwise of 8"
    assert keys[0] == f"{form}, 3 x 5" and figures_keys(layer)[0] == form and form in keys


@pytest.mark.parametrize(("inputs", "rolled"), [(17, 0), (18, 400 * 18)])
def test_transposed_convolutions_of_many_channels_have_loops_with_turns(inputs, rolled):
    shapes = ((1, inputs, 5, 5), (inputs, 4, 3, 3), (1, 4, 10, 10))
    roles = (("in0", "input"), ("in1", "constant"), ("out0", "output"))
    operands = tuple(
        Operand(name, role, tuple(Axis(f"a{axis}", size) for axis, size in enumerate(shape)), 32)
        for (name, role), shape in zip(roles, shapes, strict=True)
    )
    counts = (("elements", 400), ("floating_macs", 400 * inputs), ("steps", 400))
    conv = Workload("host_conv_transpose", (Dim("N", 400, tileable=False),), operands, 400 * inputs, counts)
    assert {"rolled": rolled, "starts": 800, "lines": 400}.items() <= counts_of(conv).items()
