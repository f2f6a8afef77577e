"""Quantised average pooling -> ConvInteger with weights 1 -> Requant, whose multiplier holds 1 / (kernel area).

Every 2^n-th mean over 2^n values with the input's scale is a tie between two integers, and the original rounds ties to
even, which Requant cannot do. With precision "exact" a QuantizeLinear rounds them instead.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.geometry import ConvGeometry, conv_geometry
from match_core.ir.reader import Quant, Site, shape_of

from match_quant.expectation import Expectation, clipped, of_sum, pooled
from match_quant.integer_graph import IntegerGraph
from match_quant.integerise_conv import append_convolution, fits_sums, linear_target, with_padding
from match_quant.requant import Target

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_FLOAT = 1  # TensorProto.FLOAT


def average_pool(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """AveragePool, GlobalAveragePool, or ReduceMean over all spatial axes, of a quantised tensor with channels first.
    Sequences are images of one row; volumes are images only if the mean is over all of them. All windows must have the
    same number of elements."""
    node = site.op
    geometry = _geometry(node)
    source = graph.source(node.inputs[0]) if geometry is not None else None
    if source is None or geometry is None:
        return None
    x, quant, dequantize = source
    batch, channels, *spatial = shape_of(x)
    origin = graph.editor.origin(dequantize, node)
    if len(spatial) != 2:
        image = (batch, channels, prod(spatial[:-1]), spatial[-1])
        x = graph.reshaped(x, image, f"{node.name}_row", origin)
    stored = graph.stored(site.quant)
    area = prod(geometry.kernel)
    if not fits_sums(area, quant.dtype):
        return None
    weight = np.ones((channels, 1, *geometry.kernel), np.int64)
    values = graph.expectation(x).per_channel(channels, axis=1)
    if any(geometry.pads):
        values = with_padding(values, quant.zero)
    target = _target(values, area, quant, stored)
    windows = len(site.real_shape) > 2 and site.op.op == "AveragePool"
    rows = (1, *site.real_shape[2:]) if len(spatial) == 1 else site.real_shape[2:]
    shape = (batch, channels, *rows) if windows else (batch, channels, 1, 1)
    geometry = replace(geometry, group=channels)
    acc = append_convolution(graph, x, weight, geometry, quant, shape, node.name, origin)
    result_origin = graph.editor.origin(*site.nodes)
    if graph.precision == "exact" and _has_ties(area, quant, stored):
        result = _round_to_even(graph, acc, area, stored, node.name, result_origin)
        bounds = (stored.lo, stored.hi)
    else:
        result = graph.requantise(acc, target, stored, 1, site, result_origin)
        bounds = graph.expectation(result).bounds()
    mean, sd = pooled(values.mean, values.sd)
    ratio = quant.scale / stored.scale
    lo, hi = (np.full(channels, bound, np.int64) for bound in bounds)
    spread = clipped((mean - quant.zero) * ratio + stored.zero, sd * ratio, lo, hi)
    graph.expect(result, spread)
    if shape == site.real_shape:
        return result
    return graph.reshaped(result, site.real_shape, f"{node.name}_reshape", origin)


def _has_ties(area: int, quant: Quant, result: Quant) -> bool:
    """Whether every area-th sum is an exact tie that float32 holds: the mean keeps scale and zero point, the area is a
    power of two."""
    limits = np.iinfo(result.dtype)
    same = quant.scale == result.scale and quant.zero == result.zero
    whole = (result.lo, result.hi) == (int(limits.min), int(limits.max))
    held = area << (8 * quant.dtype.itemsize) <= 1 << 24
    return same and whole and held and area > 1 and area & (area - 1) == 0


def _round_to_even(
    graph: IntegerGraph, acc: gs.Variable, area: int, result: Quant, name: str, origin: tuple[str, ...]
) -> gs.Variable:
    """``acc / area`` in float32 (exact: sums stay below 2^24) rounded by QuantizeLinear."""
    shape = shape_of(acc)
    real = graph.editor.node("Cast", [acc], np.float32, shape, name=f"{name}_real", origin=origin, attrs={"to": _FLOAT})
    scale = graph.editor.constant(f"{name}_area", np.array(area, np.float32))
    zero = graph.editor.constant(f"{name}_zero", np.array(0, result.dtype))
    return graph.editor.node(
        "QuantizeLinear", [real, scale, zero], result.dtype, shape, name=f"{name}_round", origin=origin
    )


def _target(values: Expectation, area: int, quant: Quant, result: Quant) -> Target:
    """One multiplier for all channels: units pool with one."""
    ones = np.ones((1, 1, area), np.int64)
    single = values.merged()
    sums = of_sum(single, ones, 1)
    mean, sd = pooled(single.mean, single.sd)
    sums = replace(sums, mean=area * mean, sd=area * sd)
    return linear_target(sums, ones, np.array([1.0 / area]), np.zeros(1), quant, result)


def _geometry(node: gs.Node) -> ConvGeometry | None:
    shape = shape_of(node.inputs[0])
    if node.op == "GlobalAveragePool":
        return _whole(shape) if len(shape) in (3, 4, 5) else None
    if node.op == "ReduceMean":
        axes = node.attrs.get("axes")
        if axes is None and len(node.inputs) > 1 and hasattr(node.inputs[1], "values"):
            axes = node.inputs[1].values.tolist()
        spatial = sorted(int(axis) % len(shape) for axis in axes or ())
        return _whole(shape) if spatial == list(range(2, len(shape))) and len(shape) in (3, 4, 5) else None
    if node.op != "AveragePool" or node.attrs.get("ceil_mode", 0):
        return None
    geometry = conv_geometry(node).plane()
    if len(geometry.kernel) != 2:
        return None
    if any(geometry.pads) and not node.attrs.get("count_include_pad", 0):
        return None
    return geometry


def _whole(shape: tuple[int, ...]) -> ConvGeometry:
    kernel = (prod(shape[2:-1]), shape[-1])
    return ConvGeometry(kernel, (1,) * len(kernel), (1,) * len(kernel), (0,) * (2 * len(kernel)))
