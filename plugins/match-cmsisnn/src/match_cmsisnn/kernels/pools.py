"""Averages and maxima of windows.

The integer graph has an average as a depthwise convolution whose weights are all the same. The library divides the sum
by the elements of the window, and rounds half away from zero: it is used where both agree for every sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant
from match_host.graph import dtype_of, integer, integers, values_of
from match_host.kernels.products.conv_shape import conv_shape
from match_host.kernels.products.int8_layer import point
from match_host.kernels.window import Window, windows

from match_cmsisnn.kernels.call import Counted, call, context, dims, tile
from match_cmsisnn.layer import MOST_SIZE
from match_cmsisnn.rounding import Requant, requant_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_Average = tuple["gs.Tensor", Window, Window, Requant]


def average_of(nodes: tuple[gs.Node, ...]) -> _Average | str:
    """The image, windows and bounds of an average; or why the library does not compute it as the graph does."""
    conv, (product, requant) = conv_shape(nodes), nodes[-2:]
    if conv.groups == 1 or conv.inputs != 1 or conv.outputs != 1 or conv.batch != 1 or len(conv.windows) > 2:
        return f"it is no average: {conv.groups} groups of {conv.inputs} to {conv.outputs} channels"
    weights = values_of(product.inputs[1])
    if not is_constant(product.inputs[1]) or bool((weights != weights.flat[0]).any()) or int(weights.flat[0]) <= 0:
        return "it is no average: weights differ"
    if any(optional_input(product, index) is not None for index in (2, 3)) or product.domain != "match.nhwc":
        return "it has zero points, or channels are not last"
    y, x = conv.windows if len(conv.windows) == 2 else (point("y", 1), conv.windows[0])
    if any(w.leaves or w.dilation != 1 or w.size > MOST_SIZE for w in (y, x)):
        return "it has padding or dilations"
    if {dtype_of(conv.source).name, dtype_of(requant.outputs[0]).name} != {"int8"}:
        return "activations are not int8"
    numbers = requant_of(requant, conv.groups)
    if isinstance(numbers, str):
        return numbers
    count = y.kernel * x.kernel
    sums = np.arange(-128 * count, 127 * count + 1, dtype=np.int64)
    found = np.where(sums > 0, (sums + count // 2) // count, -((-sums + count // 2) // count))
    other = numbers.of(int(weights.flat[0]) * sums[:, None]) != np.clip(found, numbers.low, numbers.high)[:, None]
    if other.any():
        return f"its rounding differs for {int(other.any(axis=1).sum())} of {len(sums)} sums"
    return conv.source, y, x, numbers


def build_average(nodes: tuple[gs.Node, ...], function: str, helium: bool = False) -> Counted:
    """The kernel of an average."""
    found = average_of(nodes)
    if isinstance(found, str):
        raise ValueError(f"{function}: {found}")
    source, y, x, numbers = found
    channels, name = shape_of(source)[-1], "arm_avgpool_s8"
    needed = f"{name}_get_buffer_size({x.out}, {channels})"
    lines = (*context(4 * channels, needed), *_windowed(name, y, x, channels, (numbers.low, numbers.high)))
    words = f"Average of CMSIS-NN: {channels} channels, window {y.kernel}x{x.kernel}"
    counts = _counts(y, x, channels)
    result = nodes[-1].outputs[:1]
    return call(function, words, (source,), result, lines, "average", helium, counts, scratch_bytes=4 * channels)


def maximum_of(node: gs.Node) -> tuple[Window, Window] | str:
    """The windows of a maximum; or why the library does not compute it."""
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    if len(shape) not in (3, 4) or shape[0] != 1:
        return f"the shape is {shape}"
    if dtype_of(node.inputs[0]) != np.int8 or len(node.outputs) > 1 or integer(node, "ceil_mode", 0):
        return f"the type is {dtype_of(node.inputs[0])}, or it has positions or ceil_mode"
    found = windows(node, shape[1:-1], out[1:-1], integers(node, "kernel_shape", ()))
    y, x = found if len(found) == 2 else (point("y", 1), found[0])
    if any(w.dilation != 1 or w.before < 0 or w.before >= w.kernel or w.size > MOST_SIZE for w in (y, x)):
        return "it has dilations or wide padding"
    return y, x


def build_maximum(nodes: tuple[gs.Node, ...], function: str, helium: bool = False) -> Counted:
    """The kernel of a maximum."""
    (node,) = nodes
    found = maximum_of(node)
    if isinstance(found, str):
        raise ValueError(f"{function}: {found}")
    y, x = found
    channels = shape_of(node.inputs[0])[-1]
    lines = (*context(0, ""), *_windowed("arm_max_pool_s8", y, x, channels, (-128, 127)))
    words = f"Maximum of CMSIS-NN: {channels} channels, window {y.kernel}x{x.kernel}"
    return call(function, words, node.inputs[:1], node.outputs[:1], lines, "maximum", helium, _counts(y, x, channels))


def _windowed(name: str, y: Window, x: Window, channels: int, bounds: tuple[int, int]) -> tuple[str, ...]:
    low, high = bounds
    return (
        dims("source", 1, y.size, x.size, channels),
        dims("window", 1, y.kernel, x.kernel, 1),
        dims("result", 1, y.out, x.out, channels),
        f"    const cmsis_nn_pool_params numbers = {{{tile(x.stride, y.stride)}, {tile(x.before, y.before)}, "
        f"{{{low}, {high}}}}};",
        f"    (void){name}(&context, &numbers, &source, in0, &window, &result, out0);",
    )


def _counts(y: Window, x: Window, channels: int) -> dict[str, int]:
    positions, taps = y.out * x.out, y.kernel * x.kernel
    return {
        "values": positions * taps * channels,
        "taps": positions * taps,
        "results": positions * channels,
        "positions": positions,
    }
