"""The model's instructions are those of the emulator, for layers that the figures do not come from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_cortexm import cost
from match_cortexm.cores import CORES
from match_cortexm.cost import ZEROS, cost_on
from match_cortexm.figures import GENERAL, OWN, figures_of
from match_cortexm.forms import counts_of, figures_keys
from match_host.kernels.elementwise.loop import build_elementwise
from match_host.kernels.movement.movement import build_movement
from match_host.workload import host_workload

from benchmarks.cortexm_counts import Layer, explored, layers_of
from benchmarks.cortexm_fit import fewest, fit, fitted, total
from benchmarks.cortexm_made import KINDS
from benchmarks.cortexm_net import ZEROS as SHARES
from benchmarks.cortexm_net import Net

from .test_kernels import TARGETS, needs_emulator

#: Kinds of made layers that CI counts.
SAMPLE = ("conv_3", "depthwise_3", "dense", "transpose", "pad", "softmax")


def _sample(core: str, seed: int, quantised: bool, tmp_path) -> list[Layer]:
    """A layer of each kind, counted."""
    net = Net(np.random.default_rng(seed), quantised)
    for kind in SAMPLE:
        KINDS[kind](net)
    path = tmp_path / "made.onnx"
    onnx.save(net.model(), path)
    found = layers_of(path, net.arrays(), core)
    assert len(found) >= len(SAMPLE)
    return found


def _errors(core: str, seed: int, quantised: bool, tmp_path) -> dict[str, tuple[int, int]]:
    """Counted and modelled instructions of layers that differ by more than a fifth (and 60 instructions)."""
    return {
        f"{layer.title} ({layer.keys[0]})": (layer.counted, layer.modelled)
        for layer in _sample(core, seed, quantised, tmp_path)
        if abs(layer.modelled - layer.counted) > max(60, layer.counted // 5)
    }


@needs_emulator
@pytest.mark.parametrize("core", ["cortex_m3", "cortex_m4", "cortex_m55"])
def test_sample_layers_cost_what_the_emulator_counts(core, tmp_path):
    assert _errors(core, 5, True, tmp_path) == {}


@needs_emulator
@pytest.mark.parametrize(
    ("core", "quantised"), [("cortex_m0plus", True), ("cortex_m0plus", False), ("cortex_m3", False)]
)
def test_cores_without_an_fpu_have_figures_of_their_own(core, quantised, tmp_path):
    """Operations on floats are calls there, which cost several times what M4 does, and less for zeros."""
    errors = [abs(layer.informed / layer.counted - 1) for layer in _sample(core, 5, quantised, tmp_path)]
    assert np.median(errors) < 0.1


def _copy(kind: str, before: tuple[int, ...], after: tuple[int, ...], bits: int = 8, **told: int) -> Workload:
    operands = [
        Operand(name, role, tuple(Axis(f"a{axis}", size) for axis, size in enumerate(shape)), bits)
        for name, role, shape in (("in0", "input", before), ("out0", "output", after))
    ]
    elements = int(np.prod(after))
    counts = (("elements", elements), ("memory", elements // 2), ("steps", elements // 4), *told.items())
    return Workload(kind, (Dim("N", elements, tileable=False),), tuple(operands), 0, counts)


def _moved(order: tuple[int, ...], shape: tuple[int, ...], dtype=np.int8) -> Workload:
    """The host's transposition, which tells its loops."""
    node = gs.Node("Transpose", "move", {"perm": list(order)})
    node.inputs, node.outputs = [gs.Variable("x", dtype, shape)], [gs.Variable("y", dtype, [shape[n] for n in order])]
    return host_workload("host_transpose", build_movement((node,), "kernel"), node.outputs)


def test_copies_count_runs():
    lines = _copy("host_slice", (10, 32), (10, 20))
    assert counts_of(lines)["runs"] == 10 and figures_keys(lines)[0] == "host_slice 8, short runs"
    assert figures_keys(_copy("host_slice", (10, 33), (10, 20)))[0] == "host_slice 8, short runs, odd"
    heads = _moved((0, 2, 1, 3), (1, 6, 4, 64))
    assert counts_of(heads)["runs"] == 24 and figures_keys(heads)[0] == "host_transpose 8, long runs"
    square = _moved((0, 2, 1, 3), (1, 8, 8, 128))  # sizes do not tell which axes changed places
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
    assert figures_keys(_moved(order, shape))[0] == f"host_transpose 8, elements, {form}"


