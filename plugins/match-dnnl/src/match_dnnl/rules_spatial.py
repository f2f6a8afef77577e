"""Rules of operators on images, with descriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core import NodeRule
from match_core.ir.geometry import channels_last
from match_core.ir.reader import attribute_ints, attribute_text, constant_input, optional_input, shape_of
from match_core.patterns.windows import explicit_padding

from match_dnnl.geometry import deconvolution_window, padding_of, window_of
from match_dnnl.graph import result

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _spatial(node: gs.Node) -> str | None:
    rank = len(shape_of(node.inputs[0]))
    return None if 3 <= rank <= 5 else f"there are {rank - 2}"


SPATIAL = NodeRule("spatial", "there are one to three spatial axes", _spatial)


def _pads(node: gs.Node) -> str | None:
    pads = attribute_ints(node, "pads", [])
    return f"they are {pads}" if any(amount < 0 for amount in pads) else None


def _filters(node: gs.Node) -> str | None:
    if any(constant_input(node, position) is None for position in (1, 2) if optional_input(node, position) is not None):
        return "one is computed"
    return None


PADS = NodeRule("pads", "padding is not negative", _pads)
FILTERS = NodeRule("weights", "weights and bias are constants", _filters)
CONVOLUTION = (SPATIAL, explicit_padding, PADS, FILTERS)


def _cut(node: gs.Node) -> str | None:
    if any(size < 0 for size in deconvolution_window(node)["after"]):
        return f"output_padding is {attribute_ints(node, 'output_padding', [])}"
    return None


def _stated(node: gs.Node) -> str | None:
    return f"it is {attribute_ints(node, 'output_shape', [])}" if attribute_ints(node, "output_shape", []) else None


DECONVOLUTION = (
    *CONVOLUTION,
    NodeRule("output-padding", "output_padding adds no more than padding cuts off", _cut),
    NodeRule("output-shape", "output_shape is not given", _stated),
)


def _counted(node: gs.Node) -> str | None:
    both = int(node.attrs.get("ceil_mode", 0)) and int(node.attrs.get("count_include_pad", 0))
    return "both are set" if both else None


def _inside(node: gs.Node) -> str | None:
    """A window that holds padding only has no largest element and no mean."""
    last = channels_last(node)
    source = shape_of(node.inputs[0])
    window = window_of(node, source, shape_of(result(node)), last)
    sizes = source[1:-1] if last else source[2:]
    results = shape_of(result(node))[1:-1] if last else shape_of(result(node))[2:]
    for axis, extent in enumerate(attribute_ints(node, "kernel_shape", [])):
        reach = (extent - 1) * (window["dilations"][axis] + 1)
        begins = (results[axis] - 1) * window["strides"][axis] - window["before"][axis]
        if reach < window["before"][axis] or begins >= sizes[axis]:
            return f"along axis {axis} one lies in the padding"
        if window["after"][axis] > reach:
            return f"along axis {axis} padding is {window['after'][axis]}, a window reaches {reach} further"
    return None


def _dilated(node: gs.Node) -> str | None:
    distances = attribute_ints(node, "dilations", [])
    return f"they are {distances}" if any(distance != 1 for distance in distances) else None


POOLING = (
    SPATIAL,
    explicit_padding,
    PADS,
    NodeRule("ceil", "ceil_mode and count_include_pad are not both set", _counted),
    NodeRule("windows", "every window holds an element", _inside),
)
AVERAGE = (*POOLING, NodeRule("dilations", "windows of means have no gaps", _dilated))


def _mode(node: gs.Node) -> str | None:
    mode = attribute_text(node, "mode", "nearest")
    return None if mode in ("nearest", "linear") else f"it is {mode}"


def _grid(node: gs.Node) -> str | None:
    mode = attribute_text(node, "mode", "nearest")
    grid = attribute_text(node, "coordinate_transformation_mode", "half_pixel")
    rounding = attribute_text(node, "nearest_mode", "round_prefer_floor")
    whole = all(b % a == 0 for a, b in zip(shape_of(node.inputs[0]), shape_of(result(node)), strict=True))
    if mode == "linear":
        return None if grid == "half_pixel" else f"it is {grid}"
    centred = grid == "half_pixel" and rounding in ("round_prefer_floor", "round_prefer_ceil")
    if whole and (centred or (grid == "asymmetric" and rounding == "floor")):
        return None
    sizes = f"{list(shape_of(node.inputs[0]))} to {list(shape_of(result(node)))}"
    return f"it is {grid} with {rounding}, from {sizes}"


def _scales(node: gs.Node) -> str | None:
    """If sizes are rounded, positions follow the scale in ONNX and the sizes in oneDNN."""
    scales = constant_input(node, 2)
    if scales is None or scales.size == 0:
        policy = attribute_text(node, "keep_aspect_ratio_policy", "stretch")
        return None if policy == "stretch" else f"sizes are kept in proportion ({policy})"
    rank = len(shape_of(node.inputs[0]))
    axes = attribute_ints(node, "axes", list(range(rank)))
    before, after = shape_of(node.inputs[0]), shape_of(result(node))
    for axis, scale in zip(axes, np.asarray(scales, np.float64).reshape(-1), strict=True):
        if abs(before[axis] * scale - after[axis]) > 1e-4:
            return f"axis {axis} grows from {before[axis]} to {after[axis]}, its scale is {scale:g}"
    return None


def _planes(node: gs.Node) -> str | None:
    before, after = shape_of(node.inputs[0]), shape_of(result(node))
    if not 3 <= len(before) <= 5:
        return f"there are {len(before)} axes"
    first = before[:2] == after[:2]
    last = before[0] == after[0] and before[-1] == after[-1]
    return None if first or last else f"sizes change from {list(before)} to {list(after)}"


def _antialias(node: gs.Node) -> str | None:
    return "it is set" if int(node.attrs.get("antialias", 0)) else None


RESIZE = (
    NodeRule("mode", "the mode is nearest or linear", _mode),
    NodeRule("planes", "batch and channels keep their sizes", _planes),
    NodeRule("grid", "linear: half_pixel; nearest: whole multiples, half_pixel or asymmetric with floor", _grid),
    NodeRule("scales", "sizes of results equal the input sizes times the scales exactly", _scales),
    NodeRule("antialias", "antialias is not set", _antialias),
)


def _constant_mode(node: gs.Node) -> str | None:
    mode = attribute_text(node, "mode", "constant")
    return None if mode == "constant" else f"it is {mode}"


def _adds(node: gs.Node) -> str | None:
    pairs = padding_of(node)
    if any(amount < 0 for pair in pairs for amount in pair):
        return f"amounts are {[list(pair) for pair in pairs]}"
    return None if any(any(pair) for pair in pairs) else "all amounts are 0"


PAD = (
    NodeRule("mode", "the mode is constant", _constant_mode),
    NodeRule("amounts", "amounts are not negative, and some are not 0", _adds),
)


def _odd(node: gs.Node) -> str | None:
    size = int(node.attrs["size"])
    return None if size % 2 else f"it is {size}"


def _image(node: gs.Node) -> str | None:
    rank = len(shape_of(node.inputs[0]))
    return None if rank == 4 else f"there are {rank} axes"


LRN = (
    NodeRule("size", "the size is odd", _odd),
    NodeRule("image", "there are two spatial axes", _image),
)


def _normalised(node: gs.Node) -> str | None:
    rank = len(shape_of(node.inputs[0]))
    return None if 2 <= rank <= 5 else f"there are {rank} axes"


NORMALISED = NodeRule("axes", "there are two to five axes", _normalised)
