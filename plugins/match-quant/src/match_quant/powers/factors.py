"""Gives layers a requantisation by a power of two: scales of tensors change, and weights include remaining factors.

A unit that multiplies no result shifts sums and clips them (``ShiftUnit``). A quantised layer has the
factor ``scale_x * scale_w[k] / scale_y`` for output k, so new weights ``w[k] * factor[k] * 2^n`` are rounded to int8
with the largest n that they leave (weights.py).

Tensors become int8. Tensors that are read with padding, are added in a sum, or are read by a ternary layer get the zero
point 0: a range that begins at the zero point becomes 0 ... 127 with a Relu. All others keep scale and zero point,
because the bias of a layer without padding includes the zero points without loss. The host writes padding of graph
inputs, so that graph inputs keep all 8 bits as well.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor

from match_quant.powers.copies import extra_weights, finer_weights, repeat_input
from match_quant.powers.graph import QuantisedGraph, set_parameters
from match_quant.powers.kernels import ShiftUnit
from match_quant.powers.layers import Layer, layer_of, set_numbers
from match_quant.powers.parameters import CLIPS, INT8, Parameters, expected, factors, is_power_of_two
from match_quant.powers.weights import Ints, RoundedWeights, rounded_weights

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Sums and biases stay below this, so that 32 bits hold a bias and a sum together.
_SUM_LIMIT = 1 << 30


def run(unit: ShiftUnit, model: Model, context: PassContext) -> Model:
    """Change scales and weights of all layers that the unit could run; notes state the error of each."""
    if model.integer_source:
        return model
    editor = Editor(model)
    graph = QuantisedGraph(editor, context)
    quantizers = [node for node in editor.graph.nodes if node.op == "QuantizeLinear"]
    layers = [layer for node in quantizers if (layer := layer_of(graph, node, unit)) is not None]
    changes = Parameters(graph, layers, unit).changes
    for activation in graph.activations():
        if id(activation) in changes:
            set_parameters(graph, activation, changes[id(activation)])
    extra = extra_weights(layers, context.soc.memory(context.soc.home).size_bytes)
    converted = [_convert(graph, layer.site.quantize, extra, unit) for layer in layers]
    return editor.finish() if changes or any(converted) or editor.notes else model


def _convert(graph: QuantisedGraph, quantize: gs.Node, extra: int, unit: ShiftUnit) -> bool:
    """Give the layer of a QuantizeLinear its new weights, at most ``extra`` more than it had; whether anything
    changed."""
    layer = layer_of(graph, quantize, unit)
    if layer is None or not _takes(layer, unit):
        return False
    source, result = layer.source.quant, layer.result.quant
    factor = factors(layer, source, result)
    if is_power_of_two(factor):
        return False
    ideal, inputs = layer.weight * factor[:, None, None], expected(layer.source, source)
    found = rounded_weights(ideal, inputs, source.zero, unit.requant.shift_max)
    name = "/".join(graph.editor.origin(layer.node))
    if found is None:
        graph.editor.notes.append(f"{name}: its factors are too large for weights of 8 bits; it runs on the host")
        return False
    if layer.node.op != "Conv":
        found = finer_weights(found, ideal, inputs, source.zero, extra, unit.requant.shift_max)
    bias = _bias(layer, found)
    if bias is None:
        graph.editor.notes.append(f"{name}: its sums exceed 32 bits; it runs on the host")
        return False
    copies = found.values.shape[2] // layer.weight.shape[2]
    if copies > 1:
        repeat_input(graph, layer, copies)
    set_numbers(graph, layer, found.values, math.ldexp(result.scale / source.scale, -found.shift), bias)
    graph.editor.notes.append(_note(name, found, copies))
    return True


def _takes(layer: Layer, unit: ShiftUnit) -> bool:
    """Whether input and result are as the unit has them."""
    source, result = layer.source.quant, layer.site.quant
    types = source.dtype == INT8 and result.dtype == INT8
    return types and (result.lo, result.hi) in CLIPS and not (unit.ternary and layer.ternary and source.zero != 0)


def _bias(layer: Layer, found: RoundedWeights) -> Ints | None:
    """The bias in steps of the sum, None where sums might leave 32 bits."""
    steps = np.rint(layer.bias / layer.result.quant.scale * 2.0**found.shift)
    most = np.abs(found.values).reshape(len(found.values), -1).sum(axis=1) * 256
    ends = np.abs(steps) + most + math.ldexp(abs(layer.result.quant.zero) + 1, found.shift)
    return steps.astype(np.int64) if np.all(ends < _SUM_LIMIT) else None


def _note(name: str, found: RoundedWeights, copies: int) -> str:
    saturated = f", {found.saturated} weights saturate" if found.saturated else ""
    finer = f", with {copies} copies of its input" if copies > 1 else ""
    return (
        f"{name}: requantisation by 2^-{found.shift}, rounding of the weights is expected to change results by "
        f"{found.expected_rms:.2f} LSB (root mean square; {found.largest:.1f} at most){saturated}{finer}"
    )


def power_of_two(unit: ShiftUnit) -> Pass:
    """The pass for a unit."""
    return Pass(
        f"{unit.name}_power_of_two",
        Phase.INTEGER,
        partial(run, unit),
        "layers get int8 tensors and a requantisation by a power of two, the rest of their factors goes into the "
        "weights",
        before=("integerise",),
        after=("qoperator_to_qdq", "recognise_requant", "narrow_integers"),
        exact=None,
        lossy=True,
        optional=True,
    )
