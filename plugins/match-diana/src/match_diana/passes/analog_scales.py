"""Gives layers with ternary weights inputs and outputs of 7 bits, the width of the analog array.

This pass decides which layers use the arithmetic of the analog array. A layer has one arithmetic in the graph for all
units, and the two arrays share none, so the decision uses modelled cycles of both arrays and of the conversions around
the layer. The mapper then chooses among the units that support the arithmetic: the analog array and the host for these
layers, the digital array and the host for others.

Input and output of a chosen layer are explicitly clipped to 7 bits, so the graph computes the same values as the
program everywhere. Calibration has already clipped these values, except for one step at the upper end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from match_core import Model, Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import shape_of

from match_diana.analog import limits
from match_diana.analog.fit import ERROR_MAX, fit
from match_diana.passes.analog_choice import choose
from match_diana.passes.analog_layers import Layer, layers
from match_diana.passes.analog_widen import factor_of, joined, widen

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def run(model: Model, context: PassContext) -> Model:
    """Choose layers, widen their scales, cut their inputs and outputs; never where the source spells integers out."""
    if model.integer_source:
        return model
    editor = Editor(model)
    sizes = {memory.name: memory.size_bytes for memory in context.soc.memories}
    ternary = [layer for layer in layers(editor.graph) if context.changes(editor.origin(layer.site.op))]
    fitting = [layer for layer in ternary if _fits(editor, layer, sizes)]
    legal = [layer for layer in fitting if _may_change(editor, layer)]
    chosen = choose(editor, legal)
    if not chosen:
        return editor.finish() if editor.notes else model
    factors = {}
    for tensor in (end for layer in chosen for end in (layer.input, layer.output)):
        together = joined(tensor, editor.graph.outputs) or ()
        factors.update({id(each): (each, factor_of(together)) for each in together})
    for tensor, factor in factors.values():
        widen(editor, tensor, factor)
    cut: dict[int, gs.Tensor] = {}
    for layer in chosen:
        _cut_output(editor, layer)
    for layer in chosen:
        _cut_input(editor, layer, cut)
    return editor.finish()


def _fits(editor: Editor, layer: Layer, sizes: Mapping[str, int]) -> bool:
    """Whether the array's memories hold a tile of the layer; else a note says so. (Whoever gives a program less memory
    than the chip has wants to know how fast it is with that, and nobody would want the host to compute such layers.)"""
    window = layer.window
    cells = limits.cell_bytes(min(window.c, limits.group_channels(window.taps)), window.k, window.taps)
    needed = {"l1": limits.least_tile_bytes(window), "analog_cells": cells, "analog_norm": limits.norm_bytes(window.k)}
    for name, size in needed.items():
        if size > sizes[name]:
            editor.notes.append(
                f"{'/'.join(editor.origin(layer.site.op))}: weights are ternary, but a tile of the analog array takes "
                f"{size:,} bytes of {name}, which has {sizes[name]:,}"
            )
            return False
    return True


def _may_change(editor: Editor, layer: Layer) -> bool:
    """Whether the scales around a layer may change, and the array's arithmetic is close enough; else a note says so."""
    name = "/".join(editor.origin(layer.site.op))
    factors = []
    for tensor in (layer.input, layer.output):
        together = joined(tensor, editor.graph.outputs)
        if together is None:
            editor.notes.append(
                f"{name}: weights are ternary, but {tensor.name} cannot have the 7 bits of the analog array"
            )
            return False
        factors.append(factor_of(together))
    found = fit(layer.wanted(*factors))
    if found.error > ERROR_MAX:
        editor.notes.append(
            f"{name}: weights are ternary, but the analog array's arithmetic would be off by {found.error:.2f} steps "
            f"of 7 bits (expected root mean square); at most {ERROR_MAX:g} is allowed"
        )
        return False
    return True


def _cut_output(editor: Editor, layer: Layer) -> None:
    """A Clip before the layer's QuantizeLinear."""
    quantize = layer.site.quantize
    clipped = _clip(editor, quantize.inputs[0], quantize.inputs[1], f"{layer.site.op.name}_cut", layer)
    quantize.inputs[0] = clipped


def _cut_input(editor: Editor, layer: Layer, cut: dict[int, gs.Tensor]) -> None:
    """Clip, QuantizeLinear and DequantizeLinear after the layer's DequantizeLinear, once for each tensor."""
    read, conv = layer.read, layer.site.op
    if id(layer.input) not in cut:
        name, origin = f"{conv.name}_input", editor.origin(conv)
        scale = read.inputs[1]
        clipped = _clip(editor, read.outputs[0], scale, f"{name}_cut", layer)
        zero = editor.constant(f"{name}_zero", np.array(0, np.int8))
        shape, real = shape_of(read.outputs[0]), read.outputs[0].dtype
        stored = editor.node("QuantizeLinear", [clipped, scale, zero], np.int8, shape, name=f"{name}_q", origin=origin)
        cut[id(layer.input)] = editor.node(
            "DequantizeLinear", [stored, scale, zero], real, shape, name=f"{name}_dq", origin=origin
        )
    conv.inputs[0] = cut[id(layer.input)]


def _clip(editor: Editor, x: gs.Tensor, scale: gs.Constant, name: str, layer: Layer) -> gs.Variable:
    step = np.asarray(scale.values).reshape(())
    ends = (limits.INPUT_MIN, limits.INPUT_MAX)
    bounds = [editor.constant(f"{name}_{end}", np.array(step * end, step.dtype)) for end in ends]
    return editor.node("Clip", [x, *bounds], x.dtype, shape_of(x), name=name, origin=editor.origin(layer.site.op))


ANALOG_SCALES = Pass(
    "diana_analog_scales",
    Phase.INTEGER,
    run,
    "inputs and outputs of ternary layers that gain on the analog array get 7 bits",
    before=("integerise",),
    after=("diana_power_of_two", "qoperator_to_qdq"),
    exact=None,
    lossy=True,
    optional=True,
)
