"""Quantised convolutions and dense layers that a unit with shifts supports once their numbers fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.geometry import conv_geometry
from match_core.ir.reader import QuantConstant, Site, constant, producer, quant_constant, shape_of

from match_quant.powers.fold_stride import folded_kernel
from match_quant.powers.graph import Activation, QuantisedGraph
from match_quant.powers.kernels import ShiftUnit
from match_quant.powers.weights import Ints, Reals

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """``node`` (Conv, Gemm or MatMul) of ``site`` with ``add``, the Add of its bias if that is a separate node.
    ``weight`` [outputs, inputs, taps] represents real values ``weight * scale`` with ``scale`` [outputs]; ``bias``
    [outputs] is real. ``padded``: the input is padded with zeros."""

    site: Site
    node: gs.Node
    add: gs.Node | None
    weight: Ints
    scale: Reals
    bias: Reals
    padded: bool
    source: Activation
    result: Activation

    @property
    def ternary(self) -> bool:
        """Whether every output has weights -a, 0 and a only: an array of ternary cells may take it."""
        sizes = np.abs(self.weight).reshape(len(self.weight), -1)
        largest = sizes.max(axis=1, initial=0)[:, None]
        plain = self.node.op == "Conv" and int(self.node.attrs.get("group", 1)) == 1
        return plain and sizes.size > 0 and bool(np.all((sizes == 0) | (sizes == largest)))


def layer_of(graph: QuantisedGraph, quantize: gs.Node, unit: ShiftUnit) -> Layer | None:
    """The layer that a QuantizeLinear rounds; None where it is none of the unit's."""
    site, result = graph.site(quantize), graph.of(quantize.outputs[0])
    if site is None or result is None or not graph.changes(site):
        return None
    node, add = _split(graph, site)
    source = graph.source(node.inputs[0]) if node is not None and len(node.inputs) > 1 else None
    stored = quant_constant(node.inputs[1]) if node is not None and source is not None else None
    if node is None or source is None or stored is None or not _usable(stored):
        return None
    weight = _filters(node, stored, unit) if node.op == "Conv" else _columns(node, stored)
    if weight is None:
        return None
    values, scale = weight
    bias = _bias(node, add, len(values))
    if bias is None:
        return None
    padded = node.op == "Conv" and any(conv_geometry(node).pads)
    return Layer(site, node, add, values, scale, bias, padded, source, result)


def _split(graph: QuantisedGraph, site: Site) -> tuple[gs.Node | None, gs.Node | None]:
    """The site's product, and the Add of a constant after it."""
    node = site.op
    if node.op in ("Conv", "Gemm", "MatMul"):
        return node, None
    for position in (0, 1) if node.op == "Add" else ():
        tensor = node.inputs[position]
        before = producer(tensor)
        private = len(tensor.outputs) == 1 and not any(tensor is output for output in graph.editor.graph.outputs)
        if before is not None and before.op == "MatMul" and private and shape_of(tensor) == site.real_shape:
            return before, node
    return None, None


def _usable(stored: QuantConstant) -> bool:
    small = stored.values.size > 0 and stored.values.min() >= -128 and stored.values.max() <= 127
    return bool(small and np.all(np.isfinite(stored.scale)) and np.all(stored.scale > 0))


def _filters(node: gs.Node, stored: QuantConstant, unit: ShiftUnit) -> tuple[Ints, Reals] | None:
    """Weights [outputs, inputs, taps] and scales of a convolution whose geometry the unit has."""
    if stored.axis not in (None, 0) or stored.values.ndim not in (3, 4) or not _fits(node, unit):
        return None
    outputs, inputs = stored.values.shape[:2]
    scale = np.broadcast_to(stored.scale.reshape(-1), (outputs,))
    return stored.values.reshape(outputs, inputs, -1), np.asarray(scale, np.float64)


