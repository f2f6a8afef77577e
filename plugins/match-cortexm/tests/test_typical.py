"""What usual networks have: heads of attention, enlarged images, means of whole images, first layers of spectra."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_cortexm.cores import CORE_NAMED
from match_cortexm.cost import cost_on
from match_cortexm.counts import counts_of
from match_cortexm.forms import figures_keys
from match_cortexm.kernels.border import copied_rows
from match_cortexm.kernels.depthwise import build_depthwise
from match_cortexm.kernels.product import build_product
from match_host.kernels.image.resize import build_resize
from match_host.kernels.window import Window
from match_host.workload import host_workload

from .made_workloads import moved, product_of


@pytest.mark.parametrize(
    ("shape", "form", "starts"),
    [
        ((1, 2, 20, 16), "short runs of 2", 20),  # two heads become columns: compilers unroll the loop over heads
        ((1, 5, 20, 16), "short runs", 20),
        ((1, 20, 5, 16), "short runs", 5),
    ],
)
def test_loops_around_runs_are_told(shape, form, starts):
    heads = moved((0, 2, 1, 3), shape)
    assert figures_keys(heads)[0] == f"host_transpose 8, {form}" and counts_of(heads)["starts"] == starts
    assert f"moves 8, {form.removesuffix(' of 2')}" in figures_keys(heads)


@pytest.mark.parametrize(("depth", "blocks", "rests"), [(16, 40, 0), (24, 40, 40), (32, 80, 0)])
def test_runs_count_blocks_of_four_words_and_rests(depth, blocks, rests):
    counts = counts_of(moved((0, 2, 1, 3), (1, 2, 20, depth)))
    assert (counts["blocks"], counts["rests"]) == (blocks, rests)


def _resized(scales: tuple[float, ...], mode: str) -> Workload:
    node = gs.Node("Resize", "enlarge", {"mode": mode, "coordinate_transformation_mode": "asymmetric"})
    node.inputs = [gs.Variable("x", np.int8, (1, 4, 5, 24)), gs.Variable.empty()]
    node.inputs.append(gs.Constant("s", np.array(scales, np.float32)))
    node.outputs = [gs.Variable("y", np.int8, (1, 8, 10, 24))]
    return host_workload("host_resize", build_resize((node,), "kernel"), node.outputs)


def test_images_that_are_enlarged_without_arithmetic_are_copied_in_runs():
    copied = _resized((1, 2, 2, 1), "nearest")
    assert figures_keys(copied)[0] == "host_resize 8, short runs of 2"
    assert {"runs": 80, "starts": 40}.items() <= counts_of(copied).items()
    assert not any("runs" in key for key in figures_keys(_resized((1, 2, 2, 1), "linear")))


def _mean(positions: int, channels: int = 32) -> tuple[gs.Node, gs.Node]:
    x, y = gs.Variable("x", np.int8, (1, 1, positions, channels)), gs.Variable("y", np.int8, (1, 1, 1, channels))
    sums = gs.Variable("s", np.int32, (1, 1, 1, channels))
    weight = gs.Constant("w", np.ones((channels, 1, 1, positions), np.int8))
    conv = gs.Node("ConvInteger", "sum", {"group": channels, "kernel_shape": [1, positions]}, [x, weight], [sums])
    conv.domain = "match.nhwc"
    numbers = (1 << 20, 0, 1 << 24, -128, 127)
    constants = [gs.Constant(f"n{place}", np.array(value)) for place, value in enumerate(numbers)]
    return conv, gs.Node("RequantI8", "scale", {}, [sums, *constants], [y], domain="match.arith")


@pytest.mark.parametrize(("positions", "loops", "kept"), [(8, 0, False), (12, 12 * 8, True), (20, 20 * 8, False)])
def test_means_of_more_positions_than_registers_are_loops(positions, loops, kept):
    """Compilers would unroll a loop of few turns."""
    built = build_depthwise(_mean(positions), "kernel", CORE_NAMED["cortex_m55"])
    assert dict(built.counts)["loops"] == loops and ("OPAQUE(taps)" in built.code.definition) == kept


def test_windows_of_several_rows_go_on_behind_each_row():
    """17 rows of one column: the loop over the taps of a row has one turn."""
    x, sums = gs.Variable("x", np.int8, (1, 17, 3, 32)), gs.Variable("s", np.int32, (1, 1, 3, 32))
    weight = gs.Constant("w", np.ones((32, 1, 17, 1), np.int8))
    conv, scale = _mean(17)
    conv.attrs, conv.inputs, conv.outputs = {"group": 32, "kernel_shape": [17, 1]}, [x, weight], [sums]
    scale.inputs[0], scale.outputs = sums, [gs.Variable("y", np.int8, (1, 1, 3, 32))]
    text = build_depthwise((conv, scale), "kernel", CORE_NAMED["cortex_m55"]).code.definition
    assert "ky < 17" in text and "kx < 1;" in text and "OPAQUE(taps)" not in text


@pytest.mark.parametrize(("columns", "outputs", "apart"), [(5, 36, True), (5, 32, False), (1, 36, False)])
def test_many_outputs_of_several_positions_are_a_function_of_their_own(columns, outputs, apart):
    """Loops over positions and outputs have more addresses than a core with vectors has registers."""
    x, y = gs.Variable("x", np.int8, (1, 1, columns, 16)), gs.Variable("y", np.int8, (1, 1, columns, outputs))
    conv, scale = _mean(1, outputs)
    conv.attrs, conv.outputs = {"kernel_shape": [1, 1]}, [gs.Variable("s", np.int32, y.shape)]
    conv.inputs = [x, gs.Constant("w", np.ones((outputs, 1, 1, 16), np.int8))]
    scale.inputs[0], scale.outputs = conv.outputs[0], [y]
    for core, helium in (("cortex_m55", True), ("cortex_m4", False)):
        built = build_product((conv, scale), "kernel", CORE_NAMED[core])
        assert any("_outputs_" in name for name, _ in built.code.helpers) == (apart and helium)
        assert dict(built.counts).get("apart_tiles", 0) == columns * (apart and helium)


def test_steps_that_no_load_takes_are_counted():
    counts = [
        dict(build_depthwise(_mean(20, channels), "kernel", CORE_NAMED["cortex_m55"]).counts) for channels in (124, 128)
    ]
    assert [count["far"] for count in counts] == [0, 20 * 32]


@pytest.mark.parametrize(("size", "ended"), [(13, False), (12, True)])
def test_rows_of_windows_that_may_end_behind_the_image_are_told_apart(size, ended):
    """With padding of one column on each side and steps of two, windows of four end inside of 13 columns."""
    y, x = Window("y", 10, 10, 1, 1, 1, 0, 0), Window("x", size, 6, 4, 2, 1, 1, 1)
    assert (copied_rows(y, x, 1, 0, 1)["rows_ended"] > 0) == ended


def test_normalised_lines_of_each_short_length_may_have_figures():
    counts = (("elements", 160), ("memory", 960), ("floating", 1120), ("steps", 480))
    axes = tuple(Axis(f"a{axis}", size) for axis, size in enumerate((10, 16)))
    operands = (Operand("in0", "input", axes, 32), Operand("out0", "output", axes, 32))
    norm = Workload("host_layer_normalization", (Dim("N", 160, tileable=False),), operands, 0, counts)
    first, second, *_ = figures_keys(norm)
    assert first.endswith(" of lines of 16") and second.endswith(" of short lines")


@pytest.mark.parametrize(("taps", "divided"), [(15, 8), (16, 0)])
def test_averages_of_a_power_of_two_are_products(taps, divided):
    axes = [tuple(Axis(f"a{axis}", size) for axis, size in enumerate((1, 8, columns))) for columns in (taps, 1)]
    operands = (Operand("in0", "input", axes[0], 32), Operand("out0", "output", axes[1], 32))
    counts = (("elements", 8), ("memory", 8 * (taps + 1)), ("floating", 8 * taps), ("steps", 8 * (taps + 1)))
    pool = Workload("host_average_pool", (Dim("N", 8, tileable=False),), operands, 0, counts)
    assert counts_of(pool).get("divided", 0) == divided


@pytest.mark.parametrize(("taps", "turns"), [(5, 0), (6, 6 * 6)])
def test_lines_that_compilers_unroll_have_no_turns(taps, turns):
    """Four positions by four outputs: 80 products are unrolled, and 96 are not."""
    source, result = (1, 6, taps + 3, 1), (1, 6, 4, 4)
    conv = product_of("host_nhwc_conv", source, (1, 1, taps, 1, 4), result)
    assert counts_of(conv).get("turns", 0) == turns


def test_turns_at_edges_are_those_of_inputs():
    """Two tiles of four positions, each with taps outside of the image."""
    conv = product_of("host_nhwc_conv", (1, 1, 8, 6), (1, 1, 3, 6, 4), (1, 1, 8, 4))
    counts = counts_of(conv)
    assert (counts["edges"], counts["looked"]) == (2 * 3 * 4, 2 * 3 * 6)


@pytest.mark.parametrize("core", ["cortex_m0plus", "cortex_m3", "cortex_m4", "cortex_m55"])
def test_results_without_elements_have_a_cost(core):
    """A window that is larger than the image: nothing is read."""
    axes = tuple(Axis(f"a{axis}", size) for axis, size in enumerate((1, 1, 0, 3)))
    counts = (("elements", 1), ("loops", 1), ("inner", 0), ("outer", 1), ("apart", 1))
    empty = Workload("host_identity", (Dim("N", 1, tileable=False),), (Operand("out0", "output", axes, 8),), 0, counts)
    assert cost_on(core).kernel_cycles(empty, {"N": np.array(1)}) >= 0
