"""Quantised convolution -> [Pad] -> ConvInteger -> Requant. Zero points are folded into the addend."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.geometry import ConvGeometry, conv_geometry
from match_core.ir.reader import (
    DType,
    Quant,
    QuantConstant,
    Site,
    constant,
    optional_input,
    producer,
    quant_constant,
    shape_of,
)
from numpy.typing import NDArray

from match_quant.expectation import Expectation, of_sum, with_result_prior
from match_quant.int8_weights import convolution_terms
from match_quant.integer_graph import IntegerGraph
from match_quant.nodes import reshape_image
from match_quant.requant import Target

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_INT8 = np.dtype(np.int8)
#: The largest difference of two values of 8 bits, and the largest size of one of 16.
_NINE_BITS, _INT16 = 255, 1 << 15


@dataclass(frozen=True, slots=True)
class Filters:
    """Integer weights [outputs, inputs / group, rows, columns] with the zero point subtracted, their scales (outputs,)
    and the real bias (outputs,)."""

    values: NDArray[np.int64]
    scale: NDArray[np.float64]
    bias: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Operands:
    """The stored input ``x`` of a layer with its quantisation and DequantizeLinear, its weights, and its real bias
    (outputs,)."""

    x: gs.Variable
    quant: Quant
    dequantize: gs.Node
    weight: QuantConstant
    bias: NDArray[np.float64]


def operands(graph: IntegerGraph, site: Site, channel_axis: int = 0) -> Operands | None:
    """Of a convolution whose weights have their output channels on this axis; None if input or weights are not
    quantised as units need it, or the bias is no constant."""
    node = site.op
    source = graph.source(node.inputs[0])
    weight = signed_weight(node.inputs[1], channel_axis, source[1].dtype if source is not None else _INT8)
    bias = real_bias(node, 2, site.real_shape[1])
    if source is None or weight is None or bias is None:
        return None
    return Operands(*source, weight, bias)


def convolution(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """Conv with quantised input and weights; None for more than two spatial axes, other operators, unsupported
    weights. One spatial axis becomes a convolution of images with one row, which units support; if it is dilated, of
    images with a column for each of the sequences between which the taps do not reach."""
    node = site.op
    if node.op != "Conv" or len(site.real_shape) not in (3, 4):
        return None
    given = operands(graph, site)
    if given is None:
        return None
    x, quant, weight = given.x, given.quant, given.weight
    geometry, shape = conv_geometry(node), site.real_shape
    origin = graph.editor.origin(given.dequantize, *_makers(node.inputs[1]), node)
    result_origin = graph.editor.origin(*_makers(*node.inputs[2:3]), node, *site.clamps, site.quantize)
    if len(shape) == 3:
        x, geometry, plane = as_image(graph, x, geometry, shape, node.name, origin)
    else:
        plane = shape
    values = weight.values.reshape(*weight.values.shape[:2], *geometry.kernel)
    filters = Filters(values, np.broadcast_to(weight.scale.reshape(-1), given.bias.shape), given.bias)
    result = append_layer(graph, site, x, quant, filters, geometry, plane, (node.name, origin, result_origin))
    if plane == shape:
        return result
    if plane[2] > 1:
        known, row = graph.expectation(result), (1, shape[2])
        name = f"{node.name}_sequence"
        result = reshape_image(graph.editor, result, row, graph.channels_last, name, result_origin)
        graph.expect(result, known)
    return graph.reshaped(result, shape, f"{node.name}_rows", result_origin)


def as_image(
    graph: IntegerGraph,
    x: gs.Variable,
    geometry: ConvGeometry,
    result: tuple[int, ...],
    name: str,
    origin: tuple[str, ...],
) -> tuple[gs.Variable, ConvGeometry, tuple[int, ...]]:
    """A sequence [1, C, L] as an image, the geometry on it, and the shape of the ``result`` as an image.

    With dilation d, tap k of place t reads place t + k d. In an image with d columns this is row k below, so the
    kernel is a column without dilation. It needs sequences and padding of whole rows and stride 1.
    """
    (batch, channels, length), step = shape_of(x), geometry.dilations[0]
    image = graph.reshaped(x, (batch, channels, 1, length), f"{name}_row", origin)
    if step == 1 or geometry.strides != (1,) or any(size % step for size in (length, *geometry.pads)):
        return image, geometry.plane(), (*result[:2], 1, result[2])
    known = graph.expectation(image)
    plane = (length // step, step)
    image = reshape_image(graph.editor, image, plane, graph.channels_last, f"{name}_columns", origin)
    graph.expect(image, known)
    begin, end = (pad // step for pad in geometry.pads)
    upright = ConvGeometry((*geometry.kernel, 1), (1, 1), (1, 1), (begin, 0, end, 0), geometry.group)
    return image, upright, (*result[:2], result[2] // step, step)


def append_layer(
    graph: IntegerGraph,
    site: Site,
    x: gs.Variable,
    quant: Quant,
    filters: Filters,
    geometry: ConvGeometry,
    shape: tuple[int, ...],
    names: tuple[str, tuple[str, ...], tuple[str, ...]],
) -> gs.Variable:
    """[Pad], ConvInteger and Requant on images; ``names``: the name, origin of the sums, origin of the result."""
    name, origin, result_origin = names
    stored = graph.stored(site.quant)
    taps = filters.values.reshape(*filters.values.shape[:2], -1)
    inputs = graph.expectation(x).per_channel(shape_of(x)[1], axis=1)
    if any(geometry.pads):
        inputs = with_padding(inputs, quant.zero)
    sums = of_sum(inputs, taps, geometry.group)
    target = linear_target(sums, taps, filters.scale, filters.bias, quant, stored)
    acc = append_convolution(graph, x, filters.values, geometry, quant, shape, name, origin)
    return graph.requantise(acc, target, stored, 1, site, result_origin)


def append_convolution(
    graph: IntegerGraph,
    x: gs.Variable,
    weight: NDArray[np.int64],
    geometry: ConvGeometry,
    quant: Quant,
    shape: tuple[int, ...],
    name: str,
    origin: tuple[str, ...],
) -> gs.Variable:
    """ConvInteger without zero points. Padding must have the zero point's value, so a Pad writes it if it is not 0."""
    x, weight, geometry = convolution_terms(graph.editor, x, weight, geometry, name, origin)
    pads = geometry.pads
    if quant.zero != 0 and any(pads):
        before, after = pads[:2], pads[2:]
        padded = [n + b + a for n, b, a in zip(shape_of(x)[2:], before, after, strict=True)]
        amounts = np.array([0, 0, *before, 0, 0, *after], np.int64)
        inputs = [
            x,
            graph.editor.constant(f"{name}_pads", amounts),
            graph.editor.constant(f"{name}_pad_value", np.array(quant.zero, quant.dtype)),
        ]
        x = graph.editor.node(
            "Pad",
            inputs,
            quant.dtype,
            (*shape_of(x)[:2], *padded),
            name=f"{name}_pad",
            origin=origin,
            attrs={"mode": "constant"},
        )
        pads = (0, 0, 0, 0)
    return graph.editor.node(
        "ConvInteger" if quant.dtype.itemsize == 1 else "match.arith::ConvIntegerI16",
        [x, graph.editor.constant(f"{name}_weight", weight.astype(np.int8))],
        np.int32,
        shape,
        name=name,
        origin=origin,
        attrs=geometry.attributes(pads),
    )


