"""What the host tells of its reductions, windows and products: loops, comparisons, padding, constants that are 0."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_cortexm.counts import counts_of
from match_cortexm.forms import figures_keys
from match_host.kernels.products.conv import build_conv
from match_host.kernels.products.dense import build_dense
from match_host.kernels.reduction.pool import build_pool
from match_host.kernels.reduction.reduce import build_reduce
from match_host.machine import SCALAR
from match_host.workload import host_workload

from .made_workloads import copy_of

#: The last axes of two sources and of what has both.
_LASTS = {"in0": 3, "in1": 4, "out0": 7}


def _real(name: str, *shape: int) -> gs.Variable:
    return gs.Variable(name, np.float32, shape)


def _reduced(shape: tuple[int, ...], axes: list[int], *ops: str) -> Workload:
    """A reduction, the last of ``ops``, behind others."""
    nodes, x = [], _real("x", *shape)
    for place, op in enumerate(ops[:-1]):
        nodes.append(gs.Node(op, f"n{place}", {}, [x], [_real(f"t{place}", *shape)]))
        x = nodes[-1].outputs[0]
    after = [1 if place in axes else size for place, size in enumerate(shape)]
    constant = gs.Constant("axes", np.array(axes, np.int64))
    nodes.append(gs.Node(ops[-1], "last", {"keepdims": 1}, [x, constant], [_real("y", *after)]))
    kind = "host_region_reduce" if len(ops) > 1 else "host_reduce_mean"
    return host_workload(kind, build_reduce(tuple(nodes), "kernel"), nodes[-1].outputs)


@pytest.mark.parametrize(
    ("shape", "axes", "form"),
    [
        ((1, 9, 5, 8), [1], "few taps, by columns"),  # 40 neighbours are one line
        ((1, 20, 3, 5), [1], "many taps, by columns of few"),
        ((1, 20, 40), [2], "many taps"),
        ((1, 40, 3), [1], "many taps, one by one"),
        ((1, 6, 5), [2], "5 taps"),
    ],
)
def test_reductions_are_told_apart_by_their_loops(shape, axes, form):
    assert figures_keys(_reduced(shape, axes, "ReduceMean"))[0] == f"host_reduce_mean float, {form}"


def test_reductions_count_runs_and_rests():
    assert counts_of(_reduced((1, 20, 3, 5), [1], "ReduceMean"))["runs"] == 20
    assert {"lines": 6, "rest": 6 * 5}.items() <= counts_of(_reduced((1, 6, 37), [2], "ReduceMean")).items()


def test_comparisons_of_floats_are_told_apart():
    mean, largest = (_reduced((1, 6, 37), [2], "Relu", op) for op in ("ReduceMean", "ReduceMax"))
    assert counts_of(mean)["compared"] == counts_of(mean)["sums"] == 6 * 37
    assert counts_of(largest)["compared"] == 2 * 6 * 37 and "sums" not in counts_of(largest)
    assert figures_keys(mean)[0] == "host_region_reduce float, many taps, 2 floating 1 compared"
    assert figures_keys(largest)[0] != figures_keys(mean)[0]


def _conv(channels: int, size: int, taps: int, activation: str = "", **attributes: object) -> Workload:
    """A depthwise convolution of channels that are last, and an activation."""
    weight = gs.Constant("w", np.ones((channels, 1, taps, taps), np.float32))
    attributes = {"group": channels, "kernel_shape": [taps] * 2, **attributes}
    node = gs.Node("Conv", "conv", attributes, [_real("x", 1, size, size, channels), weight], domain="match.nhwc")
    pads, strides, gaps = (attributes.get(name, [1] * 4) for name in ("pads", "strides", "dilations"))
    after = (size + pads[0] + pads[2] - (taps - 1) * gaps[0] - 1) // strides[0] + 1
    node.outputs = [_real("y", 1, after, after, channels)]
    nodes = [node]
    if activation:
        nodes.append(gs.Node(activation, "after", {}, [node.outputs[0]], [_real("z", 1, after, after, channels)]))
    return host_workload("host_conv_activation", build_conv(tuple(nodes), "kernel", SCALAR), nodes[-1].outputs)


def test_taps_inside_are_those_of_the_padding_and_gaps_that_are_told():
    """Padding at the beginning only, and every second place."""
    work = _conv(4, 8, 3, pads=[4, 4, 0, 0], dilations=[2, 2], strides=[1, 1])
    assert counts_of(work, 0.0)["nonzero"] == 4 * (8 + 6 + 4) ** 2
    assert figures_keys(work)[0] == "regions, floating depthwise, few taps, padded"


@pytest.mark.parametrize(("pads", "stride", "bounded"), [([1] * 4, 1, 8), ([0, 0, 1, 1], 2, 5), ([0] * 4, 1, 0)])
def test_taps_that_are_outside_for_some_results_are_counted(pads, stride, bounded):
    """A window of three by three in the middle of an image, or at its end only: the first two taps are inside."""
    work = _conv(4, 8, 3, pads=pads, dilations=[1, 1], strides=[stride] * 2)
    assert counts_of(work)["bounded"] == bounded * counts_of(work)["elements"] // 4


def test_blocks_of_few_channels_compute_some_twice():
    work = _conv(6, 9, 5, pads=[0] * 4, dilations=[1, 1], strides=[1, 1])
    assert {"inside": 25 * 25 * 8, "visits": 25 * 25 * 2, "outside": 0}.items() <= counts_of(work).items()
    assert figures_keys(work)[0] == "regions, floating depthwise, many taps"
    assert counts_of(work)["elements"] == 25 * 8  # 6 channels are two blocks of four


def test_activations_behind_products_are_told_apart():
    plain = {"pads": [1] * 4, "dilations": [1, 1], "strides": [1, 1]}
    assert counts_of(_conv(4, 8, 3, "HardSwish", **plain))["compared"] == 2 * 256
    assert counts_of(_conv(4, 8, 3, "Sigmoid", **plain))["calls_sigmoid"] == 256
    assert counts_of(_conv(4, 8, 3, "HardSigmoid", **plain))["limited"] == 256
    assert "limited" not in counts_of(_conv(4, 8, 3, "Relu", **plain))


def _product(rows: int, depth: int, columns: int, computed: bool) -> Workload:
    """A product of one matrix and another one, or a constant."""
    other = _real("b", depth, columns) if computed else gs.Constant("b", np.ones((depth, columns), np.float32))
    node = gs.Node("MatMul", "product", {}, [_real("a", rows, depth), other], [_real("y", rows, columns)])
    return host_workload("host_mat_mul", build_dense((node,), "kernel", SCALAR), node.outputs)


@pytest.mark.parametrize(("depth", "short"), [(5, True), (40, False)])
def test_products_of_few_inputs_are_told_apart(depth, short):
    keys = figures_keys(_product(21, depth, 23, computed=False))
    assert ("products, floating products, short" in keys) is short
    assert keys[0].startswith("host_mat_mul float, floating products") and ("short" in keys[0]) is short


@pytest.mark.parametrize("computed", [False, True])
def test_products_count_what_their_tiles_compute(computed):
    """The last tile of an axis computes some results again."""
    work = _product(9, 20, 7, computed)
    told, counts = work.parameters, counts_of(work)
    rows, columns = told["held_rows"], told["held_columns"]
    results = -(-9 // rows) * -(-7 // columns) * rows * columns
    assert results > 63 and (counts["elements"], counts["stored"]) == (results, results * 20)
    assert counts["tiles"] == told["held_tiles"] and counts["floating_tile_macs"] == 63 * 20


def test_products_of_computed_matrices_are_told_apart_by_tiles_and_loops():
    for depth, short in ((20, ""), (6, ", short")):
        form = f"host_mat_mul float, floating computed{short} of 4 x 2"
        assert figures_keys(_product(8, depth, 8, computed=True))[0] == form


def _pooled(op: str, kernel: list[int], strides: list[int], *shape: int, last: bool = False) -> Workload:
    sizes = shape[1:-1] if last else shape[2:]
    after = [(size - taps) // step + 1 for size, taps, step in zip(sizes, kernel, strides, strict=True)]
    result = (1, *after, shape[-1]) if last else (*shape[:2], *after)
    attributes = {"kernel_shape": kernel, "strides": strides}
    node = gs.Node(op, "pool", attributes, [_real("x", *shape)], [_real("y", *result)])
    node.domain = "match.nhwc" if last else None
    return host_workload(f"host{'_nhwc' if last else ''}_pool", build_pool((node,), "kernel"), node.outputs)


@pytest.mark.parametrize(
    ("size", "stride", "form"), [(64, 2, "lines, apart"), (64, 1, "lines"), (30, 2, "short lines, apart")]
)
def test_pooling_of_lines_is_told_apart_by_its_loops(size, stride, form):
    work = _pooled("MaxPool", [2], [stride], 1, 5, size)
    assert figures_keys(work)[0] == f"host_pool float, 2 taps of {form}" and counts_of(work)["rows"] == 5


@pytest.mark.parametrize(("channels", "held", "blocks"), [(34, True, 2), (16, False, 1), (64, False, 2)])
def test_pooling_counts_its_blocks_of_channels(channels, held, blocks):
    """34 channels are two blocks of 17, each of four vectors and one channel."""
    work = _pooled("AveragePool", [2, 2], [2, 2], 1, 6, 4, channels, last=True)
    assert figures_keys(work)[0] == f"host_nhwc_pool float, 4 taps{' in registers' if held else ''}"
    counts = counts_of(work)
    assert (counts["positions"], counts["visits"]) == (6 * blocks, 6 * 5 * blocks)
    assert (counts["vectors"], counts["rest"]) == (30 * (channels // 4), 30 * (channels % 4))


@pytest.mark.parametrize("second", [False, True])
def test_constants_that_are_0_leave_fewer_products(second):
    values = np.ones((8, 8), np.float32)
    values[:, :4] = 0
    operands = [gs.Constant("c", values), _real("x", 8, 8)][:: -1 if second else 1]
    node = gs.Node("MatMul", "product", {}, operands, [_real("y", 8, 8)])
    work = host_workload("host_mat_mul", build_dense((node,), "kernel", SCALAR), node.outputs)
    assert counts_of(work, 0.5)["nonzero"] == 8**3 // 2 // 2
    assert "zeros" not in counts_of(work)


def test_short_lines_of_a_concatenation_count_their_words_and_bytes():
    """Lines of three bytes and of four beside each other, and a source that is copied without a loop."""
    axes = {name: tuple(Axis(f"a{n}", size) for n, size in enumerate((1, 40, last))) for name, last in _LASTS.items()}
    operands = [Operand(name, "output" if name == "out0" else "input", axis) for name, axis in axes.items()]
    counts = (("elements", 280), ("memory", 560), ("steps", 280))
    work = Workload("host_concat", (Dim("N", 280, tileable=False),), tuple(operands), 0, counts)
    assert {"lines": 80, "pieces": 40 * 2 + 40}.items() <= counts_of(work).items()
    assert counts_of(copy_of("host_concat", (1, 9, 2), (1, 9, 3)))["whole"] == 9


@pytest.mark.parametrize(
    ("taps", "size", "names"),
    [
        (9, 9, ("9 taps of whole lines", "few taps of whole lines", "9 taps of short lines, apart")),
        (30, 30, ("many taps of whole lines", "many taps of short lines, apart")),
        (3, 9, ("3 taps of short lines, apart",)),
    ],
)
def test_windows_that_are_whole_lines_are_told_apart(taps, size, names):
    node = gs.Node("MaxPool", "pool", {"kernel_shape": [taps], "strides": [taps]}, [_real("x", 1, 6, size)])
    node.outputs = [_real("y", 1, 6, size // taps)]
    keys = figures_keys(host_workload("host_max_pool", build_pool((node,), "kernel"), node.outputs))
    assert keys[: len(names)] == tuple(f"host_max_pool float, {name}" for name in names)
