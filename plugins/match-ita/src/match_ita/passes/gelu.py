"""Tables that are a GELU become ITA's own, where it comes for nothing: behind a linear layer, before others.

The table's scales are found by fitting. What ITA computes is a polynomial of 2nd order in another step, so results
differ: by up to ``DIFFERENCE_MAX`` LSB of the table's result, expected ``RMS_MAX`` (root mean square), or the table
stays on the cores. Layers with ITA's constants already (integer networks) keep their table, which is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core import Model, Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.model import qualified_op
from match_core.transforms.quant import constant, producer, shape_of

from match_ita.functions import GELU, function_protos
from match_ita.passes.convolution_rows import reshaped
from match_ita.passes.gelu_choice import DIFFERENCE_MAX, RMS_MAX, GeluChoice, choose
from match_ita.passes.gelu_fit import fit
from match_ita.passes.gelu_readers import invert, readers
from match_ita.passes.linear_expectation import expected
from match_ita.passes.linear_layers import (
    INT8_MAX,
    INT8_MIN,
    LinearLayer,
    is_private,
    linear_layer,
    set_requant,
)
from match_ita.passes.linear_requant import as_ita

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Entries of a table may be off a GELU by this much, in LSB.
_RESIDUAL_MAX = 2.0


def run(model: Model, context: PassContext) -> Model:
    """Rewrite every table behind a linear layer that is a GELU."""
    editor = Editor(model)
    editor.define(function_protos())
    for node in list(editor.graph.nodes):
        if qualified_op(node) != "match.arith::LutI8":
            continue
        layer = layer_before(editor, node)
        if layer is not None and (refusal := _replace(editor, node, layer)) is not None:
            names = "/".join(editor.origin(node))
            editor.notes.append(f"{names}: the GELU stays a table on the cores: {refusal}")
    return editor.finish()


def layer_before(editor: Editor, lut: gs.Node) -> LinearLayer | None:
    """The linear layer whose result only this table reads."""
    tensor = lut.inputs[0]
    while is_private(tensor, editor.graph.outputs) and (node := producer(tensor)) is not None:
        if qualified_op(node) != "Reshape":
            return linear_layer(node, editor.graph.outputs)
        tensor = node.inputs[0]
    return None


def _replace(editor: Editor, lut: gs.Node, layer: LinearLayer) -> str | None:
    """Rewrite layer, table and readers; why not, where the table is a GELU and that was not possible."""
    table = np.asarray(constant(lut.inputs[1])).astype(np.int8)
    fitted = fit(table)
    if fitted is None or fitted.residual > _RESIDUAL_MAX:
        return None
    if as_ita(layer) is not None or (layer.lo, layer.hi) != (INT8_MIN, INT8_MAX):
        return "the layer before it has constants of its own"
    behind = readers(editor, lut.outputs[0])
    if behind is None:
        return "not only linear layers read it, and ITA's GELU is negative"
    choice = choose(layer, table, fitted, expected(layer.y, editor.graph.outputs))
    if choice is None:
        return "its constants do not fit ITA's registers"
    if choice.difference > DIFFERENCE_MAX or choice.rms > RMS_MAX:
        return f"ITA's polynomial would be {choice.difference} LSB off ({choice.rms:.2f} expected)"
    invert(editor, behind, choice.constants.step.add)
    _write(editor, lut, layer, choice)
    return None


def _write(editor: Editor, lut: gs.Node, layer: LinearLayer, choice: GeluChoice) -> None:
    old, name, step = layer.y, lut.name, choice.constants.step
    set_requant(editor, layer, choice.multiplier, choice.addend, choice.shift)
    half = (1 << step.shift) >> 1
    values = {
        "b": choice.constants.b,
        "c": choice.constants.c,
        "multiplier": step.multiplier,
        "addend": half + (step.add << step.shift),
        "divisor": 1 << step.shift,
    }
    given = [old, *(editor.constant(f"{name}_{hint}", np.array(value, np.int64)) for hint, value in values.items())]
    origin = editor.origin(lut)
    bent = editor.node(GELU, given, np.int8, shape_of(old), name=name, origin=origin)
    editor.replace(lut.outputs[0], reshaped(editor, bent, shape_of(lut.outputs[0]), f"{name}_shape", origin))


GELU_PASS = Pass(
    "ita_gelu",
    Phase.TARGET,
    run,
    "tables that are a GELU behind a linear layer become ITA's polynomial",
    after=("ita_convolution",),
    exact=None,
)