def test_copies_of_single_elements_count_their_lines():
    """Five axes: 4 x 5 images of six lines of seven elements."""
    counts = counts_of(_moved((0, 1, 4, 3, 2), (1, 20, 7, 6, 1)))
    assert counts == {"elements": 840, "lines": 120, "images": 20, "beyond": 0}
    assert counts_of(_moved((0, 2, 3, 1), (1, 16, 2, 2)))["beyond"] == 24
    woven = counts_of(_moved((0, 2, 3, 1), (1, 4, 9, 9)))  # five vectors of 16 positions, and one position
    assert (woven["vectors"], woven["rest"]) == (5, 1)


def test_tiles_count_their_lines():
    """Three tiles of up to eight lines by two of up to eight elements."""
    counts = counts_of(_moved((1, 0), (16, 20)))
    assert counts == {"elements": 320, "lines": 40, "squares": 6}


def test_runs_of_a_concatenation_begin_at_words_or_not():
    """The second of two rows of 637 bytes."""
    row, odd = _copy("host_concat", (1, 636), (2, 636)), _copy("host_concat", (1, 637), (2, 637))
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
        assert figures_keys(_moved((1, 0), (rows, 24), np.float32))[0] == f"host_transpose 32, {form}"


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


def _plain(kind: str, *counts: tuple[str, int]) -> Workload:
    axes = (Axis("a0", counts[0][1]),)
    operands = (Operand("in0", "input", axes), Operand("out0", "output", axes))
    return Workload(kind, (Dim("N", counts[0][1], tileable=False),), operands, 0, counts)


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


def test_figures_are_special_to_the_operations_per_element():
    long = _plain("host_region", ("elements", 100), ("memory", 300), ("floating", 200))
    special = "host_region float, 3 memory 2 floating"
    assert figures_keys(long) == (special, special, "host_region float, plain", "host_region float")
    called = _plain("host_region", ("elements", 100), ("memory", 300), ("floating", 200), ("special", 100))
    assert "host_region float, plain" not in figures_keys(called)
    assert figures_keys(_plain("host_lut", ("elements", 7), ("memory", 14)))[0] == "host_lut 8, few, 2 memory"
    softmax = _plain("host_softmax_i8", ("elements", 100), ("memory", 130))
    assert figures_keys(softmax)[0].endswith("8, uneven") and counts_of(softmax)["others"] == 99
    assert (
        figures_keys(_plain("host_requant_i8", ("elements", 90), ("memory", 90)))[0]
        == "host_requant_i8 8 of bytes, 1 memory"
    )


def test_operators_on_single_numbers_without_figures_count_twice_without_dsp():
    """Regions, which replace them, have figures."""
    single, many = (_plain("host_unheard", ("elements", n), ("memory", 2 * n), ("floating", n)) for n in (1, 100))
    plain = replace(cost_on("cortex_m3"), luck=1.0)
    for workload, factor in ((single, 2), (many, 1)):
        tile = {"N": np.array(workload.dims[0].size)}
        once = int(plain.kernel_cycles(workload, tile))
        assert abs(int(cost_on("cortex_m3").kernel_cycles(workload, tile)) - factor * once) <= 1


def _product(
    kind: str, source: tuple[int, ...], weight: tuple[int, ...], result: tuple[int, ...], positions: int = 4
) -> Workload:
    """A product with tiles of ``positions`` by the last axis of the weights."""
    shapes = zip(("in0", "in1", "out0"), ("input", "constant", "output"), (source, weight, result), strict=True)
    operands = tuple(
        Operand(name, role, tuple(Axis(f"a{axis}", size) for axis, size in enumerate(shape)), 32)
        for name, role, shape in shapes
    )
    elements = int(np.prod(result))
    macs = elements * int(np.prod(weight[1:-1]))
    turns = macs // (positions * weight[-1]) + 2 * elements
    counts = (("elements", elements), ("floating_tile_macs", macs), ("steps", turns))
    return Workload(kind, (Dim("N", elements, tileable=False),), operands, macs, counts)