def signed_weight(tensor: gs.Tensor, channel_axis: int, values: DType) -> QuantConstant | None:
    """A dequantised constant of 8 bits, with at most one scale per channel, whose sums of products with ``values`` fit
    int32. It takes nine bits where the zero point of uint8 weights is not in the middle."""
    weight = quant_constant(tensor)
    if weight is None or weight.axis not in (None, channel_axis):
        return None
    if weight.values.size == 0 or np.abs(weight.values).max() > _NINE_BITS:
        return None
    if not np.all(np.isfinite(weight.scale)) or np.any(weight.scale <= 0):
        return None
    others = tuple(axis for axis in range(weight.values.ndim) if axis != channel_axis)
    return weight if fits_sums(int(np.abs(weight.values).sum(axis=others).max()), values) else None


def fits_sums(total: int, values: DType) -> bool:
    """Whether sums of products of ``values`` with weights, whose sizes add up to ``total``, fit int32."""
    return total * (_INT16 if values.itemsize > 1 else _NINE_BITS) < 1 << 31


def real_bias(node: gs.Node, position: int, channels: int) -> NDArray[np.float64] | None:
    """The bias as real values (C,): zeros if there is none, None if it is not a constant that broadcasts."""
    tensor = optional_input(node, position)
    if tensor is None:
        return np.zeros(channels)
    stored = quant_constant(tensor)
    values = stored.real() if stored is not None else constant(tensor)
    if values is None or values.size not in (1, channels) or not np.all(np.isfinite(values)):
        return None
    if values.size > 1 and values.shape[-1] != channels:
        return None
    return np.broadcast_to(np.asarray(values, np.float64).reshape(-1), (channels,))


def with_padding(values: Expectation, zero: int) -> Expectation:
    """The expectation of the tensor with padding of value ``zero``."""
    return replace(values, lo=np.minimum(values.lo, zero), hi=np.maximum(values.hi, zero))


def type_bounds(weight: NDArray[np.int64], dtype: DType) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Smallest and largest sum per channel over all values of the input's type."""
    limits = np.iinfo(dtype)
    flat = weight.reshape(weight.shape[0], -1)
    positive, negative = np.maximum(flat, 0).sum(axis=1), np.minimum(flat, 0).sum(axis=1)
    low, high = int(limits.min), int(limits.max)
    return positive * low + negative * high, positive * high + negative * low


def linear_target(
    sums: Expectation,
    weight: NDArray[np.int64],
    weight_scale: NDArray[np.float64],
    bias: NDArray[np.float64],
    quant: Quant,
    result: Quant,
) -> Target:
    """The requantisation of ``sums`` of ``weight`` (C, ...) times inputs with parameters ``quant``, plus real ``bias``
    (C,)."""
    multiplier = quant.scale * weight_scale / result.scale
    total = weight.reshape(weight.shape[0], -1).sum(axis=1)
    offset = bias / result.scale - multiplier * (quant.zero * total) + result.zero
    mean, sd = with_result_prior(multiplier * sums.mean + offset, multiplier * sums.sd, result)
    type_min, type_max = type_bounds(weight, quant.dtype)
    return Target(
        multiplier=multiplier,
        offset=offset,
        acc_min=sums.lo,
        acc_max=sums.hi,
        type_min=type_min,
        type_max=type_max,
        lo=result.lo,
        hi=result.hi,
        acc_mean=(mean - offset) / multiplier,
        acc_sd=sd / multiplier,
    )


def _makers(*tensors: gs.Tensor) -> tuple[gs.Node, ...]:
    nodes = (producer(tensor) for tensor in tensors)
    return tuple(node for node in nodes if node is not None)
