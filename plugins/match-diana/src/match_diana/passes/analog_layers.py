"""Layers of a quantised network that the analog array could compute, in the graph before integerisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.geometry import ConvGeometry, conv_geometry
from match_core.ir.reader import Site, constant, producer, quant_constant, quant_of, shape_of, site_of
from numpy.typing import NDArray

from match_diana.analog import limits
from match_diana.analog.fit import Wanted
from match_diana.analog.limits import Window
from match_diana.analog.ternary import ternary

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Layer:
    """``site``: the Conv, the operators after it, and its QuantizeLinear; ``read``: the DequantizeLinear before it;
    ``scale``: real values of a sum of cells and stored inputs, for each output channel; ``bias`` likewise."""

    site: Site
    read: gs.Node
    window: Window
    pads: tuple[int, ...]
    cells: Ints
    scale: Reals
    bias: Reals

    @property
    def input(self) -> gs.Tensor:
        """The quantised tensor that the layer reads."""
        return self.read.inputs[0]

    @property
    def output(self) -> gs.Tensor:
        """The quantised tensor that the layer makes."""
        return self.site.quantize.outputs[0]

    def wanted(self, input_factor: int, output_factor: int) -> Wanted:
        """The requested arithmetic if the scales of input and output are multiplied by these factors."""
        step = self.site.quant.scale * output_factor
        low = 0 if self.site.quant.lo >= self.site.quant.zero else limits.OUTPUT_MIN
        return Wanted(self.cells, self.scale * input_factor / step, self.bias / step + 0.5, low, _positive(self.input))


def layers(graph: gs.Graph) -> tuple[Layer, ...]:
    """All layers with ternary weights that have a form on the array, in the order of the graph."""
    found = (_layer(node, graph.outputs) for node in graph.nodes if node.op == "QuantizeLinear")
    return tuple(layer for layer in found if layer is not None)


def _layer(quantize: gs.Node, outputs: list[gs.Tensor]) -> Layer | None:
    site = site_of(quantize, outputs)
    if site is None or site.op.op != "Conv" or len(site.real_shape) != 4 or site.quant.dtype != np.int8:
        return None
    read = producer(site.op.inputs[0])
    if read is None or read.op != "DequantizeLinear" or read.inputs[0].dtype != np.int8:
        return None
    quant, weight = quant_of(read, np.dtype(np.int8)), quant_constant(site.op.inputs[1])
    if quant is None or weight is None or weight.axis not in (None, 0) or weight.values.ndim != 4:
        return None
    parts, geometry, bias = ternary(weight.values), conv_geometry(site.op), _bias(site.op)
    window = _window(read.inputs[0], site, geometry)
    if parts is None or bias is None or window is None:
        return None
    scale = np.asarray(quant.scale * parts.size * np.broadcast_to(weight.scale.reshape(-1), (window.k,)), np.float64)
    return Layer(site, read, window, geometry.pads, parts.cells, scale, np.broadcast_to(bias, (window.k,)))


def _bias(conv: gs.Node) -> Reals | None:
    if len(conv.inputs) < 3 or conv.inputs[2].is_empty():
        return np.zeros(1)
    stored = quant_constant(conv.inputs[2])
    values = stored.real() if stored is not None else constant(conv.inputs[2])
    return None if values is None else np.asarray(values, np.float64).reshape(-1)


def _window(x: gs.Tensor, site: Site, geometry: ConvGeometry) -> Window | None:
    """The geometry, or None where the array has no such convolution."""
    _, c, iy, ix = shape_of(x)
    _, k, oy, ox = site.real_shape
    fy, fx = geometry.kernel
    if not limits.has_form(c, k, geometry):
        return None
    return Window(c, k, fy, fx, geometry.strides[0], iy, ix, oy, ox)


def _positive(tensor: gs.Tensor) -> bool:
    """Whether a quantised tensor is known to have no values below 0."""
    quantize = producer(tensor)
    site = site_of(quantize, ()) if quantize is not None and quantize.op == "QuantizeLinear" else None
    return site is not None and site.quant.lo >= site.quant.zero
