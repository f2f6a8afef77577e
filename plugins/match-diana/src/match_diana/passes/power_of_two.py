"""Layers get a requantisation by a power of two: scales of tensors change, what is left over goes into the weights.

The digital array multiplies no result; it shifts sums and clips them (diana.md section 5.1). A quantised layer has the
factor ``scale_x * scale_w[k] / scale_y`` for output k, so new weights ``w[k] * factor[k] * 2^n`` are rounded to int8
with the largest n that they leave (power_of_two_weights.py).

Tensors become int8. Those that padding is read beside, that meet in a sum, or that a ternary layer reads, get the zero
point 0: a range that begins at the zero point becomes 0 ... 127 with a Relu. All others keep scale and zero point,
because a layer without padding has the zero points in its bias, so that nothing is lost there. Padding beside what the
network is given is written by the host, so that graph inputs keep all 8 bits as well.
"""

from __future__ import annotations

import math

import numpy as np
from match_core import Model, Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.transforms.expectation import Expectation, graph_input, unknown
from match_core.transforms.quant import Quant

from match_diana.passes.power_of_two_graph import Activation, QuantisedGraph, bounds, set_parameters
from match_diana.passes.power_of_two_layers import Layer, layer_of, set_numbers
from match_diana.passes.power_of_two_sums import SumGroup, common_scale, sum_groups, symmetric_scale
from match_diana.passes.power_of_two_weights import Ints, Reals, RoundedWeights, rounded_weights

_INT8 = np.dtype(np.int8)
_LOW, _HIGH = -128, 127
#: Bounds of results that the array has: it clips to int8, behind its ReLU to what is not negative.
_CLIPS = ((_LOW, _HIGH), (0, _HIGH))
#: Scales are float32: factors this close to a power of two, relative, are one.
TOLERANCE = 2.0**-20
_BIAS_LIMIT = 1 << 30


def run(model: Model, context: PassContext) -> Model:
    """Change scales and weights of all layers that the array could take; notes say what each loses."""
    if model.integer_source:
        return model
    editor = Editor(model)
    graph = QuantisedGraph(editor)
    quantizers = [node for node in editor.graph.nodes if node.op == "QuantizeLinear"]
    layers = [layer for node in quantizers if (layer := layer_of(graph, node)) is not None]
    groups = sum_groups(graph, quantizers)
    chosen = _parameters(graph, layers, groups)
    changes = [activation for activation in graph.activations() if id(activation) in chosen]
    for activation in changes:
        set_parameters(graph, activation, chosen[id(activation)])
    count = sum(_convert(graph, layer.site.quantize) for layer in layers)
    if not changes and not count:
        return model
    return editor.finish()


def _parameters(graph: QuantisedGraph, layers: list[Layer], groups: tuple[SumGroup, ...]) -> dict[int, Quant]:
    """New parameters of the activations that change, by id."""
    chosen: dict[int, Quant] = {}
    for group in groups:
        if not _fits_already(group):
            scale = common_scale(group.members)
            chosen.update({id(member): _symmetric(member, scale) for member in group.members})
    grouped = {id(member) for group in groups for member in group.members}
    central = {id(layer.source) for layer in layers if _needs_zero(layer)}
    touched = {id(end) for layer in layers for end in (layer.source, layer.result)}
    for activation in graph.activations():
        if activation.fixed or id(activation) in grouped or id(activation) not in touched:
            continue
        quant = activation.quant
        clips = quant.dtype == _INT8 and (quant.lo, quant.hi) in _CLIPS
        if id(activation) in central:
            if not clips or quant.zero != 0:
                chosen[id(activation)] = _symmetric(activation, symmetric_scale(activation))
        elif not clips:
            chosen[id(activation)] = _spread(quant)
    return chosen


def _needs_zero(layer: Layer) -> bool:
    return (layer.padded and not layer.source.from_outside) or layer.ternary


