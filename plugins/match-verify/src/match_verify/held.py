"""Float graph inputs that hold integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.ir.reader import INPUT_LIMIT, constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.model import Model


def integer_inputs(model: Model) -> frozenset[str]:
    """Names of the float graph inputs that a narrowed model reads as integers only."""

    def limited(node: gs.Node) -> bool:
        values = [constant(tensor) for tensor in node.inputs[1:]]
        sizes = [abs(float(value.reshape(-1)[0])) for value in values if value is not None]
        if node.op == "Clip":
            return sizes == [INPUT_LIMIT] * 2 and all(reader.op == "Cast" for reader in node.outputs[0].outputs)
        return node.op == "QuantizeLinear" and sizes == [1.0, 0.0]

    return frozenset(
        tensor.name for tensor in model.graph.inputs if tensor.outputs and all(map(limited, tensor.outputs))
    )
