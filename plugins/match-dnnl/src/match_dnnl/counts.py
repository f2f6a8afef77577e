"""Counts for the cost model that a region's convolutions depend on, in addition to multiply-accumulates.

oneDNN stores channels in blocks of a vector and computes whole ones, so counts are those of full blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from match_core import Region
from match_core.contract.model import qualified_op
from match_core.ir.geometry import channels_last
from match_core.ir.reader import shape_of

from match_dnnl.geometry import suits_winograd, window_of
from match_dnnl.graph import result

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Channels of a block with AVX-512. First layers of few channels are read as they are.
BLOCK, FEW = 16, 4
#: In the geometry of workloads: multiply-accumulates of convolutions that take Winograd's transformation, of depthwise
#: ones, and of all others; lines of pixels in the blocks of depthwise ones; and elements of all their results.
WINOGRAD, DEPTHWISE, DIRECT = "winograd_macs", "depthwise_macs", "direct_macs"
LINES, RESULTS = "depthwise_lines", "convolution_elements"
CONVOLUTIONS = ("Conv", "match.nhwc::Conv")


def counted(region: Region) -> Mapping[str, int]:
    """These counts of a region."""
    counts = dict.fromkeys((WINOGRAD, DEPTHWISE, DIRECT, LINES, RESULTS), 0)
    for node in region.nodes:
        if qualified_op(node) in CONVOLUTIONS:
            for name, count in _convolution(node).items():
                counts[name] += count
    return counts


def _convolution(node: gs.Node) -> dict[str, int]:
    """The counts of one convolution, in whole blocks."""
    weights, groups, last = shape_of(node.inputs[1]), int(node.attrs.get("group", 1)), channels_last(node)
    output = shape_of(result(node))
    pixels = prod(output) // weights[0]
    taps = prod(weights[2:])
    if groups > 1 and groups == weights[0]:
        channels, width = _blocks(groups), output[-2 if last else -1]
        lines = pixels // width * (channels // BLOCK)
        return {DEPTHWISE: pixels * channels * weights[1] * taps, LINES: lines, RESULTS: pixels * channels}
    outputs = groups * _blocks(weights[0] // groups)
    inputs = weights[1] if weights[1] <= FEW else _blocks(weights[1])
    window = window_of(node, shape_of(node.inputs[0]), output, last)
    name = WINOGRAD if suits_winograd(weights, groups, window) else DIRECT
    return {name: pixels * outputs * inputs * taps, RESULTS: pixels * outputs}


def _blocks(channels: int) -> int:
    return -(-channels // BLOCK) * BLOCK
