"""Modelled cycles against the sheet's formulas, worked by hand, and against the twin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from digital_graphs import DigitalGraph, deploy, only
from match_core import TransferShape, Workload
from match_core.plugin.facade import Plugins
from match_diana.digital.cost import DigitalCost


def workload(g: DigitalGraph, y: gs.Variable, pattern: str) -> Workload:
    found = next(c for c in g.candidates(y).legal if c.pattern.name == pattern)
    return found.pattern.workload(found.match)


def cycles(g: DigitalGraph, y: gs.Variable, pattern: str, **tile: int) -> tuple[int, int]:
    """Of the kernel and of the launch, of a tile that is whole but for the sizes given."""
    made, model = workload(g, y, pattern), DigitalCost(pattern)
    sizes = {dim.name: np.array([tile.get(dim.name, dim.size)]) for dim in made.dims}
    return int(model.kernel_cycles(made, sizes)[0]), int(model.launch_cycles(made, sizes)[0])


def conv(c: int, k: int, height: int, width: int, **numbers: object) -> tuple[DigitalGraph, gs.Variable]:
    g = DigitalGraph()
    return g, g.conv(g.input(1, c, height, width), k, **numbers)  # type: ignore[arg-type]


def test_the_published_convolution() -> None:
    """64 to 64 channels, 32x32, 3x3. A tile of 16x16 takes 64*9 + 2*64*3 + 23 = 983 cycles, one at the upper or lower
    edge 64*6 + 2*64*2 + 23 = 663; there are 8 in a row. Weights: 37,120 bytes."""
    kernel, launch = cycles(*conv(64, 64, 32, 32), "digital_conv")
    assert kernel == 8 * (30 * 983 + 2 * 663) + 70 + 37120 // 16
    assert launch == 60 + 20 + 11 * 5


def test_a_tile_has_its_part_of_the_edges() -> None:
    """Half of the rows, a quarter of the channels."""
    kernel, _ = cycles(*conv(64, 64, 32, 32), "digital_conv", OY=16, K=16)
    assert kernel == 2 * (15 * 983 + 663) + 70 + 9280 // 16


def test_strides_and_padding_count_filter_rows_that_are_read() -> None:
    """10 rows, 5 taps, stride 2, two rows of padding above: outputs read 3, 5, 5, and 4 rows (none of padding below is
    left but one)."""
    g, y = conv(3, 16, 8, 16, kernel=(5, 1), stride=2, pads=(2, 0, 1, 0))
    kernel, _ = cycles(g, y, "digital_conv")
    read = [3, 5, 5, 4]
    assert int(y.shape[2]) == 4
    assert kernel == sum(3 * rows + 2 * 3 * rows + 23 for rows in read) + 70 + (16 * 15 + 64) // 16


def test_channels_for_the_analog_array_cost_the_same() -> None:
    assert cycles(*conv(64, 128, 8, 32), "digital_conv_channels") == cycles(*conv(64, 128, 8, 32), "digital_conv")


def test_a_depthwise_layer_is_an_instruction_for_each_channel() -> None:
    """Rows of 5 columns are one tile of 16: 25 of them, two at the edges; 208 bytes of weights each time."""
    g, y = conv(20, 20, 25, 5, depthwise=True)
    kernel, launch = cycles(g, y, "digital_depthwise")
    assert kernel == 20 * (23 * (9 + 6 + 23) + 2 * (6 + 4 + 23) + 70 + 13)
    assert launch == 20 * (60 + 20 + 11 * 5) + 3 * 5


def test_a_depthwise_layer_in_blocks_is_an_instruction_for_16_channels() -> None:
    """Tiles of 16 channels take 16*9 + 2*16*3 + 23 cycles, at the edges 16*6 + 2*16*2 + 23; of the last 4 channels
    4*9 + 2*4*3 + 23 and 4*6 + 2*4*2 + 23."""
    g, y = conv(20, 20, 25, 5, depthwise=True)
    kernel, launch = cycles(g, y, "digital_depthwise_blocks")
    sixteen = 23 * 263 + 2 * 183 + 70 + (16 * 16 * 9 + 64) // 16
    four = 23 * 83 + 2 * 63 + 70 + (16 * 4 * 9 + 64) // 16
    assert kernel == sixteen + four
    assert launch == 2 * (60 + 20 + 11 * 5)


def test_a_dense_layer_is_an_instruction_for_16_outputs() -> None:
    g = DigitalGraph()
    y = g.dense(g.input(1, 640), 128)
    kernel, launch = cycles(g, y, "digital_dense")
    assert kernel == 8 * (640 + 2 * 640 + 23 + 70 + 16 * (640 + 16) // 16)
    assert launch == 8 * (60 + 20 + 11 * 5)


def test_sums() -> None:
    g = DigitalGraph()
    a, b = g.input(1, 16, 8, 16), g.input(1, 16, 8, 16)
    assert cycles(g, g.add(a, b), "digital_add") == (8 * 26, 60 + 20 + 9 * 5)
    relu = cycles(g, g.add(a, b, low=0), "digital_add_relu")
    assert relu == (8 * 26 + 8 * (16 + 32 + 23) + 70 + 20, (60 + 20 + 9 * 5) + (60 + 20 + 11 * 5))


@pytest.mark.parametrize(
    ("row_bytes", "wanted"), [(32, 72), (4096, 70 + 256), (48, 72 + 72), (400, (70 + 24) + 72), (65536, 70 + 4096)]
)
def test_copies(row_bytes: int, wanted: int) -> None:
    """70 cycles for each piece and 16 bytes a cycle; a piece that is no multiple of 32 is two."""
    g, y = conv(16, 16, 8, 16)
    row, rows, planes = (np.array([value]) for value in (row_bytes, 5, 3))
    made, model = workload(g, y, "digital_conv"), DigitalCost("digital_conv")
    found = model.transfer_cycles(made, TransferShape("in", row, rows, planes, "l2", "l1"))
    assert (int(found.issue[0]), int(found.data[0]), int(found.wait[0])) == (0, 15 * wanted, 0)
    weights = model.transfer_cycles(made, TransferShape("in", row, rows, planes, "l2", "digital_weights"))
    assert int(weights.data[0]) == 0


@pytest.mark.parametrize(
    "pattern",
    ["digital_conv", "digital_conv_channels", "digital_depthwise", "digital_depthwise_blocks", "digital_add_relu"],
)
def test_the_twin_agrees(pattern: str, plugins: Plugins, tmp_path: Path) -> None:
    """Of one tile: what is modelled is what the twin counts."""
    g = DigitalGraph()
    x = g.input(1, 16, 12, 32)
    if pattern == "digital_add_relu":
        y = g.add(x, g.input(1, 16, 12, 32), low=0)
    else:
        y = g.conv(x, 16, stride=2, depthwise=pattern.startswith("digital_depthwise"))
    with only(pattern):
        found = deploy(g.graph(y), plugins, tmp_path)
    found.check()
    (node,) = (node for node in found.run.nodes if node.unit == "digital")
    assert node.cycles == node.predicted_cycles


def test_the_figure_quoted(plugins: Plugins, tmp_path: Path) -> None:
    """MATCH measured 146.12 MAC/cycle on this layer, 95 % of its model. Ours, with copies and the host's part."""
    g, y = conv(64, 64, 32, 32)
    found = deploy(g.graph(y), plugins, tmp_path, sanitize=False)
    (node,) = (node for node in found.run.nodes if node.unit == "digital")
    assert 64 * 64 * 9 * 32 * 32 / node.cycles == pytest.approx(146.66, abs=0.01)