def _fits(node: gs.Node, unit: ShiftUnit) -> bool:
    """Whether the unit has the geometry, perhaps with zero taps, or with a folded stride. One spatial axis becomes an
    image of one row."""
    shape, outputs = shape_of(node.inputs[0]), shape_of(node.outputs[0])[1]
    size = (1, shape[2]) if len(shape) == 3 else (shape[2], shape[3])
    asked = conv_geometry(node).plane(), size, (shape[1], outputs)
    return shape[0] == 1 and (unit.wider(*asked) is not None or folded_kernel(unit, *asked) is not None)


def _columns(node: gs.Node, stored: QuantConstant) -> tuple[Ints, Reals] | None:
    """Weights [outputs, inputs, 1] and scales of a dense layer of one vector."""
    attrs = node.attrs if node.op == "Gemm" else {}
    shape = shape_of(node.inputs[0])
    if (
        len(shape) != 2
        or shape[0] != 1
        or stored.values.ndim != 2
        or attrs.get("transA", 0)
        or float(attrs.get("alpha", 1.0)) <= 0
    ):
        return None
    transposed = bool(attrs.get("transB", 0))
    values = stored.values if transposed else stored.values.T
    if stored.axis is not None and stored.axis != (0 if transposed else 1):
        return None
    scale = float(attrs.get("alpha", 1.0)) * np.broadcast_to(stored.scale.reshape(-1), (len(values),))
    return np.ascontiguousarray(values)[:, :, None], scale


def _bias(node: gs.Node, add: gs.Node | None, outputs: int) -> Reals | None:
    """The real bias [outputs]; None where it is no constant, or not one value per output."""
    tensor = None
    factor = float(node.attrs.get("beta", 1.0)) if node.op == "Gemm" else 1.0
    if add is not None:
        tensor = add.inputs[1] if producer(add.inputs[0]) is node else add.inputs[0]
    elif len(node.inputs) > 2 and not node.inputs[2].is_empty():
        tensor = node.inputs[2]
    if tensor is None:
        return np.zeros(outputs)
    stored = quant_constant(tensor)
    values = stored.real() if stored is not None else constant(tensor)
    if values is None or values.size not in (1, outputs) or not np.all(np.isfinite(values)):
        return None
    if values.size > 1 and values.shape[-1] != outputs:
        return None
    return factor * np.broadcast_to(np.asarray(values, np.float64).reshape(-1), (outputs,))


def set_numbers(graph: QuantisedGraph, layer: Layer, weight: Ints, scale: float, bias: Ints) -> None:
    """Give the layer weights [outputs, inputs, taps] of one real ``scale`` and a bias [outputs] in steps of the
    products. Taps of a dense layer are for copies of its input, which follow each other."""
    node, name = layer.node, layer.node.name
    rows = np.moveaxis(weight, 2, 1).reshape(len(weight), -1)
    stored: Ints = np.ascontiguousarray(rows if node.attrs.get("transB", 0) else rows.T)
    if node.op == "Conv":
        stored = weight.reshape(shape_of(node.inputs[1]))
    node.inputs[1] = _dequantised(graph, f"{name}_weight", stored.astype(np.int8), scale, node)
    product = scale * layer.source.quant.scale
    made = _dequantised(graph, f"{name}_bias", bias.astype(np.int32), product, node)
    if node.op == "Gemm":
        node.attrs.update(alpha=1.0, beta=1.0)
    if layer.add is not None:
        layer.add.inputs[1 if producer(layer.add.inputs[0]) is node else 0] = made
    elif node.op != "MatMul":  # a product without bias needs none
        node.inputs = [node.inputs[0], node.inputs[1], made]


def _dequantised(graph: QuantisedGraph, name: str, values: Ints, scale: float, node: gs.Node) -> gs.Variable:
    editor = graph.editor
    stored = editor.constant(f"{name}_values", values)
    step = editor.constant(f"{name}_scale", np.array(scale, np.float32))
    origin = editor.origin(node)
    return editor.node("DequantizeLinear", [stored, step], np.float32, values.shape, name=f"{name}_real", origin=origin)