def test_products_are_told_apart_by_their_inner_loops_and_tiles():
    """Weights are [blocks of outputs, rows, columns, inputs, outputs]."""
    inner = _product("host_nhwc_conv", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12))
    assert figures_keys(inner)[0] == "host_nhwc_conv float, floating windows of 4"
    image = _product("host_conv_activation", (1, 3, 12, 12), (3, 2, 2, 3, 4), (1, 12, 11, 11))
    assert figures_keys(image)[0] == "host_conv_activation float, floating windows, short of 4"


def test_loops_of_few_statements_are_unrolled():
    """A turn has 40 statements with tiles of four by four, and 10 with one by four: 12 turns are 480 or 168."""
    for positions, short in ((4, ""), (1, ", short")):
        conv = _product("host_nhwc_conv", (1, 9, 9, 4), (3, 3, 3, 4, 4), (1, 9, 9, 12), positions)
        assert figures_keys(conv)[0] == f"host_nhwc_conv float, floating windows{short} of 4"


def test_groups_are_told_apart():
    grouped = _product("host_nhwc_conv", (1, 9, 9, 32), (4, 3, 3, 8, 4), (1, 9, 9, 16))
    assert figures_keys(grouped)[0] == "host_nhwc_conv float, floating grouped windows of 4"


def test_convolutions_count_tiles_lines_and_edges():
    """Nine positions are three tiles, of which the last overlaps; 25 of 27 rows are inside of the image."""
    inner = counts_of(_product("host_nhwc_conv", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12)))
    assert (inner["tiles"], inner["lines"], inner["edges"]) == (3 * 9 * 3, 3 * 25 * 1, 3 * 25 * 2 * 3 * 4)
    assert inner["inside"] == 3 * 25 * 3 * (4 * 3 * 16 * 4)
    one = counts_of(_product("host_nhwc_conv", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12), 9))
    assert (one["tiles"], one["lines"], one["edges"]) == (3 * 9, 3 * 25 * 3, 0)
    single = counts_of(_product("host_nhwc_conv", (1, 9, 9, 1), (1, 3, 3, 1, 1), (1, 9, 9, 1), 3))
    assert (single["lines"], single["edges"], single["copied"]) == (25 * 3, 0, 25 * (8 + 3))
    groups = counts_of(_product("host_conv_activation", (1, 4, 4, 16), (12, 3, 3, 4, 4), (1, 2, 2, 48), 2))
    assert (groups["tiles"], groups["lines"]) == (12 * 2, 12 * 2 * 3 * 3)


def test_lines_and_volumes_count_what_images_do():
    """Weights are [blocks of outputs, taps along each axis, inputs, outputs]; those of matrices are in one block."""
    line = _product("host_conv", (1, 8, 30), (2, 5, 8, 8), (1, 16, 30), 3)
    assert figures_keys(line)[0] == "host_conv float, floating windows of 8"
    found = counts_of(line)
    assert (found["tiles"], found["lines"], found["edges"]) == (2 * 10, 2 * 8 * 5, 2 * 2 * 5 * 3)
    volume = counts_of(_product("host_conv", (1, 16, 4, 4, 9), (1, 3, 3, 3, 16, 8), (1, 8, 4, 4, 9), 9))
    assert (volume["tiles"], volume["edges"]) == (16, 0)
    assert volume["inside"] == (10 * 10) * 9 * 3 * 16 * 8
    matrix = _product("host_product_region", (1, 30, 8), (1, 2, 8, 8), (1, 30, 16))
    assert "products" in figures_keys(replace(matrix, macs=30 * 16 * 8))[0]


def test_axes_that_may_be_of_channels_are_those_of_one_group():
    """Sixteen columns may be two groups of eight channels."""
    conv = _product("host_conv_integer", (1, 8, 16, 16), (4, 3, 3, 8, 4), (1, 16, 16, 16))
    assert "grouped" not in figures_keys(conv)[0] and counts_of(conv)["inside"] == 46 * (4 * 4) * 3 * 8 * 16


