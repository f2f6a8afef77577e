"""Replaces tables that are a GELU with ITA's GELU where it is free: after a linear layer and before others.

The table's scales are found by fitting. ITA computes a polynomial of 2nd order with another step, so results
differ: by up to ``DIFFERENCE_MAX`` LSB of the table's result, expected ``RMS_MAX`` (root mean square), or the table
stays on the cores. If the layer before has ITA's constants already (integer networks), results do not change, bit for
bit: ITA's constants for the table are searched, and if there are none the table stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core import Model, Pass, PassContext, Phase
from match_core.contract.model import qualified_op
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, producer, shape_of
from match_quant.linear.layers import (
    INT8_MAX,
    INT8_MIN,
    LinearLayer,
    is_private,
    linear_layer,
    set_requant,
)

from match_ita.arithmetic import GeluConstants
from match_ita.functions import GELU, function_protos
from match_ita.passes.gelu_choice import DIFFERENCE_MAX, RMS_MAX, choose
from match_ita.passes.gelu_exact import exact_constants
from match_ita.passes.gelu_fit import fit
from match_ita.passes.gelu_readers import Readers, invert, readers
from match_ita.passes.linear_expectation import expected
from match_ita.passes.linear_requant import as_ita
from match_ita.passes.nodes import reshaped

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Entries of a table may be off a GELU by this much, in LSB.
_RESIDUAL_MAX = 2.0


def run(model: Model, context: PassContext) -> Model:
    """Rewrite every table after a linear layer that is a GELU."""
    editor = Editor(model)
    editor.define(function_protos())
    for node in list(editor.graph.nodes):
        if qualified_op(node) != "match.arith::LutI8":
            continue
        layer = layer_before(editor, node)
        kept = editor.model.integer_source or not context.changes(editor.origin(node))
        if layer is not None and (refusal := _replace(editor, node, layer, kept)) is not None:
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


def _replace(editor: Editor, lut: gs.Node, layer: LinearLayer, kept: bool) -> str | None:
    """Rewrite layer, table and readers; ``kept``: no value may change. Why not, where the table is
    a GELU and that was not possible."""
    table = np.asarray(constant(lut.inputs[1])).astype(np.int8)
    fitted = fit(table)
    if fitted is None or fitted.residual > _RESIDUAL_MAX:
        return None
    if (layer.lo, layer.hi) != (INT8_MIN, INT8_MAX):
        return f"the layer before it saturates at {layer.lo} and {layer.hi}"
    behind = readers(editor, lut.outputs[0])
    if behind is None:
        return "other operators than linear layers read it, and ITA's GELU is negated"
    if as_ita(layer) is None and kept:
        return f"ITA does not support the layer before it exactly, and values of {_whose(editor)} must not change"
    if as_ita(layer) is not None:
        exact = exact_constants(table, fitted) if behind.exact else None
        if exact is None:
            return "ITA has no constants that give the same bits"
        _write(editor, lut, layer, behind, exact)
        return None
    choice = choose(layer, table, fitted, expected(layer.y, editor.graph.outputs))
    if choice is None:
        return "its constants do not fit ITA's registers"
    if choice.difference > DIFFERENCE_MAX or choice.rms > RMS_MAX:
        return f"the error of ITA's polynomial would be {choice.difference} LSB ({choice.rms:.2f} expected)"
    set_requant(editor, layer, choice.multiplier, choice.addend, choice.shift)
    _write(editor, lut, layer, behind, choice.constants)
    return None


def _whose(editor: Editor) -> str:
    return "an integer network" if editor.model.integer_source else "this layer"


def _write(editor: Editor, lut: gs.Node, layer: LinearLayer, behind: Readers, constants: GeluConstants) -> None:
    """Add ITA's GELU after the layer, and change the readers to its inverted result."""
    old, name, step = layer.y, lut.name, constants.step
    invert(editor, behind, step.add)
    half = (1 << step.shift) >> 1
    values = {
        "b": constants.b,
        "c": constants.c,
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
    lossy=True,
)
