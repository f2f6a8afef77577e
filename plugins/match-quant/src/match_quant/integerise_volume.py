"""Quantised convolution of volumes -> a convolution of images for each plane of the result.

The planes that one plane of the result reads are channels of one image: sums over depth are sums over channels, exact
in int32, and every unit that convolves images computes them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.geometry import ConvGeometry, conv_geometry
from match_core.ir.reader import Quant, Site, producer, shape_of
from numpy.typing import NDArray

from match_quant.expectation import joined
from match_quant.integer_graph import IntegerGraph
from match_quant.integerise_conv import Filters, append_layer, operands, with_padding
from match_quant.nodes import append, reshape

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def volume_convolution(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """Conv with quantised input and weights and three spatial axes."""
    node = site.op
    if node.op != "Conv" or len(site.real_shape) != 5:
        return None
    given = operands(graph, site)
    if given is None:
        return None
    x, quant, weight, channels = given.x, given.quant, given.weight, site.real_shape[1]
    geometry = conv_geometry(node)
    makers = [maker for tensor in node.inputs[1:] if (maker := producer(tensor)) is not None]
    origin, result_origin = graph.editor.origin(given.dequantize, *makers, node), graph.editor.origin(*site.nodes)
    filters = _filters(weight.values, geometry.group)
    layer = Filters(filters, np.broadcast_to(weight.scale.reshape(-1), (channels,)), given.bias)
    (_, *kernel), (_, *strides), (_, *dilations) = geometry.kernel, geometry.strides, geometry.dilations
    pads = (*geometry.pads[1:3], *geometry.pads[4:])
    flat = ConvGeometry(tuple(kernel), tuple(strides), tuple(dilations), pads, geometry.group)
    planes = _planes(graph, x, quant, geometry, node.name, origin)
    shape = (site.real_shape[0], channels, *site.real_shape[3:])
    results = []
    for index, plane in enumerate(planes):
        names = (f"{node.name}_plane{index}", origin, result_origin)
        results.append(append_layer(graph, site, plane, quant, layer, flat, shape, names))
    return _stacked(graph, results, node.name, result_origin)


def _filters(weight: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """[outputs, inputs, depth, rows, columns] with depth as input channels, in the order of ``_planes``."""
    ordered = weight.transpose(0, 2, 1, 3, 4) if groups == 1 else weight
    return ordered.reshape(weight.shape[0], -1, *weight.shape[3:])


def _planes(
    graph: IntegerGraph, x: gs.Variable, quant: Quant, geometry: ConvGeometry, name: str, origin: tuple[str, ...]
) -> list[gs.Variable]:
    """For each plane of the result the planes that it reads, as channels of one image: depth before channels, in which
    order channels are last and the outer transposes vanish; with groups, channels before depth, which keeps them
    apart."""
    taps, stride, step = geometry.kernel[0], geometry.strides[0], geometry.dilations[0]
    pads, grouped = (geometry.pads[0], geometry.pads[3]), geometry.group > 1
    batch, channels, _, rows, columns = shape_of(x)
    known = graph.expectation(x).per_channel(channels, axis=1)
    order, axis = ([0, 1, 2, 3, 4], 2) if grouped else ([0, 3, 4, 2, 1], 3)
    shape = [shape_of(x)[position] for position in order]
    if not grouped:
        x = append(graph.editor, "Transpose", [x], shape, f"{name}_last", origin, perm=order)
    if any(pads):
        known = with_padding(known, quant.zero)
        amounts = np.zeros((2, 5), np.int64)
        amounts[:, axis] = pads
        shape[axis] += sum(pads)
        filling = [amounts.reshape(-1), np.array(quant.zero, quant.dtype)]
        given = [graph.editor.constant(f"{name}_deep_pads", values) for values in filling]
        x = append(graph.editor, "Pad", [x, *given], shape, f"{name}_deep", origin, mode="constant")
    reach = (taps - 1) * step + 1
    places = np.repeat(np.arange(channels), taps) if grouped else np.tile(np.arange(channels), taps)
    known = replace(known, lo=known.lo[places], hi=known.hi[places], mean=known.mean[places], sd=known.sd[places])
    results = []
    for start in range(0, shape[axis] - reach + 1, stride):
        bounds = [np.array([value], np.int64) for value in (start, start + reach, axis, step)]
        limits = [graph.editor.constant(f"{name}_bounds", values) for values in bounds]
        part = [taps if position == axis else size for position, size in enumerate(shape)]
        plane = append(graph.editor, "Slice", [x, *limits], part, f"{name}_planes", origin)
        image = (batch, channels * taps, rows, columns)
        last = (batch, rows, columns, channels * taps)
        plane = reshape(graph.editor, plane, image if grouped else last, f"{name}_image", origin)
        if not grouped:
            plane = append(graph.editor, "Transpose", [plane], image, f"{name}_first", origin, perm=[0, 3, 1, 2])
        graph.expect(plane, known)
        results.append(plane)
    return results


def _stacked(graph: IntegerGraph, planes: list[gs.Variable], name: str, origin: tuple[str, ...]) -> gs.Variable:
    """Images as the planes of a volume."""
    batch, channels, rows, columns = shape_of(planes[0])
    depth = len(planes)
    parts = [
        append(
            graph.editor,
            "Transpose",
            [plane],
            (batch, rows, columns, channels),
            f"{name}_last",
            origin,
            perm=[0, 2, 3, 1],
        )
        for plane in planes
    ]
    shape = (batch, rows, columns, depth * channels)
    x = parts[0] if depth == 1 else append(graph.editor, "Concat", parts, shape, f"{name}_stack", origin, axis=3)
    x = reshape(graph.editor, x, (batch, rows, columns, depth, channels), f"{name}_volume", origin)
    full = (batch, channels, depth, rows, columns)
    result = append(graph.editor, "Transpose", [x], full, f"{name}_first", origin, perm=[0, 4, 3, 1, 2])
    known = [(graph.expectation(plane).per_channel(channels, axis=1), depth) for plane in planes]
    graph.expect(result, joined(known, axis=2))
    return result