def test_transposed_convolutions_count_the_taps_that_hit_a_source():
    shapes = (("in0", "input", (1, 6, 5, 5)), ("in1", "constant", (6, 4, 2, 2)), ("out0", "output", (1, 4, 10, 10)))
    operands = tuple(
        Operand(name, role, tuple(Axis(f"a{axis}", size) for axis, size in enumerate(shape)), 32)
        for name, role, shape in shapes
    )
    macs = 400 * 4 * 6
    counts = (("elements", 400), ("floating_macs", macs), ("steps", 400))
    conv = Workload("host_conv_transpose", (Dim("N", 400, tileable=False),), operands, macs, counts)
    assert figures_keys(conv)[0] == "host_conv_transpose float, floating transposed, strided"
    assert {"checks": 1600, "lines": 400, "inside": 2400, "nonzero": 1200}.items() <= counts_of(conv, 0.5).items()


def test_rows_of_padding_that_is_not_zero_are_computed():
    zeros = _product("host_conv_integer_requant", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12))
    zeros = replace(zeros, geometry=(*zeros.geometry, ("tile_macs", zeros.macs)))
    numbers = replace(zeros, kind="host_pad_conv_integer_requant")
    assert counts_of(zeros)["inside"] * 27 == counts_of(numbers)["inside"] * 25
    assert counts_of(numbers)["lines"] == 3 * 7 * 3 * 1


def test_taps_in_the_image_and_zeros_are_counted():
    """Of the 27 taps of an axis with 9 positions, two are outside; convolutions compute those of columns, with 0."""
    inner = _product("host_nhwc_conv", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12))
    inside = round(inner.macs * (25 / 27) ** 2)
    assert "nonzero" not in counts_of(inner)
    assert counts_of(inner, 0.25)["nonzero"] == round(0.75 * inside)
    dense = _product("host_gemm", (1, 64), (3, 64, 4), (1, 12))
    assert counts_of(dense, 0.5)["nonzero"] == dense.macs // 2 and "inside" not in counts_of(dense)
    operands = tuple(Operand(name, "input", (Axis("a0", size),), 32) for name, size in (("in0", 900), ("out0", 100)))
    counts = (("elements", 100), ("memory", 1000), ("floating", 900), ("steps", 900))
    mean = Workload("host_reduce_mean", (Dim("N", 100, tileable=False),), operands, 0, counts)
    assert counts_of(mean, 0.0)["nonzero"] == 900


@pytest.mark.parametrize(("core", "less"), [("cortex_m0plus", True), ("cortex_m3", True), ("cortex_m4", False)])
def test_zeros_cost_less_without_an_fpu(core, less):
    """Compiled programs have the mean share of what the made layers read."""
    assert pytest.approx(np.mean(SHARES)) == ZEROS
    model, tile = cost_on(core), {"N": np.array(972)}
    layer = _product("host_nhwc_conv", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12), 3)
    all_, half, none, given = (
        int(replace(model, zeros=zeros).kernel_cycles(layer, tile)) for zeros in (1.0, 0.5, 0.0, model.zeros)
    )
    assert all_ < 0.8 * half < half < given < none if less else all_ == half == none == given


def test_products_of_regions_have_figures_of_their_own_before_those_of_all():
    region = _product("host_product_region", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12))
    assert figures_keys(region)[:2] == ("regions, floating windows of 4", "products, floating windows of 4")


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


def test_zero_points_at_run_time_are_told_apart():
    """Scalars that are operands: no own kernel subtracts them, so their products do not count twice."""
    conv = _product("host_conv_integer", (1, 8, 9, 9), (4, 3, 3, 8, 4), (1, 16, 9, 9))
    counts = tuple((name.removeprefix("floating_"), count) for name, count in conv.parameters.items())
    zero = Operand("in2", "input", (), 8)
    shifted = replace(conv, operands=(*conv.operands[:2], zero, conv.operands[2]), geometry=counts)
    assert figures_keys(shifted)[0] == "host_conv_integer 32, shifted windows of 4"
    assert "nonzero" not in counts_of(shifted, 0.5)


def test_regions_that_combine_are_told_apart_by_what_they_compute():
    axes = [tuple(Axis(f"a{axis}", size) for axis, size in enumerate(shape)) for shape in ((4, 60), (4, 1))]
    operands = (Operand("in0", "input", axes[0], 32), Operand("out0", "output", axes[1], 32))
    counts = (("elements", 4), ("memory", 244), ("floating", 480), ("steps", 244))
    squares = Workload("host_region_reduce", (Dim("N", 4, tileable=False),), operands, 0, counts)
    assert figures_keys(squares)[0] == "host_region_reduce float, many taps, 2 floating"


