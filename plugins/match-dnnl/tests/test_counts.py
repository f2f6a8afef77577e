"""What the cost model counts of convolutions: whole blocks of 16 channels, by how they are computed."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import onnx_graphsurgeon as gs
import pytest
from match_core import Workload
from match_dnnl.claims import REGION
from match_dnnl.cost import region_cost, work
from match_dnnl.counts import DEPTHWISE, DIRECT, LINES, RESULTS, WINOGRAD
from onnx import numpy_helper

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def workload(source: str, weights: str, result: str, attributes: str) -> Workload:
    text = f"net (float[{source}] x) => (float[{result}] y) {{ y = Conv <{attributes}> (x, w) }}"
    model = onnx.parser.parse_model(HEAD + text)
    zeros = np.zeros([int(size) for size in weights.split(",")], np.float32)
    model.graph.initializer.append(numpy_helper.from_array(zeros, "w"))
    assert REGION.search is not None
    (match,) = REGION.search(gs.import_onnx(onnx.shape_inference.infer_shapes(model)))
    return REGION.workload(match)


@pytest.mark.parametrize(
    ("layer", "count", "macs", "elements"),
    [
        (("1,16,8,8", "16,16,3,3", "1,16,8,8", "pads=[1,1,1,1]"), WINOGRAD, 64 * 16 * 16 * 9, 64 * 16),
        (("1,16,8,8", "20,16,3,3", "1,20,8,8", "pads=[1,1,1,1]"), WINOGRAD, 64 * 32 * 16 * 9, 64 * 32),
        (("1,16,8,8", "16,16,3,3", "1,16,4,4", "pads=[1,1,1,1], strides=[2,2]"), DIRECT, 16 * 16 * 16 * 9, 16 * 16),
        (("1,3,8,8", "8,3,3,3", "1,8,8,8", "pads=[1,1,1,1]"), DIRECT, 64 * 16 * 3 * 9, 64 * 16),
        (("1,8,8,8", "24,8,1,1", "1,24,8,8", "pads=[0,0,0,0]"), DIRECT, 64 * 32 * 16, 64 * 32),
        (("1,8,8,8", "8,1,3,3", "1,8,8,8", "pads=[1,1,1,1], group=8"), DEPTHWISE, 64 * 16 * 9, 64 * 16),
        (("1,32,8,8", "32,16,3,3", "1,32,8,8", "pads=[1,1,1,1], group=2"), DIRECT, 64 * 32 * 16 * 9, 64 * 32),
    ],
)
def test_blocks_are_counted_whole(layer: tuple[str, str, str, str], count: str, macs: int, elements: int) -> None:
    found = dict(workload(*layer).geometry)
    others = {WINOGRAD, DEPTHWISE, DIRECT} - {count}
    assert (found[count], found[RESULTS]) == (macs, elements)
    assert [found[name] for name in sorted(others)] == [0, 0]


@pytest.mark.parametrize(("image", "lines"), [("1,40,25,5", 25 * 3), ("1,40,5,25", 5 * 3), ("2,16,7,7", 14)])
def test_lines_of_depthwise_convolutions_count_in_every_block(image: str, lines: int) -> None:
    channels = image.split(",")[1]
    layer = workload(image, f"{channels},1,3,3", image, f"pads=[1,1,1,1], group={channels}")
    assert work(layer)["depthwise_line_ns"] == dict(layer.geometry)[LINES] == lines


def test_without_the_transformation_all_are_direct() -> None:
    layer = workload("1,64,28,28", "64,64,3,3", "1,64,28,28", "pads=[1,1,1,1]")
    both = [work(layer, winograd=winograd) for winograd in (True, False)]
    macs = 784 * 64 * 64 * 9
    assert [(counts["winograd_mac_ns"], counts["direct_mac_ns"]) for counts in both] == [(macs, 0), (0, macs)]
    tile = {dim.name: np.array([dim.size]) for dim in layer.dims}
    quick, slow = (int(region_cost(winograd).kernel_cycles(layer, tile)[0]) for winograd in (True, False))
    assert quick < slow


def test_few_channels_cost_what_a_block_costs() -> None:
    costs = []
    for channels in (8, 16):
        layer = workload(f"1,{channels},32,32", f"{channels},{channels},1,1", f"1,{channels},32,32", "pads=[0,0,0,0]")
        counts = work(layer)
        costs.append((counts["direct_mac_ns"], counts["product_element_ns"]))
    assert costs[0] == costs[1]
