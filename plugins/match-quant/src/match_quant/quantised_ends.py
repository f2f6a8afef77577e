"""Replaces float graph inputs and outputs that are only quantised or dequantised with the tensors of 8 or 16 bits.

Quantisation tools keep the inputs and outputs of a network float: QuantizeLinear directly after an input,
DequantizeLinear directly before an output. Callers of the program often have integers, and then no unit needs floating
point. ``Model.quantised_ends`` records scales and zero points.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.contract.quantisation import Quantisation
from match_core.ir.editor import Editor
from match_core.ir.reader import WITH_INT16, Quant, constant, producer, quant_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def run(model: Model, context: PassContext) -> Model:
    """Replace these inputs and outputs if the user requested it; names stay."""
    if not context.quantized_io:
        return model
    editor = Editor(model)
    found: dict[str, Quantisation] = {}
    # Both ends of a state keep one type.
    states = {name for state in model.states for name in (state.input, state.output)}
    for tensor in [tensor for tensor in editor.graph.inputs if tensor.name not in states]:
        quant = _take_input(editor, tensor)
        if quant is not None:
            found[tensor.name] = Quantisation(quant.scale, quant.zero)
    for tensor in [tensor for tensor in editor.graph.outputs if tensor.name not in states]:
        name, quant = tensor.name, _take_output(editor, tensor)
        if quant is not None:
            found[name] = Quantisation(quant.scale, quant.zero)
    if not found:
        return model
    sizes = {tensor.name: np.dtype(tensor.dtype).itemsize for tensor in (*editor.graph.inputs, *editor.graph.outputs)}
    for name, ends in found.items():
        bits = "an 8-bit" if sizes[name] == 1 else "a 16-bit"
        editor.notes.append(f"{name}: {bits} input or output of the program, {ends}")
    return replace(editor.finish(), quantised_ends={**model.quantised_ends, **found})


def _take_input(editor: Editor, tensor: gs.Variable) -> Quant | None:
    """Replace the input with the result of the QuantizeLinear that is its only reader."""
    outputs = editor.graph.outputs
    if len(tensor.outputs) != 1 or tensor.outputs[0].op != "QuantizeLinear" or _is_one_of(tensor, outputs):
        return None
    node = tensor.outputs[0]
    result = node.outputs[0]
    quant = quant_of(node, result.dtype, WITH_INT16)
    if quant is None or tensor.dtype != np.float32 or node.inputs[0] is not tensor or _is_one_of(result, outputs):
        return None
    node.inputs.clear()
    node.outputs.clear()
    tensor.dtype = quant.dtype
    editor.redirect(result, tensor)
    return quant


def _take_output(editor: Editor, tensor: gs.Variable) -> Quant | None:
    """Replace the output with the input of the DequantizeLinear that computes it."""
    node = producer(tensor)
    if node is None or node.op != "DequantizeLinear":
        return None
    stored = node.inputs[0]
    quant = quant_of(node, stored.dtype, WITH_INT16)
    taken = (*editor.graph.inputs, *editor.graph.outputs)
    if quant is None or tensor.dtype != np.float32 or constant(stored) is not None or _is_one_of(stored, taken):
        return None
    if sum(other is tensor for other in editor.graph.outputs) != 1:
        return None
    name = tensor.name
    editor.rename(tensor, f"{name}_real")
    stored.name = name
    editor.graph.outputs[[other is tensor for other in editor.graph.outputs].index(True)] = stored
    return quant


def _is_one_of(tensor: gs.Tensor, others: tuple[gs.Tensor, ...] | list[gs.Tensor]) -> bool:
    return any(tensor is other for other in others)


QUANTISED_ENDS = Pass(
    "quantised_ends",
    Phase.FLOAT,
    run,
    "float inputs and outputs that are quantised at the end become 8-bit tensors (with --quantized-io)",
    exact=None,
)