@pytest.mark.parametrize("core", [core.name for core in CORES])
def test_every_core_has_figures(core):
    figures = figures_of(core)
    assert {GENERAL, OWN} <= set(figures) and cost_on(core).figures == figures
    assert all(value > 0 for values in figures.values() for value in values.values())


@pytest.mark.parametrize("target", TARGETS)
def test_own_kernels_cost_less_than_those_of_the_host(target, tmp_path):
    net = Net(np.random.default_rng(1), True)
    for kind in ("conv_3", "pointwise", "depthwise_3", "dense", "product_even"):
        KINDS[kind](net)
    path = tmp_path / "made.onnx"
    onnx.save(net.model(), path)
    request = CompileRequest(model=path, target=target, output=tmp_path / "out", cache=False)
    candidates = [
        task.assignment.candidate for task in compile_model(request, Plugins.load()).compilation.program.tasks
    ]
    products = {candidate.pattern.name for candidate in candidates if candidate.workload.macs}
    assert products and all(name.startswith("cortexm_") for name in products)


def test_the_fit_takes_the_parts_that_predict_layers_it_does_not_see():
    """Of counts that go together, one; those that tell nothing get no figure; products come first."""
    rng = np.random.default_rng(4)
    layers = []
    for _ in range(24):
        elements, taps = int(rng.integers(10, 900)), int(rng.integers(2, 40))
        counts = {"elements": elements, "memory": 2 * elements, "tile_macs": elements * taps, "steps": taps}
        layers.append(Layer("made", ("key",), counts, 20 + 7 * elements + 3 * elements * taps, 0))
    figures = fit(layers, ["call", "elements", "memory", "tile_macs", "steps"])
    assert (
        set(figures) <= {"call", "elements", "memory", "tile_macs"} and len(set(figures) & {"elements", "memory"}) == 1
    )
    assert figures["tile_macs"] == pytest.approx(3, rel=0.02)
    far = Layer("far", ("key",), {"elements": 9000, "memory": 18000, "tile_macs": 9 * 9000, "steps": 9}, 0, 0)
    assert total(far, figures) == pytest.approx(20 + 7 * 9000 + 27 * 9000, rel=0.02)


def test_calls_that_no_layer_has_cost_what_they_do_in_general():
    def layers(name, count, cost):
        sizes = [40 * (number + 1) for number in range(6)]
        return [Layer("made", (name,), {"elements": n, count: n}, 5 * n + cost * n, 0) for n in sizes]

    found = fitted([*layers("host_region float", "floating", 2), *layers("host_erf float", "special", 100)])
    assert found["host_region float"]["special"] == found[GENERAL]["special"] > 50
    assert "special" in found["host_erf float"] and found["host_erf float"]["special"] != found[GENERAL]["special"]


def test_products_of_one_pattern_need_many_layers():
    layers = [Layer("made", ("key",), {"elements": 1, "tile_macs": 4}, 9, 0)]
    pools = [Layer("made", ("key",), {"elements": 1, "visits": 4}, 9, 0)]
    assert fewest("host_conv 8, integer windows of 4", layers) == fewest("regions, integer products", layers) == 12
    assert fewest("products, integer windows of 4", layers) == 8 and fewest("host_conv 8", layers) == 3
    assert fewest("host_nhwc_max_pool 8, 9 taps", pools) == 5


@pytest.mark.parametrize("spread", [0.0, 0.7])
def test_what_the_fit_counts_depends_on_no_figures(spread, monkeypatch):
    own = _copy("cortexm_transpose", (10, 32), (32, 10))
    hosts = [_copy("host_slice", (10, 32), (10, size)) for size in range(1, 30)]
    tile = {"N": np.array(1)}

    def costs():
        with explored(spread):
            return [int(cost.cost_on("cortex_m4").kernel_cycles(workload, tile)[()]) for workload in (own, *hosts)]

    before, kept = costs(), cost.cost_on
    monkeypatch.setattr(cost, "figures_of", lambda core: {GENERAL: {"elements": 99.0}, OWN: {}})
    assert costs() == before and cost.cost_on is kept
    assert before[0] in (1, 10**9)
