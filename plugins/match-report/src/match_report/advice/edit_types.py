"""Edits of element types and of the quantisation of weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import onnx_graphsurgeon as gs

from match_report.advice.weights import Linear, behind, constant, linear_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Parameter, before, after, size, function that applies it (``edits.Edit``).
TypeEdit = tuple[str, str, str, float, Callable[[gs.Graph], None]]
_OTHER = {"int8": "uint8", "uint8": "int8"}


def type_edits(graph: gs.Graph, linear: Linear | None) -> Iterator[TypeEdit]:
    """Signedness of quantised activations, one scale for all channels, ternary weights, float16."""
    for name in sorted(_activation_types(graph)):
        yield "activations", name, _OTHER[name], 0.01, partial(_swap_sign, name=name)
    floats = [tensor for tensor in graph.inputs if tensor.dtype == np.float32]
    if floats and len(floats) == len(graph.inputs):
        yield "elements", "float32", "float16", 0.3, _to_half
    if linear is None or linear.quantiser is None:
        return
    scale = linear.quantiser.inputs[1]
    if isinstance(scale, gs.Constant) and scale.values.size > 1:
        yield "weight scales", "per channel", "per tensor", 0.2, _one_scale
    if np.unique(np.sign(linear.values)).size == 3 and np.unique(np.abs(linear.values)).size > 2:
        yield "weights", str(linear.values.dtype), "ternary", 0.4, _ternary


def _quantisers(graph: gs.Graph) -> list[gs.Node]:
    """QuantizeLinear and DequantizeLinear nodes of activations, not of constants."""
    nodes = [node for node in graph.nodes if node.op in ("QuantizeLinear", "DequantizeLinear")]
    return [node for node in nodes if not isinstance(node.inputs[0], gs.Constant)]


def _zero_point(node: gs.Node) -> gs.Constant | None:
    point = node.inputs[2] if len(node.inputs) > 2 else None
    return point if isinstance(point, gs.Constant) and str(point.values.dtype) in _OTHER else None


def _activation_types(graph: gs.Graph) -> set[str]:
    points = (_zero_point(node) for node in _quantisers(graph))
    return {str(point.values.dtype) for point in points if point is not None}


def _swap_sign(graph: gs.Graph, name: str) -> None:
    """Store the same real values in the other type: stored values and zero points change by 128."""
    step, other = (128, np.uint8) if name == "int8" else (-128, np.int8)
    for node in _quantisers(graph):
        point = _zero_point(node)
        if point is not None and str(point.values.dtype) == name:
            moved = np.asarray(point.values.astype(np.int32) + step).astype(other)
            node.inputs[2] = constant(graph, f"{node.name}_zero_point", moved)
    for tensor in (*graph.inputs, *graph.outputs):
        if tensor.dtype is not None and str(np.dtype(tensor.dtype)) == name:
            tensor.dtype = np.dtype(other)


def _to_half(graph: gs.Graph) -> None:
    for node in graph.nodes:
        for index, tensor in enumerate(node.inputs):
            if isinstance(tensor, gs.Constant) and tensor.values.dtype == np.float32:
                node.inputs[index] = constant(graph, f"{tensor.name}_half", tensor.values.astype(np.float16))
    for tensor in graph.tensors().values():
        if isinstance(tensor, gs.Variable) and tensor.dtype == np.float32:
            tensor.dtype = np.dtype(np.float16)


def _one_scale(graph: gs.Graph) -> None:
    """Quantise the weights with the largest scale of all channels."""
    linear = _quantised(graph)
    quantiser = linear.quantiser
    assert quantiser is not None
    scales = quantiser.inputs[1].values
    largest = scales.max()
    shape = [1] * linear.values.ndim
    shape[linear.out_axis] = -1
    ratio = (scales / largest).reshape(shape)
    linear.weights.values = np.rint(linear.values * ratio).astype(linear.values.dtype)
    quantiser.inputs[1] = constant(graph, f"{quantiser.name}_scale", np.asarray(largest))
    if len(quantiser.inputs) > 2:
        point = quantiser.inputs[2].values
        quantiser.inputs[2] = constant(graph, f"{quantiser.name}_zero_point", np.zeros((), point.dtype))
    _bias_scale(graph, linear, scales, largest)


def _bias_scale(graph: gs.Graph, linear: Linear, scales: NDArray[np.generic], largest: np.generic) -> None:
    """The bias keeps its values: its scale is that of input times weights."""
    if len(linear.node.inputs) < 3:
        return
    quantiser, bias = behind(linear.node.inputs[2])
    if quantiser is None or bias is None or quantiser.inputs[1].values.shape != scales.shape:
        return
    old = quantiser.inputs[1].values.astype(np.float64)
    new = (old / scales * largest)[0]
    bias.values = np.rint(bias.values * old / new).astype(bias.values.dtype)
    quantiser.inputs[1] = constant(graph, f"{quantiser.name}_scale", np.asarray(new, scales.dtype))
    if len(quantiser.inputs) > 2:
        quantiser.inputs[2] = constant(graph, f"{quantiser.name}_zero_point", np.zeros((), bias.values.dtype))


def _ternary(graph: gs.Graph) -> None:
    """Ternary weights: those above 0.7 of the mean magnitude become +-1, with their mean as the scale (Li and
    Liu, Ternary Weight Networks, 2016)."""
    linear = _quantised(graph)
    quantiser = linear.quantiser
    assert quantiser is not None
    values = linear.values.astype(np.float64)
    size = np.abs(values)
    large = size > 0.7 * size.mean()
    factor = size[large].mean()
    linear.weights.values = (np.sign(values) * large).astype(linear.values.dtype)
    scale = quantiser.inputs[1].values
    quantiser.inputs[1] = constant(graph, f"{quantiser.name}_scale", np.asarray(scale * factor, scale.dtype))


def _quantised(graph: gs.Graph) -> Linear:
    linear = linear_of(graph)
    if linear is None or linear.quantiser is None:
        raise ValueError("the layer has no quantised weights")
    return linear
