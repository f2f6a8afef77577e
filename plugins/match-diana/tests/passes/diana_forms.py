"""What of an integer graph has the arithmetic of the digital array (docs: tensors int8, one shift for a layer)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core import Model
from match_core.contract.model import qualified_op
from match_core.ir.geometry import conv_geometry
from match_core.ir.reader import constant, producer, shape_of
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_CLIPS = ((-128, 127), (0, 127))


@dataclass(frozen=True)
class Found:
    """A layer: its name, and what the array lacks for it (empty where it can take it)."""

    name: str
    kind: str
    lacks: str
    shift: int = 0


def layers(model: Model) -> list[Found]:
    """All convolutions, dense layers and sums."""
    found = []
    for node in model.graph.nodes:
        op = qualified_op(node)
        product = producer(node.inputs[0])
        if op == "match.arith::RequantI8" and product is not None and product.op in ("ConvInteger", "MatMulInteger"):
            lacks, shift = _shift(node, 1)
            lacks = lacks or (_window(product) if product.op == "ConvInteger" else "")
            found.append(Found(node.name, product.op, lacks or _types(node, product), shift))
        elif op == "match.arith::AddRequantI8":
            lacks, shift = _shift(node, 2)
            addend = "" if lacks or not np.any(_integers(node.inputs[4])) else "a sum has an addend"
            found.append(Found(node.name, "Add", lacks or addend or _types(node, node), shift))
    return found


def _shift(node: gs.Node, operands: int) -> tuple[str, int]:
    multipliers = np.concatenate([_integers(tensor) for tensor in node.inputs[operands : 2 * operands]])
    _, divisor, low, high = (_integers(tensor) for tensor in node.inputs[2 * operands :])
    step = int(divisor[0])
    if np.any(multipliers != 1):
        return "multipliers", 0
    if divisor.size != 1 or step & (step - 1) or step.bit_length() > 32:
        return "the divisor", 0
    return ("" if (int(low[0]), int(high[0])) in _CLIPS else "the bounds"), step.bit_length() - 1


def _types(node: gs.Node, product: gs.Node) -> str:
    tensors = [tensor for tensor in product.inputs[:2] if tensor is not node] + [node.outputs[0]]
    return "" if all(np.dtype(tensor.dtype) == np.int8 for tensor in tensors) else "types"


def _window(conv: gs.Node) -> str:
    geometry = conv_geometry(conv)
    outputs, inputs = shape_of(conv.inputs[1])[:2]
    if not (geometry.group == 1 or (inputs == 1 and geometry.group == outputs)):
        return "groups"
    if not set(geometry.kernel) <= {1, 3, 5, 7} or geometry.dilations != (1, 1):
        return "the kernel"
    if geometry.strides not in ((1, 1), (2, 2)):
        return "strides"
    _, left, _, right = geometry.pads
    return "" if right <= left < geometry.kernel[1] else "unequal padding"


def _integers(tensor: gs.Tensor) -> NDArray[np.int64]:
    values = constant(tensor)
    assert values is not None
    return np.asarray(values, np.int64).reshape(-1)
