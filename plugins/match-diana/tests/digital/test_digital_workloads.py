"""Workloads: operands have the sizes of their stored forms, and the engine can move every piece of a copy."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
from digital_graphs import DigitalGraph
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from match_core import Workload
from match_core.contract.geometry import axis_tile
from match_diana.forms import FORMS

from tests.examples import examples

CONVS = (
    "digital_conv",
    "digital_conv_channels",
    "digital_depthwise",
    "digital_depthwise_blocks",
)


def layer(kind: str, sizes: tuple[int, ...], stride: int) -> tuple[DigitalGraph, gs.Variable]:
    c, k, height, width, side = sizes
    g = DigitalGraph()
    x = g.input(1, c, height, width)
    if kind.startswith("digital_add"):
        return g, g.add(x, g.input(1, c, height, width), low=0 if kind.endswith("relu") else -128)
    if kind == "digital_dense":
        return g, g.dense(g.input(1, c * height), k)
    pad = side // 2
    depthwise = kind.startswith("digital_depthwise")
    return g, g.conv(x, c if depthwise else k, (side, side), stride, (pad,) * 4, depthwise=depthwise)


SIZES = st.tuples(
    st.integers(1, 40), st.integers(1, 150), st.integers(1, 40), st.integers(1, 40), st.sampled_from([1, 3, 5, 7])
)
KINDS = st.sampled_from([*CONVS, "digital_dense", "digital_add", "digital_add_channels", "digital_add_relu"])


@given(KINDS, SIZES, st.sampled_from([1, 2]))
@settings(max_examples=examples(150), deadline=None)
def test_operands_have_the_sizes_of_their_forms(kind: str, sizes: tuple[int, ...], stride: int) -> None:
    g, y = layer(kind, sizes, stride)
    found = [c for c in g.candidates(y).legal if c.pattern.name == kind]
    assume(found)
    match, workload = found[0].match, found[0].pattern.workload(found[0].match)
    forms = {form.name: form for form in FORMS}
    for operand in workload.operands:
        if operand.role == "constant":
            continue
        tensor = match.output if operand.role == "output" else match.tensor(operand.name)
        stored = forms[operand.form].elements([int(size) for size in tensor.shape])
        size = int(np.prod([axis.size for axis in operand.axes]))
        assert size >= stored if operand.role == "output" else size == stored
    assert pieces(workload) >= 32


def pieces(workload: Workload) -> int:
    """The shortest piece of any copy of an activation, of all tiles that granularity allows. Every one is a multiple of
    16 bytes."""
    shortest = 1 << 30
    for operand in workload.operands:
        if operand.role == "constant":
            continue
        for dim in workload.dims:
            for size in {dim.granularity, dim.size} if dim.tileable else {dim.size}:
                for start in {0, (dim.size - 1) // size * size}:
                    tile = {other.name: other.size for other in workload.dims} | {dim.name: min(size, dim.size - start)}
                    found = _piece(operand.axes, {dim.name: start}, tile)
                    assert found % 16 == 0, (operand, tile)
                    shortest = min(shortest, found)
    return shortest


def _piece(axes: tuple[object, ...], starts: dict[str, int], sizes: dict[str, int]) -> int:
    """Contiguous bytes: axes from the last one up to the first that is not whole."""
    length = 1
    for axis in reversed(axes):
        extent = axis_tile(axis, starts, sizes).extent  # type: ignore[arg-type]
        length *= extent
        if extent != axis.size:  # type: ignore[attr-defined]
            break
    return length


def test_convolutions_read_rows_that_strides_leave_over() -> None:
    """A 1x1 convolution with stride 2 reads 15 of 16 rows; all of them are one piece."""
    g = DigitalGraph()
    y = g.conv(g.input(1, 16, 16, 16), 32, (1, 1), 2, (0, 0, 0, 0))
    found = next(c for c in g.candidates(y).legal if c.pattern.name == "digital_conv")
    workload = found.pattern.workload(found.match)
    assert workload.dim("SPARE").size == 2
    sizes = {dim.name: dim.size for dim in workload.dims}
    rows = axis_tile(workload.operand("input").axes[1], {}, sizes)
    assert (rows.extent, rows.pad_before, rows.pad_after) == (16, 0, 0)


def test_shifts_and_relu_are_no_part_of_what_is_searched() -> None:
    g = DigitalGraph()
    made = []
    for shift, low in ((3, -128), (9, 0)):
        y = g.conv(g.input(1, 16, 8, 8), 16, shift=shift, low=low)
        found = next(c for c in g.candidates(y).legal if c.match.output is y and c.pattern.name == "digital_conv")
        made.append(found.pattern.workload(found.match))
    assert made[0].geometry == made[1].geometry
    assert made[0].arithmetic != made[1].arithmetic
