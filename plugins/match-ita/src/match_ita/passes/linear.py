"""Gives linear layers ITA's requantisation, and sizes that are multiples of a block.

A layer that has ITA's constants already keeps them. Others are replaced if every reachable accumulator gives a result
within 1 LSB of the wider arithmetic; layers with a multiplier per column if the expected error is within 0.5 LSB
(linear_scale). The cores compute all other layers unchanged. Values of integer networks do not change.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from match_core import Model, Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_quant.linear.layers import (
    INT8_MAX,
    INT8_MIN,
    Ints,
    LinearLayer,
    linear_layers,
    set_requant,
    set_weight,
    sum_ranges,
    value_range,
)

from match_ita.ita.limits import BLOCK, SUM_LENGTH_MAX
from match_ita.ita.requantisation import ItaRequant
from match_ita.passes.linear_expectation import expected
from match_ita.passes.linear_padding import pad
from match_ita.passes.linear_requant import as_ita, largest_difference, nearest
from match_ita.passes.linear_scale import RMS_MAX, scaled

#: Largest difference from the wider arithmetic, in LSB.
DIFFERENCE_MAX = 1


def run(model: Model, context: PassContext) -> Model:
    """Rewrite every layer that ITA can do."""
    editor = Editor(model)
    for layer in linear_layers(editor):
        refusal = _refusal(layer) or _requantise(editor, layer, context)
        if refusal is None:
            pad(editor, layer, BLOCK)
        else:
            names = "/".join(editor.origin(layer.matmul))
            editor.notes.append(f"{names}: stays on the cores, because ITA cannot run this linear layer: {refusal}")
    return editor.finish()


def _refusal(layer: LinearLayer) -> str | None:
    inner = -(-layer.weight.shape[0] // BLOCK) * BLOCK
    if inner > SUM_LENGTH_MAX:
        return f"{layer.weight.shape[0]} inputs exceed {SUM_LENGTH_MAX}"
    if (layer.lo, layer.hi) not in ((INT8_MIN, INT8_MAX), (0, INT8_MAX)):
        return f"results saturate at {layer.lo} and {layer.hi}, ITA's at {INT8_MIN} or 0 and at {INT8_MAX}"
    return None


def _requantise(editor: Editor, layer: LinearLayer, context: PassContext) -> str | None:
    """Give the layer ITA's constants; why not, where that is so."""
    if as_ita(layer) is not None:
        return None
    kept = editor.model.integer_source or not context.changes(editor.origin(layer.matmul))
    layer = replace(layer, weight=np.where(layer.multiplier == 0, 0, layer.weight))
    low, high = sum_ranges(layer.weight, *value_range(layer.x))
    one = nearest(layer, low, high)
    if one is not None:
        difference = largest_difference(layer, one, low, high)
        if difference <= (0 if kept else DIFFERENCE_MAX):
            _set(editor, layer, one, layer.weight)
            return None
        return f"with 8-bit multipliers the error of results would be up to {difference} LSB"
    if kept:
        whose = "an integer network" if editor.model.integer_source else "this layer"
        return f"ITA does not support its requantisation exactly, and values of {whose} must not change"
    many = scaled(layer, expected(layer.x, editor.graph.outputs))
    if many is None:
        return "no 8-bit multiplier, shift and 24-bit biases are close enough"
    if many.expected_rms > RMS_MAX:
        return f"one multiplier for all columns would leave an expected error of {many.expected_rms:.2f} LSB"
    _set(editor, layer, many.requant, many.weight)
    return None


def _set(editor: Editor, layer: LinearLayer, requant: ItaRequant, weight: Ints) -> None:
    set_requant(editor, layer, np.array([requant.multiplier], np.int64), requant.addend, requant.shift)
    set_weight(editor, layer, weight)


LINEAR = Pass(
    "ita_linear",
    Phase.TARGET,
    run,
    "linear layers get ITA's 8-bit requantisation and block sizes",
    after=("ita_attention", "ita_convolution", "ita_gelu", "ita_relu", "ita_softmax", "ita_split"),
    exact=None,
    lossy=True,
)
