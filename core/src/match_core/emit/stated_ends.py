"""Real values of integer inputs and outputs as the source model states them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.quantisation import Quantisation
from match_core.ir.reader import quant_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def stated_ends(graph: gs.Graph) -> dict[str, Quantisation]:
    """By name: inputs that only DequantizeLinear reads, outputs that QuantizeLinear makes; one scale per tensor."""
    sides = ((graph.inputs, "DequantizeLinear", "outputs"), (graph.outputs, "QuantizeLinear", "inputs"))
    found = {}
    for tensors, op, end in sides:
        for tensor in tensors:
            nodes = getattr(tensor, end)
            known = {quant_of(node, tensor.dtype) if node.op == op else None for node in nodes}
            if len(known) == 1 and (quant := known.pop()) is not None:
                found[tensor.name] = Quantisation(quant.scale, quant.zero)
    return found