def _fits_already(group: SumGroup) -> bool:
    first = group.members[0].quant
    return all(
        member.quant.same_values(first)
        and member.quant.zero == 0
        and member.quant.dtype == _INT8
        and (member.quant.lo, member.quant.hi) in _CLIPS
        for member in group.members
    )


def _symmetric(activation: Activation, scale: float) -> Quant:
    return Quant(float(np.float32(scale)), 0, _INT8, _LOW, _HIGH)


def _spread(quant: Quant) -> Quant:
    """The values that occur, over all of int8."""
    lo, hi = int(np.iinfo(quant.dtype).min), int(np.iinfo(quant.dtype).max)
    if (quant.lo, quant.hi) == (lo, hi):
        return quant.shifted(_INT8)
    scale = quant.scale * (quant.hi - quant.lo) / (_HIGH - _LOW)
    low, _ = bounds(quant)
    return Quant(float(np.float32(scale)), int(np.clip(_LOW - round(low / scale), _LOW, _HIGH)), _INT8, _LOW, _HIGH)


def _convert(graph: QuantisedGraph, quantize: object) -> bool:
    """Give the layer of a QuantizeLinear its new weights; whether anything changed."""
    layer = layer_of(graph, quantize)
    if layer is None or not _takes(layer):
        return False
    factor = layer.scale * (layer.source.quant.scale / layer.result.quant.scale)
    if _is_power_of_two(factor):
        return False
    ideal = layer.weight * factor[:, None, None]
    found = rounded_weights(ideal, _expected(layer), layer.source.quant.zero)
    name = "/".join(graph.editor.origin(layer.node))
    if found is None:
        graph.editor.notes.append(f"{name}: its factors are too large for weights of 8 bits; it is left to the host")
        return False
    bias = _bias(layer, found)
    if bias is None:
        graph.editor.notes.append(f"{name}: its bias needs more than 32 bits; it is left to the host")
        return False
    scale = layer.result.quant.scale / layer.source.quant.scale * 2.0**-found.shift
    set_numbers(graph, layer, found.values, scale, bias)
    graph.editor.notes.append(_note(name, found))
    return True


def _takes(layer: Layer) -> bool:
    """Whether input and result are as the array has them."""
    quant = layer.site.quant
    return (
        layer.source.quant.dtype == _INT8
        and quant.dtype == _INT8
        and (quant.lo, quant.hi) in _CLIPS
        and not (layer.ternary and layer.source.quant.zero != 0)
    )


def _is_power_of_two(factor: Reals) -> bool:
    exponent = np.rint(np.log2(factor[0]))
    return exponent <= 0 and bool(np.all(np.abs(factor * 2.0**-exponent - 1) <= TOLERANCE))


def _expected(layer: Layer) -> Expectation:
    quant = layer.source.quant
    return (graph_input if layer.source.from_outside else unknown)(quant)


def _bias(layer: Layer, found: RoundedWeights) -> Ints | None:
    """The bias in steps of the sum, None where sums might leave 32 bits."""
    steps = np.rint(layer.bias / layer.result.quant.scale * 2.0**found.shift)
    most = np.abs(found.values).reshape(len(found.values), -1).sum(axis=1) * 256
    ends = np.abs(steps) + most + math.ldexp(abs(layer.result.quant.zero) + 1, found.shift)
    return steps.astype(np.int64) if np.all(ends < _BIAS_LIMIT) else None


def _note(name: str, found: RoundedWeights) -> str:
    saturated = f", {found.saturated} weights saturate" if found.saturated else ""
    return (
        f"{name}: requantisation by 2^-{found.shift}, rounding of the weights is expected to move results by "
        f"{found.expected_rms:.2f} LSB (root mean square; {found.largest:.1f} at most){saturated}"
    )


POWER_OF_TWO = Pass(
    "diana_power_of_two",
    Phase.INTEGER,
    run,
    "layers get int8 tensors and a requantisation by a power of two, the rest of their factors goes into the weights",
    before=("integerise",),
    after=("qoperator_to_qdq", "recognise_requant", "narrow_integers"),
    exact=None,
    optional=True,
)
